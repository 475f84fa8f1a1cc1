"""What a forget came to, as a value: the workflow makes it, `report/forget.py` renders it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class PlaceCount(NamedTuple):
    """One file, and how many things of what kind go from it, or are still in it."""

    place: str
    number: int
    noun: str = "time"


class ForgetOutcome(NamedTuple):
    """What was forgotten, or would be. `file` is the path as named; `run` its name in the audit log, None unless done.

    `entities` go whole; `observations` are (entity, text) of all that goes. `applied`: the memory file was written.
    `declined`: one of its questions was answered no. `remaining` are the files that still hold it.
    """

    file: str
    now: datetime
    entities: tuple[str, ...] = ()
    observations: tuple[tuple[str, str], ...] = ()
    places: tuple[PlaceCount, ...] = ()
    remaining: tuple[PlaceCount, ...] = ()
    dry_run: bool = False
    applied: bool = False
    run: str | None = None
    declined: bool = False
    warnings: tuple[str, ...] = ()
