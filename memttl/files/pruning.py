"""The write of an approved plan from the lock to the last backup: written, looked at again, kept in the ledger.

`prune` and `review` call it with what plans anew under the lock. Nothing here decides what goes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memttl.core.classify import day_reader, days_removed
from memttl.core.plan import Approval, Plan
from memttl.core.policy import Policy
from memttl.core.progress import Progress, no_progress
from memttl.errors import Interrupted, MemttlError
from memttl.files.after_run import tidy
from memttl.files.archiving import Archive
from memttl.files.knowledge import Knowledge, knowledge_of, ledger_of
from memttl.files.lock import locked
from memttl.files.looking import Moment, look_in_bytes
from memttl.files.removal import Removal, Removed, remove
from memttl.files.snapshot import Snapshot
from memttl.files.state import State, prepare
from memttl.files.writing import Options, writing

PlanOf = Callable[[bytes, Approval | None], Plan]


class Pruning(NamedTuple):
    """What a use case removes by. `plan_with` is given what is known under the lock, and gives what plans by it.

    `command` is its name in the audit log; `check` refuses files that may not be written; `archive` keeps what goes.
    """

    state: State
    command: str
    policy: Policy
    moment: Moment
    plan_with: Callable[[Knowledge], PlanOf]
    check: Callable[[Snapshot], None]
    archive: Path | None = None
    options: Options = Options()
    progress: Progress = no_progress


class Pruned(NamedTuple):
    """What went in the end; `run` and `backup` are None where nothing was written.

    `first_seen` counts the observations that the ledger met for the first time.
    """

    plan: Plan
    run: str | None = None
    backup: str | None = None
    first_seen: int = 0
    warnings: tuple[str, ...] = ()


def write_plan(pruning: Pruning, snapshot: Snapshot, approved: Plan) -> Pruned:
    """Under the lock: recover, read again, plan again within what was approved, write, and look again.

    Raises:
        MemttlError: what was not done; `applied` where the memory file had been written before.
    """

    def told(name: str) -> None:
        pruning.progress("writing", 0, None)
        pruning.options.step(name)

    state = pruning.state
    pruning.progress("writing", 0, None)
    with writing(state, snapshot.stat, pruning.options._replace(step=told)) as session:
        with ledger_of(state, snapshot.stat, session.warn):
            pass  # made before anything is written: a backup without a ledger is that of a lost one
        # opened anew: what the user pinned while the question waited must hold
        with knowledge_of(state, must_know=True) as knowledge:
            done = remove(session, _removal(pruning, knowledge), approved)
        pruned = Pruned(done.plan, done.run, str(done.backup) if done.run is not None else None)
        if done.data is not None:
            pruned = _keep_look(pruning, snapshot, done.data, pruned)
        if pruned.run is not None:
            _tidy(pruning, done)  # under the lock: nobody else may write a backup while one is compressed
    return pruned._replace(warnings=(*pruned.warnings, *session.warnings))


def record_look(pruning: Pruning, snapshot: Snapshot, plan: Plan) -> Pruned:
    """Where nothing is to be removed: the ledger alone records newcomers.

    Raises:
        MemttlError: it cannot be written.
    """
    prepare(pruning.state, snapshot.stat)
    with locked(pruning.state, snapshot.stat):
        return _keep_look(pruning, snapshot, snapshot.data, Pruned(plan))


def _removal(pruning: Pruning, knowledge: Knowledge) -> Removal:
    return Removal(
        command=pruning.command,
        memory=pruning.state.memory,
        policy=pruning.policy,
        now=pruning.moment.now,
        plan_of=pruning.plan_with(knowledge),
        check=pruning.check,
        archive=_archive(pruning),
    )


def _archive(pruning: Pruning) -> Archive | None:
    if pruning.archive is None:
        return None
    # by the machine's clock, as backups are thinned: what goes from here is gone
    return Archive(pruning.archive, pruning.moment.clock, pruning.policy.archive_max_age)


def _keep_look(pruning: Pruning, snapshot: Snapshot, data: bytes, pruned: Pruned) -> Pruned:
    """Record the look at `data` that a run ends with; the memory file may have been written before."""
    warnings: list[str] = []
    policy, applied = pruning.policy, pruned.run is not None
    try:
        found = look_in_bytes(
            pruning.state,
            snapshot.stat,
            data,
            pruning.moment,
            warnings.append,
            own_run=pruned.run,
            days_of=day_reader(policy, pruning.moment.now),
            days_removed=days_removed(pruned.plan.removals if applied else (), policy),
            progress=pruning.progress,
        )
        pruning.options.step("ledger written")
    except MemttlError as e:
        if applied:
            e.after_the_write()
        raise
    except KeyboardInterrupt:
        raise Interrupted("Interrupted before the ledger was written.", applied=applied) from None
    return pruned._replace(first_seen=found.new if found else 0, warnings=tuple(warnings))


def _tidy(pruning: Pruning, done: Removed) -> None:
    try:
        tidy(pruning.state, pruning.policy, run=done.run)
    except KeyboardInterrupt:
        raise Interrupted("Interrupted.", hint=f"The backup is {done.backup}.", applied=True) from None
