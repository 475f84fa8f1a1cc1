"""What `memttl serve` stored is as old as its arrival, for every command, also when the server is killed at once."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ledgers import ledger_path, sightings, written
from pruning import NOW, events_of, settings_of, state_folder
from served import Served, add, take
from support import instant

from memttl.core.digests import text_digest, text_key
from memttl.core.selection import Choice
from memttl.core.sightings import Sighting
from memttl.core.timeline import timeline_of
from memttl.core.wish import Patch
from memttl.files import audit
from memttl.files.knowledge import knowledge_of, ledger_of
from memttl.files.lock import locked
from memttl.files.state import state_of
from memttl.files.thin_log import thin_log
from memttl.workflow.backfill import Sources, backfill
from memttl.workflow.explain import explain
from memttl.workflow.scan import scan

SHORT = 'default_tier = "short"\n[tiers]\nshort = "30d"\n'
DATED = "2020-01-01: an old day"
LATER = "2026-08-01T12:00:00Z"
CAME = (instant(NOW), True)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory to which a server that was killed has added two texts."""
    path = written(tmp_path / "memory.jsonl", {"A": ["a"]})
    Served(path).answer(add("A", "new", DATED))
    return path


def known(path: Path, text: str = "new") -> tuple[datetime | None, bool]:
    """When a text of A came, and whether that is known for sure, as a command knows it."""
    with knowledge_of(state_of(path), must_know=False) as knowledge:
        found = knowledge.known_of("A", text)
    return found.first_seen, found.arrived


def sighting(path: Path, text: str = "new") -> Sighting:
    return sightings(path, "A")[text_key(text)]


def test_kill_right_after_the_answer_loses_no_birth(memory: Path) -> None:
    assert text_key("new") not in sightings(memory, "A")
    assert (known(memory), known(memory, DATED), known(memory, "a")) == (CAME, CAME, (None, False))
    scan(settings_of(memory, now=LATER))
    assert (sighting(memory).first_seen, sighting(memory).arrived) == (instant(NOW).timestamp(), True)
    assert known(memory) == CAME


def test_one_line_tells_of_all_that_a_write_added_to_an_entity(memory: Path) -> None:
    (event,) = events_of(memory)
    assert (event["event"], event["command"], event["entity"], event["at"]) == ("arrived", "serve", "A", NOW)
    assert event["digests"] == [text_digest("new"), text_digest(DATED)]
    assert "an old day" not in json.dumps(event)


def test_old_date_in_a_text_hides_it_neither_at_once_nor_in_the_next_server(memory: Path) -> None:
    assert DATED in Served(memory, policy=SHORT).shown()["A"]
    assert DATED in Served(memory, policy=SHORT + "[age]\ninherit = true\n").shown()["A"]
    assert DATED not in Served(memory, policy=SHORT, now=LATER).shown()["A"]


def test_write_waits_for_no_ledger(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "first"))
    with closing(sqlite3.connect(ledger_path(memory), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")  # another memttl writes it
        serving.answer(add("A", "second"))
        assert "second" in serving.shown()["A"]


def test_other_servers_reads_know_it_at_once(memory: Path) -> None:
    reader, writer = Served(memory, policy=SHORT), Served(memory)
    reader.shown()
    writer.answer(add("A", "2020-02-02: another old day"))
    assert "2020-02-02: another old day" in reader.shown()["A"]


def test_rest_records_it_with_its_flag(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "more"))
    serving.record()
    assert sighting(memory, "more").arrived
    assert sighting(memory).arrived


def test_lost_ledger_is_rebuilt_with_the_births_of_arrivals(memory: Path) -> None:
    scan(settings_of(memory, now=LATER))
    ledger_path(memory).unlink()
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert knowledge.known_of("A", "new").arrived
        assert "ages start again but for 2 observations that `memttl serve` stored" in knowledge.warnings[0]
    scan(settings_of(memory, now="2026-08-02T12:00:00Z"))
    assert (known(memory), known(memory, "a")) == (CAME, (instant("2026-08-02T12:00:00Z"), False))


def test_text_that_comes_back_is_as_old_as_that_and_loses_what_was_set(memory: Path) -> None:
    serving = Served(memory, policy=SHORT)
    serving.answer(add("A", "new", patch=Patch(tier="session")))
    serving.record()
    serving.answer(take("A", "new"))
    serving.now = LATER
    serving.answer(add("A", "new"))
    assert "new" in serving.shown()["A"]
    assert known(memory) == (instant(LATER), True)
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert [s.asked.tier for s in knowledge.settings if s.digest == text_digest("new")] == []


def test_backfill_moves_no_arrival(memory: Path, tmp_path: Path) -> None:
    copy = written(tmp_path / "copy.jsonl", {"A": ["new", "a"]})
    old = instant("2025-01-01T00:00:00Z")
    assert backfill(settings_of(memory), Sources(copies=(str(copy),), date=old)).moved == 1
    assert known(memory) == CAME
    assert known(memory, "a")[0] == old


def test_log_read_twice_moves_nothing(memory: Path) -> None:
    state, like = state_of(memory), memory.stat()
    later = audit.read_events(state.audit)[0] | {"at": LATER}
    del later["prev"]
    audit.append(state.audit, [later], like)
    for _ in range(2):
        with locked(state, like), ledger_of(state, like, print) as ledger, ledger.transaction(write=True):
            ledger.put_log_offsets(seen=0, settings_seen=0)
    assert known(memory) == (instant(LATER), True)


def test_explain_says_that_it_arrived(memory: Path) -> None:
    outcome = explain(settings_of(memory, policy=SHORT), Choice("A"))
    ((verdict, tried),) = [row for row in outcome.explanation.verdicts if row[0].observation == "new"]
    assert verdict.reason == "short notes keep 30 days; arrived 2026-06-01 12:00 UTC"
    assert ("date", f"arrived {NOW}", True, "birth") in tried


def test_timeline_leaves_arrivals_out_and_the_chain_holds(memory: Path) -> None:
    assert audit.is_whole(state_folder(memory) / "audit.jsonl")
    assert timeline_of(events_of(memory)) == []


def test_old_arrivals_are_thinned_once_the_ledger_has_them(memory: Path) -> None:
    state, like = state_of(memory), memory.stat()
    came = {key: value for key, value in audit.read_events(state.audit)[0].items() if key != "prev"}
    for run in ("c1", "c2", "c3"):
        audit.append(state.audit, [came | {"run": run}], like)
    young = [came | {"run": run, "time": "2029-12-30T00:00:00.000Z", "at": LATER} for run in ("d1", "d2")]
    audit.append(state.audit, young, like)
    kept = [event["event"] for event in events_of(memory)]

    def thin() -> list[str]:
        thin_log(state, timedelta(days=300), instant("2030-01-01T00:00:00Z"))
        assert audit.is_whole(state.audit)
        return [event["event"] for event in events_of(memory)]

    assert thin() == kept == ["arrived"] * 6
    scan(settings_of(memory, now=LATER))
    assert thin() == ["segment", "summary", "arrived", "arrived", "baseline"]
    assert known(memory)[1]
    ledger_path(memory).unlink()
    assert known(memory) == (instant(LATER), True)
