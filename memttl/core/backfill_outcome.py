"""What a backfill came to, as a value: the workflow makes it, `report` renders it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.ages import Ages
from memttl.core.history import NotTaken
from memttl.core.plan import Plan


class BackfillOutcome(NamedTuple):
    """What one backfill found in old versions of a memory file. `file` is the path as named.

    `found` of `wanted` observations stand in an old version; `moved` births are earlier than what was known.
    `plan` is what the next prune would do; `recorded` is false for a dry run and where nothing moved.
    """

    file: str
    now: datetime
    dry_run: bool
    recorded: bool
    versions: int
    wanted: int
    found: int
    moved: int
    not_taken: tuple[NotTaken, ...]
    before: Ages
    after: Ages
    plan: Plan
    warnings: tuple[str, ...] = ()
