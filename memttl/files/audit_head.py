"""The head of the audit log: how long it was after the last line was added, and that line's digest.

`audit.py` notes it after each append, so that `log verify` can tell where somebody cut whole lines off the end. It may
lag behind the log by a kill, but never runs ahead of it: the log is synced first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import NamedTuple

from memttl.errors import MemttlError
from memttl.files.state import own_file, read_own

_MOST_BYTES = 4096


class Head(NamedTuple):
    """The digest of the last line, and where it begins and ends, in bytes as `audit.size_of` counts them."""

    digest: str
    begun: int
    size: int


def head_path(log: Path) -> Path:
    """Give where the head of this log is noted."""
    return log.with_suffix(".head")


def read_head(log: Path) -> Head | None:
    """Give the noted head; None where there is none, or where it cannot be read (a power cut).

    Raises:
        NoPermission, CannotCreate: it may not be read, or a link stands in its place.
    """
    try:
        found = json.loads(read_own(head_path(log))[:_MOST_BYTES])
        head = Head(str(found["digest"]), int(found["begun"]), int(found["size"]))
        return head if found["sum"] == _sum(head) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def note_head(log: Path, head: Head, like: os.stat_result) -> None:
    """Note the head in place, in one write of always the same length; where that cannot be, the old one stays."""
    path = head_path(log)
    # a fixed width: no instant at which it is cut off, and no temporary file that a kill would leave
    places = f'"begun":{head.begun:>20},"size":{head.size:>20}'
    text = f'{{{places},"digest":"{head.digest}","sum":"{_sum(head)}"}}\n'
    with contextlib.suppress(OSError, MemttlError):
        is_new = not os.path.lexists(path)
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if is_new:
                own_file(path, like)
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def _sum(head: Head) -> str:
    """Tell a torn note from one that somebody's cutting made wrong: the first says nothing."""
    return hashlib.sha256(f"{head.begun} {head.size} {head.digest}".encode()).hexdigest()[:16]
