"""`memttl forget`: options into a choice, two questions, the outcome into text or JSON and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import Shown, ask_below, warn_of_the_rest
from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import can_ask, put, read_line, read_secret
from memttl.errors import AS_IT_WAS, ExitCode, NeedsYes, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.forget_outcome import ForgetOutcome
    from memttl.core.selection import Choice
    from memttl.settings import Settings

STDIN = "-"  # in place of TEXT


def forget(
    entity: Annotated[
        str | None, typer.Argument(metavar="[ENTITY]", help="An exact name, else a glob; '*' for all.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]",
            help="A part of the text, in any case (-: read from stdin); without it all goes.",
        ),
    ] = None,
    text_of_all: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="TEXT",
            help="The same for all entities, instead of both (-: from stdin).",
        ),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="TEXT is the whole text.")] = False,
    pattern: Annotated[bool, typer.Option("--pattern", help="TEXT is a regular expression.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show what would go, and from where; write nothing at all.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Answer the first of the two questions.")] = False,
    for_good: Annotated[bool, typer.Option("--for-good", help="Answer the second one; it needs --yes.")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Erase a secret for good, from backups and logs too."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.report.forget import forget_document, remaining_words, render
    from memttl.settings import Given
    from memttl.workflow.forget import forget as run_forget

    output = Output(json, quiet, verbose, color)
    choice = _choice(entity, text, text_of_all, exact=exact, pattern=pattern)
    if not dry_run:
        _check_answers(yes=yes, for_good=for_good)
    if choice.text == STDIN:
        choice = _with_secret(choice)
    shown: Shown = set()

    def one(settings: Settings) -> ForgetOutcome:
        if dry_run or (yes and for_good):
            return run_forget(settings, choice, dry_run=dry_run)
        return run_forget(settings, choice, ask=lambda planned: _ask(planned, output, shown, yes=yes))

    def show(outcome: ForgetOutcome) -> None:
        with_plan = warn_of_the_rest(outcome, output, shown)
        warn(remaining_words(outcome), output)
        put(render(outcome, with_plan=with_plan or outcome.run is not None))

    return over_files(
        Given(words(file), policy, now),
        output,
        one,
        Faces(lambda _: ExitCode.OK, forget_document, show, sums=no_sums),
        changes=changes_of(dry_run=dry_run, yes=yes),
    )


def _choice(entity: str | None, text: str | None, text_of_all: str | None, *, exact: bool, pattern: bool) -> Choice:
    """Read what is meant.

    Raises:
        UsageError: nothing is named, or everything.
    """
    from memttl.core.selection import Choice

    if text_of_all is not None and entity is not None:
        raise UsageError(
            "--text means all entities, and ENTITY some of them; nothing was done.", hint="Give one or the other."
        )
    choice = Choice(
        entity if text_of_all is None else "*", text if text_of_all is None else text_of_all, exact, pattern
    )
    if choice.entity is None:
        raise UsageError(
            "Nothing says what `memttl forget` means; nothing was done.",
            hint="Name an entity, and a part of the text unless all of the entity must go; --text for all entities.",
        )
    if choice.text == "" or (choice.text is None and not choice.entity.strip("*")):
        raise UsageError(
            "That would forget the whole memory; nothing was done.",
            hint="Give a TEXT, or name entities. To forget all, remove the memory file and what is in `.memttl`.",
        )
    choice.matcher()
    return choice


def _with_secret(choice: Choice) -> Choice:
    """Read the text from standard input; no message may show it.

    Raises:
        UsageError: it is no such text.
        Interrupted: nobody gave one.
    """
    read = choice._replace(text=read_secret("Text to forget (it is not shown): ", f"Interrupted; {AS_IT_WAS}."))
    try:
        read.matcher()
    except UsageError:
        raise UsageError("The text that was read is no regular expression; nothing was done.") from None
    return read


def _check_answers(*, yes: bool, for_good: bool) -> None:
    if for_good and not yes:
        raise UsageError("--for-good answers the second question, and needs --yes for the first; nothing was done.")
    if not (can_ask() or for_good):
        error = NeedsYes()
        error.hint = "What is forgotten is gone for good: give --yes and --for-good, or --dry-run to see what would go."
        raise error


def _ask(planned: ForgetOutcome, output: Output, shown: Shown, *, yes: bool) -> bool:
    """Ask once, unless that is answered, and then for a word: what goes cannot be brought back."""
    from memttl.report.forget import WORD, plan_lines, questions
    from memttl.report.text import visible

    first, second = questions(planned)

    def plan(_on_screen: bool) -> str:
        return "".join(visible(line) + "\n" for line in plan_lines(planned))

    if not ask_below(planned, output, shown, plan, None if yes else first):
        return False
    return read_line(second, f"Interrupted; {AS_IT_WAS}.").strip().lower() == WORD
