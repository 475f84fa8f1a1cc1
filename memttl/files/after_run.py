"""What an applied run does last, when its work is whole: it thins what earlier runs left in the state folder.

`pruning.py` and `rewriting.py` call it under the lock, `editing.py` when clients are at rest. Nothing here may make a
run fail that has written the memory file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memttl.core.backup_needs import runs_of_clients, runs_that_need_backups
from memttl.core.durations import Duration
from memttl.core.policy import Policy
from memttl.errors import MemttlError
from memttl.files import audit
from memttl.files.backups import list_backups, outdated, remove_backups
from memttl.files.compressing import compress_backups
from memttl.files.state import State
from memttl.files.thin_log import thin_log


def tidy(state: State, policy: Policy, *, run: str | None = None) -> None:
    """Thin log and backups as the policy says, and compress big old ones; `run` is the run at hand, whose backup stays.

    What cannot be removed stays. The caller holds the lock.
    """
    thin_log(state, age_of(policy.audit_max_age), datetime.now(UTC))
    try:
        remove_backups(outdated_backups(state, policy, datetime.now(UTC), but=run))
        compress_backups(state.backups, but=run)
    except (MemttlError, OSError):
        return  # the log or the folder cannot be read: then nobody can tell what is needed


def outdated_backups(state: State, policy: Policy, now: datetime, *, but: str | None = None) -> list[Path]:
    """Give the backups that the policy lets go; none without which a run of the log could not be undone, nor `but`'s.

    Those of what clients of `memttl serve` deleted are counted apart, so that a burst of it pushes out no other.

    Raises:
        NoPermission, CannotCreate: the audit log cannot be read, or a newer memttl wrote it.
    """
    backups, keep, max_age = list_backups(state.backups), policy.backups_keep, age_of(policy.backups_max_age)
    if not outdated(backups, now, keep=keep, max_age=max_age):
        return []  # the log, which may be long, need not be read; counted apart, no more are outdated
    events = audit.read_events(state.audit, unreadable=True)
    needed = runs_that_need_backups(events) | {but or ""}
    clients = runs_of_clients(events)
    of_clients = [backup for backup in backups if backup[1] in clients]
    others = [backup for backup in backups if backup[1] not in clients]
    return [
        path for kind in (of_clients, others) for path in outdated(kind, now, keep=keep, max_age=max_age, needed=needed)
    ]


def age_of(duration: Duration) -> timedelta | None:
    """Give how old something may become; None for ever."""
    return None if duration.is_never else timedelta(hours=duration.approximate_hours())
