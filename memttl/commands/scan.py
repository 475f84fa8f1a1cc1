"""`memttl scan`: record what is there, for a frequent timer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import put

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.scan_outcome import ScanOutcome


def scan(
    accept_vanished: Annotated[
        bool, typer.Option("--accept-vanished", help="Record it although most of the memory is gone.")
    ] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Record which observations are there, so that their age is known."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.scan import render, scan_document
    from memttl.report.several import scan_sums
    from memttl.settings import Given
    from memttl.workflow.scan import scan as run_scan

    output = Output(json, quiet, verbose, color)

    def show(outcome: ScanOutcome) -> None:
        warn(outcome.warnings, output)
        put(render(outcome))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: run_scan(settings, accept_vanished=accept_vanished),
        Faces(lambda outcome: outcome.exit_code, scan_document, show, sums=scan_sums),
        kept_as="scan",
        changes="unasked",
    )
