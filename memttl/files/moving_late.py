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
from memttl.files.folder import READ
from memttl.files.ladder import Rung
from memttl.files.leftovers import RESCUED
from memttl.files.moving_merge import BringIn, write_in
from memttl.files.moving_places import is_file
from memttl.files.moving_state import has_leftovers
from memttl.files.moving_swap import Taken
from memttl.files.recover import recover
from memttl.files.snapshot import read_whole
from memttl.files.state import refusal, sync_folder
from memttl.files.syscalls import take_lease
from memttl.files.writing import Session

MOVED = ".moved"  # what came out of the old place has such a name


def wait_for_late_writers(old: Session, new: Session) -> None:
    """Wait: a writer may have looked the old file up just before it came out, and not have opened it yet."""
    end = time.monotonic() + old.pace.keep_s
    time.sleep(old.pace.keep_s)
    while has_leftovers(new) and time.monotonic() < end + old.pace.keep_s:
        recover(new)
        time.sleep(0.01)


def judge_all(old: Session, new: Session, taken: Taken, bring_in: BringIn, known: set[str]) -> int:
    """Bring in what came out and is not in the new file yet; give how many versions that were."""
    return sum(_judge(old, new, name, taken.data, bring_in, known) for name in taken.names)


def _judge(old: Session, new: Session, name: str, base: bytes, bring_in: BringIn, known: set[str]) -> bool:
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
    return write_in(new, base, data, bring_in, {"command": "recover", "from": str(old.state.memory)})


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


def remove_link(old: Session, move: Move) -> str | None:
    """Take the link away from the old place; give the name of what else lay there by then, to be brought in."""
    name = f"{os.urandom(4).hex()}{MOVED}"
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


def remove_old_link(old: Path, target: Path) -> bool:
    """Take away the link that an earlier move left; say whether there was one.

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
    return True
