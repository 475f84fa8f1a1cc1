"""The place of a memory file into findings: links, mounts, folders that are synced or wiped, rights, and other locks.

Called by `workflow/doctor.py`, check by check. Nothing here is written, locked or leased.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memttl.core.findings import Finding, of_file, several
from memttl.core.moving import finish_words, reappeared_help, reappeared_words, under_way_words
from memttl.core.synced import synced_by
from memttl.files.ladder import Rung, first_rung
from memttl.files.leftovers import server_leftover_names
from memttl.files.mounts import Mount, mount_of, mounted_alone
from memttl.files.moving import given_up_words, move_returned, move_under_way, moves_to
from memttl.files.pace import DEFAULT_PACE
from memttl.files.state import State

_REFUSES = "memttl refuses to write it (exit code 77)"


class Place(NamedTuple):
    """One memory file: as `named`, with links resolved, its state, and its stat (None where there is no file)."""

    named: str
    memory: Path
    state: State
    found: os.stat_result | None


def check_links(place: Place) -> Iterator[Finding]:
    """Find a symbolic link that the server will replace, and hard links, which a swap would part."""
    if os.path.islink(place.named):
        yield Finding(
            "warning",
            "symbolic-link",
            f"{place.named} is a symbolic link to {place.memory}",
            f"Let `MEMORY_FILE_PATH` name {shlex.quote(str(place.memory))} itself.",
            "release 2026.8.31 of the memory server replaces the link by a file at its next write, and the file behind "
            "it goes stale",
        )
    names = place.found.st_nlink - _own_names(place) if place.found else 1
    if names > 1:
        yield Finding(
            "warning",
            "hard-links",
            f"the file has {names} names (hard links); {_REFUSES}",
            f"Remove the other names: `find / -xdev -samefile {shlex.quote(str(place.memory))}` lists them.",
            "release 2026.8.31 of the memory server parts them at its next write",
        )


def _own_names(place: Place) -> int:
    assert place.found is not None
    try:
        entries = [entry.stat(follow_symlinks=False) for entry in os.scandir(place.state.beside)]
    except OSError:
        return 0
    return sum((e.st_dev, e.st_ino) == (place.found.st_dev, place.found.st_ino) for e in entries)


def check_folder(place: Place) -> Iterator[Finding]:
    """Find a folder that others sync, or that the next update of the server's package wipes."""
    if "_npx" in place.memory.parts:
        yield Finding(
            "warning",
            "npx-cache",
            "the file lies in the npx cache, which the next update of the server's package deletes",
            f"{of_file('move ~/memory.jsonl', place.named)} takes it to a place of your own, with all that memttl "
            "keeps of it, and says how `MEMORY_FILE_PATH` names it then."
            if place.found is not None
            else "Let `MEMORY_FILE_PATH` name a file in a folder of your own, `~/memory.jsonl` say.",
        )
    service = synced_by(str(place.memory))
    if service:
        yield Finding(
            "warning",
            "synced-folder",
            f"the file lies in a folder that {service} syncs: two machines mean two ledgers, and no lock or lease of "
            "one holds the other",
            "Let `MEMORY_FILE_PATH` name a file outside of it, or let one machine alone run the server and memttl.",
        )


def check_moves(place: Place) -> Iterator[Finding]:
    """Find a move that was interrupted, and a file that has appeared where this one was moved from."""
    under_way = move_under_way(place.state.beside)
    if under_way is not None:
        help_ = f"{finish_words(under_way)}.{given_up_words(place.memory, under_way)}"
        yield Finding("error", "move-under-way", under_way_words(under_way), help_)
    for move in moves_to(place.state.beside):
        if move_returned(move):
            yield Finding("warning", "old-place-again", reappeared_words(move), reappeared_help(move))


def check_rights(place: Place) -> Iterator[Finding]:
    """Find what keeps memttl from replacing the file: rights of file and folder, an owner that cannot be kept."""
    if place.found is None:
        return
    path = shlex.quote(str(place.memory))
    mode = stat.S_IMODE(place.found.st_mode)
    if not mode & stat.S_IWUSR:
        what = f"the file is read-only (mode {mode:04o}); {_REFUSES}"
        yield Finding("warning", "read-only", what, f"`chmod u+w {path}` lifts that, if it may change.")
    if not os.access(place.memory.parent, os.W_OK | os.X_OK):
        help_ = (
            f"Let {of_file('prune', place.named)} run as the owner of that folder, on a file system that is writable."
        )
        yield Finding("warning", "read-only-folder", f"its folder may not be written; {_REFUSES}", help_)
    if not _can_keep_owner(place.found):
        owner = f"user {place.found.st_uid}, group {place.found.st_gid}"
        help_ = f"Run memttl as that user: `sudo -u '#{place.found.st_uid}' memttl …`."
        what = f"the file belongs to {owner}, which a new version of yours could not keep; {_REFUSES}"
        yield Finding("warning", "another-owner", what, help_)


