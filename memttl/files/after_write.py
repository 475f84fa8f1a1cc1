"""The look at the memory file directly after `memttl serve` has written it: has a server saved a version of before?

`editing.py` asks, under the lock. What somebody has saved who had seen the new version was meant so, and stays. Once
the call is answered nothing is brought back any more: then nobody could tell the one from the other.
"""

from __future__ import annotations

import time

from memttl.core.graph import read_graph
from memttl.core.late_saves import is_late_save
from memttl.core.merge import is_whole
from memttl.files.letting_go import Late
from memttl.files.snapshot import Snapshot, read_once
from memttl.files.writing import Session, Written

_WRITING_S = 0.25  # how long somebody takes to write a file in place, whom we have let go on


class AfterWrite:
    """What is looked at after one write, which a session has just done."""

    def __init__(self, session: Session, written: Written) -> None:
        self._session, self._before, self._after = session, written.snapshot.data, written.change.data

    def read(self) -> Snapshot:
        """Read the file; whoever is writing it is given the time to end."""
        end = time.monotonic() + _WRITING_S
        while True:
            snapshot = read_once(self._session.state.memory)
            is_done = snapshot.data == self._after and self._session.late is not Late.COMING
            if is_done or time.monotonic() > end:
                return snapshot
            if snapshot.data != self._after and is_whole(snapshot.data, self._before):
                return snapshot
            time.sleep(0.001)

    def is_late(self, live: bytes) -> bool:
        """Say whether a version that lacks some of the write rests on that of before it; where not, say that it stays.

        On rung A the order of events tells. Elsewhere everybody sees the new version at once, and the version itself
        must show it.
        """
        if self._session.late is not Late.NO or is_late_save(*map(read_graph, (self._before, live, self._after))):
            return True
        self._session.warn(
            "right after a write another program saved a version without some of it; that program may have seen it, "
            "so the file stays as it saved it"
        )
        return False
