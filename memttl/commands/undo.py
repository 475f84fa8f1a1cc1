"""`memttl undo`: put back what a run removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import Shown, ask_below, refuse_later_now, warn_of_the_rest
from memttl.commands.narrowing import Entity, Tier
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
from memttl.commands.printing import can_ask, put
from memttl.errors import ExitCode, NeedsYes

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.undo_outcome import UndoOutcome
    from memttl.settings import Settings
    from memttl.workflow.undo import Request

Run = Annotated[
    str | None, typer.Argument(help="The run's name or its beginning (default: the last one that removed something).")
]
NoPin = Annotated[bool, typer.Option("--no-pin", help="Do not pin what is put back.")]


def undo(
    run: Run = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    no_pin: NoPin = False,
    entity: Entity = None,
    tier: Tier = None,
    break_hard_links: BreakHardLinks = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Put back what a run removed, keeping all that came since."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.report.undo import render, undo_document
    from memttl.settings import Given
    from memttl.workflow.undo import Request

    output = Output(json, quiet, verbose, color)
    request = Request(
        run=run,
        entities=words(entity),
        tiers=words(tier),
        pin=not no_pin,
        dry_run=dry_run,
        break_hard_links=break_hard_links,
    )
    if not (dry_run or yes or can_ask()):
        raise NeedsYes
    shown: Shown = set()

    def show(outcome: UndoOutcome) -> None:
        with_plan = warn_of_the_rest(outcome, output, shown)
        put(render(outcome, with_plan=with_plan, width=output.width if output.is_terminal else None))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: _one(settings, request, output, None if yes else shown),
        Faces(lambda _: ExitCode.OK, undo_document, show, sums=no_sums),
        mends=True,
        changes=changes_of(dry_run=dry_run, yes=yes),
    )


def _one(settings: Settings, request: Request, output: Output, shown: Shown | None) -> UndoOutcome:
    """Undo in one file; `shown` is None with --yes, else it gathers what was shown with the question."""
    from memttl.workflow.undo import undo as run_undo

    if shown is None or request.dry_run:
        return run_undo(settings, request)
    refuse_later_now(settings, "be recorded as of a day to come")
    return run_undo(settings, request, ask=lambda planned: _ask(planned, output, shown))


def _ask(planned: UndoOutcome, output: Output, shown: Shown) -> bool:
    from memttl.report.undo import question, render

    def plan(on_screen: bool) -> str:  # as `ask_below` calls it
        return render(planned, width=output.width if on_screen else None)

    return ask_below(planned, output, shown, plan, question(planned))
