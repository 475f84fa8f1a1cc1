"""`memttl backups …` as a whole process: what it prints, its documents and exit codes, its question at a terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from backups import NEW, OLD, keep, kept, log_run, memory_of
from process import Terminal, error_of, memttl, tree
from pruning import state_folder
from support import entity
from without_root import memttl_as_nobody, needs_root, nobodys_folder

SOURCE_KEYS = ["backup", "run", "command", "time"]
COUNT_KEYS = ["entities", "relations", "observations", "other_lines", "malformed_lines"]
FOUND_KEYS = ["equal", "counts", "entities", "relations", "lines"]
KEEP_ONE = '[backups]\nkeep = 1\nmax_age = "1d"\n'


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = memory_of(tmp_path)
    log_run(path, "aaaa0001")
    keep(path, OLD)
    log_run(path, "bbbb0002", command="undo")
    keep(path, OLD + b'\n{"type":"enti', "bbbb0002", "2026-05-02T12:00:00Z", packed=True)
    return path


def document(*args: str | Path) -> dict[str, Any]:
    ended = memttl("backups", *args, "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_list_tells_when_by_which_run_and_command_and_how_much(memory: Path) -> None:
    lines = memttl("backups", "list", "--file", memory).stdout.splitlines()
    assert lines[0].startswith("when (UTC)  ")
    assert lines[1].split() == ["2026-05-01", "12:00:00", "aaaa0001", "prune", "2", "3", "1", f"{len(OLD)}", "B"]
    assert lines[2].startswith("2026-05-02 12:00:00  bbbb0002  undo ")
    assert lines[3].startswith("  compressed to ")
    assert lines[3].endswith(", 1 damaged line")


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu"])
def test_list_fits_into_80_columns(memory: Path, zone: str) -> None:
    memory.with_name("memttl.toml").write_text(f'timezone = "{zone}"\n')
    log_run(memory, "cccc0003", command="restore")
    keep(memory, (OLD + b"\n") * 6000, "cccc0003", "2026-01-02T12:00:00Z")
    ended = memttl("backups", "list", "--file", memory)
    assert (ended.returncode, ended.stdout.count("\n")) == (0, 7)
    assert max(map(len, ended.stdout.splitlines()[:5])) <= 80


def test_list_document(memory: Path) -> None:
    found = document("list", "--file", memory)
    assert list(found) == ["schema", "file", "now", "backups", "warnings"]
    first, second = found["backups"]
    assert list(first) == [*SOURCE_KEYS, "bytes", "stored_bytes", "compressed", "needed", "counts"]
    assert list(first["counts"]) == COUNT_KEYS
    assert (first["command"], first["bytes"], first["compressed"], first["needed"]) == ("prune", len(OLD), False, False)
    assert (second["counts"]["malformed_lines"], second["compressed"], second["needed"]) == (1, True, True)


def test_list_without_state_or_memory_file_says_so(tmp_path: Path) -> None:
    ended = memttl("backups", "list", "--file", tmp_path / "memory.jsonl")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("No backups yet of ")
    assert os.listdir(tmp_path) == []


def test_list_show_and_diff_of_two_need_no_memory_file_and_write_nothing(memory: Path) -> None:
    memory.unlink()
    before = tree(memory.parent)
    for command in (("list",), ("show", "latest"), ("diff", "aaaa", "bbbb")):
        assert memttl("backups", *command, "--file", memory).returncode == 0
    assert tree(memory.parent) == before


@needs_root
def test_list_works_in_a_read_only_folder() -> None:
    with nobodys_folder() as folder:
        path = memory_of(folder)
        keep(path, OLD)
        for place in [folder, *folder.rglob("*")]:
            place.chmod(0o555 if place.is_dir() else 0o444)
        ended = memttl_as_nobody("backups", "list", "--file", path)
    assert (ended.returncode, "aaaa0001" in ended.stdout) == (0, True)


def test_a_backup_that_cannot_be_read_is_listed_all_the_same(memory: Path) -> None:
    packed = next((state_folder(memory) / "backups").glob("*.gz"))
    packed.write_bytes(packed.read_bytes()[:-20])
    lines = memttl("backups", "list", "--file", memory).stdout.splitlines()
    assert lines[3] == "  cannot be read"
    error = error_of(memttl("backups", "show", "latest", "--json", "--file", memory))
    assert (error["code"], "cannot be read" in error["message"]) == (73, True)


def test_a_log_that_cannot_be_read_is_said_and_the_rest_is_listed(memory: Path) -> None:
    (state_folder(memory) / "audit.jsonl").write_bytes(b'{"v":99}\n')
    ended = memttl("backups", "list", "--file", memory)
    assert ended.returncode == 0
    assert "not known" in ended.stderr
    assert "aaaa0001  ? " in ended.stdout


def test_raw_writes_the_bytes_exactly(memory: Path) -> None:
    keep(memory, b"\xff\r\n\0", "cccc0003", "2026-05-03T12:00:00Z")
    for quiet in ((), ("--quiet",)):
        memttl("backups", "show", "cccc", "--raw", *quiet, "--file", memory, shell=f'"$@" > {memory.parent}/out')
        assert memory.with_name("out").read_bytes() == b"\xff\r\n\0"


@pytest.mark.parametrize("more", [("--json",), ("--entity", "A")])
def test_raw_goes_with_nothing_that_chooses(memory: Path, more: tuple[str, ...]) -> None:
    assert memttl("backups", "show", "latest", "--raw", *more, "--file", memory).returncode == 2


def test_raw_is_refused_at_a_terminal(memory: Path) -> None:
    assert Terminal("backups", "show", "latest", "--raw", "--file", memory).end().code == 2


def test_show_spells_control_characters_out(memory: Path) -> None:
    keep(memory, entity(["a\x1b[31m"], name="\x1b]0;x\x07") + b"\n\x1b[31m{", "cccc0003", "2026-05-03T12:00:00Z")
    for command in (("show", "cccc"), ("diff", "cccc")):
        assert "\x1b" not in memttl("backups", *command, "--file", memory).stdout


def test_show_of_an_entity_has_its_relations_and_no_other(memory: Path) -> None:
    shown = memttl("backups", "show", "aaaa", "--entity", "B*", "--file", memory).stdout
    assert shown.startswith("B (note)\n  - c\nA -> knows -> B\n\n")
    assert "2 entities" in shown
    assert memttl("backups", "show", "aaaa", "--entity", "nobody", "--file", memory).returncode == 2


def test_show_document(memory: Path) -> None:
    found = document("show", "bbbb", "--file", memory)
    assert list(found) == [
        *("schema", "file", "now"),
        *SOURCE_KEYS,
        *("counts", "entities", "relations", "other_lines", "warnings"),
    ]
    assert found["entities"][0] == {"name": "A", "entityType": "note", "observations": ["a", "b"]}
    assert found["other_lines"][0]["problem"] == "the line ends in the middle of a value"


def test_diff_document(memory: Path) -> None:
    found = document("diff", "aaaa", "--file", memory)
    assert list(found) == ["schema", "file", "now", "from", "to", *FOUND_KEYS, "warnings"]
    assert list(found["from"]) == SOURCE_KEYS
    assert found["to"] == dict.fromkeys(SOURCE_KEYS)
    assert found["counts"]["observations_gone"] == 2
    assert found["entities"][0] == {
        "entity": "A",
        "change": "changed",
        "type_before": "note",
        "type_after": "note",
        "added": ["x"],
        "gone": ["b"],
    }


def test_diff_with_a_missing_memory_file_says_so(memory: Path) -> None:
    memory.unlink()
    ended = memttl("backups", "diff", "aaaa", "--file", memory)
    assert ended.returncode == 0
    assert "there is no memory file" in ended.stderr
    assert "2 entities, 3 observations and 1 relation gone." in ended.stdout


def test_diff_with_todays_file_tells_of_a_run_that_was_killed(memory: Path) -> None:
    log_run(memory, "dddd0004", applied=None)
    assert "an earlier run was killed" in memttl("backups", "diff", "aaaa", "--file", memory).stderr


def test_diff_of_equal_ones_says_so(memory: Path) -> None:
    assert "No difference" in memttl("backups", "diff", "aaaa", "aaaa", "--file", memory).stdout


@pytest.mark.parametrize("command", ["show", "diff", "restore"])
def test_an_unknown_backup_is_exit_2(memory: Path, command: str) -> None:
    yes = ("--yes",) if command == "restore" else ()
    error = error_of(memttl("backups", command, "aaaa0009", *yes, "--json", "--file", memory))
    assert (error["code"], error["name"]) == (2, "UnknownBackup")
    assert "aaaa0001" in error["message"]
    assert "memttl backups list" in error["hint"]


@pytest.mark.parametrize("command", [("restore", "latest"), ("prune",)])
def test_without_a_terminal_and_a_yes_nothing_is_done(memory: Path, command: tuple[str, ...]) -> None:
    before = tree(memory.parent)
    assert error_of(memttl("backups", *command, "--json", "--file", memory))["name"] == "NeedsYes"
    assert tree(memory.parent) == before


def test_restore_document(memory: Path) -> None:
    for how, applied in ((("--dry-run",), False), (("--yes",), True)):
        found = document("restore", "aaaa", *how, "--file", memory)
        assert list(found) == [
            *("schema", "file", "now", "dry_run", "applied", "run", "backup", "restores"),
            *FOUND_KEYS,
            "warnings",
        ]
        assert (found["applied"], found["restores"]["run"]) == (applied, "aaaa0001")
    assert memory.read_bytes() == OLD


def test_restore_asks_at_a_terminal_and_shows_what_goes(memory: Path) -> None:
    screen = Terminal("backups", "restore", "aaaa", "--file", memory)
    asked = screen.read_until("[y/N]:")
    assert "- d" in asked
    assert "which loses 1 entity and 2 observations?" in " ".join(asked.split())
    screen.type("y\n")
    ended = screen.end()
    assert (ended.code, "Restored " in ended.screen) == (0, True)
    assert memory.read_bytes() == OLD


def test_restore_that_is_answered_no_writes_nothing(memory: Path) -> None:
    screen = Terminal("backups", "restore", "aaaa", "--file", memory)
    screen.read_until("[y/N]:")
    screen.type("n\n")
    assert screen.end().code == 0
    assert memory.read_bytes() == NEW


def test_a_long_difference_does_not_push_the_counts_off_the_screen(memory: Path) -> None:
    keep(memory, entity([f"note {i}" for i in range(500)], name="L"), "cccc0003", "2026-05-03T12:00:00Z")
    screen = Terminal("backups", "restore", "cccc", "--file", memory)
    asked = screen.read_until("[y/N]:")
    assert asked.count("\n") < 120
    assert "`memttl backups diff cccc0003` shows all" in asked
    screen.type("n\n")
    screen.end()


def test_restore_of_the_same_bytes_says_so(memory: Path) -> None:
    memory.write_bytes(OLD)
    ended = memttl("backups", "restore", "aaaa", "--yes", "--file", memory)
    assert (ended.returncode, ended.stdout.startswith("Nothing to restore: ")) == (0, True)


def test_prune_says_what_goes_and_what_that_frees(memory: Path) -> None:
    keep(memory, NEW, "cccc0003", "2026-05-03T12:00:00Z")
    (memory.parent / "memttl.toml").write_text(KEEP_ONE)
    dry = memttl("backups", "prune", "--dry-run", "--file", memory).stdout
    assert "aaaa0001  prune" in dry
    assert f"Would remove 1 backup of {memory}, which frees {len(OLD)} B; 2 stay." in dry
    assert "Removed 1 backup" in memttl("backups", "prune", "--yes", "--file", memory).stdout
    assert [name.split("-")[1] for name in kept(memory)] == [
        "bbbb0002.jsonl.gz",
        "cccc0003.jsonl",
    ]  # of the newest undo


def test_prune_document(memory: Path) -> None:
    (memory.parent / "memttl.toml").write_text(KEEP_ONE)
    found = document("prune", "--dry-run", "--file", memory)
    assert list(found) == [
        *("schema", "file", "now", "dry_run", "thinned", "run", "removed", "staying"),
        *("compressed", "freed_bytes", "warnings"),
    ]
    assert [list(row) for row in found["removed"]] == [[*SOURCE_KEYS, "stored_bytes"]]


@pytest.mark.parametrize("command", [("prune",), ("restore", "latest")])
def test_a_later_now_needs_a_yes(memory: Path, command: tuple[str, ...]) -> None:
    screen = Terminal("backups", *command, "--now", "2099-01-01", "--file", memory)
    ended = screen.end()
    assert (ended.code, "--now lies after the clock" in " ".join(ended.screen.split())) == (2, True)


def test_two_runs_within_one_second_stand_in_their_order(memory: Path) -> None:
    for run in ("ffff0001", "cccc0002"):
        log_run(memory, run)
        keep(memory, run.encode(), run, "2026-05-09T12:00:00Z")
    assert memttl("backups", "show", "latest", "--raw", "--file", memory).stdout == "cccc0002"


def test_several_files_are_told_each(memory: Path, tmp_path: Path) -> None:
    found = document("list", "--file", memory, "--file", tmp_path / "other.jsonl")
    assert [len(each["backups"]) for each in found["files"]] == [2, 0]
