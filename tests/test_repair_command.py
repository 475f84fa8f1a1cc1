"""`memttl doctor --repair` as a process: what it prints, asks and returns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, aged, copy_of, environ, tree
from support import entity

RACE = FIXTURES / "from-servers/race_2025.4.25_00.jsonl"
KEYS = [
    *("schema", "file", "now", "dry_run", "applied", "run", "backup", "quarantine", "converted", "mended", "state"),
    "warnings",
]


def repaired(*options: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    driver = str(Path(__file__).parent / "repairing.py")
    command = [sys.executable, driver, "repair", *map(str, options)]
    return subprocess.run(
        command, env=environ(**(env or {})), stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60
    )


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(RACE, tmp_path)


def test_without_a_terminal_it_wants_yes_or_dry_run(memory: Path, tmp_path: Path) -> None:
    before = tree(tmp_path)
    done = repaired("--file", memory)
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert tree(tmp_path) == before


def test_dry_run_shows_each_change_and_writes_nothing(memory: Path, tmp_path: Path) -> None:
    before = tree(tmp_path)
    done = repaired("--file", memory, "--dry-run")
    assert done.returncode == 0
    assert "line 3: debris beside a record: taken out" in done.stdout
    assert '  - "Beta","to":"Alpha","relationType":"refs"}ation' in done.stdout
    assert "Dry run: nothing was written." in done.stdout
    assert tree(tmp_path) == before


def test_yes_repairs_and_says_where_what_went_lies(memory: Path) -> None:
    done = repaired("--file", memory, "--yes")
    assert done.returncode == 0
    assert "Repaired: 1 change" in done.stdout
    kept = next(line for line in done.stdout.splitlines() if line.startswith("What was taken out: "))
    assert b'"Beta","to":"Alpha"' in Path(kept.partition(": ")[2]).read_bytes()


def test_a_good_file_has_nothing_to_repair(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/example.jsonl", tmp_path)
    done = repaired("--file", path, "--yes")
    assert (done.returncode, "Nothing to repair" in done.stdout) == (0, True)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_document_has_its_keys_whether_applied_or_not(memory: Path) -> None:
    planned = document(repaired("--file", memory, "--dry-run", "--json"))
    applied = document(repaired("--file", memory, "--yes", "--json"))
    assert list(planned) == list(applied) == KEYS
    assert (planned["applied"], planned["run"], planned["quarantine"]) == (False, None, None)
    assert applied["applied"]
    assert planned["mended"] == applied["mended"]
    assert list(applied["mended"][0]) == ["line", "offset", "reason", "done", "removed", "removed_bytes", "added"]


@pytest.mark.parametrize("name", ["gzip", "chat-log", "empty-object-alone"])
def test_files_of_other_tools_stay(tmp_path: Path, name: str) -> None:
    path = copy_of(FIXTURES / f"memory/{name}.jsonl", tmp_path)
    before = path.read_bytes()
    assert repaired("--file", path, "--yes").returncode == 65
    assert path.read_bytes() == before


def test_a_missing_file_is_66_with_what_puts_one_back(tmp_path: Path) -> None:
    done = repaired("--file", tmp_path / "memory.jsonl", "--yes")
    assert done.returncode == 66


def test_no_control_character_of_the_damage_reaches_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["x"]) + b"\x1b[2J\x9b\x07" + "\u202e".encode())
    done = repaired("--file", aged(path), "--dry-run")
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(done.stdout + done.stderr)
