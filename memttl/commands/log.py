"""`memttl log` and `memttl log verify`: the audit log as a timeline, and whether it is whole."""

from __future__ import annotations

from typing import Annotated

import typer

from memttl.commands.groups import Group
from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import put, say
from memttl.errors import ExitCode, UsageError

app = typer.Typer(
    help="Show what was removed, restored, set and repaired, and when; or check that the log is whole.",
    rich_markup_mode=None,
    cls=Group,
)
Run = Annotated[
    list[str] | None, typer.Option("--run", metavar="RUN", help="One run: its id, or its beginning; repeatable.")
]
Entity = Annotated[
    list[str] | None, typer.Option("--entity", metavar="NAME", help="Only of this entity (or glob); repeatable.")
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="From this day or instant on, or 30d for the last 30 days."),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="WHEN", help="Up to the end of this day, to an instant, or so long ago."),
]


@app.callback(invoke_without_command=True)
def log(
    context: typer.Context,
    run: Run = None,
    entity: Entity = None,
    since: Since = None,
    until: Until = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Show what was removed, restored, set and repaired, and when."""
    given_options = (run, entity, since, until, file, policy, now, color)
    if context.invoked_subcommand is not None:
        if any(value is not None for value in given_options) or json or quiet or verbose:
            raise UsageError(
                f"The options of `memttl log {context.invoked_subcommand}` stand after that word; nothing was done.",
                hint=f"Write `memttl log {context.invoked_subcommand} --file PATH`.",
            )
        return ExitCode.OK
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.core.log_outcome import LogOutcome
    from memttl.report.log import render
    from memttl.report.log_json import log_document
    from memttl.settings import Given
    from memttl.workflow.log import Asked, logged

    output = Output(json, quiet, verbose, color)
    asked = Asked(words(run), words(entity), since, until)

    def show(outcome: LogOutcome) -> None:
        warn(outcome.warnings, output)
        put(render(outcome, width=output.width if output.is_terminal else None))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: logged(settings, asked),
        Faces(lambda _: ExitCode.OK, log_document, show),
    )


@app.command()
def verify(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Check that no line of the log was edited, lost or moved."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.core.log_outcome import VerifyOutcome
    from memttl.report.log import render_verified
    from memttl.report.log_json import verify_document
    from memttl.settings import Given
    from memttl.workflow.log import verified

    output = Output(json, quiet, verbose, color)

    def show(outcome: VerifyOutcome) -> None:
        warn(outcome.warnings, output)
        put(render_verified(outcome))

    def say_broken(outcomes: list[VerifyOutcome], _complete: bool) -> None:
        for outcome in outcomes:  # --quiet still tells what is wrong
            if quiet and outcome.found.broken:
                say(render_verified(outcome))

    return over_files(
        Given(words(file), policy, now),
        output,
        verified,
        Faces(lambda o: ExitCode.CANNOT_CREATE if o.found.broken else ExitCode.OK, verify_document, show, say_broken),
    )
