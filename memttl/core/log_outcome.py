"""What `memttl log` and `memttl log verify` came to, for the renderers. Values only."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.chain import Checked
from memttl.core.timeline import Entry, Wanted


class LogOutcome(NamedTuple):
    """The part of a timeline that was asked for, and how. `logged` counts the entries that there are in all."""

    file: str
    now: datetime
    entries: tuple[Entry, ...]
    logged: int
    warnings: tuple[str, ...] = ()
    wanted: Wanted = Wanted()


class VerifyOutcome(NamedTuple):
    """What following the chain found; `hint` says what to do where it is broken."""

    file: str
    now: datetime
    log: str
    found: Checked
    hint: str = ""
    warnings: tuple[str, ...] = ()
