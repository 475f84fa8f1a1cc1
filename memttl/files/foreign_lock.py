"""Locks of other programs: `<memory file>.lock`, a file or a folder, as two proposals for the memory server make it.

A fresh one is waited for, a stale one is passed with a warning. memttl never makes or removes one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from memttl import trace
from memttl.errors import Locked

PAUSE_S = 0.05


def wait_for_foreign_lock(
    memory: Path,
    *,
    deadline: float,
    stale_s: float,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> str | None:
    """Wait until no fresh lock lies beside the memory file; give a warning where a stale one does.

    Raises:
        Locked: it was still fresh at `deadline` (monotonic).
    """
    lock = memory.with_name(f"{memory.name}.lock")
    is_told = False
    while True:
        try:
            age_s = clock() - lock.lstat().st_mtime
        except OSError:
            return None
        if age_s > stale_s:
            return (
                f"{lock} is {age_s:.0f} s old, so whoever made it seems to be gone; memttl wrote all the same and left "
                "it there"
            )
        if time.monotonic() > deadline:
            raise Locked(
                f"Another program holds the memory file with {lock}; the memory file is as it was.",
                hint="Run the command again once that program is done; after 30 s without a sign of it memttl goes on.",
            )
        if not is_told:
            trace.note(f"another program holds {lock}: waiting")
            is_told = True
        sleep(PAUSE_S)
