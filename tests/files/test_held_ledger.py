"""A ledger that another program holds: reads and writes of `memttl serve` go on, and the ledger catches up."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ledgers import sightings
from pruning import NOW, state_folder
from served import Served, add, take
from support import entity

from memttl.core.digests import text_key
from memttl.core.durations import parse_duration
from memttl.core.wish import Patch

TTL = Patch(ttl=parse_duration("5d"))
LATER = "2026-06-07T12:00:00Z"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A served memory file with a text that has a TTL; nobody waits for its ledger."""
    for name in ("familiar.LEDGER_S", "arriving.LEDGER_S", "knowing._FIRST_S"):
        monkeypatch.setattr(f"memttl.files.{name}", 0.0)
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["a"], name="A"))
    serving = Served(path)
    serving.answer(add("A", "short", patch=TTL))
    serving.rest(is_over=True)
    return path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program holds the ledger."""
    connection = sqlite3.connect(state_folder(path) / "ledger.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def test_plain_writes_succeed_and_their_births_are_recorded_later(memory: Path) -> None:
    serving = Served(memory)
    with held(memory):
        serving.answers(add("A", "new"), take("A", "a"))
        serving.rest()
        assert [text for text in serving.told if "Another program holds the ledger" in text] == serving.told != []
    serving.now = LATER
    serving.rest(is_over=True)
    assert sightings(memory, "A")[text_key("new")].arrived
    assert sightings(memory, "A")[text_key("new")].first_seen == int(serving_time(NOW))


def serving_time(text: str) -> float:
    """An instant in seconds."""
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def test_what_a_write_sets_holds_at_once_and_is_in_the_ledger_later(memory: Path) -> None:
    serving = Served(memory)
    serving.shown()
    with held(memory):
        serving.answer(add("A", "new", patch=TTL))
        serving.now = LATER
        assert serving.shown() == {"A": ["a"]}
    serving.rest(is_over=True)
    assert Served(memory, now=LATER).shown() == {"A": ["a"]}


def test_known_ages_and_settings_hold_for_writes(memory: Path) -> None:
    serving = Served(memory)
    serving.shown()
    serving.now = LATER
    with held(memory):
        assert serving.answer(add("A", "short", "a")).added == (("A", ("short",)),)


def test_first_read_does_not_wait_and_says_why_nothing_has_expired(memory: Path) -> None:
    serving = Served(memory, now=LATER)
    with held(memory):
        assert serving.shown() == {"A": ["a", "short"]}
        (note,) = serving.view().notes
        assert "Another program holds the ledger" in note
        assert "Until it can, nothing counts as expired" in note


def test_reads_after_the_first_use_what_was_known(memory: Path) -> None:
    serving = Served(memory, now=LATER)
    serving.shown()
    with held(memory):
        assert serving.shown() == {"A": ["a"]}


def test_held_ledger_is_not_waited_for_at_each_write(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serving, asked = Served(memory), list[bool]()
    know = serving._served._familiar.knowledge
    monkeypatch.setattr(serving._served._familiar, "knowledge", lambda **how: asked.append(True) or know(**how))
    with held(memory):
        for number in range(3):
            serving.answer(add("A", f"new {number}"))
            serving.record()
    assert len(asked) == 1
