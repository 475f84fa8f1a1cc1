"""Settings outlive kills, other commands at once, and the loss of the ledger."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from asking import (
    NO_TEXT,
    OBJECT,
    OLD,
    PIN,
    PINNED,
    asked,
    changed,
    forked,
    killed,
    listed,
    lose_ledger,
    one_entity,
    pins,
    removed,
)
from process import aged
from pruning import at, events_of, pruned, settings_of, state_folder
from strategies import AWKWARD
from support import entity

from memttl.core.durations import Duration
from memttl.core.model import UserSettings
from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.errors import CannotCreate, LedgerLost, Locked, MemttlError
from memttl.files import audit
from memttl.files.lock import locked
from memttl.files.state import state_of
from memttl.workflow.scan import scan


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return one_entity(tmp_path)


def test_another_that_holds_the_lock_is_waited_for(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(locked.__wrapped__.__kwdefaults__, "patience_s", 0.1)
    changed(memory, PIN)
    with locked(state_of(memory), memory.stat()), pytest.raises(Locked):
        changed(memory, Wish("unpin", Choice("A")))
    assert asked(memory) == {OLD: PINNED}


def test_two_at_once_lose_nothing(memory: Path) -> None:
    memory.write_bytes(entity([f"note {i}" for i in range(8)], name="A"))
    aged(memory)
    wishes = [Wish("pin", Choice("A", f"note {i}")) for i in range(8)]
    wishes += [Wish("set", Choice("A", "note 0"), ttl="3d"), Wish("set", Choice("A", "note 0"), tier="session")]
    wishes += [Wish("pin", entity_pins=("A",)), Wish("set", Choice("A", "note 0"), created="2026-01-05")]
    children = [forked(lambda w=wish: changed(memory, w)) for wish in wishes]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(wishes)
    found = asked(memory)
    assert len(found) == 8
    assert found["note 0"] == UserSettings(True, date(2026, 1, 5), None, Duration(days=3), "session")
    assert pins(memory) == ("A",)
    assert audit.is_whole(state_folder(memory) / "audit.jsonl")
    lose_ledger(memory)
    assert asked(memory) == found


@pytest.mark.parametrize("step", ["put", "logged"])
def test_a_kill_leaves_all_or_nothing_set_and_the_next_command_works(memory: Path, step: str) -> None:
    changed(memory, Wish("set", Choice("A"), ttl="9d"))
    before = asked(memory)
    killed(memory, Wish("pin", Choice("A")), step)
    assert (asked(memory) == before) is (step == "put")  # what is in the log holds
    logged = [event for event in events_of(memory) if event["command"] == "pin"]
    assert len(logged) == (3 if step == "logged" else 0)  # ahead of the ledger, never behind
    changed(memory, Wish("pin", Choice("A")))
    assert set(asked(memory).values()) == {UserSettings(pinned=True, ttl=Duration(days=9))}
    assert removed(memory) == []


@pytest.mark.parametrize("step", ["put", "logged"])
def test_a_kill_of_the_very_first_command_leaves_a_ledger_that_works(memory: Path, step: str) -> None:
    killed(memory, PIN, step)
    assert asked(memory) == ({OLD: PINNED} if step == "logged" else {})
    changed(memory, PIN)
    assert asked(memory) == {OLD: PINNED}
    assert scan(settings_of(memory)).found.new == (3 if step == "logged" else 2)  # one was named before


def test_a_kill_after_the_log_is_set_once_the_ledger_is_lost(memory: Path) -> None:
    killed(memory, PIN, "logged")
    lose_ledger(memory)
    assert asked(memory) == {OLD: PINNED}


@pytest.mark.parametrize("step", ["begin logged", "exchanged"])
def test_a_pin_between_a_killed_prune_and_the_run_that_tidies_up_disturbs_neither(memory: Path, step: str) -> None:
    kill = at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    os.waitpid(forked(lambda: pruned(memory, step=kill)), 0)
    outcome = changed(memory, Wish("pin", Choice("A", "note")))
    assert any("was killed" in warning for warning in outcome.warnings)
    assert removed(memory, force=True) == ([] if step == "exchanged" else [OLD, OBJECT])
    kinds = [event["event"] for event in events_of(memory) if event["event"] in ("begin", "end", "set")]
    assert kinds[:3] == ["begin", "set", "end"]
    assert asked(memory) == {"note": PINNED}
    lose_ledger(memory)
    assert asked(memory) == {"note": PINNED}


def test_a_log_that_cannot_be_written_leaves_the_ledger_as_it_was(memory: Path) -> None:
    changed(memory, PIN)
    log = state_folder(memory) / "audit.jsonl"
    log.rename(log.with_name("elsewhere"))
    log.mkdir()
    with pytest.raises(MemttlError):
        changed(memory, Wish("unpin", Choice("A")))
    log.rmdir()
    log.with_name("elsewhere").rename(log)
    assert asked(memory) == {OLD: PINNED}


def damage_ledger(path: Path) -> None:
    (state_folder(path) / "ledger.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)


@pytest.mark.parametrize("lose", [lose_ledger, damage_ledger])
@pytest.mark.parametrize("policy", ["", NO_TEXT])
def test_settings_outlive_the_ledger(memory: Path, policy: str, lose: Callable[[Path], None]) -> None:
    scan(settings_of(memory, policy=policy))
    changed(memory, PIN)
    changed(memory, Wish("set", Choice("A", "note"), expires="2026-08-01T10:00:00Z", ttl="1y6mo", tier="session"))
    changed(memory, Wish("set", Choice("A", "note"), review_by="2026-07-01"))
    changed(memory, Wish("pin", entity_pins=("A", "?")))
    changed(memory, Wish("unpin", entity_pins=("?",)))
    before, pinned = asked(memory), pins(memory)
    lose(memory)
    assert (asked(memory), pins(memory)) == (before, pinned)
    assert removed(memory) == []
    assert changed(memory, Wish("unpin", entity_pins=("A",))).run is not None
    assert asked(memory) == before
    assert removed(memory) == [OBJECT]


def test_settings_that_cannot_be_rebuilt_refuse_any_other(memory: Path) -> None:
    changed(memory, PIN)
    changed(memory, Wish("pin", Choice("A", "note")))
    log = state_folder(memory) / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"pinned":true', b'"pinned":null', 1))
    lose_ledger(memory)
    for act in (lambda: changed(memory, PIN), lambda: changed(memory, PIN, dry_run=True), lambda: listed(memory)):
        with pytest.raises(LedgerLost):
            act()


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names_and_texts_are_kept_and_rebuilt(tmp_path: Path, name: str) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([f"[session] 2026-01-05: {name}", f"{name} note"], name=name))
    before = aged(path).read_bytes()
    changed(path, Wish("pin", Choice(name, "session", pattern=False)))
    changed(path, Wish("pin", entity_pins=(name,)))
    found, pinned = listed(path), pins(path)
    assert (f"[session] 2026-01-05: {name}", True, PINNED) in [row[1:] for row in found]
    assert pinned == (name,)
    lose_ledger(path)
    assert (listed(path), pins(path)) == (found, pinned)
    assert removed(path) == []
    assert path.read_bytes() == before


def test_a_ledger_of_a_newer_memttl_is_refused(memory: Path) -> None:
    import sqlite3

    changed(memory, PIN)
    with sqlite3.connect(state_folder(memory) / "ledger.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(CannotCreate, match="newer memttl"):
        changed(memory, Wish("unpin", Choice("A")))
