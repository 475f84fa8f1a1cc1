"""MEMTTL_LOG: what a run did, appended to a file of its own, without a word of the memory file; and what a bug says."""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkups import written
from process import ROOT, Terminal, environ, memttl, tree
from support import entity

from memttl.commands.call_words import open_words
from memttl.commands.log_place import refuse_place
from memttl.errors import UsageError
from memttl.files.log_file import open_log

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d+ \S.*")
OLD = "[session] 2026-01-01: "


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return written(tmp_path, entity([f"{OLD}hunter2 opens it"], name="Sesame"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs/memttl.log"


def logged(log: Path, *args: str | Path, code: int = 0, **env: str) -> str:
    """What a run adds to the log."""
    before = log.read_text() if log.exists() else ""
    ended = memttl(*args, env={"MEMTTL_LOG": str(log), **env})
    assert ended.returncode == code, ended.stderr
    lines = log.read_text()
    assert lines.startswith(before)
    return lines[len(before) :]


def test_every_line_has_instant_and_process(memory: Path, log: Path) -> None:
    assert all(LINE.fullmatch(line) for line in logged(log, "prune", "--yes", "--file", memory).splitlines())


def test_prune_tells_version_call_places_phases_steps_and_end(memory: Path, log: Path) -> None:
    text = logged(log, "prune", "--yes", "--file", memory)
    for words in (
        "memttl 0.1.0, Python 3.",
        f"arguments: prune --yes --file {memory}\n",
        "1 memory file, named by --file",
        f"file {memory}, policy built-in, state {memory.parent / '.memttl'}",
        "judging",
        " took ",
        "step: new version written",
        "step: exchanged",
        "rung ",
        ", applied True, run ",
        "exit code 0 after ",
    ):
        assert words in text, words


@pytest.mark.parametrize("command", [["prune", "--yes"], ["report"], ["scan"], ["undo", "--yes"]], ids=" ".join)
def test_no_number_is_told_twice(memory: Path, log: Path, command: list[str]) -> None:
    (line,) = [row for row in logged(log, *command, "--file", memory).splitlines() if f"{memory}: code" in row]
    names = [fact.split(" ")[0] for fact in line.split(", ")]
    assert len(names) == len(set(names)), line


def test_log_is_for_its_owner_alone_and_is_appended_to(memory: Path, log: Path) -> None:
    logged(log, "scan", "--file", memory)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert logged(log, "scan", "--file", memory)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["prune", "-n"], 0),
        (["explain", "Sesame", "hunter2"], 0),
        (["explain", "Sesame!", "--json"], 2),
        (["search", "hunter2"], 0),
        (["pin", "Sesame", "hunter2", "--yes"], 0),
        (["pin", "Sesame", "--hunter2"], 2),
        (["set", "Sesame", "hunter2", "--ttl", "hunter2", "--yes"], 2),
        (["report", "--entity", "Sesame"], 0),
        (["prune", "--yes", "--entity=Sesame"], 0),
        (["log"], 0),
        (["forget", "--text", "hunter2", "--yes", "--for-good"], 0),
        (["nonsense", "hunter2"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_no_text_and_no_name_gets_into_it(memory: Path, log: Path, args: list[str], code: int) -> None:
    text = logged(log, *args, *(["--file", memory] if args[0] != "nonsense" else []), code=code)
    if "--ttl" not in args:  # that is a duration, and stays as it was typed
        assert "hunter2" not in text.lower()
    assert "sesame" not in text.lower()


def test_warnings_are_told_without_what_they_quote(tmp_path: Path, log: Path) -> None:
    memory = written(tmp_path, entity(["hunter2 [expires 2026-02-30]"], name="Sesame"))
    text = logged(log, "prune", "-n", "--file", memory)
    assert "warning: 1 observation holds a mark or field that cannot be read" in text
    assert "Sesame" not in text
    assert "2026-02-30" not in text


def test_damaged_file_is_told_by_line_and_code(tmp_path: Path, log: Path) -> None:
    memory = written(tmp_path, entity(["a"], name="Sesame") + b"\n{hunter2")
    text = logged(log, "prune", "--yes", "--file", memory, code=65)
    assert "error Malformed (65)" in text
    assert "hint: " in text
    assert "exit code 65" in text
    assert "hunter2" not in text


def test_several_files_each_tell_their_error(memory: Path, log: Path, tmp_path: Path) -> None:
    text = logged(log, "scan", "--file", memory, "--file", tmp_path / "none.jsonl", code=66)
    assert "2 memory files, named by --file" in text
    assert "error NoMemoryFile (66)" in text


def test_dry_run_writes_nothing_but_the_log(memory: Path, log: Path) -> None:
    log.touch()
    before = {k: v for k, v in tree(memory.parent).items() if "logs" not in k}
    logged(log, "prune", "--dry-run", "--file", memory)
    assert {k: v for k, v in tree(memory.parent).items() if "logs" not in k} == before


def test_unset_and_empty_log_nothing(memory: Path) -> None:
    for env in ({}, {"MEMTTL_LOG": ""}):
        assert memttl("scan", "--file", memory, env=env).stderr == ""
    assert sorted(os.listdir(memory.parent)) == [".memttl", "memory.jsonl"]


@pytest.mark.parametrize("place", ["none/at/all.log", ".", "text.txt"])
def test_log_that_cannot_be_written_is_one_warning(memory: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "text.txt").write_text("mine\n")
    ended = memttl("scan", "--file", memory, env={"MEMTTL_LOG": str(tmp_path / place)})
    assert ended.returncode == 0
    assert ended.stderr.count("warning: MEMTTL_LOG") == 1
    assert (tmp_path / "text.txt").read_text() == "mine\n"


def test_warning_is_not_told_with_quiet(memory: Path, tmp_path: Path) -> None:
    assert memttl("scan", "-q", "--file", memory, env={"MEMTTL_LOG": str(tmp_path)}).stderr == ""


def refused(memory: Path, log: Path, *args: str | Path, **env: str) -> None:
    """A log that would damage what the run is about is a usage error, and nothing is done or left."""
    before = tree(memory.parent)
    ended = memttl("scan", *args, env={"MEMTTL_LOG": str(log), **env})
    assert ended.returncode == 2
    assert "MEMTTL_LOG" in ended.stderr
    assert tree(memory.parent) == before


def test_memory_file_is_no_log(memory: Path) -> None:
    refused(memory, memory, "--file", memory)
    refused(memory, memory, MEMTTL_FILE=str(memory))
    refused(memory, memory, f"-f{memory}")


def test_empty_memory_file_that_a_glob_meets_is_no_log(memory: Path) -> None:
    empty = memory.with_name("empty.jsonl")
    empty.touch()
    refused(memory, empty, "--file", memory.parent / "*.jsonl")


def test_link_to_a_missing_memory_file_is_no_log(memory: Path, log: Path) -> None:
    log.symlink_to(memory.with_name("new.jsonl"))
    refused(memory, log, "--file", memory.with_name("new.jsonl"))


def test_policy_and_state_are_no_log(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "memttl.toml").touch()
    (tmp_path / ".memttl").mkdir()
    refused(memory, tmp_path / "memttl.toml", "--file", memory)
    refused(memory, tmp_path / ".memttl/log", "--file", memory)
    refused(memory, tmp_path / "elsewhere/log", "--file", memory, MEMTTL_STATE_DIR=str(tmp_path / "elsewhere"))


def test_lines_of_two_processes_stay_whole(memory: Path, log: Path) -> None:
    command = [sys.executable, "-m", "memttl", "scan", "--file", str(memory)]
    env = environ(MEMTTL_LOG=str(log))
    runs = [subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    lines = log.read_text().splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    assert len({line.split()[1] for line in lines if line.endswith(f"scan --file {memory}")}) == 3


def test_log_goes_to_a_pipe_or_a_device(memory: Path) -> None:
    assert "exit code 0" in memttl("scan", "--file", memory, env={"MEMTTL_LOG": "/dev/stderr"}).stderr


def test_wait_for_another_memttl_is_told(memory: Path, log: Path) -> None:
    logged(log, "scan", "--file", memory)
    lock = memory.parent / ".memttl" / memory.name / "lock"
    command = [sys.executable, "-m", "memttl", "scan", "--quiet", "--file", str(memory)]
    with lock.open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = subprocess.Popen(command, env=environ(MEMTTL_LOG=str(log)), stdin=subprocess.DEVNULL)
        while waiting.poll() is None and f"another memttl holds {lock}: waiting" not in log.read_text():
            time.sleep(0.02)
    waiting.wait()
    assert f"another memttl holds {lock}: waiting" in log.read_text()


def config(home: Path, memory: Path) -> None:
    """Claude Code's config, which alone knows the memory file."""
    server = {"command": "npx", "args": ["-y", "x"], "env": {"MEMORY_FILE_PATH": str(memory)}}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"memory": server}}), encoding="utf-8")


