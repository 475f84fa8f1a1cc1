"""The stamps of the ledger that lie after the machine's clock, which had run ahead once: counted, and lowered to it.

`ledger.py` calls it for `doctor --repair`. Everything may raise `sqlite3.Error`, or `BadRow` for a row that cannot be
read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from memttl.core.sightings import Sightings, late_in, lowered, oldest_gone, pack, unpack
from memttl.files.ledger_rows import sealed, unsealed

_NUMBERS = ("baseline", "looked", "newest")


def late_stamps(connection: sqlite3.Connection, second: int) -> int:
    """Count the numbers and the sightings that lie after `second` (unix)."""
    rows = sum(late_in(sightings, second) for _, sightings in _rows(connection))
    return rows + len(_numbers(connection, second))


def lower_stamps(connection: sqlite3.Connection, second: int) -> None:
    """Lower all of them to it; the caller seals the numbers."""
    for name, sightings in list(_rows(connection)):
        if late_in(sightings, second):
            new = lowered(sightings, second)
            row = sealed(pack(new), name), oldest_gone(new), name
            connection.execute("UPDATE entity SET sightings = ?, gone = ? WHERE name = ?", row)
    for key in _numbers(connection, second):
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", (second, key))


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[bytes, Sightings]]:
    for name, packed in connection.execute("SELECT name, sightings FROM entity"):
        yield name, unpack(unsealed(packed, name))


def _numbers(connection: sqlite3.Connection, second: int) -> list[str]:
    found = connection.execute("SELECT key FROM meta WHERE value > ?", (second,)).fetchall()
    return [key for (key,) in found if key in _NUMBERS]
