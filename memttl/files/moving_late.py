"""What came out of the old place looked at again once late writers are done: brought into the new file, or set aside.

`moving_carry.py` calls it before anything that came out is removed.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from memttl.core.merge import is_whole
from memttl.core.moving import Move
from memttl.errors import NoMemoryFile
from memttl.files import versions
from memttl.files.backups import write_backup
from memttl.files.folder import READ, is_file
from memttl.files.ladder import Rung
from memttl.files.leftovers import RESCUED
from memttl.files.moving_merge import write_in
from memttl.files.moving_state import has_leftovers
from memttl.files.moving_taken import ADDS, MOVED, Taken
from memttl.files.recover import recover
from memttl.files.snapshot import read_whole
from memttl.files.state import refusal, sync_folder
from memttl.files.syscalls import take_lease
from memttl.files.writing import Session


def wait_for_late_writers(old: Session, new: Session) -> None:
    """Wait: a writer may have looked the old file up just before it came out, and not have opened it yet."""
    end = time.monotonic() + old.pace.keep_s
    time.sleep(old.pace.keep_s)
    while has_leftovers(new) and time.monotonic() < end + old.pace.keep_s:
        recover(new)
        time.sleep(0.01)


def judge_all(old: Session, new: Session, taken: Taken, known: set[str], *, adds_only: bool) -> int:
    """Bring in what came out and is not in the new file yet; give how many versions that were.

    `adds_only` holds for all of them; else the name of each tells.
    """
    return sum(
        _judge(old, new, name, taken.data, known, adds_only=adds_only or name.endswith(ADDS)) for name in taken.names
    )


def _judge(old: Session, new: Session, name: str, base: bytes, known: set[str], *, adds_only: bool) -> bool:
    end = time.monotonic() + old.pace.rest_s
    while True:
        data = _read_closed(old, name, end)
        if data is None or versions.short_digest(data) in known:
            return False
        if is_whole(data, base):
            break
        if time.monotonic() > end:
            _rescue(old, new, name, data)
            known.add(versions.short_digest(data))
            return False
        time.sleep(0.02)
    known.add(versions.short_digest(data))
    begin = {"command": "recover", "from": str(old.state.memory)}
    return write_in(new, base, data, begin, adds_only=adds_only)


def _read_closed(old: Session, name: str, end: float) -> bytes | None:
    """Read a displaced file while nobody has it open to write, if that can be told; None where it is a link or gone."""
    while True:
        try:
            descriptor = old.beside.open(name, READ)
        except OSError:
            return None
        try:
            if old.rung is Rung.LEASES:
                take_lease(descriptor, write=False)
            return read_whole(descriptor)
        except OSError:
            if time.monotonic() > end:
                return read_whole(descriptor)
        finally:
            os.close(descriptor)
        time.sleep(0.01)


def _rescue(old: Session, new: Session, name: str, data: bytes) -> None:
    if not data:
        return
    path = new.beside.path / f"{RESCUED}{name}"
    write_backup(path, data, new.like)
    new.warn(f"a version that cannot be read came out of {old.state.memory}; it lies in {path}")


def came_out(old: Session) -> list[str]:
    """Give the names of what a killed move had taken from the old place; links that had not come there yet go."""
    found = [name for name in old.beside.names() if name.endswith(MOVED)]
    for name in found:
        if not is_file(old.beside.path / name):
            old.beside.unlink(name)
    return [name for name in found if is_file(old.beside.path / name)]


def is_out(old: Session, names: list[str]) -> bool:
    """Say whether the memory itself has left the old place; on the last rung it has two names for an instant."""
    try:
        here = old.state.memory.lstat()
    except FileNotFoundError:
        return True
    found = [old.beside.stat(name) for name in names]
    return any((one.st_dev, one.st_ino) != (here.st_dev, here.st_ino) for one in found)


def remove_link(old: Session, move: Move, *, bare: bool) -> str | None:
    """Take the link away from the old place; give the name of what else lay there by then, to be brought in.

    `bare`: no link of ours stood there, so that a file was begun anew.
    """
    name = f"{os.urandom(4).hex()}{ADDS if bare else MOVED}"
    try:
        old.beside.replace_from(old.memory, old.state.memory.name, name)
    except FileNotFoundError:
        return None
    if is_file(old.beside.path / name):
        return name
    if os.readlink(old.beside.path / name) != move.target:  # somebody else's
        with contextlib.suppress(OSError):
            os.rename(old.beside.path / name, old.state.memory)
        return None
    old.beside.unlink(name)
    return None


def remove_old_link(old: Path, target: Path) -> None:
    """Take away the link that an earlier move left.

    Raises:
        NoPermission, CannotCreate: it cannot be removed.
        NoMemoryFile: it leads elsewhere by now.
    """
    try:
        if os.readlink(old) != str(target):
            raise NoMemoryFile(f"{old} is a link to another place; nothing was done.")
        old.unlink()
        sync_folder(old.parent)
    except OSError as e:
        raise refusal(e, f"The link {old} cannot be removed") from None
