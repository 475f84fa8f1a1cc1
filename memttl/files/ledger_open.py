"""Opening the ledger: to read, leaving nothing behind, or to write, made where there is none and brought up to date.

`knowledge.py` calls it. SQLite's errors become memttl's here: what is damaged is told from what may not be opened.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote_from_bytes

from memttl.core.sightings import BadRow
from memttl.errors import AS_IT_WAS, CannotCreate, LedgerDamaged, MemttlError, NoPermission, TryAgain
from memttl.files.ledger import APPLICATION, SCHEMA, VERSION, Ledger
from memttl.files.ledger_file import check_head, folder_for_a_copy, is_there, journal_of
from memttl.files.state import own_file, refusal

PATIENCE_S = 10.0
# from version n to n + 1: statements, run in one transaction. A shipped version is never changed, only followed
MIGRATIONS: dict[int, tuple[str, ...]] = {}
_DENIED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM)


@contextmanager
def ledger_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors inside into ours.

    Raises:
        LedgerDamaged: it is no ledger, or a damaged one.
        TryAgain: another program holds it.
        NoPermission, CannotCreate: it may not be opened; there is no room.
    """
    try:
        yield
    except sqlite3.Error as e:
        raise _told(e, path) from None
    except BadRow as e:
        raise LedgerDamaged(f"The ledger {path} is damaged ({e}); {AS_IT_WAS}.") from None


