"""The command line with `repair` as a command of its own: what `memttl doctor --repair` comes to."""

from __future__ import annotations

import sys

from memttl import cli
from memttl.commands.options import Color, DryRun, File, Json, Now, PolicyPath, Quiet, Verbose, Yes
from memttl.commands.repair import repair


def command(
    dry_run: DryRun = False,
    yes: Yes = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Repair."""
    return repair(**locals())


if __name__ == "__main__":
    cli.app.command("repair")(command)
    sys.exit(cli.run())
