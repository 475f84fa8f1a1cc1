"""The backups of what clients of `memttl serve` delete: thinned at rest, and never in place of those of other runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from backups import kept, thinned
from process import aged
from pruning import NOW, pruned
from served import Served, drop, take
from support import entity

from memttl.files import served

KEEP_TWO = '[backups]\nkeep = 2\nmax_age = "1d"\n'


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory file with something that has expired, and one entity of many texts."""
    path = tmp_path / "memory.jsonl"
    path.write_bytes(
        b"\n".join([entity(["x [expires 2020-01-02]", "y"]), entity([f"t{n}" for n in range(20)], name="A")])
    )
    return aged(path)


def runs(path: Path) -> list[str]:
    """The runs whose backups are there."""
    return [name.split("-")[1].split(".")[0] for name in kept(path)]


def test_the_backup_of_a_prune_outlives_a_burst_of_deletions(memory: Path) -> None:
    run = pruned(memory).run
    serving = Served(memory)
    for n in range(14):
        serving.answer(take("A", f"t{n}"))
    serving.rest(is_over=True)
    assert run in runs(memory)
    assert len(runs(memory)) == 1 + 10  # of the built-in policy's newest ten


def test_deletions_of_one_day_leave_the_newest_of_that_day_of_other_runs(memory: Path) -> None:
    policy = '[backups]\nkeep = 1\nmax_age = "90d"\n'
    run = pruned(memory, policy=policy).run
    serving = Served(memory, policy=policy)
    for n in range(3):
        serving.answer(take("A", f"t{n}"))
    memory.write_bytes(memory.read_bytes() + b"\n")
    thinned(aged(memory), policy=policy)
    assert len(runs(memory)) == 2
    assert run in runs(memory)


def test_backups_are_thinned_at_rest_and_not_before_the_answer(memory: Path) -> None:
    serving = Served(memory, policy=KEEP_TWO)
    for n in range(6):
        serving.answer(take("A", f"t{n}"))
    assert len(runs(memory)) == 6
    serving.rest(is_over=True)
    assert len(runs(memory)) == 2


def test_they_are_thinned_without_a_rest_where_none_comes(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "_UNTIDIED", 5)
    serving = Served(memory, policy=KEEP_TWO)
    for n in range(6):
        serving.answer(take("A", f"t{n}"))
    assert len(runs(memory)) == 3


def test_without_texts_in_the_log_each_deletion_keeps_its_backup(memory: Path) -> None:
    serving = Served(memory, policy=KEEP_TWO + "[audit]\ntext = false\n")
    for n in range(5):
        serving.answer(take("A", f"t{n}"))
    serving.rest(is_over=True)
    assert len(runs(memory)) == 5


def test_a_rest_behind_additions_reads_no_log(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serving = Served(memory, now=NOW)
    serving.answer(drop("nobody"))
    monkeypatch.setattr("memttl.files.editing.tidy", lambda *_, **__: pytest.fail("thinned for nothing"))
    serving.rest(is_over=True)
    assert serving.told == []
