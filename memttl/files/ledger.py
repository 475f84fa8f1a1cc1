"""The ledger: first and last sightings, the baseline, and what the user set, in SQLite in the state folder.

One row an entity, its sightings packed (`core/sightings.py` says how they change). `ledger_open.py` opens one; whoever
writes holds the sidecar lock. Nothing here judges: the caller decides whether a look is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from memttl.core.comparing import Change, Row
from memttl.core.digests import as_bytes
from memttl.core.forgetting import Targets
from memttl.core.known import Setting, key_of_digest
from memttl.core.look import Comparison, KnownLines, Look
from memttl.core.model import NOTHING_SET
from memttl.core.sightings import (
    DAY_S,
    Births,
    after_arrivals,
    after_naming,
    oldest_gone,
    pack,
    seconds_of,
    unpack,
    without_old,
)
from memttl.files.ledger_days import add_days, forget_days
from memttl.files.ledger_forgetting import forget_rows, wipe
from memttl.files.ledger_reading import LedgerReader
from memttl.files.ledger_rows import sealed, setting_row, unsealed
from memttl.files.ledger_stamps import lower_stamps

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
_KEPT_DAYS = 365  # what was not seen for longer, and has no settings, is dropped


class Ledger(LedgerReader):
    """One open ledger. Instants are aware; inside they are unix seconds. Everything may raise `sqlite3.Error`."""

    def _set(self, **values: int) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
        self.seal_numbers()

    def seal_numbers(self) -> None:
        """Note the checksum of the numbers, which a migration may have changed."""
        self._do("INSERT OR REPLACE INTO meta VALUES ('checksum', ?)", (self._checksum(),))

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

    def meet(self, arrivals: Mapping[str, Mapping[bytes, datetime]]) -> None:
        """Record when texts came, by entity and key; it is no look at the others. Inside a writing transaction."""
        newest = self._number("newest") or 0
        for entity, found in arrivals.items():
            name, seconds = as_bytes(entity), {key: int(at.timestamp()) for key, at in found.items()}
            row = self._row(name)
            new = after_arrivals(row.sightings, seconds)
            if new != row.sightings:
                self._write(name, row._replace(sightings=new))
            newest = max((newest, *seconds.values()))
        self._set(newest=newest)

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

    def lower_stamps(self, moment: datetime) -> None:
        """Lower every stamp that lies after `moment` to it; inside a writing transaction."""
        lower_stamps(self._connection, int(moment.timestamp()))
        self.seal_numbers()

    def put_baseline(self, baseline: datetime) -> None:
        """Set the baseline of a ledger that was rebuilt; the newest stamp is no earlier."""
        second = int(baseline.timestamp())
        self._set(baseline=second, newest=max(second, self._number("newest") or second))
