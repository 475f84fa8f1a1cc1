"""What a repair came to, as a value: the workflow makes it, `report/repair.py` renders it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.repair import RepairPlan


class RepairOutcome(NamedTuple):
    """What one repair came to. `file` is the path as named; `run`, `backup`, `quarantine` are None unless applied.

    `quarantine` is also None where nothing was taken out. `declined`: its question was answered no.
    """

    file: str
    now: datetime
    plan: RepairPlan
    dry_run: bool = False
    declined: bool = False
    run: str | None = None
    backup: str | None = None
    quarantine: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def applied(self) -> bool:
        """True where the memory file was written."""
        return self.run is not None
