"""Explained verdicts as plain lines: what an observation says of itself, what decided, and all that was tried."""

from __future__ import annotations

from datetime import UTC, datetime

from memttl.core.explain import ExplainOutcome
from memttl.core.model import Tried, Verdict
from memttl.core.wording import FROM_OLD_VERSION, day_words
from memttl.report.text import age_words, entity_title, expiry_words, observation_text, visible


def render(answer: ExplainOutcome) -> str:
    """Give each explained observation as a block of lines."""
    blocks = [block(v, tried, answer.now) for v, tried in answer.explanation.verdicts]
    return "\n".join(blocks) if blocks else "No observation matches.\n"


def block(verdict: Verdict, tried: tuple[Tried, ...], now: datetime) -> str:
    """Give one observation, its verdict, and all that was tried on it, as lines."""
    place = f"{entity_title(verdict.entity, verdict.entity_type)}, line {verdict.line}"
    lines = [place, f"  {observation_text(verdict.observation)}"]
    lines += [f"  {name:<8} {words}" for name, words in rows(verdict, now)]
    for step in tried:
        sign = "+" if step.matched else "-"
        lines.append(f"  {'tried':<8} {sign} {step.kind} {visible(step.what)}: {visible(step.note)}")
    return "\n".join(lines) + "\n"


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
    origin = f", {FROM_OLD_VERSION}" if verdict.backfilled else ""
    return f"{day}, {words} (age source: {verdict.age_source}{origin})"
