"""The use case prune: settled read, plan, show and ask, lock, plan again within what was approved, write.

`commands/prune.py` calls it for each memory file. A dry run ends with the plan: no lock, no folder, nothing written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from memttl.core.classify import day_reader, days_removed
from memttl.core.clock import check_clock
from memttl.core.judge import make_judge
from memttl.core.memory import entity_heads
from memttl.core.outcome import PruneOutcome
from memttl.core.plan import Approval, Plan, make_plan
from memttl.errors import Interrupted, MemttlError, UnknownEntity
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.ladder import WritePath
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.snapshot import Snapshot, read_only_warning, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State, state_of
from memttl.settings import Settings

if TYPE_CHECKING:
    from memttl.core.selection import Filters
    from memttl.files.removal import Removal
    from memttl.files.writing import Options

Step = Callable[[str], None]


class Request(NamedTuple):
    """What the user asked of a prune. `entities`, `types` and `tiers` narrow it; `check` is a dry run for scripts.

    `write_path` and `break_hard_links` are for those who must; `pace` is for tests and hammers.
    """

    dry_run: bool = False
    check: bool = False
    force: bool = False
    keep_malformed: bool = False
    entities: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    write_path: WritePath = "auto"
    break_hard_links: bool = False
    pace: Pace = DEFAULT_PACE

    @property
    def writes(self) -> bool:
        """False for a dry run."""
        return not (self.dry_run or self.check)


def prune(
    settings: Settings,
    request: Request,
    *,
    ask: Callable[[PruneOutcome], bool] | None = None,
    step: Step = lambda _: None,
) -> PruneOutcome:
    """Plan a prune of one memory file and, unless it is a dry run, apply what `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand); `step` is called with the name of each
    step of the write.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    left = _leftovers(settings, request, state, step)
    with knowledge_of(state, must_know=True) as knowledge:
        check_clock(settings.now, knowledge.newest)
        snapshot, plan = _first_look(settings, request, knowledge, is_approved=ask is None)
    planned = PruneOutcome(
        file=settings.named,
        now=settings.now_here,
        plan=plan,
        dry_run=not request.writes,
        check=request.check,
        warnings=(*settings.warnings, *left, *knowledge.warnings, *plan.warnings),
    )
    if plan.refusals:
        return planned
    if not plan.removals:
        return planned if planned.dry_run else _record(settings, state, snapshot, planned)
    _refuse_hard_links(snapshot, state, request)
    if planned.dry_run:
        return planned._replace(warnings=(*planned.warnings, *read_only_warning(snapshot)))
    refuse_read_only(snapshot)
    if ask is not None and not ask(planned):
        return planned._replace(declined=True)
    return _write(settings, request, state, snapshot, planned, step)


def _leftovers(settings: Settings, request: Request, state: State, step: Step) -> tuple[str, ...]:
    """Recover what a killed run left before anything is planned; a dry run only says that something lies there."""
    if not os.path.lexists(settings.memory):
        return ()  # nothing lies there; the reading says so
    from memttl.files.leftovers import needs_recovery, server_leftovers, unfinished

    found = server_leftovers(settings.memory, now=time.time())
    if not request.writes:
        return (*found, *unfinished(state))
    if not needs_recovery(state) or not settings.memory.is_file():
        return tuple(found)
    from memttl.files.writing import writing

    with writing(state, settings.memory.stat(), _options(request, step)) as session:
        return (*found, *session.warnings)


def _refuse_hard_links(snapshot: Snapshot, state: State, request: Request) -> None:
    if not request.break_hard_links:
        refuse_hard_links(snapshot, state.beside)


def _first_look(
    settings: Settings, request: Request, knowledge: Knowledge, *, is_approved: bool
) -> tuple[Snapshot, Plan]:
    """Look at the file at rest; in passing, where nobody is shown the plan and the write will prove what was read."""
    if request.writes and is_approved:
        snapshot, plan = _look(settings, request, knowledge, proven=True)
        if plan.removals and not plan.refusals:
            return snapshot, plan
    return _look(settings, request, knowledge)


def _look(settings: Settings, request: Request, knowledge: Knowledge, *, proven: bool = False) -> tuple[Snapshot, Plan]:
    """Read the file settled and plan on its bytes."""

    def look(data: bytes) -> tuple[Plan, bool]:
        plan = _plan_of(data, settings, request, knowledge)
        return plan, plan.counts.malformed_lines > 0

    return read_settled(settings.memory, look, proven=proven)


def _plan_of(
    data: bytes, settings: Settings, request: Request, knowledge: Knowledge, approval: Approval | None = None
) -> Plan:
    with knowledge.steady():
        return _plan(data, settings, request, knowledge, approval)


def _plan(data: bytes, settings: Settings, request: Request, knowledge: Knowledge, approval: Approval | None) -> Plan:
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
    try:
        filters = _filters(data, settings, request)
    except UnknownEntity:
        make_plan(data, judge, keep_malformed=request.keep_malformed)  # half of a file is refused as such
        raise
    return make_plan(
        data,
        judge,
        filters=filters,
        keep_malformed=request.keep_malformed,
        force=request.force,
        approval=approval,
        known_of=knowledge.known_of,
        vanished=knowledge.vanished(data, settings.policy.max_vanished_fraction, progress=settings.progress),
        progress=settings.progress,
    )


def _filters(data: bytes, settings: Settings, request: Request) -> Filters | None:
    if not (request.entities or request.types or request.tiers):
        return None
    from memttl.core.selection import make_filters

    return make_filters(
        request.entities,
        request.types,
        request.tiers,
        heads=entity_heads(data) if request.entities or request.types else (),
        known_tiers=list(settings.policy.tiers),
    )


def _write(
    settings: Settings, request: Request, state: State, snapshot: Snapshot, planned: PruneOutcome, step: Step
) -> PruneOutcome:
    """Under the lock: recover, read again, plan again within what was approved, write, and look again."""
    from memttl.files.knowledge import ledger_of
    from memttl.files.removal import remove  # here, so that a dry run does not pay for it
    from memttl.files.writing import writing

    def told(name: str) -> None:
        settings.progress("writing", 0, None)
        step(name)

    settings.progress("writing", 0, None)
    with writing(state, snapshot.stat, _options(request, told)) as session:
        with ledger_of(state, snapshot.stat, session.warn):
            pass  # made before anything is written: a backup without a ledger is that of a lost one
        # opened anew: what the user pinned while the question waited must hold
        with knowledge_of(state, must_know=True) as knowledge:
            done = remove(session, _removal(settings, request, state, knowledge), planned.plan)
        outcome = planned._replace(plan=done.plan)
        if done.run is not None:
            outcome = outcome._replace(applied=True, run=done.run, backup=str(done.backup))
        if done.data is not None:
            outcome = _keep_look(settings, state, snapshot, done.data, outcome, step)
    if outcome.applied:
        try:
            _thin_backups(state, settings)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted.", hint=f"The backup is {done.backup}.", applied=True) from None
    return outcome._replace(warnings=(*outcome.warnings, *session.warnings))


def _record(settings: Settings, state: State, snapshot: Snapshot, planned: PruneOutcome) -> PruneOutcome:
    """Nothing is to be removed: the ledger alone records newcomers."""
    from memttl.files.lock import locked
    from memttl.files.state import prepare

    prepare(state, snapshot.stat)
    with locked(state, snapshot.stat):
        return _keep_look(settings, state, snapshot, snapshot.data, planned)


def _keep_look(
    settings: Settings,
    state: State,
    snapshot: Snapshot,
    data: bytes,
    outcome: PruneOutcome,
    step: Step = lambda _: None,
) -> PruneOutcome:
    """Record the look at `data` that this run ends with; the memory file may have been written before."""
    from memttl.files.looking import Moment, look_in_bytes

    warnings: list[str] = []
    try:
        moment = Moment(settings.now, settings.clock)
        found = look_in_bytes(
            state,
            snapshot.stat,
            data,
            moment,
            warnings.append,
            own_run=outcome.run,
            days_of=day_reader(settings.policy, settings.now),
            days_removed=days_removed(outcome.plan.removals if outcome.applied else (), settings.policy),
            progress=settings.progress,
        )
        step("ledger written")
    except MemttlError as e:
        if outcome.applied:
            e.after_the_write()
        raise
    except KeyboardInterrupt:
        raise Interrupted("Interrupted before the ledger was written.", applied=outcome.applied) from None
    fresh = tuple(w for w in warnings if w not in outcome.warnings)
    return outcome._replace(first_seen=found.new if found else 0, warnings=(*outcome.warnings, *fresh))


def _options(request: Request, step: Step) -> Options:
    from memttl.files.writing import Options

    return Options(request.write_path, request.pace, step)


def _removal(settings: Settings, request: Request, state: State, knowledge: Knowledge) -> Removal:
    from memttl.files.removal import Removal

    return Removal(
        command="prune",
        memory=settings.memory,
        policy=settings.policy,
        now=settings.now,
        plan_of=lambda data, approval: _plan_of(data, settings, request, knowledge, approval),
        check=lambda snapshot: _refuse_hard_links(snapshot, state, request),
    )


def _thin_backups(state: State, settings: Settings) -> None:
    from memttl.files.backups import thin_backups

    policy = settings.policy
    if policy.audit_text:  # else an undo needs the backup of every run that the log still holds
        age = policy.backups_max_age
        max_age = None if age.is_never else timedelta(hours=age.approximate_hours())
        thin_backups(state.backups, datetime.now(UTC), keep=policy.backups_keep, max_age=max_age)
