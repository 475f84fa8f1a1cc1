"""`memttl explain`: why each observation stays or goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, tell, words
from memttl.commands.printing import put
from memttl.errors import ExitCode

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.explain import ExplainOutcome
    from memttl.core.selection import Choice
    from memttl.settings import Settings


def explain(
    entity: Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="An exact name, else a glob.")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="A part of the text, in any case.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="TEXT is the whole text.")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="TEXT is a regular expression.")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Tell why an observation stays or goes, with all that was tried."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.core.selection import Choice
    from memttl.report.explain_json import explain_document
    from memttl.settings import Given

    output = Output(json, quiet, verbose, color)
    choice = Choice(entity, text, exact, pattern)
    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: _one(settings, choice, output),
        Faces(lambda _: ExitCode.OK, explain_document, lambda outcome: _show(outcome, output)),
    )


def _one(settings: Settings, choice: Choice, output: Output) -> ExplainOutcome:
    from memttl.workflow.explain import explain as run_explain

    outcome = run_explain(settings, choice)
    if not output.quiet:
        tell(outcome.warnings)  # the document of --json has no place for them
    return outcome


def _show(outcome: ExplainOutcome, output: Output) -> None:
    from memttl.report import explain_plain

    put(explain_plain.render(outcome, verbose=output.verbose))
