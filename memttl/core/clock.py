"""When is now, for the ledger? A clock that runs behind must not make births. Pure: all instants are arguments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memttl.core.wording import instant_text
from memttl.errors import ClockBehind

# the memory server was first released in November 2024: what says that it is older has a wrong date
EARLIEST = datetime(2024, 11, 1, tzinfo=UTC)
_TOLERANCE = timedelta(days=1)


def check_clock(now: datetime, newest: datetime | None) -> None:
    """Refuse to go on at a `now` more than a day behind the ledger's newest stamp.

    Raises:
        ClockBehind: it is.
    """
    if newest is not None and newest - now > _TOLERANCE:
        raise ClockBehind(
            f"It is {instant_text(now)}, but memttl has been used here at {instant_text(newest)}: the clock (or --now) "
            "runs behind; nothing was done."
        )


def clock_warning(now: datetime, newest: datetime | None) -> tuple[str, ...]:
    """Say where a prune at this `now` would be refused: for what only reads, which does no harm."""
    try:
        check_clock(now, newest)
    except ClockBehind as e:
        return (f"{e.message.removesuffix('; nothing was done.')}; what was first seen since then counts as new",)
    return ()


def check_stamp(stamp: datetime) -> datetime:
    """Give a stamp that a sighting may bear.

    Raises:
        ClockBehind: it lies before there was any memory server.
    """
    if stamp < EARLIEST:
        raise ClockBehind(
            f"It is {instant_text(stamp)}, when there was no memory server yet: the clock (or --now) runs behind, and "
            "sightings of this date would let everything expire once it is set; none was recorded."
        )
    return stamp


def stamp_of(now: datetime, clock: datetime, newest: datetime | None) -> datetime:
    """Give the instant of a sighting: now, but never later than the machine's clock nor earlier than `newest`."""
    stamp = min(now, clock)
    return stamp if newest is None else max(stamp, newest)


def sighting_stamp(now: datetime, clock: datetime, newest: datetime | None) -> datetime:
    """Give the stamp by which a command that sets something records what it names.

    Raises:
        ClockBehind: now lies behind the ledger, or before there was any memory server.
    """
    check_clock(now, newest)
    return check_stamp(stamp_of(now, clock, newest))
