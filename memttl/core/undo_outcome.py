"""What an undo came to, as a value: the workflow makes it, `report/undo.py` renders it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.undo import UndoPlan


class UndoOutcome(NamedTuple):
    """What one undo came to. `file` is the path as named; `run` and `backup` are None unless applied.

    `plan` is None where there is no run to undo; then `nothing` says why. `declined`: its question was answered no.
    """

    file: str
    now: datetime
    plan: UndoPlan | None = None
    nothing: str = ""
    dry_run: bool = False
    declined: bool = False
    run: str | None = None
    backup: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def applied(self) -> bool:
        """True where the memory file was written."""
        return self.run is not None
