"""`memttl doctor`: check the memory file and all that goes with it."""

from __future__ import annotations

from typing import Annotated

import typer

from memttl.commands.options import (
    BreakHardLinks,
    Color,
    DryRun,
    File,
    Json,
    Now,
    Output,
    PolicyPath,
    Quiet,
    Verbose,
    Yes,
    words,
)
from memttl.commands.printing import put
from memttl.errors import UsageError

Check = Annotated[bool, typer.Option("--check", help="Exit 3 when there is an error or a warning.")]
Repair = Annotated[
    bool, typer.Option("--repair", help="Mend a damaged file and its state: show the plan, ask, keep a backup.")
]


def doctor(
    check: Check = False,
    repair: Repair = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    break_hard_links: BreakHardLinks = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Check file, policy, ledger, audit log and surroundings; mend a damaged file."""
    if repair:
        from memttl.commands.repair import repair as mend

        if check:
            raise UsageError("--check looks and --repair mends; nothing was done.", hint="Give one of them.")
        return mend(
            dry_run=dry_run,
            yes=yes,
            break_hard_links=break_hard_links,
            file=file,
            policy=policy,
            now=now,
            json=json,
            quiet=quiet,
            verbose=verbose,
            color=color,
        )
    if dry_run or yes or break_hard_links:
        raise UsageError(
            "--dry-run, --yes and --break-hard-links belong to --repair; nothing was done.",
            hint="Without --repair the doctor only looks.",
        )
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.doctor import doctor_document, render, short
    from memttl.report.several import doctor_sums
    from memttl.settings import Given, resolve_anyway
    from memttl.workflow.doctor import doctor as run_doctor

    output = Output(json, quiet, verbose, color)
    width = output.width if output.is_terminal else None
    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: run_doctor(settings, check=check),
        Faces(
            lambda outcome: outcome.exit_code,
            doctor_document,
            lambda outcome: put(render(outcome, width=width)),
            in_short=short,
            sums=doctor_sums,
        ),
        resolver=resolve_anyway,
        tells_failures=False,
    )
