"""A prune's outcome as plain lines: what a pipe, a cron mail or a log gets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

from memttl.core.outcome import PruneOutcome
from memttl.core.plan import Plan
from memttl.report.prune_closing import closing
from memttl.report.text import age_of, entity_title, observation_text, visible


def render(outcome: PruneOutcome) -> str:
    """Give the outcome as lines: what goes, grouped by entity, then the totals; or why nothing goes."""
    lines = [*removal_lines(outcome.plan, outcome.now), *closing(outcome)]
    return "\n".join(lines) + "\n"


def removal_lines(plan: Plan, now: datetime) -> Iterator[str]:
    """Give what goes, grouped by entity, and an empty line below."""
    for (entity, entity_type), verdicts in groupby(plan.removals, key=lambda v: (v.entity, v.entity_type)):
        yield entity_title(entity, entity_type)
        for verdict in verdicts:
            age = age_of(verdict, now)
            yield visible(f"  - {verdict.tier}, age {age}: {verdict.reason}")
            yield f"    {observation_text(verdict.observation)}"
    yield from whole_lines(plan)
    if plan.removals:
        yield ""


def whole_lines(plan: Plan) -> list[str]:
    """Give the entities that this prune empties and their relations, which go as well (`remove_empty_entities`)."""
    return [f"{visible(removal.label)}: goes too, emptied by this prune" for removal in plan.lines]
