"""`memttl doctor`: check the memory file and all that goes with it."""

from __future__ import annotations

from typing import Annotated

import typer

from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, words
from memttl.commands.printing import put

Check = Annotated[bool, typer.Option("--check", help="Exit 3 when there is an error or a warning.")]


def doctor(
    check: Check = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Check file, policy, ledger, audit log and surroundings; write nothing. Example: memttl doctor"""
    from memttl.commands.over_files import Faces, over_files
    from memttl.report.doctor import doctor_document, render
    from memttl.settings import Given, resolve_anyway
    from memttl.workflow.doctor import doctor as run_doctor

    return over_files(
        Given(words(file), policy, now),
        Output(json, quiet, verbose, color),
        lambda settings: run_doctor(settings, check=check),
        Faces(lambda outcome: outcome.exit_code, doctor_document, lambda outcome: put(render(outcome))),
        resolver=resolve_anyway,
    )
