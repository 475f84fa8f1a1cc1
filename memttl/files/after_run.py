"""What an applied run does last, when its work is whole: it thins what earlier runs left in the state folder.

`pruning.py` and `rewriting.py` call it. Nothing here may make a run fail that has written the memory file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memttl.core.durations import Duration
from memttl.core.policy import Policy
from memttl.files.backups import thin_backups
from memttl.files.state import State
from memttl.files.thin_log import thin_log


def tidy(state: State, policy: Policy) -> None:
    """Thin audit log and backups as the policy says; what cannot be removed stays. The caller holds the lock."""
    thin_log(state, age_of(policy.audit_max_age), datetime.now(UTC))
    if not policy.audit_text:  # then an undo needs the backup of every run that the log still holds
        return
    thin_backups(state.backups, datetime.now(UTC), keep=policy.backups_keep, max_age=age_of(policy.backups_max_age))


def age_of(duration: Duration) -> timedelta | None:
    """Give how old something may become; None for ever."""
    return None if duration.is_never else timedelta(hours=duration.approximate_hours())
