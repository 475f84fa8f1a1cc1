"""What those who tried to break the ledger found: old copies of it, logs that are ahead, foreign folders, numbers."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import time
from pathlib import Path

import pytest
from asking import PIN, changed
from ledgers import DAY, die, in_killed_child, ledger_path, numbered, opened, scanned, written
from process import aged, memttl
from pruning import at, pruned, settings_of, state_folder
from repositories import MONDAY, commit, git, needs_git, new_repository
from support import entity
from without_root import memttl_as_nobody, needs_root, nobodys_folder

from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.errors import CannotCreate, ClockBehind, LedgerLost, Malformed
from memttl.files.snapshot import Snapshot, read_once, read_settled
from memttl.files.state import state_of
from memttl.workflow.explain import explain
from memttl.workflow.list_settings import listed_settings

OLD, SECOND = "[session] 2026-01-05: old", "[session] 2026-01-06: second"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    path = tmp_path / "here/memory.jsonl"
    path.write_bytes(entity([OLD, SECOND], name="A"))
    return aged(path)


def texts(path: Path) -> list[str]:
    return list(json.loads(path.read_bytes())["observations"])


def settings_in(path: Path) -> int:
    return len(listed_settings(settings_of(path), Choice()).found.settings)


def test_old_copy_of_the_ledger_takes_no_pin_away(memory: Path) -> None:
    scanned(memory)
    copy = shutil.copy(ledger_path(memory), memory.parent.parent / "copy")
    changed(memory, PIN)
    shutil.copy(copy, ledger_path(memory))
    assert pruned(memory).plan.counts.removed == 1
    assert texts(memory) == [OLD]
    assert settings_in(memory) == 1


def test_change_that_was_logged_before_a_kill_holds(memory: Path) -> None:
    changed(memory, PIN)
    in_killed_child(lambda: changed(memory, Wish("unpin", Choice("A", "old")), step=at("logged", die)))
    assert settings_in(memory) == 0
    assert changed(memory, PIN).run is not None  # so that it is in the log once more
    ledger_path(memory).unlink()
    assert settings_in(memory) == 1


def test_emptied_log_and_a_lost_ledger_are_refused(memory: Path) -> None:
    changed(memory, PIN)
    ledger_path(memory).unlink()
    (state_folder(memory) / "audit.jsonl").write_bytes(b"")
    with pytest.raises(LedgerLost):
        pruned(memory)
    assert texts(memory) == [OLD, SECOND]


@needs_root
def test_ledger_that_may_not_be_written_ends_a_prune_before_it_writes() -> None:
    with nobodys_folder() as folder:
        path = folder / "memory.jsonl"
        path.write_bytes(entity([OLD, SECOND], name="A"))
        os.chown(aged(path), 65534, 65534)
        assert memttl_as_nobody("scan", "--file", path).returncode == 0
        ledger_path(path).chmod(0o444)
        ended = memttl_as_nobody("prune", "--yes", "--file", path)
        assert (ended.returncode, "had been written" in ended.stderr) == (77, False)
        assert texts(path) == [OLD, SECOND]


def test_copies_of_one_text_that_a_killed_prune_removed_count_once(tmp_path: Path) -> None:
    gone = "x [expires 2026-01-01]"
    memory = written(tmp_path / "memory.jsonl", {**numbered(60, entities=20), "C": [gone] * 60})
    scanned(memory)
    in_killed_child(lambda: pruned(memory, now=DAY.format(2), force=True, step=at("end logged", die)))
    written(memory, {"E0": ["text 0"]})
    assert scanned(memory, DAY.format(3)).exit_code == 4


@needs_git
@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-7", "nonsense"])
def test_repository_that_wants_its_log_in_another_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    folder = new_repository(tmp_path / "r")
    commit(folder, {"memory.jsonl": entity(["one"])}, MONDAY)
    git(folder, "config", "i18n.logOutputEncoding", encoding)
    ended = memttl("backfill", "--git", "--json", "--file", folder / "memory.jsonl")
    assert json.loads(ended.stdout)["found"] == 1


@pytest.mark.parametrize(("key", "value"), [("newest", 1 << 39), ("newest", 1), ("baseline", 5), ("observations", 3)])
def test_changed_number_in_the_ledger_is_damage(memory: Path, key: str, value: int) -> None:
    scanned(memory)
    with sqlite3.connect(ledger_path(memory)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
    connection.close()
    ended = memttl("explain", "--json", "--file", memory)
    assert (ended.returncode, "the ledger is damaged" in ended.stderr) == (0, True)
    assert scanned(memory, DAY.format(2)).found.new == 2


def test_baseline_without_an_offset_is_none(memory: Path) -> None:
    changed(memory, PIN)
    with (state_folder(memory) / "audit.jsonl").open("a") as log:
        log.write('{"v":1,"event":"baseline","baseline":"2026-01-01","prev":"x"}\n')
    assert memttl("explain", "--file", memory).returncode == 0
    assert memttl("scan", "--file", memory).returncode == 0


def test_damaged_file_that_takes_long_to_read_is_believed_after_two_readings(memory: Path) -> None:
    memory.write_bytes(b"half")
    aged(memory)
    readings = []

    def slow(path: Path) -> Snapshot:
        readings.append(path)
        time.sleep(0.25)
        return read_once(path)

    def look(_data: bytes) -> tuple[None, bool]:
        raise Malformed("half")

    with pytest.raises(Malformed):
        read_settled(memory, look, read=slow)
    assert len(readings) == 2


def test_newer_log_is_not_written_to(memory: Path) -> None:
    scanned(memory)
    log = state_folder(memory) / "audit.jsonl"
    log.write_bytes(log.read_bytes() + b'{"v":2,"event":"x","prev":"0"}\n')
    before = log.read_bytes()
    copy = shutil.copy(memory, memory.parent.parent / "copy.jsonl")
    assert memttl("backfill", "--from", copy, "--file", memory).returncode == 73
    assert log.read_bytes() == before


@pytest.mark.parametrize("how", [("prune", "-n"), ("explain",), ("search", "x"), ("set", "--list"), ("prune", "--yes")])
def test_state_folder_of_another_memory_file_is_refused_by_every_command(memory: Path, how: tuple[str, ...]) -> None:
    env = {"MEMTTL_STATE_DIR": str(memory.parent.parent / "state")}
    assert memttl("pin", "A", "old", "--yes", "--file", memory, env=env).returncode == 0
    (kept,) = (memory.parent.parent / "state").iterdir()
    (kept / "path").write_text("/other\n")
    ended = memttl(*how, "--file", memory, env=env)
    assert (ended.returncode, "belongs to another memory file" in ended.stderr) == (73, True)


@needs_root
@pytest.mark.parametrize("how", [("scan",), ("prune", "-n"), ("explain",), ("search", "x")])
def test_state_folder_that_may_not_be_seen_is_an_error_and_the_next_file_is_done(how: tuple[str, ...]) -> None:
    with nobodys_folder() as closed, nobodys_folder() as open_to_all:
        paths = [folder / "memory.jsonl" for folder in (closed, open_to_all)]
        for path in paths:
            path.write_bytes(entity([OLD, SECOND], name="A"))
            os.chown(aged(path), 65534, 65534)
        (closed / ".memttl").mkdir(mode=0o700)
        ended = memttl_as_nobody(*how, "--json", "--file", paths[0], "--file", paths[1])
    first, second = json.loads(ended.stdout)["files"]
    assert (ended.returncode, first["error"]["code"], "error" in second) == (77, 77, False)


def test_mark_that_does_not_decide_is_not_said_to_keep(memory: Path) -> None:
    memory.write_bytes(entity(["[session] 2026-01-02: b [expires 2026-02-30]"], name="A"))
    aged(memory)
    changed(memory, Wish("set", Choice("A"), ttl="30d"))
    outcome = pruned(memory, dry_run=True, ask=None)
    assert outcome.plan.counts.removed == 1
    assert not any("cannot be read" in warning for warning in outcome.warnings)


@pytest.mark.parametrize(
    "command", [("explain",), ("search", "x"), ("set", "--list"), ("backfill", "-n", "--from", "FILE")]
)
def test_read_only_command_tells_of_a_run_that_was_killed(memory: Path, command: tuple[str, ...]) -> None:
    in_killed_child(lambda: pruned(memory, step=at("exchanged", die)))
    words = [str(memory) if word == "FILE" else word for word in command]
    assert "an earlier run was killed" in memttl(*words, "--file", memory, "--now", "2026-06-20").stderr


@pytest.mark.parametrize(
    ("fixture", "words"), [("bom-at-start", "byte order mark"), ("deep-nesting-in-extra-field", "nested too deep")]
)
def test_scan_warns_of_odd_files(tmp_path: Path, fixture: str, words: str) -> None:
    copy = shutil.copy(Path(__file__).parent.parent / f"fixtures/memory/{fixture}.jsonl", tmp_path / "m.jsonl")
    assert any(words in warning for warning in scanned(aged(Path(copy))).warnings)


def test_days_of_an_entity_are_remembered_through_a_scan_by_another_policy(tmp_path: Path) -> None:
    memory = written(tmp_path / "memory.jsonl", {"A": [OLD, "fact (2026-01-20)", "[session] undated"]})
    inherit = "[age]\ninherit = true\n"
    scanned(memory, "2026-02-01T00:00:00Z", policy=inherit)
    assert pruned(memory, policy=inherit, now="2026-02-06T00:00:00Z").plan.counts.removed == 1
    scanned(memory, "2026-02-08T00:00:00Z", policy="[age]\ninherit = false\n")
    settings = settings_of(memory, policy=inherit, now="2026-02-25T00:00:00Z")
    (verdict, _) = explain(settings, Choice("A", "undated")).explanation.verdicts[0]
    assert (verdict.age_source, verdict.expired) == ("seen", False)


def test_boot_clock_makes_no_folder(memory: Path) -> None:
    with pytest.raises(ClockBehind):
        scanned(memory, "1970-01-02T00:00:00Z")
    assert os.listdir(memory.parent) == ["memory.jsonl"]


def test_name_that_is_too_long_is_no_memory_file() -> None:
    assert memttl("scan", "--file", "a" * 5000).returncode == 66


def test_backfill_lists_what_it_did_not_take_and_ends_with_the_next_prune(memory: Path) -> None:
    copy = memory.parent.parent / "copy.jsonl"
    shutil.copy(memory, copy)
    os.utime(copy, (1_600_000_000, 1_600_000_000))
    printed = memttl("backfill", "--from", copy, "--file", memory, "--now", "2026-06-01").stdout
    assert f"Not taken for 2 observations: {copy}, dated 2020-09-13" in printed
    heading, _, rest = printed.partition("The next prune:\n")
    assert "observations by age" in heading
    assert "Would remove 2 of 2 observations" in rest
    document = json.loads(memttl("backfill", "--from", copy, "--json", "--file", memory, "--now", "2026-06-01").stdout)
    assert set(document) == {
        *("schema", "file", "now", "dry_run", "recorded", "versions", "observations", "found", "moved"),
        *("not_taken", "ages", "next_prune", "warnings"),
    }
    assert set(document["next_prune"]) == {"counts", "removed", "refusals"}
    assert document["not_taken"][0]["version"] == str(copy)


def test_backfill_says_where_the_next_prune_would_refuse(tmp_path: Path) -> None:
    memory = written(tmp_path / "memory.jsonl", numbered(40))
    scanned(memory)
    written(memory, {"E0": ["text 0"]})
    copy = shutil.copy(memory, tmp_path / "copy.jsonl")
    document = json.loads(memttl("backfill", "-n", "--from", copy, "--json", "--file", memory).stdout)
    assert len(document["next_prune"]["refusals"]) == 1


def test_lock_says_that_there_was_a_ledger(memory: Path) -> None:
    scanned(memory)
    assert stat.S_ISREG(state_of(memory).lock.lstat().st_mode)
    assert state_of(memory).lock.read_bytes() == b"ledger\n"
    with opened(memory) as ledger:
        assert ledger.baseline is not None


def test_audit_log_that_is_taken_away_with_the_ledger_is_refused(memory: Path) -> None:
    scanned(memory)
    for name in ("ledger.db", "audit.jsonl"):
        (state_folder(memory) / name).unlink()
    with pytest.raises(CannotCreate, match="cannot be rebuilt"):
        pruned(memory)
