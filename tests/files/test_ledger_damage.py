"""A ledger that is damaged, somebody else's, not to be read, or of another version: told, never a traceback."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ledgers import (
    DAY,
    die,
    edit,
    in_killed_child,
    ledger_path,
    pin,
    scanned,
    written,
)
from process import tree
from pruning import names_in, settings_of, state_folder
from without_root import memttl_as_nobody, needs_root, nobodys_folder

from memttl.core.selection import Choice
from memttl.errors import CannotCreate, LedgerDamaged, MemttlError, NoPermission
from memttl.files import ledger, ledger_open
from memttl.files.ledger_open import ledger_to_read, ledger_to_write
from memttl.workflow.explain import explain
from memttl.workflow.prune import Request, prune

OTHER = 0xABCDEF12


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory file that was scanned once, and in which one observation is pinned."""
    path = written(tmp_path / "memory.jsonl", {"A": ["one [expires 2026-01-01]", "two"], "B": ["three"]})
    scanned(path)
    pin(path, "A", "one [expires 2026-01-01]")
    return path


def journal(path: Path) -> Path:
    return ledger_path(path).with_name("ledger.db-journal")


def dry_run(path: Path) -> int:
    """How many observations a dry run would remove."""
    return prune(settings_of(path, now=DAY.format(2)), Request(dry_run=True)).plan.counts.removed


def age_sources(path: Path) -> set[str | None]:
    found = explain(settings_of(path, now=DAY.format(2)), Choice()).explanation.verdicts
    return {verdict.age_source for verdict, _ in found}


def read(path: Path) -> None:
    with ledger_to_read(ledger_path(path)) as found:
        assert found is not None


def write(path: Path) -> None:
    with ledger_to_write(ledger_path(path)) as found:
        assert found is not None


DAMAGE = {
    "zeros in the head": lambda d: bytes(100) + d[100:],
    "zeros for a page": lambda d: d[:4096] + bytes(4096) + d[8192:],
    "zeros all over": lambda d: bytes(len(d)),
    "cut at half": lambda d: d[: len(d) // 2],
    "a page short": lambda d: d[:-4096],
    "one byte": lambda d: b"S",
    "text": lambda d: b"hello, world\n" * 1000,
    "the head alone": lambda d: d[:16],
    "a write-ahead log": lambda d: d[:18] + b"\x02\x02" + d[20:],
    "a schema that is no text": lambda d: d.replace(b"WITHOUT ROWID", b"WITHOUT \xffOWID"),
    "a later format": lambda d: d[:18] + b"\x03\x03" + d[20:],
}


@pytest.mark.parametrize("open_it", [read, write])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_file_is_told(memory: Path, damage: object, open_it: object) -> None:
    path = ledger_path(memory)
    path.write_bytes(damage(path.read_bytes()))
    before = tree(memory.parent)
    with pytest.raises(LedgerDamaged):
        open_it(memory)
    assert tree(memory.parent) == before


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM setting; END",
        "CREATE TABLE more (x)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON setting (asked)",
        "DROP TABLE entity_pin",
        "DROP INDEX entity_gone",
        f"PRAGMA application_id = {OTHER}",
        "PRAGMA application_id = 0",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -5",
        "ALTER TABLE entity RENAME COLUMN id TO ie",
        "ALTER TABLE entity RENAME COLUMN gone TO gona",
        "ALTER TABLE setting RENAME COLUMN asked TO askee",
        "UPDATE setting SET asked = 'x'",
        "UPDATE setting SET digest = x'ff'",
        "UPDATE setting SET digest = CAST(x'ff' AS TEXT)",
        "UPDATE entity SET sightings = x'00'",
    ],
)
def test_database_that_is_not_ours_or_holds_more_is_damaged(memory: Path, statement: str) -> None:
    edit(memory, statement)
    with pytest.raises(LedgerDamaged):
        read(memory)
    with pytest.raises(LedgerDamaged):
        write(memory)


def test_database_of_another_program_is_damaged(memory: Path) -> None:
    ledger_path(memory).unlink()
    edit(memory, "CREATE TABLE places (url TEXT)")
    with pytest.raises(LedgerDamaged, match="is no ledger of memttl"):
        read(memory)


@pytest.mark.parametrize("name", ["ledger.db", "ledger.db-journal"])
@pytest.mark.parametrize("open_it", [read, write])
def test_link_is_followed_nowhere(memory: Path, tmp_path: Path, name: str, open_it: object) -> None:
    victim = tmp_path / "victim"
    shutil.copy(ledger_path(memory), victim)
    (state_folder(memory) / name).unlink(missing_ok=True)
    (state_folder(memory) / name).symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(NoPermission, match="is a link"):
        open_it(memory)
    assert victim.read_bytes() == before


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
@pytest.mark.parametrize("name", ["ledger.db", "ledger.db-journal"])
@pytest.mark.parametrize("open_it", [read, write])
def test_folder_or_pipe_in_its_place_is_told(memory: Path, make: object, name: str, open_it: object) -> None:
    (state_folder(memory) / name).unlink(missing_ok=True)
    make(state_folder(memory) / name)
    with pytest.raises(CannotCreate, match="no regular file"):
        open_it(memory)


