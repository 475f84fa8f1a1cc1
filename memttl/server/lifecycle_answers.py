"""What came of a prune, a report, a change or an undo into the structured content that its tool promises.

`lifecycle.py` calls it. A list is cut where it would fill a model's memory; counts always tell of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memttl.core.inverse import MovedLine
from memttl.core.listing import ListedAs
from memttl.core.memory import value_of
from memttl.core.model import Verdict
from memttl.core.outcome import PruneOutcome
from memttl.core.past_runs import PastRun
from memttl.core.plan import Plan
from memttl.core.report import ReportOutcome
from memttl.core.settings_outcome import ChangeOutcome
from memttl.core.undo_outcome import UndoOutcome
from memttl.core.wording import instant_text, plural, when_text
from memttl.report.log_words import counted
from memttl.report.prune_closing import VANISHED_HINT
from memttl.report.text import observation_text
from memttl.report.undo import count_words

LISTED = 100
_RUNS = 10  # named where there is none of the name that was given
CHARACTERS = 60_000
Answer = dict[str, Any]
_LIMIT_HINT = (
    "Prune less at once (entities, types, tiers). If all of it may go, a person can run `memttl prune --force`, or "
    "raise the limit in the policy."
)
_STATUSES: tuple[ListedAs, ...] = ("expired", "due", "review")


def prune_answer(outcome: PruneOutcome) -> Answer:
    """Give what a prune removed, or would remove."""
    counts = outcome.plan.counts
    removals = outcome.plan.removals
    listed = removals[: _fitting(v.observation for v in removals)]
    return {
        "message": _prune_words(outcome),
        "applied": outcome.applied,
        "run": outcome.run,
        "removed": [_observation(v) for v in listed],
        "left_out": len(removals) - len(listed),
        "emptied": [removal.label for removal in outcome.plan.lines][:LISTED],
        "counts": {
            "observations": counts.observations,
            "expired": counts.expired,
            "removed": counts.removed,
            "review_due": counts.review_due,
            "pinned": counts.pinned,
            "unknown_age": counts.unknown_age,
        },
        "refusals": list(outcome.plan.refusals),
        "warnings": list(outcome.warnings),
    }


def _prune_words(outcome: PruneOutcome) -> str:
    plan, counts = outcome.plan, outcome.plan.counts
    if plan.refusals:
        begin = "This would be refused" if outcome.dry_run else "Refused, and nothing was removed"
        return f"{begin}: {'; '.join(plan.refusals)}. {VANISHED_HINT if plan.has_vanished else _LIMIT_HINT}"
    if not plan.removals:
        return _nothing_words(plan)
    of_all = f"{counts.removed} of {plural(counts.observations, 'observation')}"
    kept = f" What goes is kept in {outcome.archive}." if outcome.archive else ""
    if outcome.applied:
        back = f"`undo_prune` puts it back (run {outcome.run})." if outcome.run else ""
        return f"Removed {of_all}. {back}{kept}"
    return f"Would remove {of_all}; nothing was written. With confirm true it is removed.{kept}"


def _nothing_words(plan: Plan) -> str:
    if not plan.counts.observations:
        return "Nothing to remove: the memory holds no observations."
    what = "Nothing of what is named has expired" if plan.counts.expired else "Nothing has expired"
    return f"{what} among {plural(plan.counts.observations, 'observation')}."


def report_answer(outcome: ReportOutcome) -> Answer:
    """Give what is stale, and why."""
    report = outcome.report
    counts = {status: report.count(status) for status in _STATUSES}
    stale = report.listed
    listed = stale[: _fitting(item.verdict.observation for item in stale)]
    until = report.window.until
    return {
        "message": _report_words(counts, report.counts.observations),
        "until": instant_text(until) if until else None,
        "stale": [{**_observation(item.verdict), "status": item.listed_as} for item in listed],
        "left_out": len(stale) - len(listed),
        "counts": {"observations": report.counts.observations, **counts},
        "warnings": list(outcome.warnings),
    }


def _report_words(counts: Mapping[ListedAs, int], observations: int) -> str:
    if not any(counts.values()):
        return f"Nothing is stale among {plural(observations, 'observation')}."
    words: dict[ListedAs, str] = {"expired": "expired", "due": "soon to expire", "review": "due for review"}
    found = ", ".join(f"{counts[status]} {words[status]}" for status in _STATUSES if counts[status])
    return f"{sum(counts.values())} of {plural(observations, 'observation')} are stale: {found}."


def change_answer(outcome: ChangeOutcome, matched: Sequence[int]) -> Answer:
    """Give what was set, with the expiry of each before and after."""
    changes = outcome.changes
    changed = [(c.will_be, c.was) for c in changes.observations if c.will_be is not None]
    listed = changed[: _fitting(verdict.observation for verdict, _ in changed)]
    count = plural(len(changes.observations) + len(changes.entity_pins), "change")
    said = f"Would make {count}; nothing was changed." if outcome.dry_run else f"Made {count}."
    idle = "All of it was so already; nothing was changed." if matched else "No item was given; nothing was changed."
    return {
        "message": idle if changes.are_none else said,
        "applied": outcome.run is not None,
        "run": outcome.run,
        "matched": list(matched),
        "changed": [_changed(verdict, was) for verdict, was in listed],
        "left_out": len(changed) - len(listed),
        "entities": [{"entityName": name, "pinned": p.pinned} for p in changes.entity_pins for name in p.entities],
        "unchanged": changes.unchanged,
        "warnings": list(outcome.warnings),
    }


def _changed(verdict: Verdict, was: Verdict | None) -> Answer:
    return {
        "entityName": verdict.entity,
        "observation": observation_of(verdict.observation),
        "tier": verdict.tier,
        "expires_at_before": _expiry(was) if was else None,
        "expires_at": _expiry(verdict),
        "pinned": verdict.pinned,
        "reason": verdict.reason,
    }


def undo_answer(outcome: UndoOutcome) -> Answer:
    """Give what an undo put back, or would."""
    plan = outcome.plan
    done = plan.inverse if plan else None
    moved = [(m.item.entity, m.item.entity_type, value_of(m.item.raw)) for m in (done.back if done else ())]
    listed = moved[: _fitting(value for _, _, value in moved)]
    return {
        "message": _undo_words(outcome),
        "applied": outcome.applied,
        "run": outcome.run,
        "undoes": plan.run.run if plan else None,
        "restored": [
            {"entityName": entity, "entityType": kind, "observation": observation_of(text)}
            for entity, kind, text in listed
        ],
        "left_out": len(moved) - len(listed),
        "lines": [_line_words(line) for line in (done.lines_back if done else ())][:LISTED],
        "pinned": sum(asked.pinned for asked in plan.settings.values()) if plan else 0,
        "already_there": done.there if done else 0,
        "lost": len(plan.lost) if plan else 0,
        "warnings": list(outcome.warnings),
    }


def _undo_words(outcome: UndoOutcome) -> str:
    plan = outcome.plan
    if plan is None:
        return f"Nothing to undo: {outcome.nothing}."
    run = f"the run {plan.run.run} ({plan.run.command}, {plan.run.time[:16].replace('T', ' ')} UTC)"
    if plan.does_nothing:
        undone = f"; the run {plan.run.undone_by} has undone it already" if plan.run.undone_by else ""
        return f"Nothing to put back: all of {run} is there again{undone}."
    verb = "Put back" if outcome.applied else "Would put back"
    end = "" if outcome.applied else " Nothing was written."
    return f"{verb} what {run} removed: {count_words(plan.inverse.back, plan.inverse.lines_back)}.{end}"


def undoable_words(runs: Sequence[PastRun]) -> str:
    """Name the runs that can be undone, the newest first."""
    if not runs:
        return "There is no run that undo_prune could undo."
    newest = runs[: -_RUNS - 1 : -1]
    named = [f"{r.run} ({r.command}, {r.time[:16].replace('T', ' ')} UTC, {counted(r.events)})" for r in newest]
    last = "Runs" if len(newest) == len(runs) else f"The last {_RUNS} runs"
    return f"{last} that undo_prune can undo: {'; '.join(named)}."


def _line_words(line: MovedLine) -> str:
    kinds = {"entity": f"the entity {line.entity}", "relation": f"a relation of {line.entity}"}
    return kinds.get(line.kind, "a line that is neither entity nor relation")


def _observation(verdict: Verdict) -> Answer:
    return {
        "entityName": verdict.entity,
        "entityType": verdict.entity_type,
        "observation": observation_of(verdict.observation),
        "tier": verdict.tier,
        "created_at": when_text(verdict.created_at),
        "expires_at": _expiry(verdict),
        "reason": verdict.reason,
    }


def _expiry(verdict: Verdict) -> str | None:
    return instant_text(verdict.expires_at) if verdict.expires_at else None


def observation_of(value: object) -> str:
    """Give the text of an observation as it is, or the JSON of one that is none."""
    return value if isinstance(value, str) else observation_text(value)


def _fitting(values: Iterable[object]) -> int:
    """Say how many observations an answer holds."""
    characters = count = 0
    for value in values:
        characters += len(observation_of(value))
        if count == LISTED or (count and characters > CHARACTERS):
            break
        count += 1
    return count
