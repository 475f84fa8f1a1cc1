"""What a prune came to, as a value: the workflow makes it, `report` renders it, the command takes its exit code."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.plan import Plan
from memttl.errors import ExitCode


class PruneOutcome(NamedTuple):
    """What one prune came to. `file` is the path as named; `run` and `backup` are None unless applied.

    `dry_run`: it could not have written; `check`: a dry run for scripts; `declined`: its question was answered no.
    `archive` is the path of what keeps what goes, None where the policy names none.
    `first_seen` counts the observations that the ledger met for the first time.
    """

    file: str
    now: datetime
    plan: Plan
    dry_run: bool
    check: bool = False
    applied: bool = False
    declined: bool = False
    run: str | None = None
    backup: str | None = None
    archive: str | None = None
    first_seen: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """The command's exit code: a broken limit beats found work."""
        if self.plan.refusals:
            return ExitCode.LIMIT
        return ExitCode.FOUND_WORK if self.check and self.plan.removals else ExitCode.OK
