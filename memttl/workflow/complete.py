"""The names that a command line may hold: entities, types, runs and backups of the memory file that is meant.

`commands/completing.py` asks while somebody types, so this is quick, takes no lock and writes nothing. What cannot be
read has no names.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from memttl.core.memory import entity_heads
from memttl.core.past_runs import runs_of
from memttl.core.wording import plural
from memttl.errors import MemttlError
from memttl.files import audit
from memttl.files.kept_backups import LATEST, kept_backups
from memttl.files.state import state_of
from memttl.memory_files import memory_files
from memttl.settings import Given, Settings, resolve_anyway

Names = Iterator[tuple[str, str]]
MAX_BYTES = 32 << 20  # a tenth of a second; of a larger file the names of its first part
LONGEST = 200  # a longer name is no help on a command line


def entities(given: Given, environ: Mapping[str, str]) -> Names:
    """Give the name of each entity, and its type."""
    for name, kind in _heads(given, environ):
        yield typeable(name), typeable(kind or "")


def types(given: Given, environ: Mapping[str, str]) -> Names:
    """Give each type of an entity."""
    for _, kind in _heads(given, environ):
        yield typeable(kind or ""), ""


def runs(given: Given, environ: Mapping[str, str]) -> Names:
    """Give the runs of the audit log that wrote the memory file, and what each did."""
    for settings in _settings(given, environ):
        state = state_of(settings.memory, settings.state_elsewhere)
        for run in runs_of(audit.read_events(state.audit, unreadable=True)):
            if run.applied:
                removed = f", {plural(len(run.removed), 'removal')}" if run.removed else ""
                yield typeable(run.run), typeable(f"{run.command} {run.time[:10]}{removed}")


def backups(given: Given, environ: Mapping[str, str]) -> Names:
    """Give the runs of which there is a backup, and `latest`."""
    for settings in _settings(given, environ):
        kept = kept_backups(state_of(settings.memory, settings.state_elsewhere)).backups
        if kept:
            yield LATEST, "the newest that holds something"
        for backup in kept:
            yield (
                typeable(backup.source.run),
                typeable(f"{backup.source.command} {backup.source.time:%Y-%m-%d}".strip()),
            )


def typeable(name: str) -> str:
    """Give a name as it can be typed in one line: a `?` matches the control character in whose place it stands."""
    name = name if len(name) <= LONGEST else ""
    return name if name.isprintable() else "".join(c if c.isprintable() else "?" for c in name)


def named(given: Given, environ: Mapping[str, str]) -> list[str]:
    """Give the memory files that are meant, none where that cannot be told."""
    try:
        return memory_files(given, environ)
    except MemttlError:
        return []


def _heads(given: Given, environ: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    for name in named(given, environ):
        yield from entity_heads(_read(name))


def _settings(given: Given, environ: Mapping[str, str]) -> Iterator[Settings]:
    for name in named(given, environ):
        yield resolve_anyway(name, given, environ, datetime.now(UTC))


def _read(path: str) -> bytes:
    """Read the start of a memory file, up to the end of a line; nothing of what is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe must not wait for its writer
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as f:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        data = f.read(MAX_BYTES + 1)
    return data if len(data) <= MAX_BYTES else data[: data.rfind(b"\n") + 1]
