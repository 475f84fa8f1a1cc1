"""A review as text: each item with what stands around it, the prompt, the help, the summary, and what came of it. Pure.

`commands/review.py` prints all but the last on stderr. A `Style` says how wide the screen is and how words are painted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from memttl.core.dates import day_of
from memttl.core.model import Verdict
from memttl.core.review import Decision, Dialogue, Show
from memttl.core.review_deck import Deck, Item
from memttl.core.review_outcome import ReviewOutcome
from memttl.core.wording import plural
from memttl.report.explain_plain import blocks, rows
from memttl.report.fitting import cut, wrap
from memttl.report.prune_closing import VANISHED_HINT
from memttl.report.prune_plain import removal_lines
from memttl.report.settings import plan_lines
from memttl.report.text import entity_title, observation_text, run_words, visible

_NEIGHBOURS = 2  # shown on each side
_MOST_LINES = 12  # of a text; the rest is behind `m`
_KEYS = ("renew [1] 30d", "[2] 90d", "[3] 365d,", "[p]in,", "[t]ier,", "[d]rop,", "[s]kip,", "[n]ext as decided,")
_MORE_KEYS = ("[b]ack,", "[m]ore,", "[q]uit,", "[?] help:")
_HELP = (
    ("1, 2, 3", "renew: keep it for 30, 90 or 365 days from now"),
    ("p", "pin it: it never expires until it is unpinned"),
    ("t", "change its tier; t session names it at once"),
    ("d", "drop it: it is removed at the end, with a backup"),
    ("s", "skip it: it stays as it is, and goes when it would have gone"),
    ("b", "back to the one before"),
    ("n", "on to the next one, where this one is decided"),
    ("m", "more: all that its entity holds, with every mark and rule that was tried"),
    ("q", "quit: on to the summary; what was not reached stays as it is"),
    ("?", "this help"),
)
_HELP_END = "Nothing is applied before the question at the end. Ctrl-C leaves at once, and nothing is kept."


class Style(NamedTuple):
    """A screen's width in columns, and what paints a text: `paint("title", text)`, of title, own, dim and key."""

    width: int = 80
    paint: Callable[[str, str], str] = lambda _, text: text


def opening(deck: Deck, file: str) -> str:
    """Say how much there is to go through."""
    kinds = [item.listed_as for item in deck.items]
    words = {"expired": "expired", "due": "due", "review": "due for review"}
    counts = ", ".join(f"{kinds.count(kind)} {words[kind]}" for kind in dict.fromkeys(kinds))
    return visible(f"{file}: {plural(len(kinds), 'observation')} to go through: {counts}.") + "\n"


def shown(show: Show, deck: Deck, dialogue: Dialogue, now: datetime, style: Style) -> str:
    """Give what a turn of the dialogue shows."""
    if show.face == "note":
        return _wrapped(show.note, style)
    if show.face == "tiers":
        return _wrapped(f"Tiers: {', '.join(dialogue.tiers)}.", style)
    if show.face == "help":
        return _help(style)
    if show.face == "unknown":
        return _wrapped("That is no key here; ? explains them all.", style)
    item = deck.items[dialogue.place]
    if show.face == "more":
        return "\n".join(blocks(deck.explained(item), now)) + "\n"
    return "\n".join(_item(item, deck, dialogue, now, style)) + "\n"


def prompt(dialogue: Dialogue, style: Style) -> str:
    """Give the prompt, broken to the width, without a line end behind it."""
    if dialogue.asks_tier:
        return "Which tier (Enter: none)? "
    left_out = {"[n]": dialogue.decided is None, "[d]": bool(dialogue.cannot_drop)}
    keys = [key for key in (*_KEYS, *_MORE_KEYS) if not left_out.get(key[:3])]
    text = f"({dialogue.place + 1}/{len(dialogue.decisions)}) {' '.join(keys)}"
    return "\n".join(style.paint("key", line) for line in wrap(text, style.width - 1)) + " "


def _wrapped(text: str, style: Style) -> str:
    return "".join(f"{line}\n" for line in wrap(visible(text), style.width))


def _help(style: Style) -> str:
    lines = [line for key, words in _HELP for line in _row(key, words, style)]
    return "".join(f"{line}\n" for line in lines) + _wrapped(_HELP_END, style)


def _row(name: str, words: str, style: Style) -> list[str]:
    """One row with its words behind a hanging indent; under it where there is hardly any width."""
    indent = 11 if style.width >= 40 else 4
    lines = wrap(words, style.width - indent)
    if indent == 4:
        return [f"  {name}", *(f"    {line}" for line in lines)]
    return [f"  {name:<8} {lines[0]}", *(" " * indent + line for line in lines[1:])]


def _item(item: Item, deck: Deck, dialogue: Dialogue, now: datetime, style: Style) -> Iterator[str]:
    verdict = item.verdict
    title = f"{entity_title(verdict.entity, verdict.entity_type)}: {_when(item, now)}"
    yield ""
    yield from (style.paint("title", line) for line in wrap(title, style.width))
    yield ""
    yield from _text(item, deck, style)
    yield ""
    for name, words in rows(verdict, now):
        yield from _row(name, words, style)
    if len(item.copies) + item.unlisted > 1:
        yield from _row("copies", _copies(item), style)
    if dialogue.decided is not None:
        yield from _row("so far", decision_words(dialogue.decided), style)


