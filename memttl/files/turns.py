"""How a process that writes again and again lets others have the lock in between. Called by `served.py`."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSE_S = 0.012  # longer than a waiting `memttl serve` leaves the lock alone between two tries
_MOST_S = 0.3  # others, of whom nothing is known, wait no longer than this


class Turns:
    """One process's turns at a lock. `has_rivals`: somebody else held it when it was last wanted."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.has_rivals = False
        self._clock, self._sleep = clock, sleep
        self._begun = self._ended = float("-inf")

    def begin(self) -> None:
        """Leave the lock alone for a moment, where this process has had it for long or others want it."""
        free_s = self._clock() - self._ended
        if free_s < _PAUSE_S and (self.has_rivals or self._ended - self._begun > _MOST_S):
            self._sleep(_PAUSE_S - free_s)
            free_s = _PAUSE_S
        if free_s >= _PAUSE_S:
            self._begun = self._clock()

    def end(self, *, has_rivals: bool = False) -> None:
        """Note that the lock is free again."""
        self._ended, self.has_rivals = self._clock(), has_rivals
