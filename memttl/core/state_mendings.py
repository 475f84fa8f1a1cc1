"""What `doctor --repair` mends besides the memory file, as values: the ledger and the audit log. Pure.

`files/mending_plan.py` finds it, `workflow/repair.py` has it approved, `report/repair.py` shows it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["log", "ledger", "stamps"]
WHAT: dict[Kind, str] = {"log": "audit log", "ledger": "ledger", "stamps": "ledger"}


class StateMending(NamedTuple):
    """One thing that is wrong in the state folder, and what is done about it, in a sentence."""

    kind: Kind
    done: str

    @property
    def what(self) -> str:
        """Name the part of the state for people."""
        return WHAT[self.kind]
