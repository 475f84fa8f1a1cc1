"""What one process remembers of a memory file from session to session, so that it need not find it out again.

`memttl serve` writes many times a second, each time in a session of its own; `writing.py`, `commit.py` and `recover.py`
ask here first. A command that opens one session remembers nothing.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from memttl.files import audit
from memttl.files.snapshot import digest_of, identity

_MOUNTS_S = 10.0  # how long nobody is taken to have mounted the file by itself: a look goes through all of /proc
_UNTOUCHED_NS = 20_000_000  # a write sets both times of a file, a swap only the second, and clocks tick every 4 ms
_DIGESTS = 2


class Remembered:
    """What has been found out of one memory file and its state folder. `is_swept`: of what kills left in `backups`."""

    def __init__(self) -> None:
        self.is_swept = False
        self._redundant: dict[str, tuple[int, ...]] = {}
        self._digests: list[tuple[bytes, str]] = []
        self._mounts: tuple[float, tuple[int, int], str | None] | None = None
        self._written: tuple[int, ...] = ()
        self._log: tuple[tuple[int, ...], int] | None = None

    def note_redundant(self, name: str, found: os.stat_result) -> None:
        """Keep that this leftover held nothing new when stat said this of it."""
        self._redundant[name] = identity(found)

    def may_rest(self, name: str, found: os.stat_result) -> bool:
        """Say whether a young leftover need not be read yet: it is as it was, or nobody has written it since its swap.

        Whoever swapped it has looked at it since, unless killed. Stat proves little, so it is read before it goes.
        """
        known = self._redundant.get(name)
        return known == identity(found) or (known is None and found.st_mtime_ns < found.st_ctime_ns - _UNTOUCHED_NS)

    def forget_others(self, names: list[str]) -> None:
        """Forget the leftovers that are none of these."""
        if len(self._redundant) > len(names):
            self._redundant = {name: found for name, found in self._redundant.items() if name in names}

    def digest(self, data: bytes) -> str:
        """Give `digest_of`, which takes a while: what is written is what the next session reads."""
        for known, digest in self._digests:
            if known is data or known == data:
                return digest
        self._digests = [(data, digest_of(data)), *self._digests][:_DIGESTS]
        return self._digests[0][1]

    def note_written(self, found: os.stat_result) -> None:
        """Keep what stat says of the memory file as this process has left it."""
        self._written = identity(found)

    def is_as_written(self, found: os.stat_result) -> bool:
        """Say whether nobody has written the memory file since this process did."""
        return identity(found) == self._written

    def note_mounts(self, folder: os.stat_result, fs_type: str | None) -> None:
        """Keep that the file in this folder lies on this type of file system, and is not mounted by itself."""
        self._mounts = time.monotonic() + _MOUNTS_S, (folder.st_dev, folder.st_ino), fs_type

    def fs_type(self, folder: os.stat_result) -> tuple[str | None] | None:
        """Give the type that was noted; None where the mounts must be looked at again."""
        if self._mounts is None or self._mounts[1] != (folder.st_dev, folder.st_ino):
            return None
        return (self._mounts[2],) if time.monotonic() < self._mounts[0] else None

    def note_log(self, path: Path) -> None:
        """Keep that no run is open in the audit log as it is now; the caller holds the lock."""
        self._log = _stamp(path), audit.size_of(path)

    def log_settled(self, path: Path) -> int | None:
        """Give up to which byte the log is known to hold no open run; None where it has not changed since."""
        if self._log is None:
            return 0
        now = _stamp(path)
        if now == self._log[0]:
            return None
        return self._log[1] if now[:1] == self._log[0][:1] else 0  # another file: thinned, or a text was forgotten


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
