"""A result that goes to a file of the user's (`-o FILE`): whole or not at all, and never over what memttl reads.

`commands/report.py` checks the file before any work, and writes it at the end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from memttl.errors import CannotCreate, MemttlError, NoPermission, UsageError
from memttl.files.state import FOLDER, sync_folder

_HINT = "Name another file."


def check_target(target: str, files: Iterable[Path], folders: Iterable[Path], *, option: str = "--output") -> None:
    """Refuse a file that may not be written over: one of `files`, which memttl reads, or one in its own `folders`.

    `option` is the one that names it.

    Raises:
        UsageError: which it is.
    """
    if os.path.isdir(target) or target.endswith(("/", os.sep)):
        raise UsageError(f"{target} is a folder; nothing was done.", hint=f"Name a file with {option}.")
    real = Path(os.path.realpath(target))
    if FOLDER in real.parts or any(real.is_relative_to(os.path.realpath(folder)) for folder in folders):
        raise UsageError(f"{target} lies where memttl keeps its own state; nothing was done.", hint=_HINT)
    for path in files:
        if real == Path(os.path.realpath(path)) or _is_same(real, path):
            raise UsageError(f"{target} is what memttl reads here; nothing was done.", hint=_HINT)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there
        return False


def write_output(target: str, text: str, *, mode: int) -> None:
    """Write `text` (UTF-8) to the file `target`; links are followed, and a pipe or a device is written to.

    A new file gets `mode`, less what the umask takes away; one that is there keeps its mode, and its owner where that
    may be given.

    Raises:
        NoPermission, CannotCreate: it cannot be written; then what was there is as it was.
    """
    data = text.encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(target) and not os.path.isfile(target):  # by its name: a link to a pipe has no real one
            with open(target, "wb") as f:
                f.write(data)
        else:
            replace_file(os.path.realpath(target), data, mode)
    except BrokenPipeError:
        return
    except OSError as e:
        raise refusal(e, target) from None


def replace_file(real: str, data: bytes, mode: int) -> None:
    """Write the file at `real` (links resolved) whole or not at all; `mode` is that of a new one.

    Raises:
        OSError: it cannot be written; then what was there is as it was.
    """
    if os.path.islink(real):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    before = os.stat(real) if os.path.exists(real) else None
    if before is not None and not os.access(real, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    part = write_part(Path(real), data, mode & 0o666 | 0o600)
    try:
        if before is not None:
            _own(part, before)
        os.replace(part, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    with contextlib.suppress(OSError):
        sync_folder(part.parent)


def write_part(target: Path, data: bytes, mode: int) -> Path:
    """Write a file under a name of its own beside the place `target` that it is to take, synced; give that name.

    Raises:
        OSError: it cannot be written; nothing is left of it.
    """
    part = target.with_name(f".{target.name[:50]}.{os.urandom(4).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags, mode)
    try:
        with os.fdopen(descriptor, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    return part


def _own(part: Path, before: os.stat_result) -> None:
    """Give the new file the owner of the old one, where we may, and its mode without what would run as somebody."""
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(part, before.st_uid, before.st_gid)
    os.chmod(part, stat.S_IMODE(before.st_mode) & 0o777)


def refusal(e: OSError, target: str) -> MemttlError:
    """Say why the user's file cannot be written."""
    message = f"{target} cannot be written ({e.strerror or e}); what was there is as it was."
    if isinstance(e, PermissionError):
        return NoPermission(message, hint="Name a file that may be written, in a folder that may be written.")
    return CannotCreate(message, hint="Name a file in a folder that exists and has room.")
