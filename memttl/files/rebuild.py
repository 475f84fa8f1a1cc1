"""What a lost ledger can be made from again: settings, baseline and arrivals out of the audit log. Other ages are lost.

`knowledge.py` asks where the ledger is missing or damaged. Where a run has been before and its log is gone or was
edited, nobody can tell what was pinned: then nothing may be removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from memttl.core.known import Arrivals, Setting
from memttl.core.model import NOTHING_SET
from memttl.core.told_by_log import UNREADABLE, Logged, baseline_told, logged_in
from memttl.core.wording import plural
from memttl.errors import AS_IT_WAS, LedgerLost
from memttl.files import audit
from memttl.files.backups import list_backups
from memttl.files.state import State, had_ledger

_TELLING = ("baseline", "begin", "set", "arrived", "summary", "forgotten")  # the events that say that a run has been


class Rebuilt(NamedTuple):
    """What the audit log tells: the baseline, what was set, the pinned entities, and what `memttl serve` stored."""

    baseline: datetime | None = None
    settings: tuple[Setting, ...] = ()
    entity_pins: tuple[str, ...] = ()
    arrivals: Arrivals = {}  # noqa: RUF012  # never changed

    def words(self) -> str:
        """Say what could be rebuilt, for a warning."""
        settings = plural(len(self.settings) + len(self.entity_pins), "setting")
        what = settings + (" and the time of the first look" if self.baseline else "")
        return f"{what} read from the audit log; {lost_ages(self.arrivals)}"


def lost_ages(arrivals: Arrivals) -> str:
    """Say which ages are lost with a ledger: all but those of arrivals that the log still tells."""
    count = sum(map(len, arrivals.values()))
    return "ages start again" + (f" but for {plural(count, 'observation')} that `memttl serve` stored" if count else "")


def rebuilt(state: State, *, damaged: bool, own_run: str | None = None) -> Rebuilt | None:
    """Rebuild what the ledger must not lose; None where no run has been before `own_run`, which is at work.

    `damaged`: there was a ledger, so that a run has been.

    Raises:
        LedgerLost: a run has been before, and its audit log is gone or was edited.
        NoPermission, CannotCreate: the log cannot be read; a newer memttl wrote it.
    """
    events = [e for e in audit.read_events(state.audit) if own_run is None or e.get("run") != own_run]
    if not any(e.get("event") in _TELLING for e in events):
        # an empty log proves nothing: whatever prepares the folder makes one. A run makes the ledger before its backup
        if damaged or (own_run is None and (list_backups(state.backups) or had_ledger(state))):
            what = "it is damaged" if damaged else "memttl has been here"
            raise _lost(state, f"{what}, but the audit log {state.audit} tells of no run")
        return None
    if not audit.is_whole(state.audit):
        raise _lost(state, f"the audit log {state.audit} is torn or was edited")
    try:
        return _from_events(events)
    except UNREADABLE as e:
        raise _lost(state, f"the audit log {state.audit} holds a setting that cannot be read ({e})") from None


def _lost(state: State, why: str) -> LedgerLost:
    return LedgerLost(
        f"The ledger {state.ledger} is lost, and what you pinned or set cannot be rebuilt: {why}; {AS_IT_WAS}.",
        hint=f"Put a copy of {state.kept} back; or `memttl doctor --repair` begins anew with what can still be told.",
    )


def baseline_in_log(state: State) -> datetime | None:
    """Give the baseline that the audit log tells: it is logged before the ledger is committed, where a kill may come.

    Raises:
        NoPermission, CannotCreate: the log cannot be read; a newer memttl wrote it.
    """
    try:
        return baseline_told(audit.read_events(state.audit))
    except UNREADABLE:
        return None


def _from_events(events: Iterable[dict[str, Any]]) -> Rebuilt:
    logged = logged_in(events)
    kept = tuple(s for s in logged.settings if s.asked != NOTHING_SET)
    pins = tuple(p for p, pinned in logged.entity_pins.items() if pinned)
    return Rebuilt(baseline_told(events), kept, pins, logged.arrivals)


def logged_since(state: State, seen: int) -> Logged:
    """Give what was set and arrived since the audit log had `seen` bytes: a ledger that lacks it is behind.

    It is until something is recorded, after a kill, or where an old copy of it was put back.

    Raises:
        LedgerLost: it cannot be read.
        NoPermission, CannotCreate: the log cannot be read; a newer memttl wrote it.
    """
    try:
        return logged_in(audit.read_events(state.audit, after=seen))
    except UNREADABLE as e:
        raise _lost(state, f"the audit log {state.audit} holds a setting that cannot be read ({e})") from None
