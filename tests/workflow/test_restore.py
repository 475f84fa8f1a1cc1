"""The use case `backups restore`: the whole file back byte for byte, whatever stands there, and a log to undo it."""

from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest
from asking import forked
from backups import NEW, OLD, keep, kept, log_run, memory_of, restored
from process import FIXTURES, aged, tree
from pruning import at, events_of, pruned, settings_of, state_folder
from support import entity, relation

from memttl.core.places import standing
from memttl.errors import LedgerLost, NoMemoryFile, NoPermission, UnknownBackup
from memttl.workflow.scan import scan


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = memory_of(tmp_path)
    log_run(path, "aaaa0001")
    keep(path, OLD)
    return path


def named(path: Path, word: str) -> list[dict[str, Any]]:
    return [event for event in events_of(path) if event["event"].startswith(word)]


def test_the_file_is_put_back_byte_for_byte_after_a_backup_of_what_it_replaces(memory: Path) -> None:
    done = restored(memory)
    assert memory.read_bytes() == OLD
    assert done.applied
    assert Path(str(done.backup)).read_bytes() == NEW


def test_a_restore_can_be_taken_back_by_a_restore(memory: Path) -> None:
    done = restored(memory)
    restored(memory, str(done.run))
    assert memory.read_bytes() == NEW


@pytest.mark.parametrize("fixture", sorted((FIXTURES / "memory").glob("*.jsonl")), ids=lambda path: path.stem)
def test_any_file_is_written_over_and_comes_back(memory: Path, fixture: Path) -> None:
    foreign = fixture.read_bytes()
    memory.write_bytes(foreign)
    aged(memory)
    done = restored(memory, "aaaa")
    assert memory.read_bytes() == OLD
    aged(memory)
    if foreign != OLD:
        restored(memory, str(done.run))
        assert memory.read_bytes() == foreign


def test_a_missing_file_is_made_again_with_the_mode_of_our_own_files(memory: Path) -> None:
    memory.unlink()
    done = restored(memory)
    assert memory.read_bytes() == OLD
    assert stat.S_IMODE(memory.stat().st_mode) == stat.S_IMODE((state_folder(memory) / "audit.jsonl").stat().st_mode)
    assert done.found.counts["entities_added"] == 2


def test_a_missing_file_of_which_nothing_is_kept_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(OLD)
    with pytest.raises(NoMemoryFile):
        restored(tmp_path / "memory.jsonl", str(copy))
    assert os.listdir(tmp_path) == ["copy.jsonl"]


def test_a_copy_from_elsewhere_is_restored_by_its_path(memory: Path) -> None:
    copy = memory.with_name("copy.jsonl")
    copy.write_bytes(b"elsewhere")
    restored(memory, str(copy))
    assert memory.read_bytes() == b"elsewhere"


def test_a_compressed_backup_is_restored_and_named_as_it_was_written(memory: Path) -> None:
    keep(memory, OLD + b"\n", "bbbb0002", "2026-05-02T12:00:00Z", packed=True)
    restored(memory)
    assert memory.read_bytes() == OLD + b"\n"
    assert named(memory, "begin")[-1]["restores"] == "20260502T120000Z-bbbb0002.jsonl"


def test_nothing_is_written_where_the_file_holds_the_same_bytes(memory: Path) -> None:
    memory.write_bytes(OLD)
    before = tree(memory.parent)
    done = restored(memory)
    assert (done.applied, done.found.are_equal, tree(memory.parent) == before) == (False, True, True)


def test_a_dry_run_and_a_no_write_nothing(memory: Path) -> None:
    before = tree(memory.parent)
    assert not restored(memory, dry_run=True).applied
    assert restored(memory, ask=lambda _: False).declined
    assert tree(memory.parent) == before


