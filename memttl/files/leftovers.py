"""What lies in the state folder and beside the memory file after a kill, told without touching it.

Read-only commands say it in warnings; a writing command asks `needs_recovery` and lets `recover.py` judge.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import NamedTuple

from memttl.errors import MemttlError
from memttl.files.state import State, read_own, refusal

_SERVER_LEFTOVER = r"\.[0-9a-f]{32}\.tmp"
RESCUED = "rescued-"  # before the name of a version that could not be read
_YOUNG_S = 60.0  # the server's temporary file lives for milliseconds


def needs_recovery(state: State) -> bool:
    """Say whether something lies in the state folder that a writing run must judge; reads the folder's names only.

    Raises:
        NoPermission: the folder may not be read.
    """
    names = _names(state)
    if not names:
        return False
    from memttl.files import versions

    return any(versions.is_leftover(name) for name in names)


def _names(state: State) -> list[str]:
    try:
        with os.scandir(state.beside) as entries:
            return sorted(entry.name for entry in entries if not entry.is_dir(follow_symlinks=False))
    except OSError as e:
        if e.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP):  # there can be none
            return []
        raise refusal(e, f"The state folder {state.beside} cannot be read") from None


class LeftBehind(NamedTuple):
    """What lies in the state folder: what a killed run left, updates to merge, and versions that were set aside.

    `is_open`: the audit log holds a run that has not ended.
    """

    is_open: bool = False
    killed: tuple[str, ...] = ()
    updates: tuple[str, ...] = ()
    rescued: tuple[str, ...] = ()


def left_behind(state: State) -> LeftBehind:
    """Tell what a killed run, or a late writer, left behind, by names and contents.

    Raises:
        NoPermission, CannotCreate: the folder or the audit log cannot be read.
    """
    if not (os.path.isdir(state.beside) or os.path.isdir(state.kept)):  # one that may not be seen is refused elsewhere
        return LeftBehind()
    from memttl.files import audit, versions  # here: most dry runs find no state folder

    names = _names(state)
    journals = {name: journal for name in names if (journal := versions.Journal.read(name))}
    digests = {name: _digest(state.beside / name) for name in journals}
    # a run that ended leaves the old version for a while, should a late writer come, and the copy to merge by
    ended = {name for name, journal in journals.items() if digests[name] == journal.old}
    ended |= {journals[name].old + versions.BASE for name in ended}
    rescued = tuple(name for name in names if name.startswith(RESCUED))
    # what a version that was set aside is to be merged by stays with it
    set_aside = [versions.Journal.read(name.removeprefix(RESCUED)) for name in rescued]
    ended |= {journal.old + versions.BASE for journal in set_aside if journal}
    return LeftBehind(
        is_open=state.audit.exists() and audit.is_open(state.audit),
        killed=tuple(name for name in names if versions.is_leftover(name) and name not in ended),
        updates=tuple(n for n, journal in journals.items() if digests[n] not in (None, journal.old, journal.new)),
        rescued=rescued,
    )


def unfinished(state: State) -> list[str]:
    """Give a sentence for each thing that a killed run, or a late writer, left behind."""
    left = left_behind(state)
    told = []
    if left.is_open or left.killed:
        told.append("an earlier run was killed, or is at work still; the next applied run tidies up after it")
    return told + [
        f"{state.beside / name} holds an update that the next run that writes merges" for name in left.updates
    ]


def _digest(path: Path) -> str | None:
    from memttl.files import versions

    try:
        return versions.short_digest(read_own(path))  # never read_bytes: a pipe of that name would hang
    except (OSError, MemttlError):
        return None  # it is being tidied up this moment, or not ours to read


def server_leftovers(memory: Path, *, now: float) -> list[str]:
    """Give a sentence for the temporary files that a killed memory server left; memttl never reads or removes them."""
    found = server_leftover_names(memory, now=now)
    if not found:
        return []
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return [f"a killed memory server left {found[0]}{more} beside the memory file; memttl leaves it alone"]


def server_leftover_names(memory: Path, *, now: float) -> list[str]:
    """Give the names of the temporary files that a killed memory server left, those of this minute left out."""
    pattern = re.compile(re.escape(memory.name) + _SERVER_LEFTOVER)
    try:
        entries = [entry for entry in os.scandir(memory.parent) if pattern.fullmatch(entry.name)]
        return sorted(e.name for e in entries if now - e.stat(follow_symlinks=False).st_mtime > _YOUNG_S)
    except OSError:
        return []
