"""Explained verdicts as plain lines: what an observation says of itself, what decided, and all that was tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from datetime import UTC, datetime
from itertools import groupby

from memttl.core.explain import ExplainOutcome
from memttl.core.model import Tried, Verdict
from memttl.core.wording import FROM_OLD_VERSION, day_words
from memttl.report.text import age_words, entity_title, expiry_words, observation_text, visible

Steps = tuple[Tried, ...]


def render(answer: ExplainOutcome, *, verbose: bool = False) -> str:
    """Give each explained observation as a block of lines.

    Rules that pass over several observations of an entity alike are shown once, with `verbose` at each.
    """
    shown = blocks(answer.explanation.verdicts, answer.now, verbose=verbose)
    return "\n".join(shown) if shown else "No observation matches.\n"


def blocks(explained: Iterable[tuple[Verdict, Steps]], now: datetime, *, verbose: bool = False) -> list[str]:
    """Give a block of lines for each explained observation, as `render` does."""
    shown = []
    line, met = 0, set[Tried]()
    for verdict, tried in explained:
        if verdict.line != line:
            line, met = verdict.line, set()
        shown.append(block(verdict, tried, now, known=frozenset() if verbose else met))
        met |= _passed_over(tried)
    return shown


def _passed_over(tried: Steps) -> set[Tried]:
    return {step for step in tried if step.kind == "rule" and not step.matched}


def block(verdict: Verdict, tried: Steps, now: datetime, *, known: Set[Tried] = frozenset()) -> str:
    """Give one observation, its verdict, and all that was tried on it, as lines; of `known` steps how many they are."""
    place = f"{entity_title(verdict.entity, verdict.entity_type)}, line {verdict.line}"
    lines = [place, f"  {observation_text(verdict.observation)}"]
    lines += [f"  {name:<8} {words}" for name, words in rows(verdict, now)]
    for is_known, steps in groupby(tried, key=lambda step: step in known):
        lines += _steps(list(steps), is_known=is_known)
    return "\n".join(lines) + "\n"


def _steps(steps: list[Tried], *, is_known: bool) -> Iterator[str]:
    if is_known and len(steps) > 1:
        yield f"  {'tried':<8} - {len(steps)} rules that do not match, as above"
        return
    for step in steps:
        sign = "+" if step.matched else "-"
        yield f"  {'tried':<8} {sign} {step.kind} {visible(step.what)}: {visible(step.note)}"


def rows(verdict: Verdict, now: datetime) -> list[tuple[str, str]]:
    """Give verdict, tier, birth and expiry as pairs of a name and words; of an element without text the verdict."""
    found = [
        ("verdict", f"{verdict.action}: {verdict.reason}"),
        ("tier", f"{verdict.tier}" + (f" (rule {verdict.rule})" if verdict.rule else "")),
        ("birth", _birth(verdict, now)),
        ("expiry", expiry_words(verdict, now)),
    ]
    return [(name, visible(words)) for name, words in (found if verdict.tier is not None else found[:1])]


def _birth(verdict: Verdict, now: datetime) -> str:
    if verdict.created_at is None:
        return "unknown"
    day, age = day_words(verdict.created_at, now.tzinfo or UTC), age_words(verdict.created_at, now)
    words = f"known for {age}" if verdict.age_source == "seen" else f"{age} ago"
    origin = f", {FROM_OLD_VERSION}" if verdict.backfilled else ", on arrival" if verdict.arrived else ""
    return f"{day}, {words} (age source: {verdict.age_source}{origin})"