def test_the_link_stays_and_the_file_behind_it_is_written(memory: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(memory)
    restored(link)
    assert link.is_symlink()
    assert memory.read_bytes() == OLD


def test_the_mode_is_kept(memory: Path) -> None:
    memory.chmod(0o640)
    restored(memory)
    assert stat.S_IMODE(memory.stat().st_mode) == 0o640


def test_hard_links_are_refused_unless_they_may_be_parted(memory: Path) -> None:
    second = memory.with_name("second.jsonl")
    os.link(memory, second)
    for how in ({}, {"dry_run": True}):
        with pytest.raises(NoPermission):
            restored(memory, **how)
    restored(memory, break_hard_links=True)
    assert (memory.read_bytes(), second.read_bytes()) == (OLD, NEW)


def test_a_read_only_file_is_refused(memory: Path) -> None:
    memory.chmod(0o444)
    with pytest.raises(NoPermission):
        restored(memory)
    assert any("read-only" in warning for warning in restored(memory, dry_run=True).warnings)


def test_what_is_written_while_the_question_waits_lies_in_the_backup_and_is_said(memory: Path) -> None:
    later = NEW + b"\n" + entity(["meanwhile"], name="L")
    done = restored(memory, ask=lambda _: bool(memory.write_bytes(later)))
    assert memory.read_bytes() == OLD
    assert Path(str(done.backup)).read_bytes() == later
    assert any("written after it was compared" in warning for warning in done.warnings)
    assert "L" in [change.entity for change in done.found.entities]
    assert "L" in [event.get("entity") for event in named(memory, "removed")]


def test_a_server_that_had_read_before_the_swap_keeps_what_it_added(memory: Path) -> None:
    later = NEW + b"\n" + entity(["meanwhile"], name="L")

    def save() -> None:
        temporary = memory.with_name("temporary")
        temporary.write_bytes(later)
        temporary.rename(memory)

    done = restored(memory, step=at("settled", save))
    lines = memory.read_bytes().split(b"\n")
    assert entity(["meanwhile"], name="L") in lines
    assert set(OLD.split(b"\n")) <= set(lines)
    assert any("saved the version of before" in warning for warning in done.warnings)


def test_the_log_tells_what_went_and_what_came_with_places(memory: Path) -> None:
    done = restored(memory)
    begin = named(memory, "begin")[-1]
    assert (begin["command"], begin["restores"]) == ("restore", "20260501T120000Z-aaaa0001.jsonl")
    old, new = standing(NEW, {1: [1], 2: [0]}, {2}), standing(OLD, {1: [1], 2: [0]}, {2, 3})
    assert [(e["event"], e["line"], e.get("index"), e["raw"], e["place"]) for e in named(memory, "removed")] == [
        ("removed", 1, 1, '"x"', old.elements[1, 1].place),
        ("removed", 2, 0, '"d"', old.elements[2, 0].place),
        ("removed_entity", 2, None, entity(["d"], name="C").decode(), old.lines[2].place),
    ]
    assert [(e["event"], e["line"], e.get("index"), e["raw"], e["place"]) for e in named(memory, "restored")] == [
        ("restored", 1, 1, '"b"', new.elements[1, 1].place),
        ("restored", 2, 0, '"c"', new.elements[2, 0].place),
        ("restored_entity", 2, None, entity(["c"], name="B").decode(), new.lines[2].place),
        ("restored_relation", 3, None, relation("A", "B").decode(), new.lines[3].place),
    ]
    assert {e["run"] for e in named(memory, "re")} == {done.run}


def test_bytes_that_are_no_utf_8_are_logged_so_that_they_can_be_put_back(memory: Path) -> None:
    memory.write_bytes(b"\xff\xfe{")
    aged(memory)
    restored(memory)
    (event,) = named(memory, "removed")
    assert event["event"] == "removed_line"
    assert event["raw"].encode("utf-8", "surrogateescape") == b"\xff\xfe{"


def test_texts_stay_out_of_the_log_where_the_policy_says_so(memory: Path) -> None:
    restored(memory, policy="[audit]\ntext = false\n")
    assert not [event for event in named(memory, "re") if "raw" in event]


def test_a_retyped_entity_is_logged(memory: Path) -> None:
    memory.write_bytes(OLD.replace(b'"note"', b'"other"'))
    restored(memory)
    assert [(e["entity"], e["type_before"], e["type_after"]) for e in named(memory, "retyped")] == [
        ("A", "other", "note"),
        ("B", "other", "note"),
    ]


def many(count: int) -> bytes:
    return b"\n".join(entity([f"note {i}"], name=f"E{i}") for i in range(count))


def test_what_a_restore_takes_away_has_not_vanished(memory: Path) -> None:
    memory.write_bytes(many(60))
    scan(settings_of(memory))
    restored(memory, "aaaa")
    assert not scan(settings_of(memory)).refusals


def test_what_a_restore_took_away_that_was_killed_before_the_ledger_has_not_vanished(memory: Path) -> None:
    memory.write_bytes(many(60))
    scan(settings_of(memory))
    kill = at("end logged", lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: restored(memory, "aaaa", step=kill)), 0)
    assert os.WIFSIGNALED(status)
    assert memory.read_bytes() == OLD
    assert not scan(settings_of(memory)).refusals


@pytest.mark.parametrize("name", ["", "nosuch", "aaaa0002", "20260501T120000Z-aaaa0001", "/nowhere/x.jsonl"])
def test_an_unknown_name_is_refused(memory: Path, name: str) -> None:
    with pytest.raises(UnknownBackup):
        restored(memory, name)


def test_near_names_are_told(memory: Path) -> None:
    with pytest.raises(UnknownBackup, match="aaaa0001"):
        restored(memory, "aaab0001")


def test_an_ambiguous_beginning_is_refused(memory: Path) -> None:
    keep(memory, OLD, "aaaa0002", "2026-05-03T12:00:00Z")
    with pytest.raises(UnknownBackup, match="could be 2 backups"):
        restored(memory, "aaaa")


@pytest.mark.parametrize(
    "name", ["aaaa0001", "a", "20260501T120000Z-aaaa0001.jsonl", "20260501T120000Z-aaaa0001.jsonl.gz"]
)
def test_a_backup_is_named_by_its_run_or_its_file(memory: Path, name: str) -> None:
    keep(memory, NEW, "bbbb0002", "2026-05-03T12:00:00Z")
    assert restored(memory, name).applied


def test_a_restore_does_not_begin_anew_where_pins_lie_elsewhere(memory: Path) -> None:
    pruned(memory)
    for name in ("audit.jsonl", "ledger.db"):
        (state_folder(memory) / name).unlink()
    with pytest.raises(LedgerLost):
        restored(memory)
    assert memory.read_bytes() == NEW


def test_what_was_kept_stays_kept(memory: Path) -> None:
    restored(memory)
    assert len(kept(memory)) == 2
    assert json.loads((state_folder(memory) / "audit.jsonl").read_text().splitlines()[-1])["event"] == "end"
