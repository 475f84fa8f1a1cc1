"""The use case behind set, pin, unpin and renew: settled read, plan, show and ask, lock, put on what is set by then.

`commands/settings.py` calls it for each memory file, which is only read, and `server/lifecycle.py` with a plan of its
own. A dry run ends with the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from memttl import trace
from memttl.core.change_plan import plan_changes
from memttl.core.changes import Before, Changes
from memttl.core.clock import sighting_stamp
from memttl.core.judge import Judge, make_judge
from memttl.core.settings_outcome import ChangeOutcome, Changer
from memttl.core.wish import Wish
from memttl.files.archive_mark import refuse_archive
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.snapshot import Snapshot, read_settled
from memttl.files.state import State, state_of
from memttl.settings import Settings

Step = Callable[[str], None]
Planner = Callable[[bytes, Before, Judge, datetime], tuple[Changes, bool]]


def change_settings(
    settings: Settings,
    wish: Wish,
    *,
    dry_run: bool = False,
    ask: Callable[[ChangeOutcome], bool] | None = None,
    step: Step = trace.step,
) -> ChangeOutcome:
    """Plan what a wish changes for one memory file and, unless it is a dry run, record what `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand); `step` is called with the name of each
    step of the recording.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """

    def plan(data: bytes, before: Before, judge: Judge, stamp: datetime) -> tuple[Changes, bool]:
        return plan_changes(data, wish, before, judge, stamp, progress=settings.progress), False

    return change_by(settings, wish.command, plan, dry_run=dry_run, ask=ask, step=step)


def change_by(
    settings: Settings,
    command: Changer,
    plan: Planner,
    *,
    dry_run: bool = False,
    ask: Callable[[ChangeOutcome], bool] | None = None,
    step: Step = trace.step,
) -> ChangeOutcome:
    """Plan by `plan` and go on as `change_settings`.

    `plan` is given the bytes, what was set, a judge and the instant; it gives with the changes whether the bytes look
    half-written.

    Raises:
        MemttlError: as `change_settings`, and what `plan` raises.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
    with knowledge_of(state, must_know=True) as knowledge:
        snapshot, changes = _look(settings, plan, knowledge)
    warnings = (*settings.warnings, *unfinished(state), *knowledge.warnings, *changes.warnings)
    planned = ChangeOutcome(settings.named, settings.now_here, command, changes, dry_run, warnings=warnings)
    if changes.are_none or dry_run:
        return planned
    if ask is not None and not ask(planned):
        return planned._replace(declined=True)
    return _record(settings, state, snapshot, planned, step)


def _look(settings: Settings, plan: Planner, knowledge: Knowledge) -> tuple[Snapshot, Changes]:
    """Read the file settled and plan on its bytes."""
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
    before = Before(knowledge.settings, knowledge.entity_pins, knowledge.known_of)
    stamp = sighting_stamp(settings.now, settings.clock, knowledge.newest)

    def look(data: bytes) -> tuple[Changes, bool]:
        with knowledge.steady():
            return plan(data, before, judge, stamp)

    return read_settled(settings.memory, look)


def _record(settings: Settings, state: State, snapshot: Snapshot, planned: ChangeOutcome, step: Step) -> ChangeOutcome:
    """Put the same patches on what is set by now, and keep that in audit log and ledger."""
    from memttl.files.looking import Moment
    from memttl.files.recording import record_changes  # SQLite is imported where something is recorded

    done = record_changes(
        state,
        snapshot,
        planned.changes,
        command=planned.command,
        policy=settings.policy,
        moment=Moment(settings.now, settings.clock),
        step=step,
        progress=settings.progress,
    )
    fresh = tuple(warning for warning in done.warnings if warning not in planned.warnings)
    return planned._replace(changes=done.changes, run=done.run, warnings=(*planned.warnings, *fresh))
