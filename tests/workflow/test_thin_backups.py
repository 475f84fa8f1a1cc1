"""The use case `backups prune`: what the policy lets go, and a line in the log; nothing that an undo needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from backups import OLD, keep, kept, log_run, memory_of, thinned
from process import tree
from pruning import events_of, state_folder

from memttl.files import audit

KEEP_ONE = '[backups]\nkeep = 1\nmax_age = "1d"\n'


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = memory_of(tmp_path)
    for number in range(1, 4):
        log_run(path, f"aaaa000{number}")
        keep(path, OLD, f"aaaa000{number}", f"2026-01-0{number}T00:00:00Z")
    return path


def test_what_the_policy_lets_go_is_removed_and_logged(memory: Path) -> None:
    done = thinned(memory, policy=KEEP_ONE)
    assert kept(memory) == ["20260103T000000Z-aaaa0003.jsonl"]
    assert (len(done.backups), done.staying, done.applied, done.freed_bytes) == (2, 1, True, 2 * len(OLD))
    event = events_of(memory)[-1]
    assert (event["event"], event["run"], event["command"]) == ("thinned", done.run, "backups")
    assert event["names"] == ["20260101T000000Z-aaaa0001.jsonl", "20260102T000000Z-aaaa0002.jsonl"]
    assert audit.is_whole(state_folder(memory) / "audit.jsonl")


def test_a_dry_run_and_a_no_write_nothing(memory: Path) -> None:
    (memory.parent / "memttl.toml").write_text(KEEP_ONE)
    before = tree(memory.parent)
    assert [len(thinned(memory, dry_run=True).backups), thinned(memory, ask=lambda _: False).declined] == [2, True]
    assert tree(memory.parent) == before


def test_nothing_outdated_writes_nothing(memory: Path) -> None:
    before = tree(memory.parent)
    assert not thinned(memory).applied
    assert tree(memory.parent) == before


def test_what_an_undo_needs_stays(memory: Path) -> None:
    log_run(memory, "bbbb0001", {"event": "removed", "entity": "E", "raw_digest": "d"})
    keep(memory, OLD, "bbbb0001", "2025-01-01T00:00:00Z")
    assert len(thinned(memory, policy=KEEP_ONE).backups) == 2
    assert kept(memory)[0] == "20250101T000000Z-bbbb0001.jsonl"


def test_only_what_was_approved_goes(memory: Path) -> None:
    def ask(_planned: object) -> bool:
        keep(memory, OLD, "cccc0001", "2025-01-01T00:00:00Z")  # outdated, too, but nobody was shown it
        return True

    thinned(memory, policy=KEEP_ONE, ask=ask)
    assert kept(memory) == ["20250101T000000Z-cccc0001.jsonl", "20260103T000000Z-aaaa0003.jsonl"]


def test_what_the_policy_keeps_by_the_time_of_the_answer_stays(memory: Path) -> None:
    newest = state_folder(memory) / "backups/20260103T000000Z-aaaa0003.jsonl"
    done = thinned(memory, policy=KEEP_ONE, ask=lambda _: newest.unlink() is None)
    assert kept(memory) == ["20260102T000000Z-aaaa0002.jsonl"]
    assert len(done.backups) == 1


def test_no_memory_file_is_needed(memory: Path) -> None:
    memory.unlink()
    assert thinned(memory, policy=KEEP_ONE).applied
    assert not memory.exists()


def test_without_state_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert thinned(tmp_path / "memory.jsonl").backups == ()
    assert list(tmp_path.iterdir()) == []
