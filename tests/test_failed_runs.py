"""Runs that nobody watched and that failed are told at the next command at a terminal, in one line, until one works."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checkups import written
from process import Terminal, aged, memttl, tree

from memttl.commands.keeping import keeping
from memttl.commands.results import Faces
from memttl.commands.telling import tell_failures
from memttl.core.checkup_log import check_outcomes
from memttl.core.failed_runs import MENDED, failures, in_order, last_run
from memttl.errors import ExitCode, Interrupted
from memttl.files.outcomes import NAME, keep_outcome, read_outcomes
from memttl.files.state import State, state_of
from memttl.settings import Given

WORDS = "scheduled run"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = written(tmp_path)
    state_of(path).kept.mkdir(parents=True)
    return path


def fail(path: Path, *codes: int, command: str = "prune") -> None:
    for code in codes:
        keep_outcome(state_of(path), command=command, code=code, message=f"{path}: line 2 is damaged" if code else "")


def told(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    tell_failures([(str(path), None)])
    return capsys.readouterr().err.splitlines()


def row(code: object, command: str = "prune") -> dict[str, Any]:
    return {"time": "2026-01-01T00:00:00Z", "command": command, "code": code, "message": ""}


def test_line_says_how_many_since_when_which_code_why_and_what_to_do(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fail(path, 0, 65, 65)
    (line,) = told(path, capsys)
    since = read_outcomes(state_of(path))[1]["time"]
    assert line == (
        f"memttl: the last 2 scheduled runs of prune ended 65, since {since}: {path}: line 2 is damaged; "
        f"`memttl doctor --file {path}` says what to do."
    )


def test_success_of_another_command_heals_nothing(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fail(path, 65)
    fail(path, 0, command="scan")
    assert len(told(path, capsys)) == 1


def test_success_of_the_command_ends_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fail(path, 65, 65, 0)
    assert told(path, capsys) == []


@pytest.mark.parametrize("code", [2, 75, 130])
def test_busy_moment_is_no_news_and_three_in_a_row_are(
    path: Path, capsys: pytest.CaptureFixture[str], code: int
) -> None:
    fail(path, code, code)
    assert told(path, capsys) == []
    fail(path, code)
    assert len(told(path, capsys)) == 1


def test_busy_moment_after_damage_is_told(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fail(path, 65, 75)
    (line,) = told(path, capsys)
    assert "the last scheduled run of prune ended 75 (of 2 that failed)" in line


def test_long_message_is_cut_and_control_characters_are_spelled_out(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_outcome(state_of(path), command="prune", code=65, message="\x1b[31m" + "x" * 299)
    (line,) = told(path, capsys)
    assert "\\x1b[31m" in line
    assert "x" * 116 not in line


@pytest.mark.parametrize("code", [True, -1, 10**40, 1.5, "65", None, []])
def test_what_is_no_exit_code_is_passed_over(code: object) -> None:
    assert list(failures([row(code)])) == []


@pytest.mark.parametrize("command", [["a"], {"a": 1}, None, "rm -rf ~", "report"], ids=str)
def test_command_that_is_never_kept_is_not_told(command: Any) -> None:
    assert list(failures([row(65, command)])) == []


@pytest.mark.parametrize("value", [5, ["x"], None, "zzzz"], ids=str)
def test_time_and_message_of_another_type_are_left_out(value: object) -> None:
    (failed,) = failures([{**row(65), "time": value, "message": value if value != "zzzz" else ""}])
    assert failed.words == "the last scheduled run of prune ended 65"


def at(time: object, code: int) -> dict[str, Any]:
    return {**row(code), "time": time}


NOW = "2026-06-01T00:00:00Z"
FUTURE = "2038-01-01T00:00:00Z"


@pytest.mark.parametrize("time", [FUTURE, "zzzz", None, 5])
def test_success_of_an_odd_time_hides_no_later_failures(time: object) -> None:
    (failed,) = failures(in_order([[at(time, 0), at("2026-05-01T00:00:00Z", 65)]], NOW))
    assert failed.runs == 1


@pytest.mark.parametrize("time", [FUTURE, "zzzz", None, 5])
def test_failure_of_an_odd_time_is_over_with_a_later_success(time: object) -> None:
    assert list(failures(in_order([[at(time, 65), at("2026-05-01T00:00:00Z", 0)]], NOW))) == []


@pytest.mark.parametrize("time", [FUTURE, "zzzz"])
def test_file_that_ends_with_an_odd_time_hides_nothing_of_the_other(time: object) -> None:
    beside = [at("2026-01-01T00:00:00Z", 65), at(time, 0)]
    assert len([*failures(in_order([beside, [at("2026-05-01T00:00:00Z", 65)]], NOW))]) == 1


def test_of_two_files_the_later_times_come_last() -> None:
    first, second = at("2026-01-01T00:00:00Z", 65), at("2026-02-01T00:00:00Z", 0)
    assert in_order([[first], [second]], NOW) == in_order([[second], [first]], NOW) == [first, second]


def test_last_run_is_known_whether_it_failed_or_not() -> None:
    rows = [at("2026-01-01T00:00:00Z", 65), at("2026-02-01T00:00:00Z", 0), row(0, "scan")]
    assert last_run(rows, "prune") == "2026-02-01T00:00:00Z"
    assert last_run([], "prune") == ""


def test_planted_words_are_kept_short(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted = {"time": "t" * 9999, "command": "prune", "code": 65, "message": "m" * 9999}
    (state_of(path).kept / NAME).write_text(json.dumps(planted) + "\n")
    (line,) = told(path, capsys)
    assert len(line) < 500


def planted(state: State, what: str) -> None:
    place = state.kept / NAME
    if what == "pipe":
        os.mkfifo(place)
    elif what == "folder":
        place.mkdir()
    elif what == "link":
        place.symlink_to("/dev/zero")
    else:
        with place.open("wb") as f:
            f.seek(20 << 30)
            f.write(b'\n{"time":"t","command":"prune","code":65,"message":""}\n')


@pytest.mark.parametrize("what", ["pipe", "folder", "link"])
def test_hostile_thing_in_its_place_is_told(path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    planted(state_of(path), what)
    (line,) = told(path, capsys)
    assert f"{NAME} is no regular file, so that no scheduled run can tell how it ended; `memttl doctor" in line


def test_of_a_huge_file_only_the_end_is_read(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planted(state_of(path), "huge")
    assert len(told(path, capsys)) == 1


def test_next_command_at_a_terminal_tells_it_and_writes_nothing(path: Path) -> None:
    fail(path, 65)
    before = tree(path.parent)
    assert WORDS in Terminal("report", "--file", path, piped=True).end().screen
    assert tree(path.parent) == before


def test_command_that_fails_tells_it_too(path: Path) -> None:
    fail(path, 78)
    (path.parent / "memttl.toml").write_text("nonsense = 1\n")
    ended = Terminal("explain", "--file", path).end()
    assert ended.code == 78
    assert ended.screen.index(WORDS) < ended.screen.index("nonsense")


@pytest.mark.parametrize("options", [["--quiet"], ["--json"]], ids=str)
def test_quiet_and_json_say_nothing_of_it(path: Path, options: list[str]) -> None:
    fail(path, 65)
    assert WORDS not in Terminal("report", *options, "--file", path).end().screen


def test_without_a_terminal_nothing_is_told(path: Path) -> None:
    fail(path, 65)
    assert WORDS not in memttl("report", "--file", path).stderr


def test_doctor_says_it_once(path: Path) -> None:
    fail(path, 65)
    assert Terminal("doctor", "--file", path, columns=200).end().screen.count(WORDS) == 1


def test_state_elsewhere_is_looked_at(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    state = state_of(path, elsewhere)
    state.kept.mkdir(parents=True)
    keep_outcome(state, command="scan", code=73)
    ended = Terminal("report", "--file", path, piped=True, env={"MEMTTL_STATE_DIR": str(elsewhere)}).end()
    assert "the last scheduled run of scan ended 73" in ended.screen


def test_run_at_a_terminal_that_works_ends_it(path: Path) -> None:
    fail(path, 65, command="scan")
    assert WORDS not in Terminal("scan", "--file", path).end().screen
    assert WORDS not in Terminal("report", "--file", path, piped=True).end().screen


def test_prune_that_was_declined_ends_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"type":"entity","name":"A","entityType":"t","observations":["x [expires 2026-01-01]"]}')
    state_of(path).kept.mkdir(parents=True)
    fail(path, 77)
    terminal = Terminal("prune", "--file", path)
    terminal.read_until("[y/N]")
    terminal.type("n\n")
    assert WORDS in terminal.end().screen


def test_prune_in_a_timer_without_yes_is_noted(path: Path) -> None:
    assert memttl("prune", "--file", path).returncode == 2
    (kept,) = read_outcomes(state_of(path))
    assert (kept["command"], kept["code"]) == ("prune", 2)
    assert "--yes" in kept["message"]


def test_prune_without_yes_where_there_is_no_state_folder_leaves_nothing(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert memttl("prune", "--file", path).returncode == 2
    assert os.listdir(tmp_path) == [path.name]


def test_what_was_mended_since_is_told_as_mended(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fail(path, 65, 65)
    keep_outcome(state_of(path), command=MENDED, code=0)
    keep_outcome(state_of(path), command="scan", code=0)
    (line,) = told(path, capsys)
    assert "something was mended since, and the next scheduled run will show" in line


def test_failure_after_a_mending_is_news_again() -> None:
    (failed,) = failures([row(65), row(0, MENDED), row(65)])
    assert not failed.is_mended


def test_run_that_works_after_a_mending_ends_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fail(path, 65)
    keep_outcome(state_of(path), command=MENDED, code=0)
    fail(path, 0)
    assert told(path, capsys) == []


def test_what_was_mended_is_a_note_of_the_doctor() -> None:
    (finding,) = check_outcomes([row(65), row(0, MENDED)], "m.jsonl")
    assert (finding.severity, finding.name) == ("note", "failed-runs")


def test_repair_that_is_applied_is_noted_after_failures(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"{")
    fail(aged(path), 65)
    assert memttl("doctor", "--repair", "--yes", "--file", path).returncode == 0
    assert [r["command"] for r in read_outcomes(state_of(path))] == ["prune", MENDED]


def test_discover_tells_of_the_files_that_it_finds(path: Path) -> None:
    fail(path, 65)
    entry = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    config = {"mcpServers": {"memory": {**entry, "env": {"MEMORY_FILE_PATH": str(path)}}}}
    (path.parent / ".claude.json").write_text(json.dumps(config))
    ended = Terminal("discover", "--file", path, env={"HOME": str(path.parent)}, columns=200).end()
    assert WORDS in ended.screen


@pytest.fixture
def default_sigterm() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def terminated(name: str) -> None:
    assert callable(signal.getsignal(signal.SIGTERM))
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        os.kill(os.getpid(), signal.SIGTERM)  # while the first is dealt with, a second one does nothing
        raise Interrupted("Interrupted.") from None


@pytest.mark.usefixtures("default_sigterm")
def test_run_that_sigterm_ends_is_kept_and_ends_like_an_interrupt(path: Path) -> None:
    with pytest.raises(Interrupted):
        keeping(terminated, "prune", Given(), Faces(lambda _: ExitCode.OK, lambda _: {}))(str(path))
    (kept,) = read_outcomes(state_of(path))
    assert (kept["code"], "SIGTERM" in kept["message"]) == (130, True)


@pytest.mark.usefixtures("default_sigterm")
def test_after_a_run_sigterm_means_what_it_meant_before(path: Path) -> None:
    keeping(lambda _: None, "prune", Given(), Faces(lambda _: ExitCode.OK, lambda _: {}))(str(path))
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