DISCOVERED = [["discover"], ["policy", "schema"], ["help"], ["nonsense"], ["--version", "--verbose"], ["report"]]


@pytest.mark.parametrize("args", DISCOVERED, ids=" ".join)
def test_memory_file_that_only_a_config_names_is_no_log(tmp_path: Path, args: list[str]) -> None:
    config(tmp_path, tmp_path / "mem")
    (tmp_path / "mem").touch()
    ended = memttl(*args, env={"HOME": str(tmp_path), "MEMTTL_LOG": str(tmp_path / "mem")})
    assert (ended.returncode, (tmp_path / "mem").read_bytes()) == (2, b"")
    assert "MEMTTL_LOG" in ended.stderr


def begun(log: Path, *words: str, **env: str) -> None:
    refuse_place(str(log), env, words)


def test_log_of_old_is_refused_too_where_a_config_names_it(tmp_path: Path) -> None:
    config(tmp_path, tmp_path / "mem")
    (tmp_path / "mem").write_text("2026-06-01T03:00:00.234763Z 30205 memttl 0.1.0\n")
    with pytest.raises(UsageError):
        begun(tmp_path / "mem", "discover", HOME=str(tmp_path))


def test_config_of_a_client_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        begun(tmp_path / ".codex/config.toml", "discover", HOME=str(tmp_path))


