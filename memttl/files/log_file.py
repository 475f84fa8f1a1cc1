"""The file that MEMTTL_LOG or `serve --log` names: lines appended to it, each whole, and none to what is no such log.

`commands/diagnostics.py` and `commands/serve_log.py` open it. Two processes may write to it at once: each line
is one call on an `O_APPEND` file.
"""

from __future__ import annotations

import errno
import os
import re
import stat

from memttl.errors import CannotCreate, NoPermission

FIRST_LINE = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d+ memttl ")
_HEAD_BYTES = 80


class LogFile:
    """An open log."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, text: str) -> None:
        """Append lines, each with its end.

        Raises:
            OSError: they cannot be written, or no more than a part of them (a full disk).
        """
        rest = text.encode("utf-8", "backslashreplace")
        while rest:  # one call nearly always: of a full disk or a pipe the first may take a part
            rest = rest[os.write(self._descriptor, rest) :]

    def fileno(self) -> int:
        """Give its descriptor."""
        return self._descriptor

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def is_log(path: str) -> bool:
    """Say whether a log of memttl lies there, to which more may be written whatever a run is about."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode) and bool(FIRST_LINE.match(os.read(descriptor, _HEAD_BYTES)))
    except OSError:
        return False
    finally:
        os.close(descriptor)


def open_log(path: str, *, source: str = "MEMTTL_LOG", undone: str = "this run is not logged") -> LogFile:
    """Open the log to append to it; links are followed, a new one is for its owner alone, a device is written to.

    `source` names it, and `undone` says what does not happen, where it cannot be opened.

    Raises:
        NoPermission, CannotCreate: it cannot be written, or is another file with something in it.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NOCTTY", 0), 0o600)
    except OSError as e:
        kind = NoPermission if e.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else CannotCreate
        raise kind(f"{source}: {path} cannot be written ({e.strerror}); {undone}.") from None
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_size and not is_log(path):
        os.close(descriptor)
        raise CannotCreate(f"{source}: {path} holds something else than a log of memttl; {undone}.")
    return LogFile(descriptor)
