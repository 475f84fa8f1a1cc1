"""Reading the ledger: sightings, numbers and settings out of SQLite, and a look held against the last recorded one.

`ledger.py` builds the writing half on it. One row an entity, its sightings packed (`core/sightings.py` says how).
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime

from memttl.core.comparing import Change, Row, in_order, tally
from memttl.core.digests import KEY_BYTES, LINE_BYTES, as_bytes, text_of_bytes
from memttl.core.forgetting import Targets
from memttl.core.known import Setting
from memttl.core.look import Comparison, KnownLines, Look
from memttl.core.sightings import (
    BadRow,
    Sightings,
    after_look,
    present,
    unpack,
)
from memttl.core.told_by_log import UNREADABLE
from memttl.files.ledger_days import check_days, days_of
from memttl.files.ledger_forgetting import rest_after, rows_meant
from memttl.files.ledger_rows import setting_of, unsealed
from memttl.files.ledger_stamps import late_stamps

_LAST_NUMBER = 2**37  # as unix seconds in the year 6325


class LedgerReader:
    """What can be asked of an open ledger. Instants are aware; inside they are unix seconds."""

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

    def _checksum(self) -> int:
        rows = self._do("SELECT key, value FROM meta WHERE key != 'checksum' ORDER BY key").fetchall()
        return zlib.crc32(repr(rows).encode("utf-8", "replace"))

    def sightings_of(self, entity: str) -> Sightings:
        """Give the sightings of one entity's texts by key; none where it is not known."""
        return self._row(as_bytes(entity)).sightings

    def _row(self, name: bytes) -> Row:
        found = self._do("SELECT id, lines, sightings FROM entity WHERE name = ?", (name,)).fetchone()
        return Row(found[0], found[1], unpack(unsealed(found[2], name))) if found else Row(None, b"", {})

    def all_sightings(self) -> Callable[[str], Sightings]:
        """Read all that `sightings_of` would answer, so that it can be answered once this ledger is closed."""
        rows = dict(self._do("SELECT name, sightings FROM entity").fetchall())

        def sightings_of(entity: str) -> Sightings:
            name = as_bytes(entity)
            return unpack(unsealed(rows[name], name)) if name in rows else {}

        return sightings_of

    def all_days(self) -> Callable[[str], frozenset[date]] | None:
        """Read all that `days_of` would answer; None where no look noted any."""
        names = [text_of_bytes(name) for (name,) in self._do("SELECT name FROM entity_days")]
        days = {name: self.days_of(name) for name in names}
        return (lambda entity: days.get(entity, frozenset())) if days else None

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

    def names(self) -> set[str]:
        """Give the names of all entities that it holds anything of, settings included."""
        rows = self._do("SELECT name FROM entity UNION SELECT entity FROM setting")
        return {text_of_bytes(name) for (name,) in rows}

    def rest_after(self, targets: Targets) -> bytes:
        """Give what the file would hold after `forget` and `wipe`; nothing is taken out."""
        return rest_after(self._connection, targets)

    def rows_meant(self, targets: Targets) -> int:
        """Count what `forget` would take out."""
        return rows_meant(self._connection, targets)

    def late_stamps(self, moment: datetime) -> int:
        """Count the stamps that lie after `moment`: first and last sightings, and its own numbers."""
        return late_stamps(self._connection, int(moment.timestamp()))
