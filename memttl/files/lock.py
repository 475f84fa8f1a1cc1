"""The sidecar lock: memttl against memttl. The memory server takes no lock, so this one says nothing to it."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from memttl import trace
from memttl.errors import AS_IT_WAS, Locked, TryAgain
from memttl.files.moving import refuse_moving
from memttl.files.state import State, own_file, refusal

PATIENCE_S = 10.0
POLL_S = 0.05
_LEAST_S = 0.001
_EAGER_S = 0.3  # after so long one asks twice as often, then three times, and so on


@contextmanager
def locked(
    state: State,
    like: os.stat_result,
    *,
    patience_s: float = PATIENCE_S,
    poll_s: float = POLL_S,
    in_move: bool = False,
) -> Iterator[bool]:
    """Hold the lock of one memory file; `like` is the file's stat, whose owner and mode the lock file takes.

    Gives whether another memttl held it first; `poll_s` is how long it is left alone between two tries. `in_move`: it
    is a move that asks, which alone may go on where one was interrupted.

    Raises:
        Locked: another memttl held it for `patience_s` seconds.
        TryAgain: the memory file is being moved, or was moved away while this waited.
        NoPermission, CannotCreate: the lock file cannot be opened.
    """
    try:
        is_new = not state.lock.exists()
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        file = os.fdopen(os.open(state.lock, flags, 0o600), "r+b")
        if is_new:
            own_file(state.lock, like)
    except OSError as e:
        raise refusal(e, f"The lock {state.lock} cannot be opened") from None
    with file:
        had_to_wait = _acquire(file, patience_s, poll_s, str(state.lock))
        _refuse_orphan(file, state)
        if not in_move:
            refuse_moving(state)
        yield had_to_wait  # closing the file lets go of the lock


def _acquire(file: BinaryIO, patience_s: float, poll_s: float, name: str) -> bool:
    import portalocker  # here: it costs as much start-up as all the rest, and a dry run needs no lock

    flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
    begun, has_waited = time.monotonic(), False
    while True:
        try:
            portalocker.lock(file, flags)
        except portalocker.exceptions.LockException:
            waited_s = time.monotonic() - begun
            if waited_s > patience_s:
                raise Locked(f"Another memttl holds {name}; {AS_IT_WAS}.") from None
            if not has_waited:
                trace.note(f"another memttl holds {name}: waiting")
                has_waited = True
            # whoever has waited longer asks more often, and so comes first; not all at once
            time.sleep(max(_LEAST_S, poll_s * random.uniform(0.5, 1.5) / (1 + waited_s / _EAGER_S)))
        else:
            trace.note(f"locked {name}")
            return has_waited


def _refuse_orphan(file: BinaryIO, state: State) -> None:
    """Refuse a lock whose name is gone, or another file's: a move took the state folder away while we waited."""
    try:
        found = state.lock.stat()
    except OSError:
        found = None
    if found is None or not os.path.samestat(found, os.fstat(file.fileno())):
        raise TryAgain(f"The state of {state.memory} was taken away while this waited for it; nothing was done.")
