"""Thinning the audit log after a run: what is older than `[audit] max_age` becomes one summary line a run.

`after_run.py` calls it under the sidecar lock. Arrivals that the ledger knows become one line. A log that is torn or
was edited is left as it is, and nothing here may make a run fail that has done its work.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from memttl import trace
from memttl.core.chain import event_of, lines_of
from memttl.core.thinning import thinned
from memttl.errors import MemttlError
from memttl.files import audit
from memttl.files.audit_segment import Segment
from memttl.files.ledger_open import ledger_errors, ledger_to_read
from memttl.files.state import State, open_own

_MOST_BYTES = 1 << 20
_SHARE = 10
_PIECE = 1 << 16


def thin_log(
    state: State, max_age: timedelta | None, now: datetime, *, step: Callable[[str], None] = trace.step
) -> int:
    """Thin the log where at least a tenth of it, or 1 MB, is old; give how many runs were summarised.

    `now` is the machine's clock; `max_age` None keeps all. `step` is called with the name of each step.
    """
    if max_age is None:
        return 0
    try:
        return _thin(state, now - max_age, now, step)
    except (OSError, OverflowError, MemttlError):
        return 0  # the log is as it was; the next run tries again


def _thin(state: State, cutoff: datetime, now: datetime, step: Callable[[str], None]) -> int:
    def is_old(time: str) -> bool:
        moment = _instant(time)
        return moment is not None and moment < cutoff

    path = state.audit
    audit.drop_part(path)
    if not _is_worth_it(state, is_old):
        return 0
    log = audit.read_log(path)
    lines, segment = lines_of(log.data), audit.segment_in(log.data)
    if not log.is_held or _jumped(lines, is_old):
        return 0
    known = _known_bytes(state, segment)
    made = thinned(lines, is_old, at=_text(now), known=log.data[:known].count(b"\n"))
    if made is None:
        return 0
    end = sum(len(line) + 1 for line in lines[: made.taken])
    data = b"".join(line + b"\n" for line in made.lines) + log.data[end:]
    step("thinned")
    audit.rewrite(path, data, until=segment.logical(end), time=_text(now), step=step)
    return made.runs


def _known_bytes(state: State, segment: Segment) -> int:
    """Give up to which byte the ledger has taken over what the log tells; 0 where there is none to ask."""
    with ledger_to_read(state.ledger) as ledger, ledger_errors(state.ledger):
        return (segment.physical(ledger.settings_seen) or 0) if ledger is not None else 0


def _is_worth_it(state: State, is_old: Callable[[str], bool]) -> bool:
    """Look at one place only: where a tenth of the log, or 1 MB, lies before it that no thinning has gone over."""
    with open_own(state.audit) as f:
        size = os.fstat(f.fileno()).st_size
        segment = audit.segment_of(f.fileno())
        begun = segment.physical(segment.until) or 0
        f.seek(begun + min(size // _SHARE, _MOST_BYTES))
        f.readline()
        while line := f.readline():
            time = (event_of(line) or {}).get("time")
            if isinstance(time, str):
                return is_old(time)
    return False


def _jumped(lines: list[bytes], is_old: Callable[[str], bool]) -> bool:
    """Say whether this run comes so long after the ones before that it may be the clock that is wrong.

    Then thinning waits for the next run: one boot with a clock far ahead takes nothing.
    """
    run = None
    for line in reversed(lines):
        event = event_of(line) or {}
        time, own = event.get("time"), event.get("run")
        if not isinstance(time, str) or not isinstance(own, str):
            continue
        run = run or own
        if own != run:
            return is_old(time)
    return False


def _instant(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
