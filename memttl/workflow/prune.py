"""The use case prune: settled read, plan, show and ask, lock, plan again within what was approved, write.

`commands/prune.py` calls it for each memory file. A dry run ends with the plan: no lock, no folder, nothing written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from memttl.core.judge import make_judge
from memttl.core.memory import entity_heads
from memttl.core.model import NOTHING_KNOWN, Known
from memttl.core.outcome import PruneOutcome
from memttl.core.plan import Approval, Plan, make_plan
from memttl.errors import Interrupted, UnknownEntity
from memttl.files.snapshot import Snapshot, read_only_warning, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State, state_of, unfinished_versions
from memttl.settings import Settings

if TYPE_CHECKING:
    from memttl.core.selection import Filters
    from memttl.files.commit import Change

Step = Callable[[str], None]

PATIENCE_S = 10.0  # how long a file that will not stay still is tried
PAUSE_S = 0.05


class Request(NamedTuple):
    """What the user asked of a prune. `entities`, `types` and `tiers` narrow it; `check` is a dry run for scripts."""

    dry_run: bool = False
    check: bool = False
    force: bool = False
    keep_malformed: bool = False
    entities: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """False for a dry run."""
        return not (self.dry_run or self.check)


def prune(
    settings: Settings,
    request: Request,
    *,
    ask: Callable[[PruneOutcome], bool] = lambda _: True,
    step: Step = lambda _: None,
) -> PruneOutcome:
    """Plan a prune of one memory file and, unless it is a dry run, apply what `ask` approves.

    `ask` is shown the outcome as planned; `step` is called with the name of each step of the write.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    snapshot, plan = _look(settings, request)
    planned = PruneOutcome(
        file=settings.named,
        now=settings.now_here,
        plan=plan,
        dry_run=not request.writes,
        check=request.check,
        warnings=(*settings.warnings, *_unfinished(state, request), *plan.warnings),
    )
    if plan.refusals or not plan.removals:
        return planned
    refuse_hard_links(snapshot)
    if planned.dry_run:
        return planned._replace(warnings=(*planned.warnings, *read_only_warning(snapshot)))
    refuse_read_only(snapshot)
    if not ask(planned):
        return planned._replace(declined=True)
    return _write(settings, request, state, snapshot, planned, step)


def _look(settings: Settings, request: Request, approval: Approval | None = None) -> tuple[Snapshot, Plan]:
    """Read the file settled and plan on its bytes."""
    judge = make_judge(settings.policy, settings.now)

    def plan_of(data: bytes) -> tuple[Plan, bool]:
        try:
            filters = _filters(data, settings, request)
        except UnknownEntity:
            make_plan(data, judge, keep_malformed=request.keep_malformed)  # half of a file is refused as such
            raise
        plan = make_plan(
            data,
            judge,
            filters=filters,
            keep_malformed=request.keep_malformed,
            force=request.force,
            approval=approval,
            known_of=_nothing_known,
        )
        return plan, plan.counts.malformed_lines > 0

    return read_settled(settings.memory, plan_of)


def _nothing_known(_entity: str, _text: str) -> Known:
    return NOTHING_KNOWN  # the ledger's place: until there is one, an undated observation is of unknown age


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


def _unfinished(state: State, request: Request) -> tuple[str, ...]:
    if request.writes or not (unfinished_versions(state) or _is_open(state)):
        return ()
    return ("an earlier run was killed, or is at work still; the next applied run tidies up after it",)


def _is_open(state: State) -> bool:
    if not state.audit.exists():
        return False
    from memttl.files.audit import is_open  # here: most dry runs meet no log

    return is_open(state.audit)


def _write(
    settings: Settings, request: Request, state: State, snapshot: Snapshot, planned: PruneOutcome, step: Step
) -> PruneOutcome:
    """Under the lock: settle what a killed run left, read again, plan again within what was approved, and write."""
    # here, so that a dry run does not pay for them
    from memttl.files.commit import settle_unfinished
    from memttl.files.lock import locked
    from memttl.files.state import prepare

    prepare(state, snapshot.stat)
    with locked(state, snapshot.stat):
        told = settle_unfinished(state, snapshot.stat)
        outcome = _write_until_still(settings, request, state, planned, step)
    return outcome._replace(warnings=(*settings.warnings, *([told] if told else []), *outcome.plan.warnings))


def _write_until_still(
    settings: Settings, request: Request, state: State, planned: PruneOutcome, step: Step
) -> PruneOutcome:
    """Write; plan and write anew when a stranger wrote meanwhile, for up to 10 s."""
    from memttl.files.commit import commit
    from memttl.files.replace import Changed

    run = os.urandom(4).hex()
    begun = time.monotonic()
    while True:
        snapshot, plan = _look(settings, request, planned.plan.approval)
        if plan.refusals or not plan.removals:
            return planned._replace(plan=plan)
        refuse_hard_links(snapshot)
        try:
            backup = commit(_change(run, plan, snapshot, settings), snapshot, state, step=step)
        except Changed:
            if time.monotonic() - begun > PATIENCE_S:
                raise
            time.sleep(PAUSE_S)
            continue
        try:
            _thin_backups(state, settings)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted.", hint=f"The backup is {backup}.", applied=True) from None
        return planned._replace(plan=plan, applied=True, run=run, backup=str(backup))


def _change(run: str, plan: Plan, snapshot: Snapshot, settings: Settings) -> Change:
    from memttl.core.apply import apply_plan
    from memttl.core.records import begin_fields, removal_events
    from memttl.files.commit import Change

    new = apply_plan(snapshot.data, plan)
    policy = settings.policy
    begin = begin_fields("prune", plan, new, file=str(settings.memory), now=settings.now, policy=policy)
    return Change(run, new, begin, removal_events(snapshot.data, plan, run, with_text=policy.audit_text))


def _thin_backups(state: State, settings: Settings) -> None:
    from memttl.files.backups import thin_backups

    policy = settings.policy
    if policy.audit_text:  # else an undo needs the backup of every run that the log still holds
        age = policy.backups_max_age
        max_age = None if age.is_never else timedelta(hours=age.approximate_hours())
        thin_backups(state.backups, datetime.now(UTC), keep=policy.backups_keep, max_age=max_age)
