"""What is forgotten, from where, and where it still stands, as lines of text and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from memttl.core.forget_outcome import ForgetOutcome, PlaceCount
from memttl.core.wording import plural
from memttl.report.documents import run_head
from memttl.report.text import visible

WORD = "forget"
_TEXT_COLUMNS = 60
_TEXTS_SHOWN = 50


def render(outcome: ForgetOutcome, *, with_plan: bool = True) -> str:
    """Give what goes and from where, then the total; the texts only of what was not erased yet."""
    lines = [*plan_lines(outcome)] if with_plan else []
    return "".join(visible(line) + "\n" for line in (*lines, *_closing(outcome)))


def plan_lines(outcome: ForgetOutcome) -> Iterator[str]:
    """Give the observations, clipped, the places that lose something, and those that still hold it afterwards."""
    if outcome.run is None:
        yield from _texts(outcome)
    yield f"{'Erased' if outcome.run else 'To be erased'} for good from:"
    yield from _places(outcome.places)
    if outcome.run is None and outcome.remaining:
        yield from _remaining(outcome, "What stays in, as part of something else or in damaged lines:")
    yield ""


def _texts(outcome: ForgetOutcome) -> Iterator[str]:
    for name in outcome.entities:
        yield f"{name}: the whole entity, and the relations that name it"
    shown = outcome.observations[:_TEXTS_SHOWN]
    for entity, found in groupby(sorted(shown), key=lambda pair: pair[0]):
        yield entity
        yield from (f"  - {_clipped(text)}" for _, text in found)
    if len(outcome.observations) > len(shown):
        yield f"  … and {len(outcome.observations) - len(shown)} more"


def _clipped(text: str) -> str:
    return text if len(text) <= _TEXT_COLUMNS else f"{text[: _TEXT_COLUMNS - 1]}…"


def _places(places: Sequence[PlaceCount]) -> Iterator[str]:
    for place in places:
        yield f"  {place.place}: {place.words}"


def _remaining(outcome: ForgetOutcome, title: str) -> Iterator[str]:
    yield title
    yield from _places(outcome.remaining)


def questions(outcome: ForgetOutcome) -> tuple[str, str]:
    """Give the two questions that stand below the plan."""
    count = _count(outcome)
    return (
        visible(f"Forget {count} of {outcome.file} for good?"),
        f"This cannot be undone: no undo, no backup will have it. Type {WORD} to go on: ",
    )


def _count(outcome: ForgetOutcome) -> str:
    observations = plural(len(outcome.observations), "observation")
    return f"{plural(len(outcome.entities), 'entity')} and {observations}" if outcome.entities else observations


def _closing(outcome: ForgetOutcome) -> Iterator[str]:
    if outcome.declined:
        yield "Nothing was forgotten."
    elif outcome.dry_run:
        yield f"Would forget {_count(outcome)} of {outcome.file} for good."
        yield "Dry run: nothing was written."
    else:
        yield f"Forgot {_count(outcome)} of {outcome.file}. This cannot be undone."


def remaining_words(outcome: ForgetOutcome) -> tuple[str, ...]:
    """Give the warning that names where the words still stand, once all is done."""
    if not outcome.remaining or outcome.run is None:
        return ()
    places = ", ".join(f"{p.place} ({p.words})" for p in outcome.remaining)
    hints = []
    if any(p.without_damaged for p in outcome.remaining):
        hints.append("it is part of something else there, so name more to forget that as well")
    if any(p.words != p.without_damaged for p in outcome.remaining):
        hints.append("`memttl doctor --repair` mends damaged lines, then forget again")
    return (f"still in: {places}; {'; '.join(hints)}",)


def forget_document(outcome: ForgetOutcome) -> dict[str, Any]:
    """Give what was forgotten or would be; once it is gone, its texts are in the document no longer."""
    whole = set(outcome.entities)
    parts = [(entity, text) for entity, text in outcome.observations if entity not in whole]
    with_text = outcome.run is None
    forgotten: list[dict[str, Any]] = [{"entity": name} for name in outcome.entities]
    forgotten += [{"entity": entity, **({"observation": text} if with_text else {})} for entity, text in parts]
    return {
        **run_head(outcome),
        "forgotten": forgotten,
        "places": [_place(p) for p in outcome.places],
        "remaining": [_place(p) for p in outcome.remaining],
        "warnings": [*outcome.warnings, *remaining_words(outcome)],
    }


def _place(found: PlaceCount) -> dict[str, Any]:
    return {"place": found.place, "count": found.number, "kinds": {noun: count for count, noun in found.kinds}}
