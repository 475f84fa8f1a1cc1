"""How long each part of the write path takes at most: one value, so that tests and hammers can pass another."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """Times in seconds; the defaults are those of DESIGN.md, section 3."""

    patience_s: float = 10.0  # how long a file that will not stay still is tried
    settle_s: float = 0.05  # how long both leases are held after an exchange
    watch_s: float = 0.5  # how long the old file is watched where there are no leases
    quiet_s: float = 2.0  # how long a file must have been still where there are no leases
    rest_s: float = 2.0  # how long a half-written leftover is waited for
    keep_s: float = 2.0  # how long what was displaced stays, though it is proven redundant
    poll_s: float = 0.05  # how long another memttl's lock is left alone between two tries
    lock_stale_s: float = 30.0  # when a foreign lock is passed


DEFAULT_PACE = Pace()
