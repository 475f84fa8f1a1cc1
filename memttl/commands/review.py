"""`memttl review`: a dialogue at a terminal about what is due, one at a time, and what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import Shown, refuse_later_now, warn_of_the_rest
from memttl.commands.narrowing import Entity, ExpireBefore, Tier, Type, Within
from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import can_ask, choose, put, read_line, say
from memttl.errors import Interrupted, NoTerminal

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.review import Dialogue, Show
    from memttl.core.review_deck import Deck
    from memttl.core.review_outcome import ReviewOutcome
    from memttl.report.review import Style
    from memttl.settings import Settings
    from memttl.workflow.review import Answer, Request

DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Go through it all and write nothing.")]

_INTERRUPTED = "Interrupted; nothing of this review was kept, and the memory file is as it was."
_ANSWERS: dict[str, Answer] = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "b": "back", "back": "back"}
_NARROWEST, _WIDEST = 20, 200
_SGR = {"title": "1", "own": "1;36", "dim": "2", "key": "1;34"}


def review(
    within: Within = None,
    expire_before: ExpireBefore = None,
    entity: Entity = None,
    type_: Type = None,
    tier: Tier = None,
    dry_run: DryRun = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Go through what is due, one at a time: renew, pin, drop, skip."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.report.review_json import review_document
    from memttl.settings import Given
    from memttl.workflow.review import Request

    if not can_ask():
        raise NoTerminal
    output = Output(json, quiet, verbose, color)
    request = Request(within, expire_before, words(entity), words(type_), words(tier), dry_run)
    shown: Shown = set()
    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: _one(settings, request, output, shown),
        Faces(
            lambda outcome: outcome.exit_code,
            review_document,
            lambda outcome: _show(outcome, output, shown),
            sums=no_sums,
        ),
        changes=changes_of(dry_run=dry_run, yes=False),
    )


def _one(settings: Settings, request: Request, output: Output, shown: Shown) -> ReviewOutcome:
    from memttl.workflow.review import review as run_review

    if not request.dry_run:
        refuse_later_now(settings, "drop and set as of a day to come", hint="Give --dry-run to look.")

    def talk(deck: Deck, dialogue: Dialogue) -> Dialogue:
        with _nothing_kept():
            return _talk(deck, dialogue, settings, output)

    def ask(planned: ReviewOutcome) -> Answer:
        with _nothing_kept():
            return _ask(planned, output, shown)

    outcome = run_review(settings, request, talk=talk, ask=ask)
    if outcome.dry_run and not outcome.does_nothing:
        from memttl.report.review import summary

        say(summary(outcome, _style(output)))
    return outcome


@contextmanager
def _nothing_kept() -> Iterator[None]:
    """Say so where Ctrl-C comes while something is printed; at a prompt `read_line` does."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(_INTERRUPTED) from None


def _talk(deck: Deck, dialogue: Dialogue, settings: Settings, output: Output) -> Dialogue:
    """Lead the dialogue to its end: show, ask, take one line.

    Raises:
        Interrupted: Ctrl-C or the end of input.
    """
    from memttl.core.review import Show, answer
    from memttl.report import review as texts

    shows: tuple[Show, ...] = (Show("item"),)
    if not any(dialogue.decisions):
        say(texts.opening(deck, settings.named))
    while not dialogue.is_over:
        style = _style(output)  # anew each time: the window may have been resized
        for show in shows:
            say(texts.shown(show, deck, dialogue, settings.now_here, style))
        dialogue, shows = answer(dialogue, read_line(texts.prompt(dialogue, style), _INTERRUPTED))
    return dialogue


def _ask(planned: ReviewOutcome, output: Output, shown: Shown) -> Answer:
    """Show the summary and ask the one question.

    Raises:
        Interrupted: Ctrl-C or the end of input.
    """
    from memttl.report.review import summary

    say(summary(planned, _style(output)))
    shown.update((planned.file, warning) for warning in planned.warnings)
    warn(planned.warnings, output._replace(json=False))
    # no default: an empty line must not throw away what an hour of thought decided
    again = "Answer y to apply it, n to leave all as it is, b to go back to the last one."
    return choose("Apply? [y]es, [n]o, [b]ack: ", _ANSWERS, again, interrupted=_INTERRUPTED)


def _style(output: Output) -> Style:
    from memttl.report.review import Style

    width = max(_NARROWEST, min(_WIDEST, output.width))
    return Style(width, _painted) if output.colors(sys.stderr) else Style(width)


def _painted(kind: str, text: str) -> str:
    return f"\x1b[{_SGR[kind]}m{text}\x1b[0m"


def _show(outcome: ReviewOutcome, output: Output, shown: Shown) -> None:
    from memttl.report.review import closing

    warn_of_the_rest(outcome, output, shown)
    put(closing(outcome))
