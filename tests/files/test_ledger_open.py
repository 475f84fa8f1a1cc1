"""Opening the ledger: readers leave nothing behind, a hot journal is read from a copy, damage is told."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from ledgers import (
    DAY,
    baseline_of,
    die,
    in_killed_child,
    leave_hot_journal,
    ledger_path,
    opened,
    pin,
    scanned,
    sightings,
    written,
)
from process import tree
from pruning import settings_of
from support import NOW
from without_root import NOBODY, memttl_as_nobody, needs_root, nobodys_folder

from memttl.core.selection import Choice
from memttl.errors import CannotCreate, TryAgain
from memttl.files import ledger_open
from memttl.files.ledger_open import ledger_to_read, ledger_to_write, new_ledger, set_aside
from memttl.workflow.explain import explain
from memttl.workflow.prune import Request, prune


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


@pytest.mark.parametrize("run", [dry_run, age_sources])
def test_reader_leaves_nothing_behind(memory: Path, run: object) -> None:
    before = tree(memory.parent)
    run(memory)
    assert tree(memory.parent) == before


@needs_root
@pytest.mark.parametrize("command", [("prune", "--dry-run"), ("prune", "--check"), ("explain",)])
@pytest.mark.parametrize("is_hot", [False, True])
def test_reader_who_may_not_write_reads_all_the_same(command: tuple[str, ...], is_hot: bool) -> None:
    with nobodys_folder() as folder:
        path = written(folder / "memory.jsonl", {"A": ["[session] one"]})
        scanned(path)
        if is_hot:
            leave_hot_journal(path)
        before = tree(folder)
        ended = memttl_as_nobody(*command, "--json", "--file", path, "--now", "2026-07-20")
        assert (ended.returncode, ended.stderr) == (3 if "--check" in command else 0, "")
        assert '"age_source": "seen"' in ended.stdout
        assert tree(folder) == before


# a hot journal


def test_journal_of_a_killed_writer_is_hot(memory: Path) -> None:
    leave_hot_journal(memory)
    with (
        closing(sqlite3.connect(f"file:{ledger_path(memory)}?mode=ro", uri=True)) as connection,
        pytest.raises(sqlite3.OperationalError),
    ):
        connection.execute("SELECT * FROM meta").fetchall()


@pytest.mark.parametrize("run", [dry_run, age_sources])
def test_hot_journal_stays_as_it_is(memory: Path, run: object) -> None:
    leave_hot_journal(memory)
    before = tree(memory.parent)
    run(memory)
    assert tree(memory.parent) == before


def test_hot_journal_is_rolled_back_in_a_copy(memory: Path) -> None:
    leave_hot_journal(memory)
    assert dry_run(memory) == 0
    assert len(sightings(memory, "A")) == 2
    assert baseline_of(memory) == NOW


def test_copy_is_removed(memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    leave_hot_journal(memory)
    dry_run(memory)
    assert os.listdir(tmp_path / "temporary") == []


def test_copy_that_can_be_made_nowhere_is_told(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    leave_hot_journal(memory)
    with pytest.raises(CannotCreate, match="by way of a copy"):
        dry_run(memory)


def test_writer_rolls_a_hot_journal_back(memory: Path) -> None:
    before = ledger_path(memory).read_bytes()
    leave_hot_journal(memory)
    assert ledger_path(memory).read_bytes() != before
    with ledger_to_write(ledger_path(memory)):
        pass
    assert ledger_path(memory).read_bytes() == before
    assert not journal(memory).exists()


def test_journal_that_is_not_hot_is_no_trouble(memory: Path) -> None:
    journal(memory).write_bytes(b"")
    assert dry_run(memory) == 0
    journal(memory).write_bytes(bytes(1024))
    assert dry_run(memory) == 0


@needs_root
def test_ledger_that_may_not_be_copied_is_77() -> None:
    with nobodys_folder() as folder:
        path = written(folder / "memory.jsonl", {"A": ["one"]})
        scanned(path)
        leave_hot_journal(path)
        ledger_path(path).chmod(0o600)
        journal(path).chmod(0o644)
        ended = memttl_as_nobody("explain", "--file", path)
        assert (ended.returncode, "Traceback" in ended.stderr) == (77, False)


def test_reader_beside_a_writer_reads_the_old_state(memory: Path) -> None:
    with closing(sqlite3.connect(ledger_path(memory), isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM setting")
        assert journal(memory).exists()
        assert dry_run(memory) == 0
        writer.execute("ROLLBACK")


def test_writer_beside_a_writer_is_75(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_open, "PATIENCE_S", 0.05)
    with closing(sqlite3.connect(ledger_path(memory), isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TryAgain) as refused:
            scanned(memory)
        assert refused.value.exit_code == 75


# owner, mode, names


@pytest.mark.parametrize(("mode", "ours"), [(0o600, 0o600), (0o644, 0o644), (0o640, 0o640), (0o400, 0o600)], ids=oct)
def test_mode_is_that_of_the_memory_file(tmp_path: Path, mode: int, ours: int) -> None:
    path = written(tmp_path / "memory.jsonl", {"A": ["x"]})
    path.chmod(mode)
    scanned(path)
    assert stat.S_IMODE(ledger_path(path).stat().st_mode) == ours


@needs_root
def test_owner_is_that_of_the_memory_file_and_so_is_its_journals(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"A": ["x"]})
    path.chmod(0o600)
    os.chown(path, 1234, 1235)
    scanned(path)
    with ledger_to_write(ledger_path(path)) as found, found.transaction(write=True):
        found.put_baseline(NOW)
        for name in (ledger_path(path), journal(path)):
            about = name.stat()
            assert (about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)) == (1234, 1235, 0o600)
    assert {(p.stat().st_uid, p.stat().st_gid) for p in tmp_path.rglob("*")} == {(1234, 1235)}


@needs_root
def test_rebuilt_ledger_has_the_owner_too(memory: Path) -> None:
    os.chown(memory, NOBODY, NOBODY)
    ledger_path(memory).write_bytes(b"x")
    scanned(memory)
    assert ledger_path(memory).stat().st_uid == NOBODY


@pytest.mark.parametrize("name", ["a?b#c%20d.jsonl", "ü\n.jsonl", "m\udcff.jsonl", "file:x.jsonl"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, {"A": ["x"]})
    assert scanned(path).found.new == 1
    assert scanned(path).found.known == 1


def test_set_aside_takes_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for content in (b"1", b"2"):
        path.write_bytes(content)
        set_aside(path)
    assert [(tmp_path / f"ledger.db.damaged-{n}").read_bytes() for n in (1, 2)] == [b"1", b"2"]


def test_making_that_fails_leaves_no_ledger(tmp_path: Path) -> None:
    path, memory = tmp_path / "ledger.db", written(tmp_path / "memory.jsonl", {})

    def fail() -> None:
        with new_ledger(path, memory.stat()) as made:
            made.put_baseline(NOW)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with ledger_to_read(path) as found:
        assert found is None
    with ledger_to_write(path) as found:
        assert found is None


def test_making_that_is_killed_leaves_no_ledger(memory: Path) -> None:
    ledger_path(memory).unlink()

    def act() -> None:
        with new_ledger(ledger_path(memory), memory.stat()) as made:
            made._connection.execute("PRAGMA cache_size = 1")
            for i in range(2000):
                made._connection.execute("INSERT INTO entity VALUES (NULL, ?, x'', NULL, ?)", (b"%d" % i, bytes(200)))
            die()

    in_killed_child(act)
    with ledger_to_read(ledger_path(memory)) as found:
        assert found is None
    assert scanned(memory).found.new == 3
    with opened(memory) as found:
        assert [s.entity for s in found.settings()] == ["A"]
