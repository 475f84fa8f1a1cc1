"""The last lines of a prune's outcome, the same in a pipe and at a terminal: the totals, or why nothing goes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC

from memttl.core.model import Verdict
from memttl.core.outcome import PruneOutcome
from memttl.core.wording import plural
from memttl.core.zones import in_zone
from memttl.report.text import observation_text, run_words, visible

REVIEWS_SHOWN = 10
VANISHED_HINT = (
    "`memttl backups list` lists what earlier runs kept, and `memttl backups restore RUN` puts it back. If the file is "
    "as it should be, `memttl scan --accept-vanished` says so. --force does not lift this."
)
_FORCE_HINT = "If all of this may go, give --force; else raise the limit in the policy."
_TEXT_SHOWN = 60


def closing(outcome: PruneOutcome, *, with_plan: bool = True) -> list[str]:
    """Give the last lines; without `with_plan` (it stands above the question already) what came of it alone."""
    return [visible(line) for line in _closing(outcome, with_plan=with_plan)]  # a file's name may hold escapes as well


def _closing(outcome: PruneOutcome, *, with_plan: bool) -> Iterator[str]:
    plan = outcome.plan
    if plan.refusals:
        yield from (f"Refused, and nothing was removed from {outcome.file}: {reason}." for reason in plan.refusals)
        yield VANISHED_HINT if plan.has_vanished else _FORCE_HINT
    elif not plan.removals:
        yield from _nothing(outcome)
    elif with_plan or not outcome.declined:
        yield _totals(outcome)
    if outcome.archive and plan.removals and not plan.refusals and (with_plan or outcome.applied):
        yield f"What goes {'is' if outcome.applied else 'would be'} kept in {outcome.archive}."
    if with_plan:
        yield from _reviews(outcome)
    if plan.waiting and plan.removals:
        yield f"{plural(plan.waiting, 'observation')} expired meanwhile and will go at the next run."
    if outcome.applied:
        yield run_words(outcome.run, outcome.backup)
    if outcome.first_seen:
        yield f"First seen now: {plural(outcome.first_seen, 'observation')}; from now on memttl knows their age."
    elif outcome.declined:
        yield "Nothing was removed."
    elif outcome.dry_run and plan.removals and not plan.refusals:
        yield "Dry run: nothing was written."


def _totals(outcome: PruneOutcome) -> str:
    plan, counts = outcome.plan, outcome.plan.counts
    entities = plural(len({v.line for v in plan.removals}), "entity")
    verb = "Removed" if outcome.applied else "Would remove"
    what = f"{verb} {counts.removed} of {plural(counts.observations, 'observation')} in {entities} of {outcome.file}."
    unknown = counts.unknown_age - sum(v.age_source == "unknown" for v in plan.removals)
    rows = [(counts.review_due, "due for review"), (unknown, "of unknown age"), (counts.pinned, "pinned")]
    words = ", ".join(f"{n} {kind}" for n, kind in rows if n)
    return f"{what} Staying: {words}." if words else what


def _reviews(outcome: PruneOutcome) -> Iterator[str]:
    """What is only listed: a review-by day has passed, and nothing goes by it."""
    due = outcome.plan.review_due
    yield from (f"Due for review: {_shown(verdict)}" for verdict in due[:REVIEWS_SHOWN])
    if len(due) > REVIEWS_SHOWN:
        yield f"Due for review: {len(due) - REVIEWS_SHOWN} more."


def _nothing(outcome: PruneOutcome) -> Iterator[str]:
    plan, counts = outcome.plan, outcome.plan.counts
    if not counts.observations:
        yield f"Nothing to remove: {outcome.file} holds no observations."
        return
    if plan.waiting:
        later = plural(plan.waiting, "observation")
        yield f"What was approved is gone already. {later} expired meanwhile and will go at the next run."
        return
    undated = f" ({plan.undated} of these in a tier that ends)" if plan.undated else ""
    rows = [(plan.unruled, "named by no rule"), (counts.unknown_age, f"of unknown age{undated}")]
    shown = ", ".join(f"{n} {kind}" for n, kind in (*rows, (counts.pinned, "pinned")) if n) or "all wait for their day"
    what = "has expired" if not counts.expired else "that the filters name has expired"
    due = f"Next due: {_due(plan.next_due[0], outcome)}" if plan.next_due else "Nothing is due later."
    yield f"Nothing {what} among {plural(counts.observations, 'observation')} of {outcome.file}: {shown}. {due}"
    yield (
        'To let one go, name its tier ("[session] …"), end it with [expires 2026-12-31], or write [[rules]] in '
        "memttl.toml. Ages: `memttl scan` begins them, `memttl backfill` finds earlier ones, or a date in the text; "
        "`memttl explain` tells why each stays."
    )


def _due(verdict: Verdict, outcome: PruneOutcome) -> str:
    assert verdict.expires_at is not None
    return f"{in_zone(verdict.expires_at, outcome.now.tzinfo or UTC):%Y-%m-%d} {_shown(verdict)}"


def _shown(verdict: Verdict) -> str:
    text = observation_text(verdict.observation)
    return f"{verdict.entity}: {text if len(text) <= _TEXT_SHOWN else text[: _TEXT_SHOWN - 1] + '…'}"
