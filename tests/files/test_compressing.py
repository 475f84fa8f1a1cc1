"""Old backups are compressed by the run that thins them: at every instant one whole copy lies there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from asking import forked
from pruning import at

from memttl.files import compressing
from memttl.files.backups import list_backups, read_backup, remove_backups
from memttl.files.compressing import MOST_A_RUN, compress_backups

BIG = b"".join(
    b'{"type":"entity","name":"E%d","entityType":"t","observations":["%d"]}\n' % (i, i) for i in range(20000)
)


def backup(folder: Path, second: int, data: bytes = BIG) -> Path:
    path = folder / f"20260101T0000{second:02}Z-{second:08x}.jsonl"
    path.write_bytes(data)
    return path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_big_old_backup_is_compressed_and_reads_the_same(tmp_path: Path) -> None:
    old, new = backup(tmp_path, 1), backup(tmp_path, 2)
    assert compress_backups(tmp_path, but=None) == 1
    assert names(tmp_path) == [f"{old.name}.gz", new.name]
    assert read_backup(list_backups(tmp_path)[0][2]) == BIG
    assert (tmp_path / f"{old.name}.gz").stat().st_size < len(BIG) / 4


def test_the_newest_and_that_of_the_run_at_hand_stay_plain(tmp_path: Path) -> None:
    own = backup(tmp_path, 1)
    backup(tmp_path, 2)
    assert compress_backups(tmp_path, but="00000001") == 0
    assert own.exists()


def test_small_ones_stay_plain(tmp_path: Path) -> None:
    backup(tmp_path, 1, b"x" * compressing.LEAST_BYTES)
    backup(tmp_path, 2)
    assert compress_backups(tmp_path, but=None) == 0


def test_a_run_compresses_a_few_and_the_next_one_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressing, "LEAST_BYTES", 10)
    for second in range(MOST_A_RUN + 3):
        backup(tmp_path, second, b"x" * 100)
    assert [compress_backups(tmp_path, but=None) for _ in range(3)] == [MOST_A_RUN, 2, 0]


def test_a_run_stops_once_it_has_compressed_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressing, "MOST_BYTES_A_RUN", len(BIG))
    for second in range(4):
        backup(tmp_path, second)
    assert compress_backups(tmp_path, but=None) == 1


def test_mode_and_time_are_those_of_the_plain_one(tmp_path: Path) -> None:
    old = backup(tmp_path, 1)
    old.chmod(0o640)
    os.utime(old, (1_700_000_000, 1_700_000_000))
    backup(tmp_path, 2)
    compress_backups(tmp_path, but=None)
    found = (tmp_path / f"{old.name}.gz").stat()
    assert (found.st_mode & 0o777, found.st_mtime) == (0o640, 1_700_000_000)


def test_one_that_is_read_back_otherwise_stays_plain(tmp_path: Path) -> None:
    old = backup(tmp_path, 1)
    backup(tmp_path, 2)
    spoil = at("renamed", lambda: (tmp_path / f"{old.name}.gz").write_bytes(b"spoilt"))
    compress_backups(tmp_path, but=None, step=spoil)
    assert names(tmp_path) == [old.name, "20260101T000002Z-00000002.jsonl"]
    assert old.read_bytes() == BIG


@pytest.mark.parametrize("step", ["part written", "renamed", "read back", "plain one gone"])
def test_a_kill_leaves_one_whole_copy_in_the_list_and_the_next_run_tidies_up(tmp_path: Path, step: str) -> None:
    old = backup(tmp_path, 1)
    backup(tmp_path, 2)
    kill = at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: compress_backups(tmp_path, but=None, step=kill)), 0)
    assert os.WIFSIGNALED(status)
    assert [read_backup(path) == BIG for _, _, path in list_backups(tmp_path)] == [True, True]
    compress_backups(tmp_path, but=None)
    assert names(tmp_path) == [f"{old.name}.gz", "20260101T000002Z-00000002.jsonl"]


def test_removing_a_backup_removes_both_forms(tmp_path: Path) -> None:
    old = backup(tmp_path, 1)
    old.with_name(old.name + ".gz").write_bytes(b"whatever")
    assert remove_backups([old]) == [old]
    assert names(tmp_path) == []
