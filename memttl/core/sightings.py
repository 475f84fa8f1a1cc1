"""The sightings of one entity's observations: when memttl first saw each text, and when last. Pure.

`files/ledger.py` keeps one packed row an entity: five to ten times cheaper than one a text, since most looks change few
entities. What is there at the last recorded look carries no day of its own, so that one that finds nothing new writes
nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from memttl.core.digests import KEY_BYTES

_ROW = struct.Struct(f"<{KEY_BYTES}sIHB")  # key, first seen, last day, flags
_BACKFILLED, _ARRIVED = 1, 2
AT_LOOK = 0  # in the place of a last day: it was there at the last recorded look
_LAST_SECOND = 2**32 - 1  # in 2106
_LAST_DAY = 2**16 - 1  # in 2149
DAY_S = 86_400


class Sighting(NamedTuple):
    """When one text was first seen (unix seconds), and the day since 1970 on which it was last seen, or AT_LOOK.

    `backfilled`: the first date comes from old versions of the file, not from memttl's own look. `arrived`: it is the
    second in which `memttl serve` stored the text; no look and no backfill moves it.
    """

    first_seen: int
    last_day: int = AT_LOOK
    backfilled: bool = False
    arrived: bool = False

    @property
    def flags(self) -> int:
        """Give what a packed row holds of it besides its dates."""
        return _BACKFILLED * self.backfilled | _ARRIVED * self.arrived


Sightings = dict[bytes, Sighting]
Births = Mapping[str, Mapping[bytes, datetime | None]]  # entity -> key -> an earlier birth, or None


class BadRow(ValueError):
    """What the ledger holds of an entity or observation is not what was written."""


def pack(sightings: Mapping[bytes, Sighting]) -> bytes:
    """Write the sightings of one entity as bytes: 15 for each text."""
    rows = (
        _ROW.pack(key, min(max(s.first_seen, 0), _LAST_SECOND), min(s.last_day, _LAST_DAY), s.flags)
        for key, s in sightings.items()
    )
    return b"".join(rows)


def unpack(packed: bytes) -> Sightings:
    """Read what `pack` wrote.

    Raises:
        BadRow: they are damaged.
    """
    if len(packed) % _ROW.size:
        raise BadRow(f"{len(packed)} bytes are no whole number of sightings")
    return {
        key: Sighting(first, day, bool(flags & _BACKFILLED), bool(flags & _ARRIVED))
        for key, first, day, flags in _ROW.iter_unpack(packed)
    }


def present(sightings: Mapping[bytes, Sighting]) -> set[bytes]:
    """Give the keys of the texts that were there at the last recorded look."""
    return {key for key, s in sightings.items() if s.last_day == AT_LOOK}


def after_look(old: Mapping[bytes, Sighting], keys: Iterable[bytes], stamp: int, last_look_day: int) -> Sightings:
    """Give the sightings after a look that found `keys` at the instant `stamp` (unix seconds).

    What was there at the look before, on the day `last_look_day`, and is gone now was last seen on that day. A first
    sighting never moves: a text that comes back is as old as it was.
    """
    new = {key: s._replace(last_day=last_look_day) if s.last_day == AT_LOOK else s for key, s in old.items()}
    for key in keys:
        found = old.get(key)
        new[key] = Sighting(stamp) if found is None else found._replace(last_day=AT_LOOK)
    return new


def after_naming(old: Mapping[bytes, Sighting], births: Mapping[bytes, int | None], stamp: int) -> Sightings:
    """Give the sightings after some texts were named at the instant `stamp`, which is no look at the others.

    `births` holds for each key an earlier birth (unix seconds) or None. A birth only ever moves earlier, and that of an
    arrival does not.
    """
    new = dict(old)
    for key, birth in births.items():
        found = old.get(key, Sighting(stamp, stamp // DAY_S))
        if birth is not None and birth < found.first_seen and not found.arrived:
            found = found._replace(first_seen=birth, backfilled=True)
        new[key] = found
    return new


def after_arrivals(old: Mapping[bytes, Sighting], arrivals: Mapping[bytes, int]) -> Sightings:
    """Give the sightings after `memttl serve` stored texts at these instants (unix seconds), which is no look at all.

    One that was seen before and comes back is as old as its new arrival. One that was first seen later stays so: then
    an old line of the audit log was read again.
    """
    new = dict(old)
    for key, second in arrivals.items():
        day = second // DAY_S
        found = old.get(key, Sighting(second, day))
        if found.first_seen <= second:
            last_day = found.last_day if found.last_day == AT_LOOK else max(found.last_day, day)
            new[key] = Sighting(second, last_day, arrived=True)
    return new


def seconds_of(births: Mapping[bytes, datetime | None]) -> dict[bytes, int | None]:
    """Give births as sightings hold them: unix seconds."""
    return {key: None if birth is None else int(birth.timestamp()) for key, birth in births.items()}


def without_old(sightings: Mapping[bytes, Sighting], before_day: int, kept: Iterable[bytes]) -> Sightings:
    """Give the sightings without those last seen before `before_day`; `kept` are keys that have settings."""
    stays = set(kept)
    return {k: s for k, s in sightings.items() if s.last_day == AT_LOOK or s.last_day >= before_day or k in stays}


def lowered(sightings: Mapping[bytes, Sighting], stamp: int) -> Sightings:
    """Give the sightings with none after the instant `stamp` (unix seconds): a clock had run ahead."""
    day = stamp // DAY_S
    return {
        key: s._replace(first_seen=min(s.first_seen, stamp), last_day=min(s.last_day, day))
        for key, s in sightings.items()
    }


def late_in(sightings: Mapping[bytes, Sighting], stamp: int) -> int:
    """Count the texts of which a sighting lies after the instant `stamp` (unix seconds)."""
    new = lowered(sightings, stamp)
    return sum(new[key] != sighting for key, sighting in sightings.items())


def oldest_gone(sightings: Mapping[bytes, Sighting]) -> int | None:
    """Give the earliest last day among the texts that are gone; None where none is."""
    return min((s.last_day for s in sightings.values() if s.last_day != AT_LOOK), default=None)
