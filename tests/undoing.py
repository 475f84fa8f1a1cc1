"""Undo planned on bytes alone: the lines that a prune would have logged, read back, and what an undo makes of them."""

from __future__ import annotations

import json
from typing import Any

from memttl.core.apply import apply_plan
from memttl.core.memory import read_lines
from memttl.core.past_runs import PastRun, runs_of
from memttl.core.places import line_key
from memttl.core.plan import Plan
from memttl.core.records import removal_events
from memttl.core.undo import UndoPlan, plan_undo, undo_events
from memttl.core.undo_items import undo_items


def logged(events: list[dict[str, Any]], *, run: str = "a", **begin: Any) -> PastRun:
    """The run that has logged these lines and was applied."""
    lines = [{"event": "begin", "run": run, "command": "prune", "time": "2026-01-01T00:00:00.000Z", **begin}]
    lines += [*events, {"event": "end", "run": run, "applied": True}]
    return runs_of(json.loads(json.dumps(lines)))[0]


def pruned_away(data: bytes, plan: Plan, *, with_text: bool = True) -> tuple[bytes, PastRun]:
    """The bytes after a prune, and the run as the log tells it."""
    return apply_plan(data, plan), logged(removal_events(data, plan, "a", with_text=with_text))


def undone(data: bytes, run: PastRun, *, backup: bytes | None = None, pin: bool = True, **how: Any) -> UndoPlan:
    """The undo of a run on these bytes, with nothing set before."""
    return plan_undo(data, run, undo_items(run, lambda: backup, lambda _: True), how.pop("asked", {}), pin=pin, **how)


def run_of(plan: UndoPlan) -> PastRun:
    """An undo as the log tells it."""
    return logged(undo_events(plan, "b", with_text=True), run="b", undoes=plan.run.run)


def graph(data: bytes) -> list[tuple[str, Any]]:
    """What the file says, order included: each line with its observations."""
    lines = [line for line in read_lines(data) if line.kind != "blank"]
    return [(line_key(line), json.dumps(line.record, sort_keys=True)) for line in lines]
