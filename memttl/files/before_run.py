"""What a command does before it plans: it recovers what a killed run left, or says that something lies there.

The use cases that write the memory file call it first, since what is planned must be planned on what stands.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memttl.files.leftovers import needs_recovery, server_leftovers, unfinished
from memttl.files.state import State

if TYPE_CHECKING:
    from memttl.files.writing import Options


def settled(state: State, options: Callable[[], Options], *, writes: bool) -> tuple[str, ...]:
    """Recover before anything is planned, and give what is to be said of it; a dry run (`writes` false) only says.

    `options` gives how to write, and is asked only where there is something to recover.

    Raises:
        MemttlError: it cannot be recovered.
    """
    if not os.path.lexists(state.memory):
        return tuple(unfinished(state))  # nothing lies there; the reading says so
    found = server_leftovers(state.memory, now=time.time())
    if not writes:
        return (*found, *unfinished(state))
    if not needs_recovery(state) or not state.memory.is_file():
        return tuple(found)
    from memttl.files.writing import writing  # here, so that a dry run does not pay for it

    with writing(state, state.memory.stat(), options()) as session:
        return (*found, *session.warnings)
