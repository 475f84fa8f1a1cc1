"""Backfill: births move earlier in the ledger, and nowhere else; what it shows is what the next prune does."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from process import aged, memttl
from pruning import AT_ONCE, events_of, names_in, settings_of, state_folder
from support import entity, instant

from memttl.core.ages import AgeRange
from memttl.core.backfill_outcome import BackfillOutcome
from memttl.core.model import Known
from memttl.errors import ClockBehind, Foreign, LedgerLost, Malformed, NoHistory, NoMemoryFile
from memttl.files.knowledge import knowledge_of
from memttl.files.state import state_of
from memttl.workflow.backfill import Sources, backfill
from memttl.workflow.prune import Request, prune
from memttl.workflow.scan import scan

NOW = "2026-06-01T12:00:00Z"
SESSION = "session: tried Redis"
FACT = "a standing fact"
RULES = '[[rules]]\nprefix = ["session"]\ntier = "session"\n'


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    path = tmp_path / "here/memory.jsonl"
    path.write_bytes(entity([SESSION, FACT], name="Team") + b"\n" + entity([FACT], name="Other") + b"\n")
    aged(path)
    return path


def old_copy(path: Path, texts: list[str], *, name: str = "Team", when: str = "2026-02-01T00:00:00Z") -> str:
    """An old copy of the memory file beside its folder, last written at `when`."""
    copy = path.parent.parent / f"{when[:10]}.jsonl"
    copy.write_bytes(entity(texts, name=name) + b"\n")
    seconds = instant(when).timestamp()
    os.utime(copy, (seconds, seconds))
    return str(copy)


def filled(path: Path, *copies: str, date: str | None = None, dry_run: bool = False, now: str = NOW) -> BackfillOutcome:
    sources = Sources(copies=copies, date=instant(date) if date else None)
    return backfill(settings_of(path, policy=RULES, now=now), sources, dry_run=dry_run)


def known(path: Path, text: str, *, name: str = "Team") -> Known:
    with knowledge_of(state_of(path), must_know=True) as knowledge:
        return knowledge.known_of(name, text)


def test_birth_is_the_mtime_of_the_copy_that_held_it(memory: Path) -> None:
    outcome = filled(memory, old_copy(memory, [SESSION]))
    assert (outcome.found, outcome.moved, outcome.recorded) == (1, 1, True)
    assert known(memory, SESSION).first_seen == instant("2026-02-01T00:00:00Z")
    assert known(memory, SESSION).backfilled


def test_date_stands_in_place_of_the_mtime(memory: Path) -> None:
    filled(memory, old_copy(memory, [SESSION]), date="2026-01-15T00:00:00Z")
    assert known(memory, SESSION).first_seen == instant("2026-01-15T00:00:00Z")


def test_earliest_of_several_copies_counts_in_any_order(memory: Path) -> None:
    copies = [old_copy(memory, [SESSION], when=f"2026-0{month}-01T00:00:00Z") for month in (3, 2, 4)]
    filled(memory, *copies)
    assert known(memory, SESSION).first_seen == instant("2026-02-01T00:00:00Z")


def test_birth_never_moves_later(memory: Path) -> None:
    filled(memory, old_copy(memory, [SESSION]))
    outcome = filled(memory, old_copy(memory, [SESSION], when="2026-03-01T00:00:00Z"))
    assert (outcome.moved, outcome.recorded) == (0, False)
    assert known(memory, SESSION).first_seen == instant("2026-02-01T00:00:00Z")


def test_what_no_copy_holds_is_not_recorded(memory: Path) -> None:
    filled(memory, old_copy(memory, [SESSION]))
    assert known(memory, FACT).first_seen is None
    assert known(memory, SESSION, name="Other").first_seen is None


def test_backfill_is_no_look(memory: Path) -> None:
    filled(memory, old_copy(memory, [SESSION]))
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert knowledge.baseline is None
    found = scan(settings_of(memory, policy=RULES)).found
    assert (found.new, found.known) == (2, 1)


@pytest.mark.parametrize(
    ("when", "why"), [("2024-10-31T23:59:59Z", "before November 2024"), ("2026-06-02T00:00:00Z", "after now")]
)
def test_date_that_cannot_be_is_not_taken_and_listed(memory: Path, when: str, why: str) -> None:
    copy = old_copy(memory, [SESSION], when=when)
    outcome = filled(memory, copy)
    assert (outcome.found, outcome.moved) == (0, 0)
    (listed,) = outcome.not_taken
    assert (listed.label, listed.when, listed.observations) == (copy, instant(when), 1)
    assert why in listed.why
    assert known(memory, SESSION).first_seen is None


def test_next_version_that_holds_it_counts_where_a_date_is_not_taken(memory: Path) -> None:
    copies = [
        old_copy(memory, [SESSION], when=f"{day}T00:00:00Z") for day in ("2024-01-01", "2026-03-01", "2026-04-01")
    ]
    outcome = filled(memory, *copies)
    assert [version.observations for version in outcome.not_taken] == [1]
    assert known(memory, SESSION).first_seen == instant("2026-03-01T00:00:00Z")


def test_copies_may_be_named_by_a_glob(memory: Path) -> None:
    old_copy(memory, [SESSION])
    pattern = str(memory.parent.parent / "2026-*.jsonl")
    ended = memttl("backfill", "--json", "--file", memory, "--now", NOW, "--from", pattern)
    assert json.loads(ended.stdout)["moved"] == 1


def test_copy_dated_after_the_clock_is_not_taken_whatever_now_says(memory: Path) -> None:
    outcome = filled(memory, old_copy(memory, [SESSION], when="2090-01-01T00:00:00Z"), now="2099-01-01T00:00:00Z")
    assert [version.why for version in outcome.not_taken] == ["after now"]


def test_ages_before_and_after_are_counted(memory: Path) -> None:
    outcome = filled(memory, old_copy(memory, [SESSION]))
    assert outcome.before[0] == AgeRange("unknown", 3)
    assert outcome.after[0] == AgeRange("unknown", 2)
    assert [row.age for row in outcome.after if row.observations] == ["unknown", "90 to 179 days"]
    assert sum(row.observations for row in outcome.after) == 3


def test_it_ends_with_what_the_next_prune_removes(memory: Path) -> None:
    outcome = filled(memory, old_copy(memory, [SESSION]))
    removed = prune(settings_of(memory, policy=RULES), Request(pace=AT_ONCE)).plan.removals
    assert [v.observation for v in outcome.plan.removals] == [v.observation for v in removed] == [SESSION]
    assert [v.reason for v in outcome.plan.removals] == [v.reason for v in removed]


def test_dry_run_shows_the_same_and_writes_nothing_at_all(memory: Path) -> None:
    copy = old_copy(memory, [SESSION])
    shown = filled(memory, copy, dry_run=True)
    assert names_in(memory.parent) == ["memory.jsonl", "memttl.toml"]
    done = filled(memory, copy)
    assert shown == done._replace(dry_run=True, recorded=False)


def test_memory_file_is_never_touched(memory: Path) -> None:
    before = memory.read_bytes(), memory.stat()
    filled(memory, old_copy(memory, [SESSION]))
    assert (memory.read_bytes(), memory.stat().st_mtime_ns, memory.stat().st_ino) == (
        before[0],
        before[1].st_mtime_ns,
        before[1].st_ino,
    )


def test_backfill_is_in_the_audit_log(memory: Path) -> None:
    filled(memory, old_copy(memory, [SESSION]))
    assert [(e["event"], e["moved"]) for e in events_of(memory)] == [("backfill", 1)]


def test_birth_from_an_old_copy_lets_grace_end(memory: Path) -> None:
    """It was there long before memttl knew the file, so it is no newcomer."""
    scan(settings_of(memory, policy=RULES))
    dated = "session: 2026-01-05: came by a merge"
    memory.write_bytes(entity([dated], name="Team"))
    aged(memory)
    scan(settings_of(memory, policy=RULES, now="2026-06-02T12:00:00Z"))
    assert filled(memory, now="2026-06-02T12:00:00Z", dry_run=True).plan.removals == ()
    outcome = filled(memory, old_copy(memory, [dated]), now="2026-06-02T12:00:00Z")
    assert [v.observation for v in outcome.plan.removals] == [dated]


def test_own_backup_is_an_old_copy(memory: Path) -> None:
    expired = "[expires 2026-01-01] gone (expires 2026-01-01)"
    memory.write_bytes(entity([expired, FACT], name="Team"))
    aged(memory)
    backup = prune(settings_of(memory, policy=RULES), Request(pace=AT_ONCE)).backup
    assert backup is not None
    os.utime(backup, (instant("2026-05-01T00:00:00Z").timestamp(),) * 2)
    filled(memory, backup)
    assert known(memory, FACT).first_seen == instant("2026-05-01T00:00:00Z")


def test_copy_that_is_none_is_said(memory: Path) -> None:
    copy = memory.parent.parent / "odd.jsonl"
    copy.write_bytes(b"\x1f\x8b\x08 gzip\n")
    assert any("no line can be read" in warning for warning in filled(memory, str(copy)).warnings)


@pytest.mark.parametrize(("data", "error"), [(b'{"type":"entity"\n', Malformed), (b'{"role":"user"}\n' * 3, Foreign)])
def test_memory_file_that_is_unsound_is_refused(memory: Path, data: bytes, error: type[Exception]) -> None:
    memory.write_bytes(data)
    aged(memory)
    with pytest.raises(error):
        filled(memory, old_copy(memory, [SESSION]))
    assert names_in(memory.parent) == ["memory.jsonl", "memttl.toml"]


def test_missing_copy_is_an_error(memory: Path) -> None:
    with pytest.raises(NoMemoryFile):
        filled(memory, str(memory.parent / "nowhere.jsonl"))


def test_no_repository_is_an_error_and_nothing_is_written(memory: Path) -> None:
    with pytest.raises(NoHistory):
        backfill(settings_of(memory), Sources(git=True))
    assert names_in(memory.parent) == ["memory.jsonl"]


def test_boot_clock_makes_no_births(memory: Path) -> None:
    copy = old_copy(memory, [SESSION])
    settings = settings_of(memory, policy=RULES, now="1970-01-02T00:00:00Z")
    with pytest.raises(ClockBehind):
        backfill(settings._replace(clock=datetime(1970, 1, 2, tzinfo=UTC)), Sources(copies=(copy,)))


def test_lost_ledger_that_cannot_be_rebuilt_is_left_alone(memory: Path) -> None:
    scan(settings_of(memory, policy=RULES))
    (state_folder(memory) / "ledger.db").unlink()
    log = state_folder(memory) / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"prev":"0', b'"prev":"1'))
    with pytest.raises(LedgerLost):
        filled(memory, old_copy(memory, [SESSION]))


def test_command_takes_further_copies_behind_from(memory: Path) -> None:
    copies = [old_copy(memory, [SESSION]), old_copy(memory, [FACT], when="2026-03-01T00:00:00Z")]
    ended = memttl("backfill", "--json", "--file", memory, "--now", NOW, "--from", *copies)
    document = json.loads(ended.stdout)
    assert (ended.returncode, document["versions"], document["moved"]) == (0, 2, 2)
    assert {key: document[key] for key in ("found", "observations", "recorded", "dry_run")} == {
        "found": 2,
        "observations": 3,
        "recorded": True,
        "dry_run": False,
    }


@pytest.mark.parametrize(
    "args", [(), ("odd.jsonl",), ("--git", "--date", "2026-01-01"), ("--from", "x", "--date", "?")]
)
def test_words_that_name_no_source_are_usage(memory: Path, args: tuple[str, ...]) -> None:
    ended = memttl("backfill", "--file", memory, *args)
    assert ended.returncode == 2
    assert "nothing was done" in ended.stderr
