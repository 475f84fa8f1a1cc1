"""Writing what a plan removes: planned anew where a stranger wrote meanwhile, and looked at again once it is written.

What may go is decided by the `plan_of` that the workflow passes, within the plan that was approved; this module only
sees to it that the write keeps up with a busy server.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memttl.core.apply import apply_plan
from memttl.core.archive import entries_of
from memttl.core.plan import Approval, Plan
from memttl.core.policy import Policy
from memttl.core.records import begin_again, begin_fields, events_again, removal_events
from memttl.core.replan import Replanner
from memttl.errors import Interrupted
from memttl.files.archiving import Archive, ToArchive, name_in_log
from memttl.files.commit import Change
from memttl.files.snapshot import Snapshot, digest_of, read_once, read_settled
from memttl.files.writing import Session

_NOTHING = Approval(Counter(), Counter())


class Removal(NamedTuple):
    """What a use case removes by: `plan_of` plans within an approval, `check` refuses files that may not be written.

    `archive` keeps what goes; None where the policy names none.
    """

    command: str
    memory: Path
    policy: Policy
    now: datetime
    plan_of: Callable[[bytes, Approval | None], Plan]
    check: Callable[[Snapshot], None]
    archive: Archive | None = None


class Removed(NamedTuple):
    """What went: the plan on the bytes that were replaced; `run` and `backup` are None where nothing was written.

    `data` are the memory file's bytes as this run knows them last; None where the plan was refused.
    """

    plan: Plan
    run: str | None = None
    backup: Path | None = None
    data: bytes | None = None


def remove(session: Session, removal: Removal, approved: Plan) -> Removed:
    """Write the memory file without what `approved` removes, and remove again what a server puts back.

    Raises:
        MemttlError: what was not done.
    """
    run, plan, approval = os.urandom(4).hex(), approved, approved.approval
    seen: bytes | None = None
    replanner: Replanner | None = None

    def make() -> tuple[Change, Snapshot] | None:
        nonlocal plan, replanner, seen
        if replanner is not None:
            change = _in_short(replanner, run, removal, approval)
            if change is not None and change[0].key != _NOTHING:
                return change
        snapshot, plan = _look(removal, approval)
        if plan.refusals or not plan.removals:
            seen = None if plan.refusals else snapshot.data
            return None
        removal.check(snapshot)
        replanner = Replanner(plan, removal.policy)
        return _whole(run, plan, snapshot, removal), snapshot

    written = session.write(make)
    if written is None:
        return Removed(plan, data=seen)
    try:
        plan = removal.plan_of(written.snapshot.data, approval)
        session.look_again(
            _again(run, _gone_for_good(plan, written.change.data, removal), removal),
            lambda count: f"put {count} of the removed observations back; they were removed again",
            "what the memory server put back could not be removed again",
        )
    except KeyboardInterrupt:
        raise Interrupted("Interrupted.", hint=f"The backup is {written.backup}.", applied=True) from None
    return Removed(plan, run, written.backup, written.change.data)


def _look(removal: Removal, approval: Approval) -> tuple[Snapshot, Plan]:
    def look(data: bytes) -> tuple[Plan, bool]:
        plan = removal.plan_of(data, approval)
        return plan, plan.counts.malformed_lines > 0

    return read_settled(removal.memory, look, proven=True)


def _gone_for_good(done: Plan, new: bytes, removal: Removal) -> Plan:
    """Give the plan without the texts of which another copy stays: of those nobody can tell what was put back."""
    left = removal.plan_of(new, done.approval).approval.observations
    return done._replace(removals=tuple(v for v in done.removals if (v.entity, repr(v.observation)) not in left))


def _again(run: str, done: Plan, removal: Removal) -> Callable[[], tuple[Change, Snapshot, int] | None]:
    """Give what plans the removal of what this run removed and a server put back: nothing that was not in its plan."""
    replanner = Replanner(done, removal.policy)

    def make() -> tuple[Change, Snapshot, int] | None:
        found = _in_short(replanner, run, removal, done.approval)
        if found is None:
            snapshot, plan = _look(removal, done.approval)
            found = _whole(run, plan, snapshot, removal), snapshot
        change, snapshot = found
        if change.key == _NOTHING:
            return None
        again = change._replace(
            begin=begin_again(change.begin),
            removals=lambda: events_again(change.removals()),
            with_backup=False,
            to_archive=None,  # it is there already
        )
        return again, snapshot, change.key.observations.total()

    return make


def _whole(run: str, plan: Plan, snapshot: Snapshot, removal: Removal) -> Change:
    new = apply_plan(snapshot.data, plan) if plan.removals else snapshot.data
    return _change(new, run, snapshot, removal, plan.approval, lambda: plan)


def _in_short(replanner: Replanner, run: str, removal: Removal, approval: Approval) -> tuple[Change, Snapshot] | None:
    """Cut what was planned out of what a stranger has written since; None where that must be planned whole."""
    snapshot = read_once(removal.memory)
    cut = replanner.apply(snapshot.data)
    if cut is None:
        return None
    new, texts = cut
    gone = Approval(texts, Counter())
    return _change(new, run, snapshot, removal, gone, lambda: removal.plan_of(snapshot.data, approval)), snapshot


def _change(
    new: bytes, run: str, snapshot: Snapshot, removal: Removal, gone: Approval, plan_of: Callable[[], Plan]
) -> Change:
    """Give the change; its lines for the log are made only if they are asked for."""
    policy, archive = removal.policy, removal.archive

    def events(*, with_text: bool = policy.audit_text) -> list[dict[str, Any]]:
        return removal_events(snapshot.data, plan_of(), run, with_text=with_text)

    file = str(removal.memory)
    begin = begin_fields(removal.command, snapshot.digest, digest_of(new), file=file, now=removal.now, policy=policy)
    if archive is None:
        return Change(run, new, begin, events, gone)
    begin["archive"] = name_in_log(archive.path, removal.memory)
    to_archive = ToArchive(archive, lambda: entries_of(events(with_text=True)))
    return Change(run, new, begin, events, gone, to_archive=to_archive)
