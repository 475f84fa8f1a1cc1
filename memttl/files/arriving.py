"""What the audit log tells of arrivals, and what the memory file holds, into the ledger, when nothing else is due.

`files/served.py` calls it from its writing thread. Nothing here refuses a client anything: what cannot be recorded
is told, and a later look records it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from memttl.core.classify import day_reader
from memttl.core.clock import check_clock
from memttl.core.policy import Policy
from memttl.files.knowledge import ledger_of
from memttl.files.ledger import Ledger
from memttl.files.ledger_open import ledger_errors
from memttl.files.lock import locked
from memttl.files.looking import Moment, keep_look, look_in_passing, vanished_words
from memttl.files.pace import Pace
from memttl.files.snapshot import identity
from memttl.files.state import State, prepare

LEDGER_S = 0.5  # memttl's own runs hold it under the lock alone, and others for no longer, or for very long


@contextmanager
def _ledger(
    state: State,
    pace: Pace,
    warn: Callable[[str], None],
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[Ledger]:
    like = os.stat(state.memory)
    prepare(state, like)
    with (
        locked(state, like, patience_s=pace.patience_s, poll_s=pace.poll_s),
        around(),
        ledger_of(state, like, warn, patience_s=LEDGER_S) as ledger,
        ledger_errors(state.ledger),
    ):
        yield ledger


def record_arrivals(
    state: State,
    pace: Pace,
    warn: Callable[[str], None],
    *,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Keep in the ledger what the log tells; `around` is entered under the lock, before the ledger is opened.

    Raises:
        MemttlError: it cannot be written.
    """
    with _ledger(state, pace, warn, around):
        pass  # opening it to write is what takes all of that over


def record_look(
    state: State, policy: Policy, moment: Moment, pace: Pace, warn: Callable[[str], None]
) -> tuple[int, ...]:
    """Record a look at the memory file as `scan` does; none where most of the memory has vanished, which is told.

    Gives the identity of the file that was looked at.

    Raises:
        MemttlError: it cannot be recorded; the file is none that `scan` would look at.
    """
    days_of = day_reader(policy, moment.now)
    with _ledger(state, pace, warn) as ledger:
        check_clock(moment.now, ledger.newest)
        known = ledger.known_lines(with_days=days_of is not None)
        look, stat = look_in_passing(state.memory, known, days_of)
        log_seen = ledger.log_seen  # before the look is recorded, which moves it
        _, refusal = keep_look(
            ledger,
            state,
            stat,
            (look, known),
            moment,
            refuse=lambda met: vanished_words(state, met, policy.max_vanished_fraction, log_seen=log_seen),
        )
        if refusal:
            warn(f"{refusal}; nothing of it was recorded (`memttl scan --accept-vanished` does)")
    return identity(stat)
