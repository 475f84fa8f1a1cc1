"""Old backups into compressed ones, by the run that thins them: so that the run that makes one is not slowed by it.

At every instant one whole copy lies there: the plain one goes only once the compressed one was read back and is equal.
The caller holds the lock, and a half-written one is tidied by the next run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from memttl import trace
from memttl.errors import MemttlError
from memttl.files.backups import PACKED, list_backups, open_backup, packed_path
from memttl.files.state import open_own, own_file, sync_folder

LEAST_BYTES = 1_000_000  # a smaller one is not worth it
MOST_A_RUN = 8  # a first run on a folder of big ones must not take minutes
MOST_BYTES_A_RUN = 64_000_000  # about two seconds
_LEVEL = 6
_PIECE = 1 << 20
_FAILED = (OSError, EOFError, zlib.error, MemttlError)

Step = Callable[[str], None]


def compress_backups(folder: Path, *, but: str | None, step: Step = trace.step) -> int:
    """Compress the backups over 1 MB, the oldest first, but the newest and that of the run `but`; give how many.

    No more than a few are done at once. One that cannot be compressed stays as it is.
    """
    done = size = 0
    for _, run, path in list_backups(folder)[:-1]:
        if done >= MOST_A_RUN or size >= MOST_BYTES_A_RUN:
            break
        if path.suffix == PACKED or run == but:
            continue
        with contextlib.suppress(*_FAILED):
            plain = path.lstat().st_size
            if plain > LEAST_BYTES:
                size += plain
                _compress(path, step)
                done += 1
    return done


def _compress(path: Path, step: Step) -> None:
    packed = packed_path(path)
    part = packed.with_name(packed.name + ".part")
    try:
        like = path.lstat()
        digest = _write_part(path, part)
        step("part written")
        os.utime(part, ns=(like.st_atime_ns, like.st_mtime_ns))  # `backfill --from` dates a copy by it
        own_file(part, like)
        part.rename(packed)
        sync_folder(path.parent)
        step("renamed")
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if _digest_of(packed) != digest:
        packed.unlink()
        return
    step("read back")
    path.unlink()
    sync_folder(path.parent)
    step("plain one gone")


def _write_part(path: Path, part: Path) -> str:
    """Write the compressed form, synced; give the digest of what went into it."""
    import gzip  # here: most runs compress nothing

    part.unlink(missing_ok=True)  # of a killed run
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    found = hashlib.sha256()
    with open_own(path) as plain, os.fdopen(os.open(part, flags, 0o600), "wb") as out:
        with gzip.GzipFile(path.name, "wb", _LEVEL, out, mtime=0) as f:
            for piece in _pieces(plain):
                found.update(piece)
                f.write(piece)
        out.flush()
        os.fsync(out.fileno())
    return found.hexdigest()


def _digest_of(packed: Path) -> str:
    found = hashlib.sha256()
    try:
        with open_backup(packed) as f:
            for piece in _pieces(f):
                found.update(piece)
    except MemttlError:
        return ""
    return found.hexdigest()


def _pieces(f: IO[bytes]) -> Iterator[bytes]:
    while piece := f.read(_PIECE):
        yield piece
