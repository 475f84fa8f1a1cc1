"""Whole-file backups: written before the memory file, thinned after it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memttl.errors import MemttlError
from memttl.files.state import open_own, own_file, refusal, sync_folder

_NAME = re.compile(r"(?P<stamp>[0-9]{8}T[0-9]{6}Z)-(?P<run>[0-9a-f]+)\.jsonl(?:\.gz)?")
_STAMP = "%Y%m%dT%H%M%SZ"


def backup_name(run: str, at: datetime) -> str:
    """Give the file name of the backup that `run` makes at the instant `at`."""
    return f"{at.astimezone(UTC).strftime(_STAMP)}-{run}.jsonl"


def write_backup(path: Path, data: bytes, like: os.stat_result) -> None:
    """Write a backup, synced, with the memory file's owner and mode; a copy, never a link to a file that may change.

    Raises:
        CannotCreate, NoPermission: it cannot be written; nothing of it stays.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        write_new(part, data)
        own_file(part, like)
        part.rename(path)
        sync_folder(path.parent)
    except BaseException as e:
        part.unlink(missing_ok=True)
        if isinstance(e, OSError):
            raise refusal(e, f"The backup {path} cannot be written") from None
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
    try:
        with open_own(path) as f:
            data = f.read()
        if path.suffix != ".gz":
            return data
        import gzip  # here: few backups are compressed

        return gzip.decompress(data)
    except (OSError, EOFError) as e:
        error = e if isinstance(e, OSError) else OSError(errno.EIO, "it is cut off")
        raise refusal(error, f"The backup {path} cannot be read") from None
    except zlib.error as e:
        raise refusal(OSError(errno.EIO, str(e)), f"The backup {path} cannot be read") from None


def backup_of_run(folder: Path, run: str) -> bytes | None:
    """Give the bytes that the memory file had before `run`; None where no readable backup of it is left."""
    for _, name, path in reversed(list_backups(folder)):
        if name == run:
            with contextlib.suppress(MemttlError):
                return read_backup(path)
    return None


def list_backups(folder: Path) -> list[tuple[datetime, str, Path]]:
    """Give (instant, run, path) of each backup, oldest first; files that are none of ours are left out."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        name = _NAME.fullmatch(path.name)
        if name:
            at = datetime.strptime(name["stamp"], _STAMP).replace(tzinfo=UTC)
            found.append((at, name["run"], path))
    return sorted(found)


def thin_backups(folder: Path, now: datetime, *, keep: int, max_age: timedelta | None) -> None:
    """Remove the backups that retention lets go. One that cannot be removed stays: it does no harm."""
    for path in outdated(list_backups(folder), now, keep=keep, max_age=max_age):
        with contextlib.suppress(OSError):
            path.unlink()


def outdated(
    backups: Iterable[tuple[datetime, str, Path]], now: datetime, *, keep: int, max_age: timedelta | None
) -> list[Path]:
    """Give the backups that retention lets go: neither among the newest `keep`, nor the newest of a day in `max_age`.

    `max_age` None keeps the newest of each day for ever. Pure: nothing is removed here.
    """
    newest_first = sorted(backups, reverse=True)
    days, gone = set(), []
    for place, (at, _, path) in enumerate(newest_first):
        is_newest_of_day = at.date() not in days
        days.add(at.date())
        is_young = max_age is None or now - at <= max_age
        if place >= keep and not (is_newest_of_day and is_young):
            gone.append(path)
    return gone
