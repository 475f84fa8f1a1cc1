"""A prune's outcome as plain lines: what a pipe, a cron mail or a log gets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from memttl.core.model import Verdict
from memttl.core.outcome import PruneOutcome
from memttl.report.text import age_words, observation_text, plural, visible


def render(outcome: PruneOutcome) -> str:
    """Give the outcome as lines: what goes, grouped by entity, then the totals; or why nothing goes."""
    lines = [*_removals(outcome), *closing(outcome)]
    return "\n".join(lines) + "\n"


def _removals(outcome: PruneOutcome) -> Iterator[str]:
    for (entity, entity_type), verdicts in groupby(outcome.plan.removals, key=lambda v: (v.entity, v.entity_type)):
        yield f"{visible(entity)} ({visible(entity_type or 'no type')})"
        for verdict in verdicts:
            age = age_words(verdict.created_at, outcome.now)
            yield visible(f"  - {verdict.tier}, age {age}: {verdict.reason}")
            yield f"    {observation_text(verdict.observation)}"
    if outcome.plan.removals:
        yield ""


def closing(outcome: PruneOutcome) -> list[str]:
    """Give the last lines, the same at a terminal: the totals, or in two lines why nothing goes and what to do."""
    return [visible(line) for line in _closing(outcome)]  # the name of a file may hold escapes as well


def _closing(outcome: PruneOutcome) -> list[str]:
    plan, counts = outcome.plan, outcome.plan.counts
    if plan.refusals:
        refused = [f"Refused, and nothing was removed: {reason}." for reason in plan.refusals]
        return [*refused, "If all of this may go, give --force; else raise the limit in the policy."]
    if not plan.removals:
        return _nothing(outcome)
    entities = len({v.line for v in plan.removals})
    what = f"{counts.removed} of {plural(counts.observations, 'observation')} in {plural(entities, 'entity')}"
    lines = [f"{_verb(outcome)} {what} of {outcome.file}.{_kept(outcome)}"]
    if plan.waiting:
        lines.append(f"{plural(plan.waiting, 'observation')} expired meanwhile and will go at the next run.")
    if outcome.applied:
        lines.append(f"Run {outcome.run}; the file as it was: {outcome.backup}")
    elif outcome.declined:
        lines.append("Nothing was removed.")
    elif outcome.dry_run:
        lines.append("Dry run: nothing was written.")
    return lines


def _verb(outcome: PruneOutcome) -> str:
    return "Removed" if outcome.applied else "Would remove"


def _kept(outcome: PruneOutcome) -> str:
    counts = outcome.plan.counts
    rows = [(counts.review_due, "due for review"), (counts.unknown_age, "of unknown age"), (counts.pinned, "pinned")]
    words = [f"{n} {what}" for n, what in rows if n]
    return f" Staying: {', '.join(words)}." if words else ""


def _nothing(outcome: PruneOutcome) -> list[str]:
    plan, counts = outcome.plan, outcome.plan.counts
    if not counts.observations:
        return [f"Nothing to remove: {outcome.file} holds no observations."]
    if plan.waiting:
        later = plural(plan.waiting, "observation")
        return [
            f"What was approved is gone from the file already. {later} expired meanwhile and will go at the next run."
        ]
    rows = [(plan.unruled, "named by no rule"), (counts.unknown_age, "of unknown age"), (counts.pinned, "pinned")]
    shown = ", ".join(f"{n} {what}" for n, what in rows if n) or "all wait for their day"
    due = f"Next due: {_due(plan.next_due[0])}" if plan.next_due else "Nothing is due later."
    what = "has expired" if not counts.expired else "that the filters name has expired"
    return [
        f"Nothing {what} among {plural(counts.observations, 'observation')}: {shown}. {due}",
        'To let one go, date it and name its tier ("[session] 2026-04-01: …"), end it with [expires 2026-12-31], or '
        "write [[rules]] in memttl.toml; `memttl explain` tells why each stays.",
    ]


def _due(verdict: Verdict) -> str:
    assert verdict.expires_at is not None
    text = observation_text(verdict.observation)
    shown = text if len(text) <= 60 else text[:59] + "…"
    return f"{verdict.expires_at:%Y-%m-%d} in {visible(verdict.entity)}: {shown}"
