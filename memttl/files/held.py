"""Who holds a lock: the kernel's list of locks into a process's number and name, without touching the lock itself.

Called by `checkup.py`. Linux only (proc(5)); elsewhere nothing is known.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

# "4: FLOCK  ADVISORY  WRITE 1234 fe:00:131 0 EOF"; a line with -> is one that waits
_LOCK = re.compile(r"^\d+: FLOCK\s+\S+\s+\S+\s+(-?\d+)\s+([0-9a-f]+):([0-9a-f]+):(\d+)\s", re.MULTILINE)


class Holder(NamedTuple):
    """The process that holds a lock; `command` is "" where it may not be read."""

    pid: int
    command: str


def holder_of(path: Path, proc: Path = Path("/proc")) -> Holder | None:
    """Give the process that holds a `flock` on the file at `path`, None for none or where that is not to be known."""
    try:
        found = path.lstat()
        locks = (proc / "locks").read_text()
    except OSError:
        return None
    for pid, major, minor, inode in _LOCK.findall(locks):
        if int(inode) != found.st_ino:
            continue
        is_device = (int(major, 16), int(minor, 16)) == (os.major(found.st_dev), os.minor(found.st_dev))
        # btrfs and overlay tell stat another device than the list of locks
        if is_device or _has_open(proc / pid, path):
            return Holder(int(pid), _command(proc / pid))
    return None


def _has_open(process: Path, path: Path) -> bool:
    try:
        return any(os.readlink(entry.path) == str(path) for entry in os.scandir(process / "fd"))
    except OSError:
        return False


def _command(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return ""
    return " ".join(os.fsdecode(word) for word in words)
