"""The use cases of settings on real files: what is recorded and listed, and that a prune obeys it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import (
    NO_TEXT,
    OBJECT,
    OLD,
    PIN,
    PINNED,
    asked,
    changed,
    listed,
    one_entity,
    removed,
)
from process import aged, tree
from pruning import events_of, pruned, settings_of, state_folder
from support import entity

from memttl.core.chain import line_of
from memttl.core.digests import text_digest
from memttl.core.durations import NEVER, Duration
from memttl.core.model import UserSettings
from memttl.core.selection import Choice
from memttl.core.settings_outcome import ChangeOutcome
from memttl.core.wish import Wish
from memttl.errors import ClockBehind, Malformed
from memttl.files import audit
from memttl.files.ledger_open import ledger_to_read
from memttl.workflow.change_settings import change_settings
from memttl.workflow.list_settings import listed_settings
from memttl.workflow.scan import scan


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return one_entity(tmp_path)


def test_a_pin_is_recorded_and_the_memory_file_is_not_touched(memory: Path) -> None:
    before = (memory.read_bytes(), memory.stat().st_mtime_ns, memory.stat().st_ino)
    outcome = changed(memory, PIN)
    assert outcome.run is not None
    assert asked(memory) == {OLD: PINNED}
    assert (memory.read_bytes(), memory.stat().st_mtime_ns, memory.stat().st_ino) == before


def test_a_pin_holds_against_a_prune_and_its_taking_away_lets_go(memory: Path) -> None:
    changed(memory, Wish("pin", Choice("A")))
    assert removed(memory) == []
    changed(memory, Wish("unpin", Choice("A", "object")))
    assert removed(memory) == [OBJECT]
    changed(memory, Wish("unpin", Choice("A")))
    assert removed(memory) == [OLD]


def test_an_entity_pin_holds_what_comes_later(memory: Path) -> None:
    changed(memory, Wish("pin", entity_pins=("A",)))
    memory.write_bytes(entity([OLD, "[session] 2026-01-06: later"], name="A") + b"\n" + entity([OLD], name="B"))
    assert [(v.entity, v.observation) for v in pruned(aged(memory), force=True).plan.removals] == [("B", OLD)]
    changed(memory, Wish("unpin", entity_pins=("A",)))
    assert len(removed(memory, force=True)) == 2


def test_an_expiry_that_was_set_lets_go(memory: Path) -> None:
    changed(memory, Wish("set", Choice("A", "note"), expires="2026-05-30"))
    assert "note" in removed(memory)


def test_every_change_is_in_the_log(memory: Path) -> None:
    run = changed(memory, Wish("set", Choice("A", "note"), ttl="3d", created="2026-01-05")).run
    changed(memory, Wish("pin", entity_pins=("A",)))
    changed(memory, Wish("unpin", entity_pins=("A",)))
    first, second, third = events_of(memory)
    assert datetime.now(UTC) >= datetime.fromisoformat(first.pop("time"))
    assert first == {
        "v": 1,
        "event": "set",
        "run": run,
        "command": "set",
        "entity": "A",
        "digest": text_digest("note"),
        "raw": '"note"',
        "settings": {"created_at": "2026-01-05", "ttl": "3 days"},
        "prev": audit.FIRST,
    }
    assert (second["command"], second["entity_pin"], second["settings"]) == ("pin", "A", {"pinned": True})
    assert (third["command"], third["entity_pin"], third["settings"]) == ("unpin", "A", {})
    assert audit.is_whole(state_folder(memory) / "audit.jsonl")


def test_the_raw_text_can_be_taken_out_of_the_log_without_a_break(memory: Path) -> None:
    changed(memory, Wish("pin", Choice("A")))
    log = state_folder(memory) / "audit.jsonl"
    events = [{k: v for k, v in json.loads(line).items() if k != "raw"} for line in log.read_bytes().splitlines()]
    audit.rewrite(log, b"".join(line_of(event) + b"\n" for event in events), time="2026-06-01T00:00:00Z")
    assert b'"raw"' not in log.read_bytes()
    assert audit.is_whole(log)


def test_without_text_in_the_log_none_is_kept_anywhere(memory: Path) -> None:
    changed(memory, Wish("pin", Choice("A")), policy=NO_TEXT)
    changed(memory, Wish("set", Choice("A"), ttl="9d"), policy=NO_TEXT)
    kept = b"".join(p.read_bytes() for p in state_folder(memory).rglob("*") if p.is_file())
    assert b"note" not in kept
    assert b"old" not in kept
    assert "raw" not in {key for event in events_of(memory) for key in event}
    assert asked(memory)["note"] == UserSettings(pinned=True, ttl=Duration(days=9))  # the text is the file's own


def test_nothing_to_change_writes_nothing(memory: Path) -> None:
    changed(memory, PIN)
    before = tree(memory.parent)
    outcome = changed(memory, PIN)
    assert (outcome.run, outcome.changes.unchanged) == (None, 1)
    assert tree(memory.parent) == before


@pytest.mark.parametrize("how", [{"dry_run": True}, {"ask": lambda _: False}])
def test_a_dry_run_and_a_no_leave_nothing_behind(memory: Path, how: dict[str, Any]) -> None:
    before = tree(memory.parent)
    outcome = changed(memory, PIN, **how)
    assert (outcome.run, len(outcome.changes.observations)) == (None, 1)
    assert tree(memory.parent) == before


def test_only_what_is_named_is_recorded(memory: Path) -> None:
    changed(memory, PIN)
    with ledger_to_read(state_folder(memory) / "ledger.db") as ledger:
        assert ledger is not None
        assert len(ledger.sightings_of("A")) == 1
        assert ledger.baseline is None


def test_a_first_sighting_by_name_stays_that_of_the_scan_before(memory: Path) -> None:
    scan(settings_of(memory, now="2026-05-01"))
    changed(memory, Wish("set", Choice("A", "note"), ttl="40d"))
    assert removed(memory, now="2026-06-10T00:00:00Z", force=True).count("note") == 1


def test_no_lock_is_held_while_the_question_waits_and_what_another_sets_stays(memory: Path) -> None:
    def ask(_: ChangeOutcome) -> bool:
        changed(memory, Wish("set", Choice("A", "old"), ttl="never", tier="session"))
        return True

    outcome = changed(memory, Wish("set", Choice("A", "old"), tier="operational"), ask=ask)
    assert asked(memory) == {OLD: UserSettings(ttl=NEVER, tier="operational")}
    assert outcome.changes.observations[0].before == UserSettings(ttl=NEVER, tier="session")


def test_what_is_pinned_while_the_question_of_a_prune_waits_is_not_removed(memory: Path) -> None:
    def ask(_: object) -> bool:
        changed(memory, PIN)
        return True

    assert removed(memory, ask=ask) == [OBJECT]
    assert json.loads(memory.read_bytes())["observations"] == [OLD, "note"]


def test_an_entity_pinned_while_the_question_of_a_prune_waits_loses_nothing(memory: Path) -> None:
    before = memory.read_bytes()
    outcome = pruned(memory, ask=lambda _: changed(memory, Wish("pin", entity_pins=("A",))).run is not None)
    assert not outcome.applied
    assert memory.read_bytes() == before


def test_an_object_is_pinned_by_its_text(memory: Path) -> None:
    changed(memory, Wish("pin", Choice("A", "object")))
    record = {"content": OBJECT, "by": 2, "ttl": 1}  # somebody else has written it anew
    memory.write_bytes(entity([record], name="A"))
    assert removed(aged(memory), force=True) == []


def test_copies_of_a_text_are_pinned_together(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([OLD, OLD], name="A") + b"\n" + entity([OLD], name="A") + b"\n" + entity([OLD], name="B"))
    changed(aged(path), Wish("pin", Choice("A")))
    assert [v.entity for v in pruned(path).plan.removals] == ["B"]


def test_what_is_gone_is_listed_and_can_be_unpinned(memory: Path) -> None:
    changed(memory, Wish("pin", Choice("A")))
    memory.write_bytes(entity(["note"], name="A"))
    aged(memory)
    assert [(text, here) for _, text, here, _ in listed(memory)] == [
        ("note", True),
        (OBJECT, False),
        (OLD, False),
    ]
    changed(memory, Wish("unpin", Choice("A", "session")))
    assert asked(memory) == {"note": PINNED}


def test_the_list_of_one_entity_shows_the_pins_that_hold_it(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes() + b"\n" + entity(["x"], name="B"))
    changed(aged(memory), Wish("pin", Choice("*")))
    changed(memory, Wish("pin", entity_pins=("A", "B", "?")))
    found = listed_settings(settings_of(memory), Choice("B")).found
    assert [x.setting.entity for x in found.settings] == ["B"]
    assert found.entity_pins == ("?", "B")


def test_the_list_reads_the_good_lines_of_a_damaged_file_and_a_change_refuses_it(memory: Path) -> None:
    changed(memory, PIN)
    memory.write_bytes(memory.read_bytes() + b'\n{"type":"entity"')
    aged(memory)
    outcome = listed_settings(settings_of(memory), Choice())
    assert len(outcome.found.settings) == 1
    assert "cannot read" in " ".join(outcome.warnings)
    with pytest.raises(Malformed):
        changed(memory, Wish("unpin", Choice("A")))


def test_the_list_leaves_nothing_behind(memory: Path) -> None:
    before = tree(memory.parent)
    assert listed(memory) == []
    assert tree(memory.parent) == before
    changed(memory, PIN)
    before = tree(memory.parent)
    listed(memory)
    assert tree(memory.parent) == before


def test_a_clock_that_runs_behind_sets_nothing(memory: Path) -> None:
    changed(memory, PIN)
    for now in ("2026-05-30", "1970-01-01"):
        with pytest.raises(ClockBehind):
            change_settings(settings_of(memory, now=now), Wish("unpin", Choice("A")))
    assert asked(memory) == {OLD: PINNED}


def test_a_boot_clock_makes_no_births(memory: Path) -> None:
    with pytest.raises(ClockBehind):
        change_settings(settings_of(memory, now="1970-01-02"), PIN)
    assert not (memory.parent / ".memttl").exists()


def test_state_elsewhere_holds_the_settings_too(memory: Path, tmp_path: Path) -> None:
    settings = settings_of(memory, MEMTTL_STATE_DIR=str(tmp_path / "state"))
    change_settings(settings, PIN)
    assert len(listed_settings(settings, Choice()).found.settings) == 1
    assert not (state_folder(memory) / "ledger.db").exists()


def test_a_server_that_writes_while_the_question_waits_is_no_trouble(memory: Path) -> None:
    def ask(_: ChangeOutcome) -> bool:
        memory.write_bytes(entity(["new"], name="B"))
        return True

    assert changed(memory, PIN, ask=ask).run is not None
    assert [(text, here) for _, text, here, _ in listed(memory)] == [(OLD, False)]