@pytest.mark.parametrize("name", ["mem.jsonl", "memory.json", "M.JSONL"])
def test_new_log_that_is_called_as_a_memory_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        begun(tmp_path / name, "help", HOME=str(tmp_path))


def test_empty_file_that_a_glob_means_is_no_log_before_the_glob_is_met(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for words in (["prune", "--file", f"{tmp_path}/e*"], ["prune", f"-f{tmp_path}/e*"]):
        with pytest.raises(UsageError):
            begun(tmp_path / "empty", *words, HOME=str(tmp_path))


def test_log_beside_memory_files_is_allowed(tmp_path: Path) -> None:
    config(tmp_path, tmp_path / "mem.jsonl")
    begun(tmp_path / "memttl.log", "prune", "\0", "--file", "a\0*", HOME=str(tmp_path))


def test_full_disk_is_one_warning(tmp_path: Path) -> None:
    ended = memttl("discover", env={"HOME": str(tmp_path), "MEMTTL_LOG": "/dev/full"})
    assert (ended.returncode, ended.stderr.count("warning: MEMTTL_LOG: /dev/full cannot be written")) == (0, 1)


def test_line_of_which_a_part_was_taken_is_written_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:5]))
    log = open_log(str(tmp_path / "x.log"))
    log.write("a whole line\n")
    log.close()
    assert (tmp_path / "x.log").read_text() == "a whole line\n"


def test_relative_log_where_the_folder_is_gone_is_one_warning() -> None:
    shell = 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exec "$@"'
    ended = memttl("policy", "schema", env={"MEMTTL_LOG": "x.log"}, shell=shell)
    assert (ended.returncode, ended.stderr.count("warning: MEMTTL_LOG: x.log is relative")) == (0, 1)


BUG = """
import memttl.workflow.explain as e
e.read_with_damage = lambda *a, **k: {}['hunter2']
from memttl.__main__ import main
main()
"""


def bug(*args: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BUG, *map(str, args)]
    return subprocess.run(command, env=environ(**env), capture_output=True, text=True, check=False)


def test_bug_ends_with_what_to_do(memory: Path) -> None:
    ended = bug("explain", "--file", memory)
    assert ended.returncode == 1
    assert ended.stderr.startswith("Traceback")
    assert ended.stderr.endswith("\nPlease report this with `memttl --version --verbose`.\n")


def test_bug_is_a_document_with_json(memory: Path) -> None:
    ended = bug("explain", "--json", "--file", memory)
    assert (ended.returncode, '"name": "Bug"' in ended.stdout) == (1, True)


def test_traceback_of_a_bug_is_logged_without_its_message(memory: Path, log: Path) -> None:
    bug("explain", "--file", memory, MEMTTL_LOG=str(log))
    text = log.read_text()
    assert "KeyError: message not logged" in text
    assert "workflow/explain.py" in text
    assert "exit code 1" in text


OPTIONS = {"--now", "--top", "--format", "--every", "--within", "--for", "--run", "--review-by"}
KNOWN = {*OPTIONS, "log", "log verify", "prune", "--file", "-f", "--entity", "--json", "-n"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("prune -n --file a b", "prune -n --file a …"),
        ("prune --file=a --entity=b", "prune --file=a --entity=…"),
        ("prune --entity b --json", "prune --entity … --json"),
        ("log verify prune", "log verify …"),
        ("prune -fa -hunter2 --hunter2", "prune -fa … --…"),
        ("prune --file --json x", "prune --file --json …"),
        ("prune --now 2026-06-01 --now=hunter2", "prune --now 2026-06-01 --now=…"),
        ("prune --review-by 2026-06-01", "prune --review-by 2026-06-01"),
        ("prune --now hunter2 --top 5 --top hunter2", "prune --now … --top 5 --top …"),
        ("prune --format csv --format hunter2 --every 15min", "prune --format csv --format … --every 15min"),
        (
            "prune --within 2w --for hunter2 --run 5eee4b72 --run hunter2",
            "prune --within 2w --for … --run 5eee4b72 --run …",
        ),
    ],
)
def test_words_that_may_be_somebodys_text_are_hidden(words: str, shown: str) -> None:
    assert " ".join(open_words(words.split(), KNOWN)) == shown


def test_run_that_is_not_logged_imports_nothing_for_it(memory: Path) -> None:
    tell = "import sys, memttl.cli as c; c.run(); print('memttl.commands.diagnostics' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", tell, "scan", "-q", "--file", str(memory)],
        env=environ(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "False\n"


def test_interrupted_question_is_logged(memory: Path, log: Path) -> None:
    terminal = Terminal("prune", "--file", memory, env={"MEMTTL_LOG": str(log)})
    terminal.read_until("[y/N]")
    terminal.type("\x03")
    assert terminal.end().code == 130
    assert "error Interrupted (130)" in log.read_text()