@needs_root
@pytest.mark.parametrize("command", [("explain",), ("prune", "--dry-run"), ("prune", "--check")])
@pytest.mark.parametrize("closed", ["ledger.db", ".", ".."])
def test_ledger_that_may_not_be_read_is_77_and_never_unknown_age(command: tuple[str, ...], closed: str) -> None:
    with nobodys_folder() as folder:
        path = written(folder / "memory.jsonl", {"A": ["[session] one"]})
        scanned(path)
        (state_folder(path) / closed).chmod(0)
        ended = memttl_as_nobody(*command, "--file", path)
        assert (ended.returncode, ended.stdout) == (77, "")
        assert "Traceback" not in ended.stderr


@needs_root
def test_unreadable_ledger_is_77_for_a_prune_too() -> None:
    with nobodys_folder() as folder:
        path = written(folder / "memory.jsonl", {"A": ["x [expires 2026-01-01]"]})
        scanned(path)
        ledger_path(path).chmod(0)
        for how in ("--dry-run", "--yes"):
            ended = memttl_as_nobody("prune", how, "--file", path, "--now", DAY.format(2))
            assert (ended.returncode, "Traceback" in ended.stderr) == (77, False)
        assert names_in(state_folder(path)) == ["audit.head", "audit.jsonl", "backups", "ledger.db", "lock"]


# versions


def test_newer_version_is_refused_and_stays(memory: Path) -> None:
    edit(memory, "PRAGMA user_version = 2", "CREATE TABLE more (x)")
    before = tree(memory.parent)
    for open_it in (read, write):
        with pytest.raises(CannotCreate, match="A newer memttl wrote the ledger") as refused:
            open_it(memory)
        assert refused.value.exit_code == 73
    with pytest.raises(CannotCreate, match="A newer memttl"):
        dry_run(memory)
    assert tree(memory.parent) == before


@pytest.fixture
def version_2(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memttl that writes version 2 (a further table, and a row in `meta`), and a ledger of version 1."""
    assert ledger_path(memory).exists()
    step = ("CREATE TABLE further (x INTEGER)", "INSERT INTO meta VALUES ('moved', 1)")
    monkeypatch.setattr(ledger_open, "VERSION", 2)
    monkeypatch.setattr(ledger_open, "SCHEMA", (*ledger.SCHEMA, step[0]))
    monkeypatch.setitem(ledger_open.MIGRATIONS, 1, step)


def version_of(path: Path) -> tuple[int, int]:
    """The version, and how many rows the migration left in `meta`."""
    with closing(sqlite3.connect(f"file:{ledger_path(path)}?mode=ro", uri=True)) as connection:
        moved = connection.execute("SELECT count(*) FROM meta WHERE key = 'moved'").fetchone()[0]
        return connection.execute("PRAGMA user_version").fetchone()[0], moved


@pytest.mark.usefixtures("version_2")
def test_writer_brings_an_old_ledger_up_to_date(memory: Path) -> None:
    assert scanned(memory).found.known == 3
    assert version_of(memory) == (2, 1)
    assert scanned(memory).found.known == 3


@pytest.mark.usefixtures("version_2")
def test_reader_reads_an_old_ledger_without_writing(memory: Path) -> None:
    before = tree(memory.parent)
    assert (dry_run(memory), age_sources(memory)) == (0, {"seen"})
    assert tree(memory.parent) == before


@pytest.mark.usefixtures("version_2")
@pytest.mark.parametrize("last", ["SELECT die()", "INSERT INTO nowhere VALUES (1)"])
def test_migration_that_does_not_end_changes_nothing(memory: Path, monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    steps = ledger_open.MIGRATIONS[1]
    real = ledger_open._bring_up_to_date

    def with_die(connection: sqlite3.Connection) -> None:
        connection.create_function("die", 0, die)
        real(connection)

    with monkeypatch.context() as patch:
        patch.setitem(ledger_open.MIGRATIONS, 1, (*steps, last))
        patch.setattr(ledger_open, "_bring_up_to_date", with_die)
        if "die" in last:
            in_killed_child(lambda: write(memory))
        else:
            with pytest.raises(MemttlError):
                write(memory)
    assert version_of(memory) == (1, 0)
    assert scanned(memory).found.known == 3
    assert version_of(memory) == (2, 1)
