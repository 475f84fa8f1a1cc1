"""Whole-file backups: written before the memory file, thinned after it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, cast

from memttl.errors import MemttlError
from memttl.files.state import open_own, own_file, refusal, sync_folder

_NAME = re.compile(r"(?P<stamp>[0-9]{8}T[0-9]{6}Z)-(?P<run>[0-9a-f]+)\.jsonl(?:\.gz)?")
_STAMP = "%Y%m%dT%H%M%SZ"
PACKED = ".gz"


def backup_name(run: str, at: datetime) -> str:
    """Give the file name of the backup that `run` makes at the instant `at`."""
    return f"{at.astimezone(UTC).strftime(_STAMP)}-{run}.jsonl"


def write_backup(path: Path, data: bytes, like: os.stat_result) -> None:
    """Write a backup, synced, with the memory file's owner and mode; a copy, never a link to a file that may change.

    Raises:
        CannotCreate, NoPermission: it cannot be written; nothing of it stays.
    """
    write_whole(path, data, like, failure=f"The backup {path} cannot be written")


def write_whole(path: Path, data: bytes, like: os.stat_result, *, failure: str) -> None:
    """Write a file of ours in one step, synced, with the memory file's owner and mode; `failure` begins the error.

    Raises:
        CannotCreate, NoPermission: it cannot be written; nothing of it stays.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        write_new(part, data)
        own_file(part, like)
        part.replace(path)
        sync_folder(path.parent)
    except BaseException as e:
        part.unlink(missing_ok=True)
        if isinstance(e, OSError):
            raise refusal(e, failure) from None
        raise


def write_new(path: Path, data: bytes) -> None:
    """Write a file that must not be there yet, and sync it; only the owner may read it until it is given its mode."""
    path.unlink(missing_ok=True)  # ours, of a killed run: names carry the run's id
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())


def read_backup(path: Path) -> bytes:
    """Give the bytes of the memory file that a backup holds; a compressed one is unpacked.

    Raises:
        CannotCreate, NoPermission: it is gone, cannot be read, or is damaged.
    """
    with open_backup(path) as f:
        return f.read()


@contextlib.contextmanager
def open_backup(path: Path) -> Iterator[IO[bytes]]:
    """Open a backup to read what it holds piece by piece, unpacked; errors of the reading are raised as ours.

    Raises:
        CannotCreate, NoPermission: it is gone, cannot be read, or is damaged.
    """
    try:
        with open_own(path) as file:
            if path.suffix != PACKED:
                yield file
                return
            import gzip  # here: few backups are compressed

            with gzip.open(file) as f:
                yield cast(IO[bytes], f)
    except OSError as e:
        raise refusal(e, f"The backup {path} cannot be read") from None
    except (EOFError, zlib.error) as e:
        why = "it is cut off" if isinstance(e, EOFError) else str(e)
        raise refusal(OSError(errno.EIO, why), f"The backup {path} cannot be read") from None


def backup_of_run(folder: Path, run: str) -> bytes | None:
    """Give the bytes that the memory file had before `run`; None where no readable backup of it is left."""
    for _, name, path in reversed(list_backups(folder)):
        if name == run:
            with contextlib.suppress(MemttlError):
                return read_backup(path)
    return None


def list_backups(folder: Path) -> list[tuple[datetime, str, Path]]:
    """Give (instant, run, path) of each backup, oldest first; files that are none of ours are left out.

    Where a kill left both a plain and a compressed one, the plain one is given.
    """
    found: dict[tuple[datetime, str], Path] = {}
    for path in backup_files(folder):
        key = _told_by(path.name)
        if key is not None and (key not in found or path.suffix != PACKED):
            found[key] = path
    return sorted((at, run, path) for (at, run), path in found.items())


def backup_files(folder: Path) -> list[Path]:
    """Give every file that is a backup, both of a pair of a plain and a compressed one included."""
    return sorted(path for path in (folder.iterdir() if folder.is_dir() else ()) if _told_by(path.name))


def _told_by(name: str) -> tuple[datetime, str] | None:
    """Read the instant and the run out of a backup's name; None for a file that is none of ours."""
    found = _NAME.fullmatch(name)
    try:
        return (datetime.fromisoformat(found["stamp"]), found["run"]) if found else None
    except ValueError:  # the 40th of a month
        return None


def stored_as(path: Path) -> Path:
    """Give where the backup lies that was written as `path`: there, or compressed beside it."""
    packed = packed_path(path)
    return packed if not path.exists() and packed.exists() else path


def packed_path(path: Path) -> Path:
    """Give the path of the compressed form of a plain backup."""
    return path.with_name(path.name + PACKED)


def remove_backups(paths: Iterable[Path]) -> list[Path]:
    """Remove backups, both forms of each; give those that are gone now. One that cannot be removed does no harm."""
    gone = []
    for path in paths:
        with contextlib.suppress(OSError):
            if path.suffix != PACKED:
                packed_path(path).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            gone.append(path)
    return gone


def outdated(
    backups: Iterable[tuple[datetime, str, Path]],
    now: datetime,
    *,
    keep: int,
    max_age: timedelta | None,
    needed: Collection[str] = (),
) -> list[Path]:
    """Give the backups that retention lets go: neither among the newest `keep`, nor the newest of a day in `max_age`.

    `max_age` None keeps the newest of each day for ever; those of the runs `needed` stay besides. Pure: nothing is
    removed here.
    """
    # of one second the one that must stay counts as the newest
    newest_first = sorted(backups, key=lambda b: (b[0], b[1] in needed, b), reverse=True)
    days, gone = set(), []
    for place, (at, run, path) in enumerate(newest_first):
        is_newest_of_day = at.date() not in days
        days.add(at.date())
        is_young = max_age is None or now - at <= max_age
        if place >= keep and not (is_newest_of_day and is_young) and run not in needed:
            gone.append(path)
    return gone
