"""The use case behind set, pin, unpin and renew: settled read, plan, show and ask, lock, put on what is set by then.

`commands/settings.py` calls it for each memory file, which is only read. A dry run ends with the plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memttl.core.change_plan import merged, plan_changes
from memttl.core.changes import Before, Changes
from memttl.core.clock import check_clock, check_stamp, stamp_of
from memttl.core.judge import make_judge
from memttl.core.records import change_events
from memttl.core.settings_outcome import ChangeOutcome
from memttl.core.wish import Wish
from memttl.files import audit
from memttl.files.commit import timestamp
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.snapshot import Snapshot, read_settled
from memttl.files.state import State, state_of
from memttl.settings import Settings

if TYPE_CHECKING:  # SQLite is imported where something is recorded
    from memttl.files.ledger import Ledger

Step = Callable[[str], None]


def change_settings(
    settings: Settings,
    wish: Wish,
    *,
    dry_run: bool = False,
    ask: Callable[[ChangeOutcome], bool] | None = None,
    step: Step = lambda _: None,
) -> ChangeOutcome:
    """Plan what a wish changes for one memory file and, unless it is a dry run, record what `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand); `step` is called with the name of each
    step of the recording.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    with knowledge_of(state, must_know=True) as knowledge:
        snapshot, changes = _look(settings, wish, knowledge)
    warnings = (*settings.warnings, *unfinished(state), *knowledge.warnings, *changes.warnings)
    planned = ChangeOutcome(settings.named, settings.now_here, wish.command, changes, dry_run, warnings=warnings)
    if changes.are_none or dry_run:
        return planned
    if ask is not None and not ask(planned):
        return planned._replace(declined=True)
    return _record(settings, state, snapshot, planned, step)


def _look(settings: Settings, wish: Wish, knowledge: Knowledge) -> tuple[Snapshot, Changes]:
    """Read the file settled and plan on its bytes."""
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
    before = Before(knowledge.settings, knowledge.entity_pins, knowledge.known_of)
    stamp = _stamp(settings, knowledge.newest)

    def look(data: bytes) -> tuple[Changes, bool]:
        with knowledge.steady():
            return plan_changes(data, wish, before, judge, stamp, progress=settings.progress), False

    return read_settled(settings.memory, look)


def _stamp(settings: Settings, newest: datetime | None) -> datetime:
    check_clock(settings.now, newest)
    return check_stamp(stamp_of(settings.now, settings.clock, newest))


def _record(settings: Settings, state: State, snapshot: Snapshot, planned: ChangeOutcome, step: Step) -> ChangeOutcome:
    """Under the lock: put the same patches on what is set by now, and keep that in audit log and ledger."""
    from memttl.core.known import Knower
    from memttl.files.knowledge import ledger_of
    from memttl.files.ledger_open import ledger_errors
    from memttl.files.lock import locked
    from memttl.files.state import prepare

    like, told = snapshot.stat, list[str]()
    settings.progress("recording", 0, None)
    prepare(state, like)
    with locked(state, like), ledger_of(state, like, told.append) as ledger, ledger_errors(state.ledger):
        stamp = _stamp(settings, ledger.newest)
        judge = make_judge(settings.policy, settings.now, baseline=ledger.baseline)
        with ledger.transaction(write=True):
            asked, pins = ledger.settings(), ledger.entity_pins()
            before = Before(asked, pins, Knower(ledger.sightings_of, asked, pins, ledger.days_of).known_of)
            changes = merged(planned.changes, snapshot.data, before, judge, stamp)
            outcome = planned._replace(changes=changes, run=None if changes.are_none else os.urandom(4).hex())
            if outcome.run is not None:
                _put(ledger, changes, stamp, with_text=settings.policy.audit_text)
                step("put")
                # before the commit: a kill here leaves the log ahead of the ledger, and nothing set is ever lost
                audit.append(state.audit, _events(outcome, settings), like)
                ledger.put_settings_seen(state.audit.stat().st_size)
                step("logged")
    step("kept")
    fresh = tuple(warning for warning in told if warning not in planned.warnings)
    return outcome._replace(warnings=(*planned.warnings, *fresh))


def _put(ledger: Ledger, changes: Changes, stamp: datetime, *, with_text: bool) -> None:
    from memttl.core.known import Setting, key_of_digest

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


def _events(outcome: ChangeOutcome, settings: Settings) -> list[dict[str, Any]]:
    assert outcome.run is not None
    with_text = settings.policy.audit_text
    return change_events(outcome.changes, outcome.run, outcome.command, timestamp(), with_text=with_text)
