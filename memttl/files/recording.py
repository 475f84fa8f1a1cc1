"""Recording changes of settings that were planned before: put on what is set by now, in the audit log and the ledger.

`change_settings` and `review` call it. It takes the lock by itself; the memory file is only read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from memttl import trace
from memttl.core.change_plan import merged
from memttl.core.changes import Before, Changes
from memttl.core.clock import sighting_stamp
from memttl.core.judge import make_judge
from memttl.core.known import Knower, Setting, key_of_digest
from memttl.core.policy import Policy
from memttl.core.progress import Progress, no_progress
from memttl.core.records import change_events
from memttl.files import audit
from memttl.files.commit import timestamp
from memttl.files.knowledge import ledger_of
from memttl.files.ledger import Ledger
from memttl.files.ledger_open import ledger_errors
from memttl.files.lock import locked
from memttl.files.looking import Moment
from memttl.files.snapshot import Snapshot
from memttl.files.state import State, prepare


class Recorded(NamedTuple):
    """What was changed in the end; `run` is its name in the audit log, None where all was set already."""

    changes: Changes
    run: str | None
    warnings: tuple[str, ...]


def record_changes(
    state: State,
    snapshot: Snapshot,
    planned: Changes,
    *,
    command: str,
    policy: Policy,
    moment: Moment,
    step: Callable[[str], None] = trace.step,
    progress: Progress = no_progress,
) -> Recorded:
    """Put changes that were planned on the bytes of `snapshot` on what is set by now, and keep that in log and ledger.

    `step` is called with the name of each step.

    Raises:
        ClockBehind, MemttlError: what was not done; then nothing was recorded.
    """
    like, told = snapshot.stat, list[str]()
    progress("recording", 0, None)
    prepare(state, like)
    with locked(state, like), ledger_of(state, like, told.append) as ledger, ledger_errors(state.ledger):
        stamp = sighting_stamp(moment.now, moment.clock, ledger.newest)
        judge = make_judge(policy, moment.now, baseline=ledger.baseline)
        with ledger.transaction(write=True):
            asked, pins = ledger.settings(), ledger.entity_pins()
            before = Before(asked, pins, Knower(ledger.sightings_of, asked, pins, ledger.days_of).known_of)
            changes = merged(planned, snapshot.data, before, judge, stamp)
            run = None if changes.are_none else os.urandom(4).hex()
            if run is not None:
                _put(ledger, changes, stamp, with_text=policy.audit_text)
                step("put")
                # before the commit: a kill here leaves the log ahead of the ledger, and nothing set is ever lost
                events = change_events(changes, run, command, timestamp(), with_text=policy.audit_text)
                audit.append(state.audit, events, like)
                ledger.put_settings_seen(audit.size_of(state.audit))
                step("logged")
    step("kept")
    return Recorded(changes, run, tuple(told))


def _put(ledger: Ledger, changes: Changes, stamp: datetime, *, with_text: bool) -> None:
    named: dict[str, dict[bytes, datetime | None]] = {}
    for change in changes.observations:
        text = change.text if with_text else None
        ledger.put_setting(Setting(change.entity, change.digest, text, change.after))
        if change.is_present:
            named.setdefault(change.entity, {})[key_of_digest(change.digest)] = None
    for pin in changes.entity_pins:
        ledger.put_entity_pin(pin.pattern, pinned=pin.pinned)
    if named:
        ledger.name(named, stamp)