def _told(e: sqlite3.Error, path: Path) -> MemttlError:
    code = getattr(e, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest tells more of it
    if code in _BUSY:
        return TryAgain(f"Another program holds the ledger {path}; {AS_IT_WAS}.")
    if code in _DENIED:
        hint = "Run memttl as the memory file's owner, in a folder that may be written."
        return NoPermission(f"The ledger {path} cannot be opened ({e}); {AS_IT_WAS}.", hint=hint)
    if code in _NO_ROOM:
        return CannotCreate(f"The ledger {path} cannot be written ({e}); {AS_IT_WAS}.", hint="Free some space.")
    return LedgerDamaged(f"The ledger {path} is damaged ({e}); {AS_IT_WAS}.")


@contextmanager
def ledger_to_read(path: Path, *, patience_s: float = PATIENCE_S) -> Iterator[Ledger | None]:
    """Open the ledger to read; None where there is none. Nothing is written, nothing is left behind.

    `patience_s` is how long to wait for another program that writes it.

    Raises:
        MemttlError: as `ledger_errors`; a newer memttl wrote it.
    """
    if not is_there(path):
        yield None
        return
    check_head(path)
    with folder_for_a_copy(path) if _may_be_hot(path) else _nowhere() as folder:
        with ledger_errors(path):
            connection = _connect_to_read(path, Path(folder) if folder else None, patience_s)
        try:
            with ledger_errors(path):
                if _is_empty(connection):
                    yield None
                    return
                if _version(connection, path) < VERSION:
                    connection = _copy_up_to_date(connection)
                _check(connection)
                yield Ledger(connection)
        finally:
            connection.close()


@contextmanager
def _nowhere() -> Iterator[None]:
    yield None


def _may_be_hot(path: Path) -> bool:
    return journal_of(path).exists()


def _connect(path: Path, mode: str, patience_s: float = PATIENCE_S) -> sqlite3.Connection:
    uri = f"file:{quote_from_bytes(os.fsencode(path))}?mode={mode}"
    # one thread reads by it, but another may be the one that collects it when a server ends
    connection = sqlite3.connect(uri, uri=True, timeout=patience_s, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")  # it may have come with a cloned folder
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the file, and its journal
    except BaseException as e:
        connection.close()
        if isinstance(e, UnicodeDecodeError):  # of SQLite's own message, which cites a damaged schema
            raise sqlite3.DatabaseError("its schema cannot be read") from None
        raise
    return connection


def _connect_to_read(path: Path, folder: Path | None, patience_s: float) -> sqlite3.Connection:
    """Connect read-only; a journal that a killed run left is rolled back in a copy in `folder`, never in place."""
    try:
        return _connect(path, "ro", patience_s)
    except sqlite3.OperationalError:
        if folder is None or not journal_of(path).exists():
            raise
    copy = folder / path.name
    for _ in range(100):
        before = _stamps(path)
        try:
            shutil.copyfile(journal_of(path), journal_of(copy))
            shutil.copyfile(path, copy)
        except FileNotFoundError:  # somebody rolled it back meanwhile
            return _connect(path, "ro", patience_s)
        except OSError as e:
            raise refusal(e, f"The ledger {path} cannot be read by way of a copy") from None
        if before == _stamps(path):
            return _connect(copy, "rw")
    raise TryAgain(f"The ledger {path} is being written; {AS_IT_WAS}.")


def _stamps(path: Path) -> list[tuple[int, int, int]]:
    found = [name.stat() for name in (path, journal_of(path)) if name.exists()]
    return [(s.st_ino, s.st_size, s.st_mtime_ns) for s in found]


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Say whether the first transaction never came to its end (a kill): no ledger, whatever the file's size was."""
    return (
        not connection.execute("PRAGMA application_id").fetchone()[0]
        and not (connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    )


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """Give the schema's version.

    Raises:
        CannotCreate: a newer memttl wrote it.
        LedgerDamaged: it is another program's file.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application != APPLICATION or version < 1:
        raise LedgerDamaged(f"{path} is no ledger of memttl; {AS_IT_WAS}.")
    if version > VERSION:
        raise CannotCreate(f"A newer memttl wrote the ledger {path}; nothing was done.", hint="Update memttl.")
    return version


def _copy_up_to_date(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Give a copy in memory, brought up to date: a reader must not write."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.backup(copy)
    connection.close()
    _bring_up_to_date(copy)
    return copy


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version == VERSION:
        return
    try:
        connection.execute("BEGIN IMMEDIATE")
        for step in range(version, VERSION):
            for statement in MIGRATIONS[step]:
                connection.execute(statement)
        Ledger(connection).seal_numbers()
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except (KeyError, sqlite3.IntegrityError) as e:  # our own fault, so that it must not be taken for damage
        raise CannotCreate(
            f"The ledger of version {version} cannot be brought up to version {VERSION} ({e}); {AS_IT_WAS}.",
            hint="Run the memttl that wrote it, and report this.",
        ) from None


def _check(connection: sqlite3.Connection) -> None:
    """Refuse what is damaged, and what holds more than our tables (a trigger could do anything).

    Raises:
        LedgerDamaged: why.
    """
    ledger = Ledger(connection)
    with ledger.transaction(write=False):  # of one state: numbers of before another's write and rows of after disagree
        _check_state(connection, ledger)


def _check_state(connection: sqlite3.Connection, ledger: Ledger) -> None:
    found = {(kind, name) for kind, name in connection.execute("SELECT type, name FROM sqlite_master")}
    found = {(kind, name) for kind, name in found if not str(name).startswith("sqlite_")}
    ours = {(s.split()[1].lower(), s.split()[2]) for s in SCHEMA}
    if found != ours:
        raise LedgerDamaged(f"The ledger has other tables than it should; {AS_IT_WAS}.")
    # not quick_check, which takes a damaged index for sound: an entity would not be found by its name
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise LedgerDamaged(f"The ledger is damaged ({problem}); {AS_IT_WAS}.")
    ledger.check()


@contextmanager
def ledger_to_write(path: Path, *, patience_s: float = PATIENCE_S) -> Iterator[Ledger | None]:
    """Open the ledger to write, brought up to date; None where there is none (see `new_ledger`).

    `patience_s` is how long to wait for another program that holds it.

    Raises:
        MemttlError: as `ledger_errors`; a newer memttl wrote it.
    """
    if not is_there(path):
        yield None
        return
    check_head(path)
    # SQLite opens it all the same, and says no at the first write: after the memory file was written
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise NoPermission(f"The ledger {path} may not be written; {AS_IT_WAS}.", hint=f"chmod u+w {path}")
    with ledger_errors(path):
        connection = _connect(path, "rw", patience_s)
    try:
        with ledger_errors(path):
            if _is_empty(connection):
                yield None
                return
            _version(connection, path)
            _bring_up_to_date(connection)
            _check(connection)
            yield Ledger(connection)
    finally:
        connection.close()


def set_aside(path: Path) -> Path:
    """Move a damaged ledger and its journal out of the way, under a name of its own; give the new path.

    Raises:
        NoPermission, CannotCreate: it cannot be moved.
    """
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    try:
        if journal_of(path).exists():
            journal_of(path).rename(journal_of(aside))
        path.rename(aside)
    except OSError as e:
        raise refusal(e, f"The damaged ledger {path} cannot be moved aside") from None
    return aside


@contextmanager
def new_ledger(path: Path, like: os.stat_result) -> Iterator[Ledger]:
    """Make a ledger with the memory file's owner and mode, and open it to write; inside one transaction.

    What raises inside leaves an empty file, which is no ledger.

    Raises:
        MemttlError: as `ledger_errors`.
    """
    try:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        os.close(os.open(path, flags, 0o600))
        own_file(path, like)
    except OSError as e:
        raise refusal(e, f"The ledger {path} cannot be made") from None
    with ledger_errors(path):
        connection = _connect(path, "rw")
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            for statement in SCHEMA:
                connection.execute(statement)
            yield Ledger(connection)
            connection.execute("COMMIT")
        finally:
            connection.close()
