"""What a repair came to, as a value: the workflow makes it, `report/repair.py` renders it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.repair import RepairPlan
from memttl.core.state_mendings import StateMending


class RepairOutcome(NamedTuple):
    """What one repair came to. `file` is the path as named; `run`, `backup`, `quarantine` are None unless applied.

    `quarantine` is also None where nothing was taken out. `state` is what was, or would be, mended in ledger and audit
    log; `is_state_mended`: it was. `declined`: its question was answered no.
    """

    file: str
    now: datetime
    plan: RepairPlan
    dry_run: bool = False
    declined: bool = False
    run: str | None = None
    backup: str | None = None
    quarantine: str | None = None
    state: tuple[StateMending, ...] = ()
    is_state_mended: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        """True where something is to be mended, in the file or in the state."""
        return self.plan.is_needed or bool(self.state)

    @property
    def applied(self) -> bool:
        """True where the memory file was written."""
        return self.run is not None
