"""The new place of a memory file: its folders, and the file put there whole, in one step, never over another.

`moving_carry.py` calls it under both locks.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from memttl.errors import CannotCreate, UsageError
from memttl.files import versions
from memttl.files.folder import CREATE, READ
from memttl.files.snapshot import Snapshot
from memttl.files.state import refusal
from memttl.files.syscalls import exchange
from memttl.files.writing import Session

PLACED = ".placed"
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@contextlib.contextmanager
def folders_for(target: Path, like: os.stat_result) -> Iterator[None]:
    """Make the missing folders above the new place, open to the memory file's owner alone; unmade where all fails.

    Raises:
        NoPermission, CannotCreate: one cannot be made.
    """
    made: list[Path] = []
    try:
        for folder in reversed([f for f in target.parents if not os.path.lexists(f)]):
            folder.mkdir(mode=0o700)
            made.append(folder)
            if hasattr(os, "geteuid") and os.geteuid() == 0:
                os.chown(folder, like.st_uid, like.st_gid)
    except OSError as e:
        _unmake(made)
        raise refusal(e, f"The folder {e.filename or target.parent} cannot be made") from None
    try:
        yield
    except BaseException:
        _unmake(made)
        raise


def _unmake(made: list[Path]) -> None:
    for folder in reversed(made):
        with contextlib.suppress(OSError):  # something lies in it by now
            folder.rmdir()


def put_in_place(new: Session, old: Session, snapshot: Snapshot, run: str) -> None:
    """Write the bytes of the old file, with all that hangs on it, and give them the new name.

    Raises:
        UsageError: something lies there by now.
        CannotCreate, NoPermission: it cannot be written, or does not hold what was written.
    """
    name, target = f"{run}{PLACED}", new.state.memory
    try:
        live = old.memory.open(snapshot.path.name, READ)
        try:
            placed = versions.write_version(new.beside, name, snapshot.data, snapshot, live=live)
            new.warnings += _lost_attributes(live, placed, target)
        finally:
            os.close(live)
        try:
            if not versions.holds(placed, snapshot.data):
                raise CannotCreate(
                    f"{target} does not hold what was written; nothing was moved.", hint="Check the disk."
                )
        finally:
            os.close(placed)
        new.step("new file written")
        _name_it(new, name, target.name, old.state.memory)
        new.memory.sync()
    except FileExistsError:
        raise exists(target) from None
    except OSError as e:
        raise refusal(e, f"{target} cannot be made") from None
    finally:
        new.beside.unlink(name)


def drop_placed(new: Session) -> None:
    """Take away what a killed move left of this: a second name of the new file, or the link that it took away."""
    for name in new.beside.names():
        if name.endswith(PLACED):
            new.beside.unlink(name)


def leads_to(link: Path, memory: Path) -> bool:
    """Say whether a link lies there, and leads straight to this file."""
    try:
        return os.readlink(link) == str(memory)
    except OSError:
        return False


def exists(target: Path) -> UsageError:
    """Give the error for a place that is taken."""
    return UsageError(
        f"{target} exists already, and memttl moves over nothing; nothing was moved.",
        hint="Name another place, or move what lies there away first.",
    )


def _name_it(new: Session, name: str, target: str, old: Path) -> None:
    """Name the file, and fail where the name is taken by anything but a link to the old one.

    A rename would take the place of whatever lies there.
    """
    if leads_to(new.state.memory, old):
        _exchange_link(new, name, target, old)
        return
    try:
        new.memory.link_from(new.beside, name, target)
    except OSError as e:
        if e.errno not in _NO_LINKS:
            raise
        # no hard links here (FAT): an empty file of our own keeps the name for an instant
        os.close(new.memory.open(target, CREATE))
        new.memory.replace_from(new.beside, name, target)


def _exchange_link(new: Session, name: str, target: str, old: Path) -> None:
    """Let file and link change places, since at no instant may a server find nothing; undone where it was no link."""
    try:
        exchange(new.beside, name, new.memory, target)
    except OSError:
        raise UsageError(
            f"The link {new.state.memory} cannot be replaced in one step here; nothing was moved.",
            hint=f"Stop the clients that name it, remove the link (not the memory, {old}), and run the same command.",
        ) from None
    if not leads_to(new.beside.path / name, old):
        exchange(new.beside, name, new.memory, target)
        raise FileExistsError


def _lost_attributes(live: int, placed: int, target: Path) -> list[str]:
    if not hasattr(os, "listxattr"):
        return []
    try:
        lost = sorted(set(os.listxattr(live)) - set(os.listxattr(placed)))
    except OSError:
        return []
    lost = [name for name in lost if not name.startswith(("security.", "trusted."))]
    return [f"the file system of {target} keeps no {', '.join(lost)}, which the old file had"] if lost else []
