"""A backfill's outcome as lines of text, and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memttl.core.backfill_outcome import BackfillOutcome
from memttl.core.outcome import PruneOutcome
from memttl.core.wording import day_words, instant_text, plural
from memttl.report import prune_plain
from memttl.report.documents import SCHEMA, verdict_document
from memttl.report.text import visible

_BAR = 24  # columns of the longest bar
NOT_TAKEN_SHOWN = 20


def render(outcome: BackfillOutcome) -> str:
    """Give what was found, the ages before and after, and what the next prune would remove."""
    next_prune = prune_plain.render(PruneOutcome(outcome.file, outcome.now, outcome.plan, dry_run=False))
    end = "Dry run: nothing was written.\n" if outcome.dry_run else ""
    return "".join(visible(line) + "\n" for line in _lines(outcome)) + next_prune + end


def _lines(outcome: BackfillOutcome) -> Iterator[str]:
    stand = f"{outcome.found} of {plural(outcome.wanted, 'observation')} of {outcome.file} stand in them"
    yield f"Read {plural(outcome.versions, 'old version')}: {stand}."
    verb = "moved" if outcome.recorded else "would move" if outcome.dry_run else "moved"
    yield f"{plural(outcome.moved, 'birth')} {verb} earlier."
    taken = outcome.not_taken[:NOT_TAKEN_SHOWN]
    for version in taken:
        count = plural(version.observations, "observation")
        yield f"Not taken for {count}: {version.label}, dated {day_words(version.when)}, {version.why}"
    if len(outcome.not_taken) > len(taken):
        yield f"Not taken: {len(outcome.not_taken) - len(taken)} more versions."
    yield ""
    yield from _histogram(outcome)
    yield ""
    yield "The next prune:"


def _histogram(outcome: BackfillOutcome) -> Iterator[str]:
    """Ages before and after, a row each, with a bar for after."""
    most = max((row.observations for row in outcome.after), default=0) or 1
    yield f"{'observations by age':<20} {'before':>7} {'after':>7}"
    for before, after in zip(outcome.before, outcome.after, strict=True):
        bar = "#" * -(-after.observations * _BAR // most)
        yield f"{after.age:<20} {before.observations:>7} {after.observations:>7}  {bar}".rstrip()


def backfill_document(outcome: BackfillOutcome) -> dict[str, Any]:
    """Give what a backfill found; `next_prune` is what the next prune would do."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "dry_run": outcome.dry_run,
        "recorded": outcome.recorded,
        "versions": outcome.versions,
        "observations": outcome.wanted,
        "found": outcome.found,
        "moved": outcome.moved,
        "not_taken": [
            {"version": v.label, "date": instant_text(v.when), "observations": v.observations, "reason": v.why}
            for v in outcome.not_taken
        ],
        "ages": [
            {"age": after.age, "before": before.observations, "after": after.observations}
            for before, after in zip(outcome.before, outcome.after, strict=True)
        ],
        "next_prune": {
            "counts": outcome.plan.counts._asdict(),
            "removed": [verdict_document(v) for v in outcome.plan.removals],
            "refusals": list(outcome.plan.refusals),
        },
        "warnings": list(outcome.warnings),
    }
