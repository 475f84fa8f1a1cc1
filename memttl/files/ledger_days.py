"""The days that were written in each entity so far, for `[age] inherit`: what a prune removes must not change how old
the rest is. `ledger.py` keeps them with each look that was asked for them.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable
from datetime import date

from memttl.core.digests import as_bytes
from memttl.core.sightings import BadRow
from memttl.files.ledger_rows import sealed, unsealed

_DAY = struct.Struct("<I")


def days_of(connection: sqlite3.Connection, entity: str) -> frozenset[date]:
    """Give the days that were written in an entity at the recorded looks.

    Raises:
        BadRow: the row is damaged.
    """
    name = as_bytes(entity)
    found = connection.execute("SELECT days FROM entity_days WHERE name = ?", (name,)).fetchone()
    if found is None:
        return frozenset()
    try:
        return frozenset(date.fromordinal(day) for (day,) in _DAY.iter_unpack(unsealed(found[0], name)))
    except (struct.error, ValueError) as e:
        raise BadRow(f"the days of an entity cannot be read: {e}") from None


def check_days(connection: sqlite3.Connection) -> None:
    """Prove every row once.

    Raises:
        BadRow: one is damaged.
    """
    for name, days in connection.execute("SELECT name, days FROM entity_days"):
        unsealed(days, name)


def add_days(connection: sqlite3.Connection, entity: str, days: Iterable[date]) -> None:
    """Remember further days of an entity; writes nothing where all are known."""
    known = days_of(connection, entity)
    if known.issuperset(days):
        return
    name = as_bytes(entity)
    packed = b"".join(_DAY.pack(day.toordinal()) for day in sorted(known.union(days)))
    connection.execute("INSERT OR REPLACE INTO entity_days VALUES (?, ?)", (name, sealed(packed, name)))


def forget_days(connection: sqlite3.Connection, name: bytes) -> None:
    """Forget an entity that was not seen for a year."""
    connection.execute("DELETE FROM entity_days WHERE name = ?", (name,))
