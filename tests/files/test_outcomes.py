"""How runs that nobody watches are noted: bounded, with the memory file's mode, through no link, and never failing."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from checkups import written
from process import Terminal, memttl

from memttl.files.outcomes import KEPT_LINES, NAME, keep_outcome, read_outcomes
from memttl.files.state import State, state_of


@pytest.fixture
def state(tmp_path: Path) -> State:
    state = state_of(written(tmp_path))
    state.kept.mkdir(parents=True)
    return state


def test_outcome_is_one_line(state: State) -> None:
    keep_outcome(state, command="prune", code=65, message="bad\nline 2")
    (row,) = read_outcomes(state)
    assert list(row) == ["time", "command", "code", "message"]
    assert (row["command"], row["code"], row["message"]) == ("prune", 65, "bad")


def test_no_folder_is_made(tmp_path: Path) -> None:
    keep_outcome(state_of(written(tmp_path)), command="scan", code=0)
    assert os.listdir(tmp_path) == ["memory.jsonl"]


def test_file_takes_the_memory_files_mode(state: State) -> None:
    state.memory.chmod(0o640)
    keep_outcome(state, command="scan", code=0)
    assert stat.S_IMODE((state.kept / NAME).stat().st_mode) == 0o640


def test_the_last_lines_are_kept_and_no_other(state: State) -> None:
    for code in range(KEPT_LINES + 5):
        keep_outcome(state, command="scan", code=code)
    assert [row["code"] for row in read_outcomes(state)] == list(range(5, KEPT_LINES + 5))
    assert os.listdir(state.kept) == [NAME]


def test_many_scans_do_not_push_out_the_last_prune(state: State) -> None:
    keep_outcome(state, command="prune", code=65)
    row = json.dumps({"time": "2026-01-01T00:00:00Z", "command": "scan", "code": 0, "message": ""})
    with (state.kept / NAME).open("a") as f:
        f.write(f"{row}\n" * (KEPT_LINES + 5))
    keep_outcome(state, command="scan", code=0)
    rows = read_outcomes(state)
    assert (rows[0]["command"], len(rows)) == ("prune", KEPT_LINES + 1)


def test_link_in_its_place_is_not_followed(state: State, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    (state.kept / NAME).symlink_to(target)
    keep_outcome(state, command="scan", code=0)
    assert target.read_bytes() == b"mine"


def test_folder_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    state = state_of(written(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    state.beside.parent.mkdir()
    state.beside.symlink_to(tmp_path / "elsewhere")
    keep_outcome(state, command="scan", code=0)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_pipe_in_its_place_does_not_hang(state: State) -> None:
    os.mkfifo(state.kept / NAME)
    keep_outcome(state, command="scan", code=0)


def test_torn_line_is_passed_over(state: State) -> None:
    keep_outcome(state, command="scan", code=0)
    with (state.kept / NAME).open("ab") as f:
        f.write(b'{"time"')
    keep_outcome(state, command="scan", code=1)
    assert [row["code"] for row in read_outcomes(state)] == [0, 1]


def outcomes_of(path: Path) -> list[tuple[str, int]]:
    return [(row["command"], row["code"]) for row in read_outcomes(state_of(path))]


def test_scan_and_prune_without_a_terminal_are_noted(tmp_path: Path) -> None:
    path = written(tmp_path)
    memttl("scan", "--file", path)
    memttl("prune", "--yes", "--file", path)
    path.write_bytes(path.read_bytes() + b"{")
    memttl("scan", "--file", path)
    assert outcomes_of(path) == [("scan", 0), ("prune", 0), ("scan", 65)]
    assert json.loads((state_of(path).kept / NAME).read_bytes().splitlines()[-1])["message"].startswith(str(path))


def test_broken_policy_is_noted(tmp_path: Path) -> None:
    path = written(tmp_path)
    memttl("scan", "--file", path)
    (tmp_path / "memttl.toml").write_text("nonsense = 1\n")
    memttl("prune", "--yes", "--file", path)
    assert outcomes_of(path) == [("scan", 0), ("prune", 78)]


def test_refusal_is_noted_with_its_reason(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"type":"entity","name":"A","entityType":"t","observations":["x [expires 2026-01-01]"]}')
    memttl("scan", "--file", path)
    (tmp_path / "memttl.toml").write_text("[limits]\nmax_prune_count = 0\n")
    assert memttl("prune", "--yes", "--file", path).returncode == 4
    row = read_outcomes(state_of(path))[-1]
    assert row["code"] == 4
    assert "max_prune_count" in row["message"]


@pytest.mark.parametrize(
    "options", [["prune", "--dry-run"], ["prune", "--check"], ["report"], ["doctor"]], ids=" ".join
)
def test_what_only_reads_is_not_noted(tmp_path: Path, options: list[str]) -> None:
    path = written(tmp_path)
    memttl("scan", "--file", path)
    memttl(*options, "--file", path)
    assert outcomes_of(path) == [("scan", 0)]


def test_run_at_a_terminal_is_not_noted(tmp_path: Path) -> None:
    path = written(tmp_path)
    Terminal("scan", "--file", path).end()
    assert outcomes_of(path) == []
