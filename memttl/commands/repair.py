"""`memttl doctor --repair`: make a damaged memory file readable again. `commands/doctor.py` calls `repair`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memttl.commands.asking import Shown, ask_below, warn_of_the_rest
from memttl.commands.options import Output, words
from memttl.commands.printing import can_ask, put
from memttl.errors import ExitCode, NeedsYes

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.repair_outcome import RepairOutcome
    from memttl.settings import Settings
    from memttl.workflow.repair import Request


def repair(
    *,
    dry_run: bool = False,
    yes: bool = False,
    break_hard_links: bool = False,
    file: list[str] | None = None,
    policy: str | None = None,
    now: str | None = None,
    json: bool = False,
    quiet: bool = False,
    verbose: bool = False,
    color: bool | None = None,
) -> ExitCode:
    """Repair each memory file that is meant: show the plan, ask, write; give the exit code.

    Raises:
        NeedsYes: nobody can be asked, and neither `yes` nor `dry_run` is given.
        MemttlError: as the use case, of a single file.
    """
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.report.repair import render, repair_document
    from memttl.settings import Given
    from memttl.workflow.repair import Request

    output = Output(json, quiet, verbose, color)
    request = Request(dry_run=dry_run, break_hard_links=break_hard_links)
    if not (dry_run or yes or can_ask()):
        raise NeedsYes
    shown: Shown = set()

    def show(outcome: RepairOutcome) -> None:
        with_plan = warn_of_the_rest(outcome, output, shown)
        put(render(outcome, with_plan=with_plan, width=output.width if output.is_terminal else None))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: _one(settings, request, output, None if yes else shown),
        Faces(lambda _: ExitCode.OK, repair_document, show, sums=no_sums),
        mends=True,
        changes=changes_of(dry_run=dry_run, yes=yes),
    )


def _one(settings: Settings, request: Request, output: Output, shown: Shown | None) -> RepairOutcome:
    """Repair one file; `shown` is None with --yes, else it gathers what was shown with the question."""
    from memttl.workflow.repair import repair as run_repair

    if shown is None or request.dry_run:
        return run_repair(settings, request)
    return run_repair(settings, request, ask=lambda planned: _ask(planned, output, shown))


def _ask(planned: RepairOutcome, output: Output, shown: Shown) -> bool:
    from memttl.report.repair import question, render

    def plan(on_screen: bool) -> str:  # as `ask_below` calls it
        return render(planned, width=output.width if on_screen else None)

    return ask_below(planned, output, shown, plan, question(planned))
