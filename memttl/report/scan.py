"""A scan's outcome as a line of text, and as a JSON document."""

from __future__ import annotations

from typing import Any

from memttl.core.scan_outcome import ScanOutcome
from memttl.core.wording import instant_text, plural
from memttl.report.documents import SCHEMA
from memttl.report.prune_closing import VANISHED_HINT
from memttl.report.text import visible


def render(outcome: ScanOutcome) -> str:
    """Give what was found: new, gone, known; or why nothing was recorded."""
    found = outcome.found
    if outcome.refusals:
        lines = [f"Refused, and nothing was recorded of {outcome.file}: {reason}." for reason in outcome.refusals]
        return "".join(visible(line) + "\n" for line in (*lines, VANISHED_HINT))
    counts = f"{found.new} new, {found.gone} gone, {found.known} known"
    entities = plural(found.entities, "entity")
    return visible(f"{outcome.file}: {counts}; {plural(found.observations, 'observation')} in {entities}.") + "\n"


def scan_document(outcome: ScanOutcome) -> dict[str, Any]:
    """Give what a scan found; `recorded` is false where it was refused."""
    found = outcome.found
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "recorded": not outcome.refusals,
        "baseline": instant_text(outcome.baseline) if outcome.baseline else None,
        "new": found.new,
        "gone": found.gone,
        "known": found.known,
        "observations": found.observations,
        "entities": found.entities,
        "refusals": list(outcome.refusals),
        "warnings": list(outcome.warnings),
    }
