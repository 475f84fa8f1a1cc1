"""Settled reading: the memory file's bytes at one instant, never a half-written version. Takes no lock, blocks nobody.

Every command reads through `read_settled`; `swap.py` compares a snapshot with the live file at the last moment.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from memttl import trace
from memttl.core.memory import read_lines
from memttl.errors import Foreign, Malformed, MemttlError, NoMemoryFile, NoPermission, TryAgain, UnknownEntity

R = TypeVar("R")

QUIET_S = 2.0  # a damaged file is believed once it has been left alone for this long
PAUSE_S = 0.2  # ... and reads the same for this long
LOOK_S = 0.01  # how long after the first reading the next look is taken
PATIENCE_S = 10.0


class Snapshot(NamedTuple):
    """The bytes of the file at one instant, and what stat said of it before and after the read."""

    path: Path
    data: bytes
    stat: os.stat_result

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hex."""
        return digest_of(self.data)


def read_settled(
    path: Path,
    look: Callable[[bytes], tuple[R, bool]],
    *,
    proven: bool = False,
    read: Callable[[Path], Snapshot] | None = None,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[Snapshot, R]:
    """Read the memory file at `path` (links resolved) and look at its bytes.

    `look` gives its result and whether the bytes look half-written; a `Malformed` or `Foreign` that it raises, and an
    empty file, count as half-written too. Such bytes are believed after equal readings for 0.2 s, when the file was
    left alone for 2 s by the machine's clock, or is dated after it.

    Whole lines are no proof either: a server that writes in place (2026.7.4) may have written the first of them. They
    are believed when the file was left alone for 2 s, or reads the same 10 ms later, or was replaced by another file
    meanwhile; at once where the caller's own write proves them (`proven`). `read` is `read_once`, unless the caller
    reads in its own way; then two readings are equal where their `data` is, which may be a digest.

    Raises:
        NoMemoryFile, NoPermission: it cannot be read.
        TryAgain: it does not come to rest within 10 s.
        MemttlError: as `look` said, of a file that is whole or at rest.
    """
    begun, read_now = time.monotonic(), read or read_once
    snapshot, rested_s, looked = read_now(path), 0.0, begun
    while True:
        result, error, unfinished = _looked(look, snapshot.data)
        looks_whole = not unfinished and bool(snapshot.data)
        is_quiet = _is_quiet(snapshot, clock())
        if not (looks_whole and (proven or is_quiet)):
            if time.monotonic() - begun > PATIENCE_S:
                raise TryAgain(f"{path} is being written and did not come to rest within {PATIENCE_S:.0f} s.")
            sleep(LOOK_S)
            again, before = read_now(path), snapshot
            # a large file takes longer to read than the pause is
            looked, waited_s = time.monotonic(), time.monotonic() - looked
            rested_s = rested_s + max(LOOK_S, waited_s) if again.data == before.data else 0.0
            stands = (
                rested_s > 0 or _is_another_file(again, before) if looks_whole else rested_s >= PAUSE_S and is_quiet
            )
            if not stands:
                if again.data != before.data or rested_s <= LOOK_S:  # once for each version, not for each look
                    what = "changes" if again.data != before.data else "may be half-written"
                    trace.note(f"{path} {what} ({again.stat.st_size} bytes): reading again")
                snapshot = again
                continue
        if error is not None:
            raise error
        return snapshot, result  # type: ignore[return-value]  # there is one where there is no error


def read_with_damage(path: Path, look: Callable[[bytes], R], *, is_damaged: Callable[[R], bool]) -> R:
    """Read the memory file settled for a command that only reads, and give what `look` sees in it, damaged or not.

    Raises:
        UnknownEntity: `look` finds no such entity in the whole file; of half of a file that proves nothing.
        MemttlError: as `read_settled`.
    """

    def seen(data: bytes) -> tuple[R | UnknownEntity, bool]:
        try:
            found = look(data)
        except UnknownEntity as e:
            return e, any(line.kind == "malformed" for line in read_lines(data))
        return found, is_damaged(found)

    _, found = read_settled(path, seen)
    if isinstance(found, UnknownEntity):
        raise found
    return found


def _looked(look: Callable[[bytes], tuple[R, bool]], data: bytes) -> tuple[R | None, MemttlError | None, bool]:
    """Look at bytes; give the result or the error, and whether they look half-written."""
    try:
        result, unfinished = look(data)
    except MemttlError as e:
        return None, e, isinstance(e, (Malformed, Foreign))
    return result, None, unfinished


def _is_another_file(one: Snapshot, other: Snapshot) -> bool:
    return (one.stat.st_dev, one.stat.st_ino) != (other.stat.st_dev, other.stat.st_ino)


def _is_quiet(snapshot: Snapshot, now: float) -> bool:
    age_s = now - snapshot.stat.st_mtime
    return age_s > QUIET_S or age_s < 0


def read_once(path: Path) -> Snapshot:
    """Read the file whole, again where it changed under the read.

    Raises:
        NoMemoryFile: nothing is there, or no regular file.
        NoPermission: it may not be read.
        TryAgain: it changed under each of many reads.
    """
    for _ in range(200):
        descriptor = open_memory(path)
        try:
            before = os.fstat(descriptor)
            refuse_irregular(path, before)
            data = read_whole(descriptor)
            after = os.fstat(descriptor)
        except OSError as e:  # a disk that fails; a network folder that went away
            raise NoPermission(f"{path} cannot be read ({e.strerror}).") from None
        finally:
            os.close(descriptor)
        if identity(before) == identity(after) and len(data) == after.st_size:
            return Snapshot(path, data, after)
        time.sleep(0.005)
    raise TryAgain(f"{path} changed under every one of 200 readings; nothing was done.")


def refuse_irregular(path: Path, found: os.stat_result) -> None:
    """Refuse what is no regular file, such as a folder.

    Raises:
        NoMemoryFile: it is none.
    """
    if not stat.S_ISREG(found.st_mode):
        raise NoMemoryFile(f"{path} is no regular file.", hint="Name the memory file itself with --file.")


def digest_of(data: bytes) -> str:
    """Give SHA-256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def identity(found: os.stat_result) -> tuple[int, ...]:
    """Give what moves when a file is written or replaced. Equal is no proof on ext2 or ramfs: compare bytes as well."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


_BREAK = "Remove the other names, or give --break-hard-links: then they keep the text as it is now."


def refuse_hard_links(snapshot: Snapshot, beside: Path | None = None, *, hint: str = _BREAK) -> None:
    """Refuse a file with a second name: after the swap the other name would keep the old text.

    A name in the state folder `beside` is our own, of a killed run, and does not count. `hint` says what to do.

    Raises:
        NoPermission: why, and what to do.
    """
    names = snapshot.stat.st_nlink
    if names > 1 and names > 1 + (_own_names(snapshot, beside) if beside else 0):
        raise NoPermission(
            f"{snapshot.path} has {names} names (hard links); replacing it would part them, so nothing was done.",
            hint=hint,
        )


def _own_names(snapshot: Snapshot, beside: Path) -> int:
    entries = [entry.stat(follow_symlinks=False) for entry in os.scandir(beside)] if beside.is_dir() else []
    return sum((found.st_dev, found.st_ino) == (snapshot.stat.st_dev, snapshot.stat.st_ino) for found in entries)


def refuse_read_only(snapshot: Snapshot) -> None:
    """Refuse a file that its own owner may not write: a rename would go through all the same, against that wish.

    Raises:
        NoPermission: why, and what to do.
    """
    if _is_read_only(snapshot):
        mode = stat.S_IMODE(snapshot.stat.st_mode)
        raise NoPermission(
            f"{snapshot.path} is read-only (mode {mode:04o}); nothing was done.", hint="chmod u+w it, if it may change."
        )


def read_only_warning(snapshot: Snapshot) -> tuple[str, ...]:
    """Give the sentence by which a dry run says that the real run would refuse such a file."""
    return (
        ("the file is read-only, so a run that applies this would refuse it (77)",) if _is_read_only(snapshot) else ()
    )


def _is_read_only(snapshot: Snapshot) -> bool:
    return not stat.S_IMODE(snapshot.stat.st_mode) & stat.S_IWUSR


def open_memory(path: Path) -> int:
    """Open the memory file to read, never through a link.

    Raises:
        NoMemoryFile, NoPermission, TryAgain: why not.
    """
    # O_NONBLOCK: a FIFO of this name must not hang; a lease that somebody holds must not make a reader wait 45 s
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    for attempt in range(100):
        try:
            return os.open(path, flags | getattr(os, "O_BINARY", 0))
        except BlockingIOError:
            time.sleep(0.01 * (attempt + 1))
        except FileNotFoundError:
            hint = "Name the memory file with --file; `memttl discover` looks for it."
            raise NoMemoryFile(f"There is no file {path}.", hint=hint) from None
        except PermissionError as e:
            hint = "Run memttl as the file's owner, or let that user read it (`ls -l` shows whose it is)."
            raise NoPermission(f"{path} may not be read ({e.strerror}); nothing was done.", hint=hint) from None
        except OSError as e:
            # ELOOP: it became a link a moment ago; ENXIO: a socket; ENOTDIR: a file where a folder should be
            if e.errno in (errno.ELOOP, errno.ENXIO, errno.ENOTDIR, errno.ENAMETOOLONG):
                raise NoMemoryFile(f"{path} cannot be opened ({e.strerror}).") from None
            raise NoPermission(f"{path} cannot be read ({e.strerror}).") from None
    raise TryAgain(f"{path} is held by another program; nothing was done.")


def read_whole(descriptor: int) -> bytes:
    """Read an open file from its start."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    pieces, size = [], os.fstat(descriptor).st_size + 1  # in one piece, unless it grows: joining takes as long again
    while piece := os.read(descriptor, size):
        pieces.append(piece)
        size = 1 << 20
    return b"".join(pieces)
