"""The use cases behind `backups list`, `show` and `diff`: what is kept of one memory file. Nothing is written.

`commands/backups.py` calls them for each memory file, which need not be there.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import IO

from memttl.core.backups_outcome import (
    Counts,
    DiffOutcome,
    KeptBackup,
    ListOutcome,
    ShowOutcome,
    Source,
    counted,
    counted_raw,
)
from memttl.core.differences import differences
from memttl.core.memory import BOM, read_lines
from memttl.core.model import Line
from memttl.core.places import name_of
from memttl.errors import MemttlError
from memttl.files.backups import PACKED, open_backup, read_backup
from memttl.files.kept_backups import Kept, backup_named, kept_backups
from memttl.files.leftovers import unfinished
from memttl.files.snapshot import read_settled
from memttl.files.state import State, state_of
from memttl.settings import Settings

_NOW = "the memory file as it is now"


def list_all(settings: Settings) -> ListOutcome:
    """List the backups of one memory file, and count what each holds.

    Raises:
        NoPermission: their folder may not be read.
    """
    warnings = list(settings.warnings)
    found = kept_backups(_state(settings), warnings.append)
    backups = []
    for done, kept in enumerate(found.backups):
        settings.progress("counting backups", done, len(found.backups))
        backups.append(_counted(kept, is_needed=kept.source.run in found.needed))
    return ListOutcome(settings.named, settings.now_here, tuple(backups), tuple(warnings))


def _state(settings: Settings) -> State:
    return state_of(settings.memory, settings.state_elsewhere)


def _counted(kept: Kept, *, is_needed: bool) -> KeptBackup:
    """Count one backup line by line: a folder of big ones must not fill the memory."""
    stored = kept.path.lstat().st_size
    is_compressed = kept.path.suffix == PACKED
    size = 0

    def lines_of(f: IO[bytes]) -> Iterator[bytes]:
        nonlocal size
        for raw in f:  # a stream of bytes ends its lines at LF alone
            line = raw.removeprefix(BOM) if not size else raw
            size += len(raw)
            yield line.removesuffix(b"\n")

    try:
        with open_backup(kept.path) as f:
            counts: Counts | None = counted_raw(lines_of(f))
    except MemttlError as e:
        return KeptBackup(kept.source, stored, is_compressed, None, None, is_needed, e.message)
    return KeptBackup(kept.source, stored, is_compressed, size, counts, is_needed)


def show_one(settings: Settings, name: str, *, entities: Sequence[str] = ()) -> ShowOutcome:
    """Read one backup, or the entities of it that names or globs mean, with the relations that touch them.

    Raises:
        UnknownBackup: there is none of that name, or several.
        UnknownEntity: it holds no such entity.
        MemttlError: it cannot be read.
    """
    warnings = list(settings.warnings)
    kept = backup_named(kept_backups(_state(settings), warnings.append).backups, name)
    data = read_backup(kept.path)
    lines = [line for line in read_lines(data) if line.kind != "blank"]
    counts = counted(lines)
    if entities:
        lines = _of_entities(lines, entities)
    return ShowOutcome(settings.named, settings.now_here, kept.source, tuple(lines), counts, data, tuple(warnings))


def _of_entities(lines: Sequence[Line], wanted: Sequence[str]) -> list[Line]:
    from memttl.core.selection import match_names

    names = frozenset(name for line in lines if (name := name_of(line)) is not None)
    chosen = frozenset[str]().union(*(match_names(word, names) for word in wanted))
    return [line for line in lines if name_of(line) in chosen or _touches(line, chosen)]


def _touches(line: Line, names: Collection[str]) -> bool:
    if line.kind != "relation" or line.record is None:
        return False
    ends = (line.record.get("from"), line.record.get("to"))
    return any(isinstance(end, str) and end in names for end in ends)


def diff(settings: Settings, name: str, other: str | None = None) -> DiffOutcome:
    """Compare a backup with today's memory file, or with another backup.

    Raises:
        UnknownBackup: there is none of that name, or several.
        MemttlError: a backup or the memory file cannot be read.
    """
    warnings = list(settings.warnings)
    backups = kept_backups(_state(settings), warnings.append).backups
    before = backup_named(backups, name)
    if other is not None:
        kept = backup_named(backups, other)
        after, new = kept.source, read_backup(kept.path)
    else:
        after, new = Source(_NOW), _today(settings, warnings)
    found = differences(read_backup(before.path), new)
    return DiffOutcome(settings.named, settings.now_here, before.source, after, found, tuple(warnings))


def _today(settings: Settings, warnings: list[str]) -> bytes:
    """Read the memory file at rest, damaged or not; a missing one holds nothing."""
    if not os.path.lexists(settings.memory):
        warnings.append(f"there is no memory file {settings.named} now, which the memory server takes for an empty one")
        return b""
    settings.progress("reading", 0, None)
    warnings += unfinished(_state(settings))
    snapshot, _ = read_settled(settings.memory, _is_damaged)
    return snapshot.data


def _is_damaged(data: bytes) -> tuple[None, bool]:
    return None, any(line.kind == "malformed" for line in read_lines(data))
