"""What a scan came to, as a value: the workflow makes it, `report` renders it, the command takes its exit code."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.look import Comparison
from memttl.errors import ExitCode


class ScanOutcome(NamedTuple):
    """What one scan found. `file` is the path as named; `baseline` is when memttl first knew the file.

    `refusals`: sentences for which nothing was recorded.
    """

    file: str
    now: datetime
    found: Comparison
    baseline: datetime | None
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """4 where most of the memory has vanished, else 0."""
        return ExitCode.LIMIT if self.refusals else ExitCode.OK
