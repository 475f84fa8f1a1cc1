"""A folder held open while the write path works in it, so that its names mean the same place from first step to last.

Where the platform has no directory descriptors (Windows), names are joined to the folder's path instead.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

_HAS_DIR_FD = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
# O_NONBLOCK: a FIFO of that name must not hang, and neither must somebody else's lease
READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
CREATE = (
    os.O_RDWR
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class Folder:
    """An open folder; every name given to its methods is one of its own entries, and links are never followed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd: int | None = None
        if _HAS_DIR_FD:
            self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    def name(self, name: str) -> str:
        """Give what an `os` function takes along with `dir_fd=folder.fd`."""
        return name if self.fd is not None else str(self.path / name)

    def open(self, name: str, flags: int) -> int:
        """Open an entry; a new one is readable by its owner alone until it is given its mode."""
        return os.open(self.name(name), flags, 0o600, dir_fd=self.fd)

    def stat(self, name: str) -> os.stat_result:
        """Give an entry's own stat, not that of what a link leads to."""
        return os.stat(self.name(name), dir_fd=self.fd, follow_symlinks=False)

    def unlink(self, name: str) -> None:
        """Remove an entry; one that is gone already is no error."""
        try:
            os.unlink(self.name(name), dir_fd=self.fd)
        except FileNotFoundError:
            return

    def rename(self, old: str, new: str) -> None:
        """Give an entry another name in this folder; what had that name goes."""
        os.replace(self.name(old), self.name(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def replace_from(self, other: Folder, name: str, own: str) -> None:
        """Put another folder's entry in the place of one of this one's."""
        os.replace(other.name(name), self.name(own), src_dir_fd=other.fd, dst_dir_fd=self.fd)

    def link_from(self, other: Folder, name: str, own: str) -> None:
        """Give another folder's entry a second name here."""
        os.link(other.name(name), self.name(own), src_dir_fd=other.fd, dst_dir_fd=self.fd, follow_symlinks=False)

    def names(self) -> list[str]:
        """Give the names of all entries that are no folders, sorted: memttl's own files are none."""
        with os.scandir(self.fd if self.fd is not None else self.path) as entries:
            return sorted(entry.name for entry in entries if not entry.is_dir(follow_symlinks=False))

    def sync(self) -> None:
        """Make the names durable; nothing where folders cannot be opened."""
        if self.fd is not None:
            os.fsync(self.fd)


def is_file(path: str | Path) -> bool:
    """Say whether a regular file lies there, and no link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
