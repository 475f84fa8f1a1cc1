"""The use case prune: settled read, plan, show and ask, lock, plan again within what was approved, write.

`commands/prune.py` calls it for each memory file. A dry run ends with the plan: no lock, no folder, nothing written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from memttl import trace
from memttl.core.clock import check_clock
from memttl.core.judge import make_judge
from memttl.core.memory import entity_heads
from memttl.core.outcome import PruneOutcome
from memttl.core.plan import Approval, Plan, make_plan
from memttl.errors import UnknownEntity
from memttl.files.archive_mark import refuse_archive
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.ladder import WritePath
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.snapshot import Snapshot, read_only_warning, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State, state_of
from memttl.settings import Settings

if TYPE_CHECKING:
    from memttl.core.selection import Filters
    from memttl.files.pruning import Pruned, Pruning
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
    step: Step = trace.step,
) -> PruneOutcome:
    """Plan a prune of one memory file and, unless it is a dry run, apply what `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand); `step` is called with the name of each
    step of the write.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
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
        archive=str(settings.archive) if settings.archive else None,
        warnings=(*settings.warnings, *left, *knowledge.warnings, *plan.warnings),
    )
    if plan.refusals:
        return planned
    if not plan.removals:
        return planned if planned.dry_run else _record(settings, request, state, snapshot, planned)
    _refuse_hard_links(snapshot, state, request)
    if settings.archive is not None:
        from memttl.files.archive_file import check_archive  # here: most policies name none

        check_archive(settings.archive, state, settings.policy)
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
    from memttl.files.before_run import settled

    return settled(state, lambda: _options(request, step), writes=request.writes)


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
        heads=lambda: entity_heads(data),
        known_tiers=list(settings.policy.tiers),
    )


def _write(
    settings: Settings, request: Request, state: State, snapshot: Snapshot, planned: PruneOutcome, step: Step
) -> PruneOutcome:
    """Write what was approved, planned again on what is there and known by then."""
    from memttl.files.pruning import write_plan  # here, so that a dry run does not pay for it

    done = write_plan(_pruning(settings, request, state, planned, step), snapshot, planned.plan)
    return _after(planned, done)._replace(applied=done.run is not None, run=done.run, backup=done.backup)


def _record(
    settings: Settings, request: Request, state: State, snapshot: Snapshot, planned: PruneOutcome
) -> PruneOutcome:
    """Nothing is to be removed: the ledger alone records newcomers."""
    from memttl.files.pruning import record_look

    pruning = _pruning(settings, request, state, planned, trace.step)
    return _after(planned, record_look(pruning, snapshot, planned.plan))


def _after(planned: PruneOutcome, done: Pruned) -> PruneOutcome:
    warnings = dict.fromkeys((*planned.warnings, *done.warnings))  # a plan may have told of it before
    return planned._replace(plan=done.plan, first_seen=done.first_seen, warnings=tuple(warnings))


def _pruning(settings: Settings, request: Request, state: State, planned: PruneOutcome, step: Step) -> Pruning:
    from memttl.files.looking import Moment
    from memttl.files.pruning import Pruning

    def plan_with(knowledge: Knowledge) -> Callable[[bytes, Approval | None], Plan]:
        return lambda data, approval: _plan_of(data, settings, request, knowledge, approval)

    return Pruning(
        state=state,
        command="prune",
        policy=settings.policy,
        moment=Moment(settings.now, settings.clock),
        plan_with=plan_with,
        check=lambda snapshot: _refuse_hard_links(snapshot, state, request),
        archive=settings.archive,
        options=_options(request, step),
        progress=settings.progress,
    )


def _options(request: Request, step: Step) -> Options:
    from memttl.files.writing import Options

    return Options(request.write_path, request.pace, step)
