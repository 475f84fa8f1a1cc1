"""Taking single observations, or whole entities, out of the ledger's tables, so that no page of the file holds them.

`ledger.py` calls it for `forget`. Everything may raise `sqlite3.Error`, or `BadRow` for a row that cannot be read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from memttl.core.digests import as_bytes, text_of_bytes
from memttl.core.forgetting import Targets
from memttl.core.known import key_of_digest
from memttl.core.sightings import oldest_gone, pack, present, unpack
from memttl.files.ledger_days import forget_days
from memttl.files.ledger_rows import sealed, unsealed


def rows_meant(connection: sqlite3.Connection, targets: Targets) -> int:
    """Count the rows and sightings that `forget_rows` would take out."""
    entities = [name for name in map(as_bytes, targets.names) if _entity(connection, name)]
    sightings = sum(len(_keys(connection, entity, targets)) for entity in targets.keys if entity not in targets.names)
    settings, pins = list(_settings(connection, targets)), list(_pins(connection, targets))
    return len(entities) + sightings + len(settings) + len(pins)


def forget_rows(connection: sqlite3.Connection, targets: Targets) -> tuple[int, int, int]:
    """Take it out; give how many rows and sightings went, and how many texts and entities of the last look."""
    # what is deleted from here on is overwritten with zeros; no temporary file may hold it either
    connection.execute("PRAGMA secure_delete = ON")
    count, observations, entities = rows_meant(connection, targets), 0, 0
    for row in list(_settings(connection, targets)):
        connection.execute("DELETE FROM setting WHERE entity = ? AND digest = ?", row)
    for pin in list(_pins(connection, targets)):
        connection.execute("DELETE FROM entity_pin WHERE pattern = ?", (pin,))
    for name in map(as_bytes, targets.names):
        found = _entity(connection, name)
        if found:
            observations += len(present(unpack(unsealed(found[1], name))))
            entities += bool(found[0])
        connection.execute("DELETE FROM entity WHERE name = ?", (name,))
        forget_days(connection, name)
    for entity in set(targets.keys).difference(targets.names):
        observations += _forget_sightings(connection, entity, targets)
    return count, observations, entities


def wipe(connection: sqlite3.Connection) -> None:
    """Write the whole file anew, without free pages."""
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("VACUUM")


def rest_after(connection: sqlite3.Connection, targets: Targets) -> bytes:
    """Give the bytes that the ledger's file would have after `forget_rows` and `wipe`; it stays as it is."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.backup(copy)
        forget_rows(copy, targets)
        wipe(copy)
        return copy.serialize() if hasattr(copy, "serialize") else b""  # some builds of SQLite have none
    finally:
        copy.close()


def _entity(connection: sqlite3.Connection, name: bytes) -> tuple[bytes, bytes] | None:
    found = connection.execute("SELECT lines, sightings FROM entity WHERE name = ?", (name,)).fetchone()
    return (found[0], found[1]) if found else None


def _keys(connection: sqlite3.Connection, entity: str, targets: Targets) -> set[bytes]:
    """Give the keys of an entity's sightings that are meant."""
    name = as_bytes(entity)
    found = _entity(connection, name)
    if found is None:
        return set()
    return set(unpack(unsealed(found[1], name))) & set(map(key_of_digest, targets.digests.get(entity, ())))


def _forget_sightings(connection: sqlite3.Connection, entity: str, targets: Targets) -> int:
    name, gone = as_bytes(entity), _keys(connection, entity, targets)
    found = _entity(connection, name)
    if found is None or not gone:
        return 0
    old = unpack(unsealed(found[1], name))
    new = {key: sighting for key, sighting in old.items() if key not in gone}
    if not (found[0] or new):
        connection.execute("DELETE FROM entity WHERE name = ?", (name,))
        forget_days(connection, name)
        return 0
    connection.execute(
        "UPDATE entity SET sightings = ?, gone = ? WHERE name = ?", (sealed(pack(new), name), oldest_gone(new), name)
    )
    return len(present(old)) - len(present(new))


def _settings(connection: sqlite3.Connection, targets: Targets) -> Iterator[tuple[bytes, str]]:
    """Yield (entity, digest) of the settings that are meant."""
    for name, digest in connection.execute("SELECT entity, digest FROM setting").fetchall():
        entity = text_of_bytes(name)
        if entity in targets.names or digest in targets.digests.get(entity, ()):
            yield name, digest


def _pins(connection: sqlite3.Connection, targets: Targets) -> Iterator[bytes]:
    for (pattern,) in connection.execute("SELECT pattern FROM entity_pin").fetchall():
        if text_of_bytes(unsealed(pattern)) in targets.pins:
            yield pattern
