"""The last writes of `memttl serve`, kept for a moment: a memory server may yet save a version that it read before.

`editing.py` notes each write, and asks at the next one and when it rests. What another run of memttl took out meanwhile
was meant to go: then nothing is brought back.
"""

from __future__ import annotations

import time
from pathlib import Path

from memttl.core.graph import Graph
from memttl.core.undone_writes import Write, first_undone, write_of
from memttl.files import audit

KEEP_S = 3.0  # the memory server reads, changes and saves a file of 10,000 observations within 50 ms
_MOST_BYTES = 1 << 26
_SKEW_S = 5.0  # how far the clock of a file server may be behind ours


class Vigil:
    """The writes of the last seconds, oldest first."""

    def __init__(self) -> None:
        self._writes: list[tuple[float, int, Write]] = []  # when, and the size of the log after it
        self._own_runs: set[str] = set()

    @property
    def is_over(self) -> bool:
        """True where nothing is left to be looked after."""
        self._drop_old()
        return not self._writes

    def note(self, before: Graph, after: Graph, log: Path, own_run: str) -> None:
        """Keep a write; the caller holds the lock."""
        write = write_of(before, after)
        self._own_runs.add(own_run)
        self._writes.append((time.monotonic(), audit.size_of(log), write))
        self._drop_old()

    def undone(self, live: Graph, saved_at: float, log: Path) -> tuple[Write, bytes] | None:
        """Give the earliest write that another program has undone, and what the file was after the last one.

        `saved_at` is the time of the file's last change, by its clock: an old copy that somebody has put back is meant.
        """
        self._drop_old()
        if saved_at < time.time() - KEEP_S - _SKEW_S:
            return None
        writes = [write for *_, write in self._writes]
        found = first_undone(writes, live)
        if found is None:
            return None
        if self._others_ran(log):
            self._writes.clear()
            return None
        return found, writes[-1].after

    def _others_ran(self, log: Path) -> bool:
        events = audit.read_events(log, after=self._writes[0][1])
        return any(e.get("event") in ("begin", "forgotten") and e.get("run") not in self._own_runs for e in events)

    def _drop_old(self) -> None:
        since, size, kept = time.monotonic() - KEEP_S, 0, []
        for entry in reversed(self._writes):
            size += len(entry[2].after)
            if entry[0] < since or size > _MOST_BYTES:
                break
            kept.append(entry)
        self._writes = kept[::-1]
        if not kept:
            self._own_runs.clear()
