"""The backups of one memory file by name: which there are, which run made each, and which one a word means.

The use cases behind `memttl backups` call it. It reads names, sizes and the audit log, never what a backup holds.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from memttl.core.backup_needs import runs_that_need_backups
from memttl.core.backups_outcome import Source
from memttl.core.near import near
from memttl.core.past_runs import runs_of
from memttl.errors import MemttlError, UnknownBackup
from memttl.files import audit
from memttl.files.backups import PACKED, list_backups
from memttl.files.state import State, state_of

LATEST = "latest"


class Kept(NamedTuple):
    """A backup and where it lies."""

    source: Source
    path: Path


class KeptBackups(NamedTuple):
    """All backups of a memory file, oldest first, and the runs for which an undo would need theirs."""

    backups: Sequence[Kept]
    needed: frozenset[str]


def kept_backups(state: State, warn: Callable[[str], None] = lambda _: None) -> KeptBackups:
    """Give the backups of a memory file; `warn` is told where the audit log cannot say which command made them.

    Raises:
        NoPermission: the folder of the backups may not be read.
    """
    found = list_backups(state.backups)
    commands: Mapping[str, str] = {}
    needed: set[str] = set()
    try:
        events = audit.read_events(state.audit, unreadable=True) if found else []
    except MemttlError as e:
        warn(f"which command made each backup is not known: {e.message}")
    else:
        commands = {str(e.get("run")): "move" for e in events if e.get("event") == "moved"}
        commands |= {run.run: run.command for run in runs_of(events)}
        needed = runs_that_need_backups(events)
        order = {run: place for place, run in enumerate(commands)}
        found.sort(key=lambda backup: (backup[0], order.get(backup[1], -1)))  # two runs within one second
    backups = [Kept(Source(path.name, at, run, commands.get(run, "")), path) for at, run, path in found]
    return KeptBackups(backups, frozenset(needed))


def backup_named(backups: Sequence[Kept], name: str) -> Kept:
    """Give the backup that is meant by `latest`, a run (or how only one begins), a file name, or a path of any copy.

    `latest` is the newest that is not empty: a run on a file that was wiped has made an empty one.

    Raises:
        UnknownBackup: there is none, or more than one.
    """
    if name == LATEST and backups:
        return newest_that_holds_something(backups)
    stem = _stem(os.path.basename(name))
    found = [kept for kept in backups if name == kept.source.run]
    found = found or [kept for kept in backups if stem == _stem(kept.path.name) and _is_there(name, kept.path)]
    found = found or [kept for kept in backups if name and kept.source.run.startswith(name)]
    if len(found) > 1:
        runs = ", ".join(kept.source.run for kept in found[:5])
        raise UnknownBackup(f"{name!r} could be {len(found)} backups: {runs}; nothing was done.")
    return found[0] if found else _outside(backups, name)


def newest_that_holds_something(backups: Sequence[Kept]) -> Kept:
    """Give the newest backup that is not empty; the newest where all are."""
    return next((kept for kept in reversed(backups) if kept.path.stat().st_size), backups[-1])


def _stem(name: str) -> str:
    """Give a backup's name as it was when it was written: it may have been compressed since."""
    return name.removesuffix(PACKED)


def _is_there(name: str, path: Path) -> bool:
    """Say whether a bare name, or a path into the folder of the backups, means the one at `path`."""
    folder = os.path.dirname(name)
    return not folder or os.path.realpath(folder) == os.path.realpath(path.parent)


def _outside(backups: Sequence[Kept], name: str) -> Kept:
    """Take a path of a file that is no backup of this memory file: an old copy, or one from another machine."""
    path = Path(os.path.realpath(os.path.expanduser(name)))
    if name and path.is_file():
        return Kept(Source(name, datetime.fromtimestamp(path.stat().st_mtime, UTC)), path)
    if not backups:
        raise UnknownBackup(
            f"There is no backup {name!r}: memttl has made none of this file yet; nothing was done.",
            hint="Every run that writes the memory file makes one first; a scan keeps ages, not texts.",
        )
    names = [word for kept in backups for word in (kept.source.run, kept.path.name)]
    raise UnknownBackup(f"There is no backup {name!r}{near(name, names)}; nothing was done.")


def words_for_missing(memory: Path, elsewhere: Path | None, named: str) -> str:
    """Say of a missing memory file which commands put a backup back; nothing where there is none, or a file."""
    if os.path.lexists(memory):
        return ""
    try:
        backups = kept_backups(state_of(memory, elsewhere)).backups
    except (MemttlError, OSError):
        return ""
    if not backups:
        return ""
    run, file = newest_that_holds_something(backups).source.run, shlex.quote(named)
    if not memory.parent.is_dir():
        return (
            f"Its folder is gone, too; `memttl backups show {run} --raw --file {file} > NEW` writes the newest backup."
        )
    return (
        f"There are backups of it: `memttl backups list --file {file}` lists them, and `memttl backups restore {run} "
        f"--file {file}` puts the newest back."
    )
