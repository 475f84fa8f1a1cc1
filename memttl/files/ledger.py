"""The ledger: first and last sightings, the baseline, and what the user set, in SQLite in the state folder.

One row an entity, its sightings packed (`core/sightings.py` says how they change). `ledger_open.py` opens one; whoever
writes holds the sidecar lock. Nothing here judges: the caller decides whether a look is kept.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime

from memttl.core.comparing import Change, Row, in_order, tally
from memttl.core.digests import KEY_BYTES, LINE_BYTES, as_bytes, text_of_bytes
from memttl.core.forgetting import Targets
from memttl.core.known import Setting, key_of_digest
from memttl.core.look import Comparison, KnownLines, Look
from memttl.core.model import NOTHING_SET
from memttl.core.sightings import (
    DAY_S,
    BadRow,
    Births,
    Sightings,
    after_look,
    after_naming,
    oldest_gone,
    pack,
    present,
    seconds_of,
    unpack,
    without_old,
)
from memttl.files.ledger_days import add_days, check_days, days_of, forget_days
from memttl.files.ledger_forgetting import forget_rows, rest_after, rows_meant, wipe
from memttl.files.ledger_rows import UNREADABLE, sealed, setting_of, setting_row, unsealed

VERSION = 1
APPLICATION = 0x6D74746C  # "mttl"; SQLite keeps it in the file's head
SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE entity (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, lines BLOB NOT NULL, "
    "gone INTEGER, sightings BLOB NOT NULL)",
    "CREATE INDEX entity_gone ON entity (gone) WHERE gone IS NOT NULL",
    "CREATE TABLE setting (entity BLOB NOT NULL, digest TEXT NOT NULL, text BLOB, asked TEXT NOT NULL, "
    "PRIMARY KEY (entity, digest)) WITHOUT ROWID",
    "CREATE TABLE entity_pin (pattern BLOB PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE entity_days (name BLOB PRIMARY KEY, days BLOB NOT NULL) WITHOUT ROWID",
)
_LAST_NUMBER = 2**37  # as unix seconds in the year 6325
_KEPT_DAYS = 365  # what was not seen for longer, and has no settings, is dropped


class Ledger:
    """One open ledger. Instants are aware; inside they are unix seconds. Everything may raise `sqlite3.Error`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._do = connection.execute

    def close(self) -> None:
        """Close it; what was not committed is rolled back."""
        self._connection.close()

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        """Read one state throughout, or write all or nothing; an error inside rolls back and goes on."""
        self._do("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            yield
            self._do("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._do("ROLLBACK")
            raise

    @property
    def baseline(self) -> datetime | None:
        """When memttl first knew this file: its first recorded look. None before that."""
        return self._instant("baseline")

    @property
    def newest(self) -> datetime | None:
        """The newest stamp in it."""
        return self._instant("newest")

    def _instant(self, key: str) -> datetime | None:
        value = self._number(key)
        return datetime.fromtimestamp(value, UTC) if value is not None else None

    def _number(self, key: str) -> int | None:
        found = self._do("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return int(found[0]) if found else None

    def _set(self, **values: int) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
        self.seal_numbers()

    def seal_numbers(self) -> None:
        """Note the checksum of the numbers, which a migration may have changed."""
        self._do("INSERT OR REPLACE INTO meta VALUES ('checksum', ?)", (self._checksum(),))

    def _checksum(self) -> int:
        rows = self._do("SELECT key, value FROM meta WHERE key != 'checksum' ORDER BY key").fetchall()
        return zlib.crc32(repr(rows).encode("utf-8", "replace"))

    def sightings_of(self, entity: str) -> Sightings:
        """Give the sightings of one entity's texts by key; none where it is not known."""
        return self._row(as_bytes(entity)).sightings

    def _row(self, name: bytes) -> Row:
        found = self._do("SELECT id, lines, sightings FROM entity WHERE name = ?", (name,)).fetchone()
        return Row(found[0], found[1], unpack(unsealed(found[2], name))) if found else Row(None, b"", {})

    def settings(self) -> list[Setting]:
        """Give all that the user set for observations, those that are gone included."""
        rows = self._do("SELECT entity, digest, text, asked FROM setting ORDER BY entity, digest")
        try:
            return [setting_of(*row) for row in rows]
        except UNREADABLE as e:
            raise BadRow(f"a setting cannot be read: {e}") from None

    def entity_pins(self) -> list[str]:
        """Give the names and globs of the entities that the user pinned."""
        rows = self._do("SELECT pattern FROM entity_pin ORDER BY pattern").fetchall()
        try:
            return [text_of_bytes(unsealed(pattern)) for (pattern,) in rows]
        except UnicodeDecodeError as e:
            raise BadRow(f"a pin cannot be read: {e}") from None

    def check(self) -> None:
        """Read once all that must not be misread: a damaged row must be found before anything is judged by it.

        Raises:
            BadRow: what is damaged.
        """
        self.settings()
        self.entity_pins()
        rows = dict(self._do("SELECT key, value FROM meta").fetchall())
        if rows and rows.get("checksum") != self._checksum():
            raise BadRow("its numbers are not what was written")
        if not all(isinstance(value, int) and 0 <= value < _LAST_NUMBER for value in rows.values()):
            raise BadRow("it holds a number that cannot be")
        for _, name, lines, _, packed in self._do("SELECT id, name, lines, gone, sightings FROM entity"):
            if not (isinstance(name, bytes) and isinstance(lines, bytes)) or len(lines) % LINE_BYTES:
                raise BadRow("the row of an entity is none")
            unsealed(packed, name)
        check_days(self._connection)

    @property
    def has_days(self) -> bool:
        """True when any recorded look noted the days that are written in entities."""
        return bool(self._do("SELECT EXISTS (SELECT 1 FROM entity_days)").fetchone()[0])

    def days_of(self, entity: str) -> frozenset[date]:
        """Give the days that were written in an entity at the looks that were asked for them."""
        return days_of(self._connection, entity)

    def known_lines(self, *, with_days: bool = False) -> KnownLines:
        """Give the lines of the last recorded look, from which the next one starts.

        `with_days`: it will note the days that are written in each entity. Where the last one did not, no line counts
        as known, so that each is read.
        """
        single, others = {}, set()
        must_read = with_days and not self._number("with_days")
        for number, lines in self._do("SELECT id, lines FROM entity WHERE lines != x''"):
            if len(lines) == LINE_BYTES and not must_read:
                single[lines] = number
            else:
                others.add(number)
        return KnownLines(single, frozenset(others))

    def compare(self, look: Look, known: KnownLines) -> Comparison:
        """Hold a look against the last recorded one, without keeping it; it began with the lines `known`."""
        some_day = 1  # 0 would be AT_LOOK: what is gone would still be there
        return self._tally(self._changes(look, known, 0, some_day))

    @property
    def log_seen(self) -> int:
        """How many bytes the audit log had at the last recorded look."""
        return self._number("log_seen") or 0

    @property
    def settings_seen(self) -> int:
        """Up to which byte of the audit log the settings in it are here for sure."""
        return max(self._number("settings_seen") or 0, self.log_seen)

    def record(self, look: Look, known: KnownLines, stamp: datetime, *, log_size: int) -> Comparison:
        """Keep a look, taken at `stamp`; inside a writing transaction, which the caller may still roll back.

        The first one is the baseline. One that finds nothing new, on the day of the last one, writes nothing.
        `log_size` is the size of the audit log in bytes.
        """
        second = int(stamp.timestamp())
        last_day = (self._number("looked") or second) // DAY_S
        changes = self._changes(look, known, second, last_day)
        found = self._tally(self._kept(changes))
        is_first = self._number("baseline") is None
        if is_first:
            self._set(baseline=second)
        # what comes back is neither new nor gone, and an entity may be empty
        has_changed = (found.observations, found.entities) != (found.then, found.entities_then)
        if is_first or has_changed or found.new or found.gone or second // DAY_S > last_day:
            newest = max(second, self._number("newest") or second)
            self._set(looked=second, newest=newest, observations=found.observations, entities=found.entities)
        if log_size != self.log_seen:
            self._set(log_seen=log_size)
        with_days = look.days_of is not None
        if with_days is not bool(self._number("with_days")):
            self._set(with_days=int(with_days))
        for entity, days in look.days.items():
            add_days(self._connection, entity, days)
        if second // DAY_S > last_day:
            self._drop_old(second // DAY_S - _KEPT_DAYS)
        return found

    def _changes(self, look: Look, known: KnownLines, stamp: int, last_day: int) -> Iterator[Change]:
        """Give each entity that is new, changed or gone, as it is in the ledger and as the look makes it."""
        gone = set(look.left.values()) | known.others
        for entity, met in look.changed.items():
            name = as_bytes(entity)
            old = self._row(name)
            keys = [met.keys[i : i + KEY_BYTES] for i in range(0, len(met.keys), KEY_BYTES)]
            lines = met.lines
            if old.id in look.unchanged:  # a further line of an entity whose known line still stands
                keys += present(old.sightings)
                lines = old.lines + lines
            if old.id is not None:
                gone.discard(old.id)
            yield Change(name, old, Row(old.id, in_order(lines), after_look(old.sightings, keys, stamp, last_day)))
        for number in gone:
            name, lines, packed = self._do(
                "SELECT name, lines, sightings FROM entity WHERE id = ?", (number,)
            ).fetchone()
            old = Row(number, lines, unpack(unsealed(packed, name)))
            yield Change(name, old, Row(number, b"", after_look(old.sightings, (), stamp, last_day)))

    def _tally(self, changes: Iterable[Change]) -> Comparison:
        return tally(changes, self._number("observations") or 0, self._number("entities") or 0)

    def _kept(self, changes: Iterable[Change]) -> Iterator[Change]:
        """Write each change by the way."""
        for change in changes:
            if change.new != change.old:
                self._write(change.name, change.new)
            yield change

    def _write(self, name: bytes, row: Row) -> None:
        if not (row.lines or row.sightings):
            self._do("DELETE FROM entity WHERE name = ?", (name,))
            forget_days(self._connection, name)
            return
        self._do(
            "INSERT INTO entity (name, lines, gone, sightings) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
            "lines = excluded.lines, gone = excluded.gone, sightings = excluded.sightings",
            (name, row.lines, oldest_gone(row.sightings), sealed(pack(row.sightings), name)),
        )

    def _drop_old(self, before_day: int) -> None:
        rows = self._do("SELECT id, name, lines, sightings FROM entity WHERE gone < ?", (before_day,)).fetchall()
        for number, name, lines, packed in rows:
            kept = [key_of_digest(d) for (d,) in self._do("SELECT digest FROM setting WHERE entity = ?", (name,))]
            self._write(name, Row(number, lines, without_old(unpack(unsealed(packed, name)), before_day, kept)))

    def name(self, births: Births, stamp: datetime) -> int:
        """Record the texts that a command names, and earlier births of them; give how many births moved earlier.

        `births` holds for each entity its keys, each with a birth or None. It is no look at the others.
        """
        second, moved = int(stamp.timestamp()), 0
        for entity, found in births.items():
            name = as_bytes(entity)
            row = self._row(name)
            new = after_naming(row.sightings, seconds_of(found), second)
            moved += sum(new[key].first_seen < row.sightings[key].first_seen for key in found if key in row.sightings)
            moved += sum(new[key].first_seen < second for key in found if key not in row.sightings)
            if new != row.sightings:
                self._write(name, row._replace(sightings=new))
        self._set(newest=max(second, self._number("newest") or second))
        return moved

    def put_setting(self, setting: Setting) -> None:
        """Keep what the user set for one observation, in place of what was set before; nothing set removes it."""
        entity = as_bytes(setting.entity)
        if setting.asked == NOTHING_SET:
            self._do("DELETE FROM setting WHERE entity = ? AND digest = ?", (entity, setting.digest))
            return
        self._do("INSERT OR REPLACE INTO setting VALUES (?, ?, ?, ?)", setting_row(setting))

    def put_entity_pin(self, pattern: str, *, pinned: bool) -> None:
        """Pin the entities of this name or glob, or no longer."""
        statement = (
            "INSERT OR IGNORE INTO entity_pin VALUES (?)" if pinned else "DELETE FROM entity_pin WHERE pattern = ?"
        )
        self._do(statement, (sealed(as_bytes(pattern)),))

    def put_settings_seen(self, size_bytes: int) -> None:
        """Note that all settings are here that the audit log held when it had so many bytes."""
        self._set(settings_seen=size_bytes)

    def names(self) -> set[str]:
        """Give the names of all entities that it holds anything of, settings included."""
        rows = self._do("SELECT name FROM entity UNION SELECT entity FROM setting")
        return {text_of_bytes(name) for (name,) in rows}

    def rows_meant(self, targets: Targets) -> int:
        """Count what `forget` would take out."""
        return rows_meant(self._connection, targets)

    def rest_after(self, targets: Targets) -> bytes:
        """Give what the file would hold after `forget` and `wipe`; nothing is taken out."""
        return rest_after(self._connection, targets)

    def forget(self, targets: Targets) -> int:
        """Take out what is to be forgotten, inside a writing transaction; give how many rows and sightings went.

        It counts as removed by memttl: the next look misses none of it. Follow it by `wipe`.
        """
        count, observations, entities = forget_rows(self._connection, targets)
        then, entities_then = self._number("observations"), self._number("entities")
        if then is not None and entities_then is not None and (observations or entities):
            self._set(observations=max(0, then - observations), entities=max(0, entities_then - entities))
        return count

    def wipe(self) -> None:
        """Leave nothing of removed rows in the file; outside of any transaction."""
        wipe(self._connection)

    def put_log_offsets(self, *, seen: int, settings_seen: int) -> None:
        """Note where the log lies that was seen, once `forget` has rewritten it, or is about to."""
        if (seen, settings_seen) != (self._number("log_seen"), self._number("settings_seen")):
            self._set(log_seen=seen, settings_seen=settings_seen)

    def put_baseline(self, baseline: datetime) -> None:
        """Set the baseline of a ledger that was rebuilt; the newest stamp is no earlier."""
        second = int(baseline.timestamp())
        self._set(baseline=second, newest=max(second, self._number("newest") or second))
