"""What came of a schedule that was printed, installed or removed, as a value.

`workflow/schedule.py` makes it, `report/schedule.py` renders it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from memttl.core.schedule import Act, Kind, Wish

Change = Literal["shown", "new", "changed", "same", "gone", "foreign", "none"]


class ScheduledFile(NamedTuple):
    """One file of a schedule: its path, what it holds, and how that compares with what lay there.

    `path` may also be a title, where the scheduler alone knows the place ("the crontab of anna"). `before` is what lay
    there, None for nothing.
    """

    path: str
    content: str
    change: Change
    before: str | None = None


class Existing(NamedTuple):
    """A schedule of one file that memttl wrote before: what runs it, and where it lies."""

    kind: Kind
    system: bool
    places: tuple[str, ...]


class ScheduleOutcome(NamedTuple):
    """One memory file's schedule. `name` is the unit's; `ran` are commands that were run, `to_run` those left to do.

    `installed`: after this call the schedule is in place (`to_run` may have to start it).
    """

    file: str
    wish: Wish
    act: Act
    name: str
    files: tuple[ScheduledFile, ...]
    installed: bool
    dry_run: bool = False
    declined: bool = False
    ran: tuple[tuple[str, ...], ...] = ()
    to_run: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
