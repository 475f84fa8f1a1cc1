"""Which backups must stay whatever their age: those without which a run in the audit log could not be undone. Pure.

`after_run.tidy` and `backups prune` ask, with the log's events; a line that cannot be read is {} there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memttl.core.past_runs import PastRun, runs_of

_UNREADABLE = {None, "erased"}  # torn by a kill or a bad disk, or erased by `forget`


def runs_that_need_backups(events: Sequence[Mapping[str, Any]]) -> set[str]:
    """Give the runs whose backups an undo, or a further restore, would need.

    That is a run whose removals are logged without their texts, or of which lines are missing; one that has not ended;
    a repair; and the newest restore and undo, with what they go back to.
    """
    runs = runs_of(events)
    broken = _with_missing_lines(events)
    needed = {run.run for run in runs if _is_needed(run, broken)}
    for command in ("restore", "undo"):
        done = [run for run in runs if run.command == command and run.applied and not run.is_thinned]
        if done:
            needed.add(done[-1].run)
            needed |= _sources_of(done[-1])
    # of a run whose `begin` is torn nobody can tell more
    known = {run.run for run in runs}
    return needed | {str(e.get("run")) for e in events if _is_removal(e) and str(e.get("run")) not in known}


def runs_of_clients(events: Iterable[Mapping[str, Any]]) -> set[str]:
    """Give the runs that are what a client of `memttl serve` deleted: one run a call, so maybe many in a day."""
    begun = (event for event in events if event.get("event") in ("begin", "summary"))
    return {str(event.get("run")) for event in begun if event.get("command") == "serve"}


def _is_needed(run: PastRun, broken: set[str]) -> bool:
    if run.is_thinned or run.applied is False:
        return False
    if run.applied is None or run.run in broken or run.command == "repair":  # what stood there is in no log whole
        return True
    return any("raw" not in event for event in run.removed)


def _is_removal(event: Mapping[str, Any]) -> bool:
    return str(event.get("event")) in ("removed", "removed_entity", "removed_relation", "removed_line")


def _with_missing_lines(events: Iterable[Mapping[str, Any]]) -> set[str]:
    """Give the runs between whose `begin` and `end` a line cannot be read."""
    found: set[str] = set()
    current = ""
    for event in events:
        kind = event.get("event")
        if kind == "begin":
            current = str(event.get("run"))
        elif kind == "end":
            current = ""
        elif kind in _UNREADABLE and current:
            found.add(current)
    return found


def _sources_of(run: PastRun) -> set[str]:
    """Give the runs whose backups a restore put back, or an undo may have read."""
    undone, restored = run.begin.get("undoes"), str(run.begin.get("restores", ""))
    source = restored.removesuffix(".gz").removesuffix(".jsonl").rpartition("-")[2]
    return {name for name in (str(undone) if isinstance(undone, str) else "", source) if name}
