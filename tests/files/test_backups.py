"""Backups: whole copies, and which of them retention keeps: the newest N, and the newest of each day up to an age."""

from __future__ import annotations

import os
import resource
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from without_root import in_child

from memttl.errors import CannotCreate
from memttl.files.backups import backup_name, list_backups, outdated, remove_backups, write_backup

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
Backup = tuple[datetime, str, Path]


def backup(days: float, run: str = "a") -> Backup:
    """A backup that is so many days old."""
    at = NOW - timedelta(days=days)
    return at, run, Path(backup_name(run, at))


def kept(backups: list[Backup], *, keep: int, max_age: timedelta | None) -> list[Backup]:
    gone = outdated(backups, NOW, keep=keep, max_age=max_age)
    return [b for b in backups if b[2] not in gone]


def test_newest_are_kept_whatever_their_age() -> None:
    backups = [backup(1000 + i) for i in range(10)]
    assert kept(backups, keep=3, max_age=timedelta(days=90)) == backups[:3]


def test_newest_of_each_day_is_kept_up_to_the_age() -> None:
    backups = [backup(day + hour / 24) for day in range(5) for hour in (0, 1, 2)]
    assert kept(backups, keep=1, max_age=timedelta(days=3)) == [backup(day) for day in range(4)]


def test_day_is_one_of_utc() -> None:
    late, early = backup(0.5 + 1 / 24), backup(0.5)  # 23:00 and 00:00
    assert kept([early, late], keep=1, max_age=timedelta(days=9)) == [early, late]


def test_no_age_keeps_the_newest_of_each_day_for_ever() -> None:
    backups = [backup(day) for day in range(0, 5000, 500)]
    assert kept(backups, keep=1, max_age=None) == backups


@given(st.lists(st.floats(0, 400), max_size=30), st.integers(1, 12), st.integers(0, 300))
def test_more_keep_or_age_never_keeps_less(ages: list[float], keep: int, days: int) -> None:
    backups = [backup(age, f"{i:x}") for i, age in enumerate(ages)]
    few = kept(backups, keep=keep, max_age=timedelta(days=days))
    assert set(few) <= set(kept(backups, keep=keep + 1, max_age=timedelta(days=days)))
    assert set(few) <= set(kept(backups, keep=keep, max_age=timedelta(days=days + 1)))
    assert set(sorted(backups, reverse=True)[:keep]) <= set(few)


def test_files_that_are_none_of_ours_are_left_alone(tmp_path: Path) -> None:
    names = [
        "notes.txt",
        "20200101T000000Z-a.jsonl.part",
        "20200101T000000Z-XY.jsonl",
        "20200140T000000Z-a.jsonl",
        "x20200101T000000Z-a.jsonl",
    ]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    remove_backups(outdated(list_backups(tmp_path), NOW, keep=0, max_age=timedelta(0)))
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_thinning_removes_what_retention_lets_go(tmp_path: Path) -> None:
    for days in (1, 2, 200, 300):
        (tmp_path / backup(days)[2]).write_bytes(b"")
    remove_backups(outdated(list_backups(tmp_path), NOW, keep=1, max_age=timedelta(days=90)))
    assert [(NOW - at).days for at, _, _ in list_backups(tmp_path)] == [2, 1]


def test_folder_that_is_not_there_holds_no_backups(tmp_path: Path) -> None:
    assert list_backups(tmp_path / "none") == []


def test_backup_is_a_copy_with_the_memory_files_mode(tmp_path: Path) -> None:
    memory = tmp_path / "memory.jsonl"
    memory.write_bytes(b"x\n")
    memory.chmod(0o640)
    path = tmp_path / backup(0)[2]
    write_backup(path, memory.read_bytes(), memory.stat())
    assert path.read_bytes() == b"x\n"
    assert path.stat().st_nlink == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_nothing_of_a_backup_stays_when_the_disk_is_full(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()

    def run() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_backup(folder / "x.jsonl", b"x" * 2000, folder.stat())
        except CannotCreate:
            return 7
        return 0

    assert in_child(run, 1, 2) == 7
    assert os.listdir(folder) == []


def test_leftover_of_a_killed_run_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.with_name("x.jsonl.part").write_bytes(b"half")
    write_backup(path, b"whole", tmp_path.stat())
    assert os.listdir(tmp_path) == ["x.jsonl"]