def _when(item: Item, now: datetime) -> str:
    expires_at = item.verdict.expires_at
    if expires_at is None:
        return "due for review"
    days = (day_of(expires_at, now.tzinfo or UTC) - now.date()).days
    if item.listed_as == "expired":
        return "expired today" if not days else f"expired {plural(-days, 'day')} ago"
    return "due today" if not days else f"due in {plural(days, 'day')}"


def _text(item: Item, deck: Deck, style: Style) -> Iterator[str]:
    """Its text between its neighbours on the same line of the file."""
    verdict = item.verdict
    siblings = [v for v in deck.entities[verdict.entity].verdicts if v.line == verdict.line]
    before = siblings[max(0, verdict.index - _NEIGHBOURS) : verdict.index]
    after = siblings[verdict.index + 1 :][:_NEIGHBOURS]
    yield from (_neighbour(v, style) for v in before)
    lines = wrap(observation_text(verdict.observation), style.width - 4)
    for place, line in enumerate(lines[:_MOST_LINES]):
        yield style.paint("own", ("  > " if not place else "    ") + line)
    if len(lines) > _MOST_LINES:
        yield f"    … {plural(len(lines) - _MOST_LINES, 'more line')}"
    yield from (_neighbour(v, style) for v in after)
    rest = len(siblings) - len(before) - len(after) - 1
    if rest:
        yield style.paint("dim", f"    … {rest} more in this entity")


def _neighbour(verdict: Verdict, style: Style) -> str:
    return style.paint("dim", "    " + cut(observation_text(verdict.observation), style.width - 4))


def _copies(item: Item) -> str:
    listed, count = len(item.copies), len(item.copies) + item.unlisted
    drop = f"a drop takes {'both' if listed == 2 else 'all'}" if listed == count else f"a drop takes {listed}"
    return f"{count} copies in this entity: what is set holds for all, {drop}"


def decision_words(decision: Decision) -> str:
    """Say what a decision does."""
    words = {
        "renew": f"renew for {decision.days} days",
        "pin": "pin",
        "tier": f"change the tier to {decision.tier}",
        "drop": "drop",
        "skip": "leave as it is",
    }
    return visible(words[decision.kind])


def summary(outcome: ReviewOutcome, style: Style) -> str:
    """Give what was decided, which stands above the question at the end."""
    lines = ["", *wrap(visible(f"Decided on {outcome.file}: {_decided(outcome)}."), style.width), ""]
    if not outcome.changes.are_none:
        of_settings = map(visible, plan_lines(outcome.changes, outcome.now, style.width))
        lines += [style.paint("title", "To be set"), *_fitted(of_settings, style)]
    if outcome.plan is not None and outcome.removals:
        lines += [style.paint("title", "To be dropped"), *_fitted(removal_lines(outcome.plan, outcome.now), style)]
    return "".join(f"{line}\n" for line in lines)


def _fitted(lines: Iterable[str], style: Style) -> Iterator[str]:
    """Break lines to the width; what follows stands as far in as the words of the first."""
    for line in lines:
        words = line.lstrip(" -")
        indent = min(len(line) - len(words), style.width // 2)
        first, *rest = wrap(words, style.width - indent) or [""]
        yield line[:indent] + first
        yield from (" " * indent + more for more in rest)


def _decided(outcome: ReviewOutcome) -> str:
    counts = outcome.counts
    named = [
        (counts.renewed, "renewed"),
        (counts.pinned, "pinned"),
        (counts.tier_changed, "given another tier"),
        (counts.dropped, "dropped"),
        (counts.skipped, "skipped"),
        (counts.listed - counts.reviewed, "not looked at"),
    ]
    return ", ".join(f"{count} {words}" for count, words in named if count)


def closing(outcome: ReviewOutcome) -> str:
    """Give the last lines: what came of it."""
    return "".join(visible(line) + "\n" for line in _closing(outcome))


def _closing(outcome: ReviewOutcome) -> Iterator[str]:
    if outcome.settings_run is not None:
        count = plural(len(outcome.changes.observations), "observation")
        yield f"Changed the settings of {count} of {outcome.file}."
    if outcome.refusals:
        yield from (f"Refused, and nothing was dropped from {outcome.file}: {reason}." for reason in outcome.refusals)
        yield VANISHED_HINT
    elif not outcome.dialogue.decisions:
        yield f"Nothing to review in {outcome.file}: nothing has expired, is due, or is due for review."
    elif outcome.declined:
        yield "Nothing was changed."
    elif outcome.run is not None:
        yield f"Dropped {plural(len(outcome.removals), 'observation')} of {outcome.file}."
        yield run_words(outcome.run, outcome.backup)
        yield from [f"What was dropped is kept in {outcome.archive}"] if outcome.archive else []
    elif outcome.dry_run and not outcome.does_nothing:
        yield "Dry run: nothing was written."
    elif outcome.plan is not None:
        yield f"Nothing was dropped from {outcome.file}."
    elif outcome.settings_run is None:
        yield f"Nothing to change in {outcome.file}: {_decided(outcome)}."
