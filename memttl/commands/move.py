"""`memttl move`: options into a request, two questions, the outcome into text or JSON."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import Shown, warn_of_the_rest
from memttl.commands.options import Color, DryRun, File, Json, Now, Output, PolicyPath, Quiet, Verbose, Yes, warn, words
from memttl.commands.printing import ask, can_ask, put, say
from memttl.errors import ExitCode, NeedsYes, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.move_outcome import MoveOutcome
    from memttl.settings import Given, Settings
    from memttl.workflow.move import Request

New = Annotated[str, typer.Argument(metavar="NEW", help="The new place: a file, or a folder for the same name.")]
Link = Annotated[
    bool | None,
    typer.Option("--link/--no-link", help="Leave a link at the old place, or nothing (asked; else nothing)."),
]


def move(
    new: New,
    link: Link = None,
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
    """Take the memory file, its state and its policy to another place."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.move import move_document, render, returned_words
    from memttl.settings import Given
    from memttl.workflow.move import Request
    from memttl.workflow.move import move as run_move

    output = Output(json, quiet, verbose, color)
    if not (dry_run or yes or can_ask()):
        raise NeedsYes
    given = Given(words(file), policy, now)
    _refuse_clashes(new, given)
    request = Request(new, given, dict(os.environ), link, dry_run)
    shown: Shown = set()

    def one(settings: Settings) -> MoveOutcome:
        if dry_run or yes:
            return run_move(settings, request)
        return run_move(settings, request, ask=lambda planned: _ask(planned, request, output, shown))

    def show(outcome: MoveOutcome) -> None:
        with_plan = warn_of_the_rest(outcome, output, shown)
        put(render(outcome, with_plan=with_plan))
        warn(returned_words(outcome), output)

    return over_files(
        given,
        output,
        one,
        Faces(lambda _: ExitCode.OK, move_document, show),
        changes=changes_of(dry_run=dry_run, yes=yes),
    )


def _refuse_clashes(new: str, given: Given) -> None:
    """Refuse several files for one place.

    Raises:
        UsageError: NEW is no folder, or two of the files have one name.
    """
    from memttl.memory_files import is_named, memory_files

    if not is_named(given, os.environ):
        return  # then it is one
    names = [os.path.basename(os.path.realpath(name)) for name in memory_files(given, os.environ)]
    if len(names) < 2:
        return
    if not (new.endswith(("/", os.sep)) or os.path.isdir(os.path.expanduser(new))):
        raise UsageError(
            f"{new} is one place for {len(names)} memory files; nothing was moved.",
            hint=f"Name a folder: {new}/ is made where there is none.",
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"Several of the files are named {', '.join(twice)}, and would meet in {new}; nothing was moved.",
            hint="Move them one by one, each to a name of its own.",
        )


def _ask(planned: MoveOutcome, request: Request, output: Output, shown: Shown) -> bool | None:
    """Show the plan, ask whether a link is left unless that was said, then whether to move; None for no."""
    from memttl.report.move import LINK_QUESTION, plan_text, question

    if output.is_terminal:
        shown.add((planned.file, "plan"))
    shown.update((planned.file, warning) for warning in planned.warnings)
    warn(planned.warnings, output)
    say(plan_text(planned))
    link = planned.link
    if link is None and planned.kind in ("move", "bring in"):
        link = ask(LINK_QUESTION)
    return bool(link) if ask(question(planned)) else None