def _can_keep_owner(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        return True
    return found.st_uid == os.geteuid() and found.st_gid in (os.getegid(), *os.getgroups())


def check_mounts(place: Place) -> Iterator[Finding]:
    """Find a file mounted by itself, a state folder on another file system, and a rung that is not the first."""
    mount = _mount_of(place.memory.parent)
    alone = mounted_alone(str(place.memory), mount) if mount else None
    if alone is not None:
        what = f"the file is mounted by itself at {alone}, where a swap would leave the old one; {_REFUSES}"
        yield Finding("warning", "single-file-mount", what, "Mount its folder instead: `docker run -v FOLDER:FOLDER`.")
    if _is_elsewhere(place, mount):
        what = f"the state folder {place.state.beside} lies on another file system than the memory file; {_REFUSES}"
        help_ = (
            f"Let {shlex.quote(str(place.state.beside.parent))} be a plain folder: `findmnt -T` says what is mounted."
        )
        yield Finding("warning", "state-on-another-file-system", what, help_)
    rung = rung_of(place)
    if place.found is not None and rung is not Rung.LEASES:
        where = f"on this file system ({mount.fs_type})" if mount else "here"
        what = f"{where} memttl cannot hold the file still while it writes: it waits until nobody wrote it for 2 s"
        help_ = "For certainty stop the server while `memttl prune` writes."
        yield Finding("note", "lower-rung", what, help_)


def _mount_of(folder: Path) -> Mount | None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        return mount_of(descriptor)
    finally:
        os.close(descriptor)


def fs_type_of(folder: Path) -> str | None:
    """Give the type of the file system on which a folder lies, None where that is not to be known."""
    mount = _mount_of(folder)
    return mount.fs_type if mount else None


def _is_elsewhere(place: Place, mount: Mount | None) -> bool:
    """Say whether a rename between the file's folder and its state folder would fail (EXDEV)."""
    try:
        if place.state.beside.stat().st_dev != place.memory.parent.stat().st_dev:
            return True
    except OSError:
        return False
    own = _mount_of(place.state.beside)
    return bool(mount and own and mount.id != own.id)  # the same file system mounted twice refuses as well


def rung_of(place: Place) -> Rung:
    """Give the rung on which the write path would begin; a lease is for the file's owner and root."""
    rung = first_rung("auto", platform=sys.platform, fs_type=fs_type_of(place.memory.parent))
    is_owner = place.found is None or not hasattr(os, "geteuid") or os.geteuid() in (0, place.found.st_uid)
    return Rung.EXCHANGE if rung is Rung.LEASES and not is_owner else rung


def check_strangers(place: Place) -> Iterator[Finding]:
    """Find what other programs left beside the file: the server's temporary files, and locks of theirs."""
    left = server_leftover_names(place.memory, now=time.time())
    if left:
        yield Finding(
            "warning",
            "server-leftover",
            f"a killed memory server left {several(left)} beside the file",
            f"{of_file('report', str(place.memory.with_name(left[0])))} shows what it holds; remove it once the memory "
            "file has all of that.",
            "no server reads it again",
        )
    lock = place.memory.with_name(f"{place.memory.name}.lock")
    try:
        age_s = time.time() - lock.lstat().st_mtime
    except OSError:
        return
    if age_s > DEFAULT_PACE.lock_stale_s:
        what = f"{lock} is {age_s:.0f} s old, so whoever made it seems to be gone; memttl passes it"
        yield Finding(
            "warning",
            "stale-lock",
            what,
            f"Remove it (`rm -r {shlex.quote(str(lock))}`) if nobody is at work.",
        )
    else:
        what = f"another program holds the file with {lock}; memttl waits for it"
        yield Finding("note", "foreign-lock", what, f"Run {of_file('doctor', place.named)} again in a moment.")
