"""What is known is kept up with ledger and log, and stays in use where they cannot be read."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from ledgers import DAY, ledger_path, pin, pin_entity, scanned, written
from support import NOW, instant

from memttl.core.arrivals import arrived_events
from memttl.core.asked import asked_document
from memttl.core.digests import text_digest, text_key
from memttl.core.model import UserSettings
from memttl.files import audit, knowing
from memttl.files.knowing import Knowing
from memttl.files.knowledge import ledger_of
from memttl.files.lock import locked
from memttl.files.state import state_of

KEY = text_key("a")
SECOND = NOW.replace(microsecond=0)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = written(tmp_path / "memory.jsonl", {"E": ["a", "b"]})
    scanned(path)
    return path


@pytest.fixture
def known(memory: Path) -> Knowing:
    found = Knowing(state_of(memory))
    assert found.update() is None
    assert found.update() == {}
    return found


def log_setting(path: Path, text: str) -> None:
    """Pin a text of E in the audit log alone, as `memttl serve` does."""
    event = {"event": "set", "entity": "E", "digest": text_digest(text)}
    asked = {"settings": asked_document(UserSettings(pinned=True))}
    audit.append(state_of(path).audit, [{**event, **asked}], path.stat())


def log_arrival(path: Path, text: str) -> None:
    """Note in the audit log alone that a text of E came now, as `memttl serve` does."""
    audit.append(state_of(path).audit, arrived_events({"E": [text]}, SECOND, "ab12", "T"), path.stat())


def test_ledger_tells_first_sightings(known: Knowing) -> None:
    assert known.known_of("E", "a").first_seen == instant(DAY.format(1))


def test_setting_in_the_log_is_known_at_the_next_call(memory: Path, known: Knowing) -> None:
    log_setting(memory, "a")
    assert known.update() == {"E": {KEY}}
    assert known.known_of("E", "a").settings.pinned
    log_setting(memory, "b")
    changed = known.update()
    assert text_key("b") in (changed or {})["E"]
    assert known.update() == {}


def test_half_a_line_of_the_log_is_read_once_it_is_whole(memory: Path, known: Knowing) -> None:
    path = state_of(memory).audit
    before = path.read_bytes()
    log_setting(memory, "a")
    whole = path.read_bytes()
    for end in (len(before) + 30, len(whole)):
        path.write_bytes(whole[:end])
        known.update()
    assert known.known_of("E", "a").settings.pinned


def test_log_that_ends_in_half_a_line_at_first_is_read_on(memory: Path) -> None:
    path = state_of(memory).audit
    before = path.read_bytes()
    log_setting(memory, "a")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(before) + 30])
    known = Knowing(state_of(memory))
    known.update()
    path.write_bytes(whole)
    known.update()
    assert known.known_of("E", "a").settings.pinned


def test_pin_of_an_entity_may_be_of_any(memory: Path, known: Knowing) -> None:
    pin_entity(memory, "E*")
    assert known.update() is None
    assert known.known_of("E", "a").settings.is_pinned


def test_ledger_that_another_process_wrote_is_read_anew(memory: Path, known: Knowing) -> None:
    written(memory, {"E": ["a", "b", "c"]})
    scanned(memory, DAY.format(3))
    assert known.update() is None
    assert known.known_of("E", "c").first_seen == instant(DAY.format(3))


def test_arrival_in_the_log_is_known_before_the_ledger_has_it(memory: Path, known: Knowing) -> None:
    log_arrival(memory, "new")
    assert known.update() == {"E": {text_key("new")}}
    found = known.known_of("E", "new")
    assert (found.first_seen, found.arrived) == (SECOND, True)


def test_own_write_of_the_ledger_is_not_read_anew(memory: Path, known: Knowing) -> None:
    state = state_of(memory)
    log_arrival(memory, "new")
    with locked(state, memory.stat()), known.own_write(), ledger_of(state, memory.stat(), print):
        pass
    assert known.update() == {"E": {text_key("new")}}
    assert known.known_of("E", "new").first_seen == SECOND


def test_arrival_is_known_after_the_ledger_was_read_anew(memory: Path, known: Knowing) -> None:
    pin(memory, "E", "b")
    log_arrival(memory, "new")
    assert known.update() is None
    assert known.known_of("E", "new").first_seen == SECOND


def test_ledger_that_is_held_for_a_moment_is_not_told(memory: Path, known: Knowing) -> None:
    pin(memory, "E", "b")
    with closing(sqlite3.connect(ledger_path(memory), isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert known.update() is not None  # what the log tells of it is known all the same
        assert known.problem == ""
    time.sleep(knowing._HELD_RETRY_S)
    assert known.update() is None
    assert known.known_of("E", "b").settings.pinned


def test_ledger_that_another_program_holds_is_not_waited_for(
    memory: Path, known: Knowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowing, "_HELD_S", 0.0)
    pin(memory, "E", "b")
    with closing(sqlite3.connect(ledger_path(memory), isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        assert known.update() == {"E": {text_key("b")}}  # the log tells it
        assert time.monotonic() - begun < 5  # others wait 10 s
        assert "holds the ledger" in known.problem
        assert known.known_of("E", "b").settings.pinned
        assert known.known_of("E", "a").first_seen is not None


@pytest.mark.parametrize("damage", [b"", b"no ledger"], ids=["emptied", "overwritten"])
def test_what_was_known_stays_in_use_where_the_ledger_is_damaged(memory: Path, known: Knowing, damage: bytes) -> None:
    ledger_path(memory).write_bytes(damage)
    assert known.update() == {}
    assert known.problem.endswith("What was known before stays in use.")
    assert known.known_of("E", "a").first_seen == instant(DAY.format(1))


def test_nothing_is_known_of_a_file_that_is_new_to_memttl(tmp_path: Path) -> None:
    known = Knowing(state_of(tmp_path / "memory.jsonl"))
    assert known.update() is None
    assert (known.is_known, known.problem, known.baseline) == (True, "", None)
    assert known.known_of("E", "a").first_seen is None


def test_what_was_added_is_not_kept_for_ever(memory: Path, known: Knowing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memttl.files.knowing._MOST_ARRIVED", 5)
    state = state_of(memory)
    for number in range(20):
        log_arrival(memory, f"new {number}")
        with locked(state, memory.stat()), known.own_write(), ledger_of(state, memory.stat(), print):
            pass
        known.update()
    assert len(known.knower._arrived.get("E", ())) <= 7
    assert known.known_of("E", "new 3").arrived
