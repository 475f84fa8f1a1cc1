"""What a lost ledger is made from again, and when nobody can tell what was pinned."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ledgers import written
from support import NOW, instant

from memttl.core.digests import text_digest
from memttl.core.model import UserSettings
from memttl.errors import CannotCreate, LedgerLost, NoPermission
from memttl.files import audit
from memttl.files.rebuild import Rebuilt, baseline_in_log, rebuilt
from memttl.files.state import State, prepare, state_of

PIN = {"pinned": True}


@pytest.fixture
def state(tmp_path: Path) -> State:
    memory = written(tmp_path / "memory.jsonl", {"A": ["x"]})
    prepare(state_of(memory), memory.stat())
    return state_of(memory)


def log(state: State, *events: dict[str, Any]) -> None:
    audit.append(state.audit, events, state.memory.stat())


def found(state: State) -> Rebuilt:
    made = rebuilt(state, damaged=False)
    assert made is not None
    return made


def set_event(entity: str, text: str, settings: dict[str, Any], **fields: Any) -> dict[str, Any]:
    digest = text_digest(text)
    return {"event": "set", "entity": entity, "digest": digest, "raw": json.dumps(text), "settings": settings, **fields}


def begin(now: str, time: str) -> dict[str, Any]:
    return {"event": "begin", "run": "ab", "now": now, "time": time}


def test_where_no_run_has_been_there_is_nothing_to_rebuild(state: State) -> None:
    assert rebuilt(state, damaged=False) is None


def test_earliest_baseline_is_the_one(state: State) -> None:
    for day in ("2026-06-09T00:00:00Z", "2026-06-01T12:00:00Z", "2026-07-01T00:00:00Z"):
        log(state, {"event": "baseline", "baseline": day})
    assert found(state).baseline == NOW
    assert baseline_in_log(state) == NOW


def test_log_from_before_there_was_a_ledger_begins_with_its_first_run(state: State) -> None:
    log(state, begin("2026-06-01T12:00:00Z", "2026-06-01T12:00:00.500Z"))
    log(state, begin("2026-06-02T12:00:00Z", "2026-06-02T12:00:00.500Z"))
    assert found(state).baseline == NOW
    assert baseline_in_log(state) == NOW


@pytest.mark.parametrize(
    ("now", "time"),
    [("2026-06-01T12:00:00Z", "2026-11-30T00:00:00.500Z"), ("2099-01-01T00:00:00Z", "2026-06-01T12:00:00.000Z")],
)
def test_run_counts_from_now_or_the_clock_whichever_is_earlier(state: State, now: str, time: str) -> None:
    log(state, begin(now, time))
    assert found(state).baseline == NOW


def test_last_setting_of_a_text_holds(state: State) -> None:
    log(state, set_event("A", "x", PIN), set_event("A", "x", {"tier": "session"}), set_event("B", "x", PIN))
    assert [(s.entity, s.asked) for s in found(state).settings] == [
        ("A", UserSettings(tier="session")),
        ("B", UserSettings(pinned=True)),
    ]


def test_setting_taken_back_is_none(state: State) -> None:
    log(state, set_event("A", "x", PIN), set_event("A", "x", {}))
    assert found(state).settings == ()


@pytest.mark.parametrize("text", ["x", "", "\ud800", "\u2028", '"\\', "\x00"])
def test_text_of_a_setting_comes_back(state: State, text: str) -> None:
    log(state, set_event("A", text, PIN))
    (setting,) = found(state).settings
    assert (setting.text, setting.digest) == (text, text_digest(text))


def test_text_that_is_not_kept_is_none(state: State) -> None:
    event = set_event("A", "x", PIN)
    del event["raw"]
    log(state, event)
    (setting,) = found(state).settings
    assert (setting.text, setting.digest) == (None, text_digest("x"))


def test_pins_of_entities_are_those_that_were_not_taken_back(state: State) -> None:
    for pattern, pinned in (("A", True), ("B*", True), ("A", False), ("\ud800", True)):
        log(state, {"event": "set", "entity_pin": pattern, "settings": {"pinned": pinned}})
    assert found(state).entity_pins == ("B*", "\ud800")


def test_torn_last_line_is_no_harm(state: State) -> None:
    log(state, set_event("A", "x", PIN))
    with state.audit.open("ab") as f:
        f.write(b'{"v":1,"event":"set","ent')
    assert len(found(state).settings) == 1
    log(state, set_event("B", "y", PIN))
    assert len(found(state).settings) == 2


# lost for good


def lost(state: State, *, damaged: bool = False) -> str:
    with pytest.raises(LedgerLost) as error:
        rebuilt(state, damaged=damaged)
    assert error.value.exit_code == 73
    return error.value.message


def test_backups_without_a_log_are_of_a_run_whose_settings_nobody_knows(state: State) -> None:
    (state.backups / "20260601T120000Z-ab.jsonl").write_bytes(b"")
    state.audit.unlink()
    assert "memttl has been here, but the audit log" in lost(state)


def test_backups_with_an_empty_log_are_too(state: State) -> None:
    (state.backups / "20260601T120000Z-ab.jsonl").write_bytes(b"")
    state.audit.write_bytes(b"")
    lost(state)


@pytest.mark.parametrize("name", ["20260601T120000Z-ab.jsonl.part", "notes.txt", ".DS_Store"])
def test_what_is_no_backup_proves_no_run(state: State, name: str) -> None:
    (state.backups / name).write_bytes(b"")
    assert rebuilt(state, damaged=False) is None


@pytest.mark.parametrize("log_bytes", [None, b"", b"\n"])
def test_damaged_ledger_without_a_log_is_lost(state: State, log_bytes: bytes | None) -> None:
    state.audit.unlink()
    if log_bytes is not None:
        state.audit.write_bytes(log_bytes)
    assert "it is damaged, but the audit log" in lost(state, damaged=True)


@pytest.mark.parametrize("old, new", [(b'"pinned":true', b'"pinned":null'), (b'"A"', b'"B"')])
def test_edited_log_is_not_believed(state: State, old: bytes, new: bytes) -> None:
    log(state, set_event("A", "x", PIN), {"event": "end"})
    state.audit.write_bytes(state.audit.read_bytes().replace(old, new, 1))
    assert "is torn or was edited" in lost(state)


@pytest.mark.parametrize("line", [0, 1])
def test_log_without_one_of_its_lines_is_not_believed(state: State, line: int) -> None:
    log(state, set_event("A", "x", PIN), set_event("B", "x", PIN), {"event": "end"})
    lines = state.audit.read_bytes().splitlines(keepends=True)
    del lines[line]
    state.audit.write_bytes(b"".join(lines))
    lost(state)


@pytest.mark.parametrize(
    "event",
    [
        {"event": "set"},
        {"event": "set", "entity_pin": "A"},
        {"event": "set", "entity_pin": "A", "settings": []},
        set_event("A", "x", {"ttl": "30m"}),
        set_event("A", "x", {"expires_at": "0001-01-01T00:00:00+09:00"}),
        set_event("A", "x", PIN, digest="no hex"),
        set_event("A", "x", PIN, digest=5),
        set_event("A", "x", PIN, raw="no json"),
        set_event("A", "x", PIN, raw=5),
        {"event": "set", "entity": "A", "digest": "ab", "settings": 5},
        {"event": "baseline"},
        {"event": "baseline", "baseline": "yesterday"},
        {"event": "begin", "now": 5},
        {"event": "begin"},
    ],
    ids=str,
)
def test_event_that_cannot_be_read_is_no_traceback(state: State, event: dict[str, Any]) -> None:
    log(state, event)
    assert re.search("cannot be read|torn or was edited", lost(state))  # a text that is not that of its digest, too
    baseline_in_log(state)


def test_log_of_a_newer_memttl_is_refused(state: State) -> None:
    log(state, {"event": "new", "v": 2})
    with pytest.raises(CannotCreate, match="A newer memttl"):
        rebuilt(state, damaged=False)


def test_link_in_place_of_the_log_is_refused(state: State, tmp_path: Path) -> None:
    state.audit.unlink()
    state.audit.symlink_to(tmp_path / "nowhere")
    with pytest.raises(NoPermission):
        rebuilt(state, damaged=False)


def test_words_count_settings_and_pins() -> None:
    assert "0 settings" in Rebuilt().words()
    assert "1 setting and" in Rebuilt(NOW, (), ("A",)).words()


def test_instants_of_the_log_are_aware(state: State) -> None:
    log(state, {"event": "baseline", "baseline": "2026-06-01T14:00:00+02:00"})
    assert found(state).baseline == instant("2026-06-01T12:00:00Z")
