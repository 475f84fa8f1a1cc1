"""A result that goes to a file of the user's (`-o FILE`): whole or not at all, and never over what memttl reads.

`commands/report.py` checks the file before the work, and writes it at the end.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from memttl.errors import CannotCreate, MemttlError, NoPermission, UsageError
from memttl.files.state import FOLDER, sync_folder


def check_target(target: str, read: Iterable[Path]) -> None:
    """Refuse a file that may not be written over: one of `read`, which memttl reads, and what lies in its state.

    Raises:
        UsageError: which it is.
    """
    if os.path.isdir(target):
        raise UsageError(f"{target} is a folder; nothing was done.", hint="Name a file with --output.")
    real = Path(os.path.realpath(target))
    if FOLDER in real.parent.parts:
        raise UsageError(f"{target} lies in memttl's own folder {FOLDER}; nothing was done.", hint="Name another file.")
    for path in read:
        if real == path or _is_same(real, path):
            raise UsageError(f"{target} is what memttl reads here; nothing was done.", hint="Name another file.")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there
        return False


def write_output(target: str, text: str, *, mode: int) -> None:
    """Write `text` (UTF-8) to the file `target`; links are followed, and a pipe or a device is written to.

    A new file gets `mode`, one that is there keeps its own.

    Raises:
        NoPermission, CannotCreate: it cannot be written; then what was there is as it was.
    """
    data = text.encode("utf-8", "backslashreplace")
    real = os.path.realpath(target)
    try:
        if os.path.exists(target) and not os.path.isfile(target):  # by its name: a link to a pipe has no real one
            with open(target, "wb") as f:
                f.write(data)
        else:
            _replace(real, data, stat.S_IMODE(os.stat(real).st_mode) if os.path.exists(real) else mode & 0o666)
    except BrokenPipeError:
        return
    except OSError as e:
        raise _refusal(e, target) from None


def _replace(real: str, data: bytes, mode: int) -> None:
    folder, name = os.path.split(real)
    part = os.path.join(folder, f".{name[:100]}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.chmod(part, mode)
        os.replace(part, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    with contextlib.suppress(OSError):
        sync_folder(Path(folder))


def _refusal(e: OSError, target: str) -> MemttlError:
    message = f"{target} cannot be written ({e.strerror or e}); what was there is as it was."
    if isinstance(e, PermissionError):
        return NoPermission(message, hint="Name a file in a folder that may be written.")
    return CannotCreate(message, hint="Name a file in a folder that exists and has room.")
