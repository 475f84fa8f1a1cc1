"""The old runs of an audit log into one summary line each, with the chain of digests whole. Pure.

`files/thin_log.py` calls it. What was set, and all that stands in the log on its own, stays byte for byte; so do the
newest runs, however old they are. Old arrivals that the ledger knows become one line, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from memttl.core.chain import FIRST, check, digest_of, event_of, line_of
from memttl.core.past_runs import Event, PastRun, runs_of
from memttl.core.stubs import FORMS, stub

KEPT_RUNS = 10  # as many as [backups] keep: a clock that ran ahead once must not take the last ones
# the lines of runs that write the memory file; all other lines are what was set or told once, and stay
_OF_RUNS = ("begin", "end", "removed", "restored", "quarantined", "erased")
_COUNTED = ("removed", "restored", "quarantined")

IsOld = Callable[[str], bool]


class Thinned(NamedTuple):
    """A log with a thinned beginning: `taken` lines of the old one became `lines`. `runs` were summarised."""

    lines: list[bytes]
    taken: int
    runs: int


def thinned(lines: Sequence[bytes], is_old: IsOld, *, at: str, keep: int = KEPT_RUNS, known: int = 0) -> Thinned | None:
    """Thin the longest beginning in which every run is old; None where there is none, or where it is not whole.

    `lines` are the log's, its segment line included; `is_old` is asked of times as they stand in the log; `at` is the
    time of the thinning. The ledger knows the arrivals of the first `known` lines.
    """
    events = [event_of(line) for line in lines]
    end = _end_of_old(events, is_old, keep)
    first = 1 if events and (events[0] or {}).get("event") == "segment" else 0
    if end <= first or check(b"".join(line + b"\n" for line in lines[:end])).broken:
        return None
    if end < len(lines) and (events[end] or {}).get("prev", _after(lines[:end])) != _after(lines[:end]):
        return None  # the last line of it was edited
    stays = [
        _stays(event) and not (place < known and _is_old_arrival(event, is_old)) for place, event in enumerate(events)
    ]
    whole = {run.run: run for run in runs_of([e for e in events[first:end] if e])}  # a setting may stand within one
    out, runs, before = list[bytes](), 0, FIRST
    place = first
    while place < end:
        stop = place
        while stop < end and not stays[stop]:
            stop += 1
        if stop == place:
            out.append(lines[place])
            before, place = digest_of(lines[place], before), place + 1
            continue
        summaries = [_summary(whole[run.run], at) for run in runs_of([e for e in events[place:stop] if e])]
        if summaries:
            gap = _chained(summaries, before, _after(lines[place:stop], before))
        else:
            gap = _without_arrivals(lines[place:stop], before, at)
        out += gap
        runs, before, place = runs + len(summaries), _after(gap, before), stop
    return Thinned(out, end, runs) if runs or len(out) < end - first else None


def _stays(event: Event | None) -> bool:
    """Say whether a line stays as it is; a torn one goes with the run that it stands in."""
    return event is not None and not str(event.get("event")).startswith(_OF_RUNS)


def _is_arrival(event: Event | None) -> bool:
    return event is not None and event.get("event") == "arrived"


def _is_old_arrival(event: Event | None, is_old: IsOld) -> bool:
    time = event.get("time") if event is not None and _is_arrival(event) else None
    return isinstance(time, str) and is_old(time)


def _without_arrivals(lines: Sequence[bytes], before: str, at: str) -> list[bytes]:
    """Give lines in which no run begins, with one in place of each row of arrivals."""
    out = list[bytes]()
    for are_arrivals, found in itertools.groupby(lines, lambda line: _is_arrival(event_of(line))):
        row = list(found)
        after = _after(row, before)
        if are_arrivals:
            row = _chained([{"event": "summary", "arrived": len(row), "thinned": at}], before, after)
        out += row
        before = after
    return out


def _end_of_old(events: Sequence[Event | None], is_old: IsOld, keep: int) -> int:
    """Give how many lines at the beginning hold nothing of a run that is young, or among the newest."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    young = set[str]()
    order = list[str]()
    for place, event in enumerate(events):
        run = event.get("run") if event and not _stays(event) else None
        if event is None or not isinstance(run, str):
            continue
        first.setdefault(run, place)
        last[run] = place
        if event.get("event") == "begin" and run not in order[-keep - 1 :]:
            order.append(run)
        if "time" in event and not (isinstance(event["time"], str) and is_old(event["time"])):
            young.add(run)
    young.update(order[-keep:] if keep else ())
    end = min((first[run] for run in young if run in first), default=len(events))
    while straddling := [first[run] for run in first if first[run] < end <= last[run]]:
        end = min(straddling)
    return end


def _after(lines: Sequence[bytes], before: str = FIRST) -> str:
    for line in lines:
        before = digest_of(line, before)
    return before


def _summary(run: PastRun, at: str) -> dict[str, Any]:
    told: Mapping[str, Any] = {
        "run": run.run,
        "command": run.command,
        "time": run.time,
        "now": run.begin.get("now"),
        "undoes": run.begin.get("undoes"),
        "partial": run.begin.get("partial"),
    }
    kept = {key: value for key, value in told.items() if value is not None and FORMS[key](value)}
    counts = {word: _count(run, word) for word in _COUNTED} if run.applied else {}
    return {"event": "summary", **kept, "applied": run.applied is True, **counts, "thinned": at}


def _count(run: PastRun, word: str) -> int:
    """Count the lines of a kind, those included that were erased since."""
    kinds = (str(e.get("of") if e.get("event") == "erased" else e.get("event")) for e in run.events)
    return sum(kind.startswith(word) and not kind.endswith("_again") for kind in kinds)


def _chained(summaries: Sequence[dict[str, Any]], before: str, was: str) -> list[bytes]:
    """Write the summaries of one gap; the last one carries on the digest of the last line that it replaces."""
    out = []
    for place, summary in enumerate(summaries, start=1):
        line = line_of(stub(summary, prev=before, was=was if place == len(summaries) else None))
        before = digest_of(line)
        out.append(line)
    return out
