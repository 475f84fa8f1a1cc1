"""What the `backups` commands come to, as values: the workflow makes them, `report` renders them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from memttl.core.differences import Differences
from memttl.core.memory import parse_line
from memttl.core.model import Line


class Counts(NamedTuple):
    """What a version of the memory file holds; `malformed_lines` are those that the memory server cannot read."""

    entities: int = 0
    relations: int = 0
    observations: int = 0
    other_lines: int = 0
    malformed_lines: int = 0


class Source(NamedTuple):
    """One version of the memory file. `name` is how it is told of; `time` is when it was kept, None for today's file.

    `run` and `command` say which run kept it; empty where nobody knows, as of a file that is no backup of ours.
    """

    name: str
    time: datetime | None = None
    run: str = ""
    command: str = ""


class KeptBackup(NamedTuple):
    """One backup: what it is, how many bytes it takes, and whether compressed.

    `size_bytes` and `counts` tell of what it holds; None where it cannot be read, and `problem` says why. `is_needed`:
    an undo needs it, so that it stays whatever its age.
    """

    source: Source
    stored_bytes: int
    is_compressed: bool
    size_bytes: int | None
    counts: Counts | None
    is_needed: bool = False
    problem: str = ""


class ListOutcome(NamedTuple):
    """The backups of one memory file, newest last; `file` is the path as named."""

    file: str
    now: datetime
    backups: tuple[KeptBackup, ...]
    warnings: tuple[str, ...] = ()


class ShowOutcome(NamedTuple):
    """What one backup holds: its lines, or those of the entities that were asked for, and its bytes."""

    file: str
    now: datetime
    source: Source
    lines: tuple[Line, ...]
    counts: Counts
    data: bytes
    warnings: tuple[str, ...] = ()


class DiffOutcome(NamedTuple):
    """What lies between two versions."""

    file: str
    now: datetime
    before: Source
    after: Source
    found: Differences
    warnings: tuple[str, ...] = ()


class RestoreOutcome(NamedTuple):
    """What a restore came to. `found` is from today's file to the backup; `run` and `backup` are None unless applied.

    `backup` is the one that this restore made of what it replaced; `declined`: its question was answered no.
    """

    file: str
    now: datetime
    source: Source
    found: Differences
    dry_run: bool
    applied: bool = False
    declined: bool = False
    run: str | None = None
    backup: str | None = None
    warnings: tuple[str, ...] = ()


class Outdated(NamedTuple):
    """A backup that the policy lets go, and the bytes that this frees."""

    source: Source
    stored_bytes: int


class ThinOutcome(NamedTuple):
    """What thinning removed or would: `backups` go, `staying` so many stay, `compressed` so many were compressed."""

    file: str
    now: datetime
    backups: tuple[Outdated, ...]
    staying: int
    dry_run: bool
    applied: bool = False
    declined: bool = False
    run: str | None = None
    compressed: int = 0
    freed_bytes: int = 0
    warnings: tuple[str, ...] = ()


def counted(lines: Iterable[Line]) -> Counts:
    """Count what lines hold, as a prune does."""
    entities = relations = observations = others = malformed = 0
    for line in lines:
        entities += line.kind == "entity"
        relations += line.kind == "relation"
        others += line.kind == "other"
        malformed += line.kind == "malformed"
        observations += len(observations_of(line))
    return Counts(entities, relations, observations, others, malformed)


def counted_raw(raws: Iterable[bytes]) -> Counts:
    """Count what raw lines hold, without keeping any."""
    return counted(parse_line(raw, number) for number, raw in enumerate(raws, start=1))


def observations_of(line: Line) -> list[Any]:
    """Give the observations of an entity that is judged; none of any other line."""
    found = line.record.get("observations") if line.is_judged and line.record is not None else None
    return found if isinstance(found, list) else []
