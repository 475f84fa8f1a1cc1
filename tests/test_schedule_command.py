"""`memttl schedule` as a whole process: what it prints, shows before a question, refuses, and how it ends."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from process import FIXTURES, Terminal, copy_of, error_of, memttl, tree
from pruning import names_in, state_folder
from scheduling import CRONTAB, program
from without_root import NOBODY, memttl_as_nobody, needs_root

from memttl.errors import UsageError

NOW = ("--now", "2026-06-01")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(FIXTURES / "memory/example.jsonl", tmp_path)


@pytest.fixture
def config(tmp_path: Path) -> dict[str, str]:
    """Where a user's units go, apart from all other tests; the systemd of whoever runs them is not to hear of it."""
    program(tmp_path, "systemctl", "exit 1")
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}


def units(config: dict[str, str]) -> list[str]:
    folder = Path(config["XDG_CONFIG_HOME"]) / "systemd/user"
    return names_in(folder) if folder.exists() else []


@pytest.mark.parametrize("kind", ["systemd", "cron", "launchd", "windows"])
def test_printing_writes_nothing_and_needs_no_memory_file(tmp_path: Path, kind: str) -> None:
    before = tree(tmp_path)
    ended = memttl("schedule", kind, "--file", tmp_path / "none.jsonl")
    assert (ended.returncode, "none.jsonl" in ended.stdout) == (0, True)
    assert tree(tmp_path) == before


def test_printing_for_a_missing_file_warns_and_for_a_folder_is_refused(tmp_path: Path) -> None:
    assert "there is no memory file yet" in memttl("schedule", "cron", "--file", tmp_path / "none.jsonl").stderr
    ended = memttl("schedule", "cron", "--file", tmp_path)
    assert (ended.returncode, ended.stdout) == (66, "")
    assert "is a folder" in ended.stderr


def test_printed_list_is_one_as_it_stands(memory: Path) -> None:
    printed = memttl("schedule", "launchd", "--file", memory).stdout
    assert plistlib.loads(printed.encode())["ProgramArguments"][-2:] == ["--file", str(memory)]


def test_units_of_several_files_are_headed_by_their_names(tmp_path: Path, memory: Path) -> None:
    other = copy_of(memory, tmp_path, name="--other.jsonl")
    printed = memttl("schedule", "launchd", "--file", memory, "--file", other).stdout
    assert f"<!-- {memory}: " in printed
    assert f"<!-- {tmp_path}/- -other.jsonl: " in printed  # two hyphens end no comment


def test_machine_has_a_default(memory: Path) -> None:
    kind = json.loads(memttl("schedule", "--json", "--file", memory).stdout)["kind"]
    assert kind == ("systemd" if os.path.isdir("/run/systemd/system") else "cron")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["anacron"], "There are systemd, cron"),
        (["scan"], "memttl schedule systemd scan"),
        (["cron", "undo"], "prune or scan"),
        (["cron", "--every", "45min"], "daily, weekly"),
        (["cron", "--every", "15m"], "15min"),
        (["cron", "--install", "--remove"], "exclude"),
    ],
)
def test_words_that_cannot_be_meant_are_refused(memory: Path, words: list[str], said: str) -> None:
    ended = memttl("schedule", *words, "--file", memory)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_install_without_a_terminal_needs_yes(memory: Path, config: dict[str, str]) -> None:
    ended = memttl("schedule", "systemd", "--install", "--file", memory, env=config)
    assert (ended.returncode, units(config)) == (2, [])


def test_dry_run_shows_what_the_first_run_removes_and_what_would_be_written_and_run(
    memory: Path, config: dict[str, str], tmp_path: Path
) -> None:
    before = tree(tmp_path)
    ended = memttl("schedule", "systemd", "--install", "--dry-run", "--file", memory, *NOW, env=config)
    assert ended.returncode == 0
    for words in (
        "Would remove 7 of 63",
        ".timer: would be written",
        "OnCalendar=daily",
        "Would run: systemctl --user",
    ):
        assert words in ended.stdout
    assert ended.stdout.count("Dry run: nothing was written.") == 1
    assert tree(tmp_path) == before


def test_dry_run_of_a_change_shows_the_difference(memory: Path, config: dict[str, str]) -> None:
    memttl("schedule", "systemd", "--install", "--yes", "--file", memory, env=config)
    ended = memttl("schedule", "systemd", "--every", "weekly", "--dry-run", "--file", memory, env=config)
    assert "  -OnCalendar=daily\n  +OnCalendar=weekly\n" in ended.stdout


def test_question_stands_below_what_the_first_run_removes(memory: Path, config: dict[str, str]) -> None:
    terminal = Terminal("schedule", "systemd", "--install", "--file", memory, *NOW, env=config)
    screen = terminal.read_until("[y/N]: ")
    assert screen.index("Would remove 7 of 63") < screen.index("would be written") < screen.index("[y/N]")
    terminal.type("y\n")
    ended = terminal.end()
    assert (ended.code, len(units(config))) == (0, 2)
    assert ended.screen.count("Would remove 7 of 63") == 1


def test_no_installs_nothing(memory: Path, config: dict[str, str]) -> None:
    terminal = Terminal("schedule", "systemd", "--install", "--file", memory, env=config)
    terminal.read_until("[y/N]: ")
    terminal.type("n\n")
    ended = terminal.end()
    assert (ended.code, units(config)) == (0, [])
    assert not state_folder(memory).exists()
    assert "Nothing was installed." in ended.screen


def test_scan_is_installed_with_the_word_that_it_removes_nothing(memory: Path, config: dict[str, str]) -> None:
    ended = memttl("schedule", "systemd", "scan", "--install", "--yes", "--file", memory, env=config)
    assert "A scan removes nothing." in ended.stdout
    assert "will then run every 15 minutes" in ended.stdout


def test_damaged_file_is_refused_with_its_own_code(tmp_path: Path, config: dict[str, str]) -> None:
    path = copy_of(FIXTURES / "memory/two-objects-on-one-line.jsonl", tmp_path)
    ended = memttl("schedule", "systemd", "--install", "--yes", "--json", "--file", path, env=config)
    assert error_of(ended)["code"] == 65
    assert units(config) == []


def test_plan_past_a_limit_is_refused_as_each_run_would_be(memory: Path, config: dict[str, str]) -> None:
    memory.with_name("memttl.toml").write_text("[limits]\nmax_prune_count = 2\n")
    ended = memttl("schedule", "systemd", "--install", "--yes", "--file", memory, *NOW, env=config)
    assert (ended.returncode, units(config)) == (4, [])
    assert "nothing was installed" in ended.stdout
    quiet = memttl("schedule", "systemd", "--install", "--yes", "--quiet", "--file", memory, *NOW, env=config)
    assert (quiet.returncode, "limit" in quiet.stderr) == (4, True)


def test_limit_of_a_prune_does_not_hold_back_a_scan(memory: Path, config: dict[str, str]) -> None:
    memory.with_name("memttl.toml").write_text("[limits]\nmax_prune_count = 2\n")
    words = ("schedule", "systemd", "scan", "--install", "--yes", "--file", memory, *NOW)
    assert memttl(*words, env=config).returncode == 0


def test_policy_that_is_broken_refuses_an_install_and_no_removal(memory: Path, config: dict[str, str]) -> None:
    memttl("schedule", "systemd", "--install", "--yes", "--file", memory, env=config)
    memory.with_name("memttl.toml").write_text("nonsense = 1\n")
    assert memttl("schedule", "systemd", "--install", "--yes", "--file", memory, env=config).returncode == 78
    assert memttl("schedule", "systemd", "--remove", "--yes", "--file", memory, env=config).returncode == 0
    assert units(config) == []


def test_removing_needs_yes_where_nobody_can_answer(memory: Path, config: dict[str, str]) -> None:
    memttl("schedule", "systemd", "--install", "--yes", "--file", memory, env=config)
    assert memttl("schedule", "systemd", "--remove", "--file", memory, env=config).returncode == 2
    assert len(units(config)) == 2


def test_removing_what_is_not_there_says_so(memory: Path, config: dict[str, str]) -> None:
    ended = memttl("schedule", "systemd", "--remove", "--file", memory, env=config)
    assert ended.returncode == 0
    assert "No schedule of `memttl prune`" in ended.stdout


def test_document_has_files_commands_and_the_first_run(memory: Path, config: dict[str, str]) -> None:
    words = ("schedule", "systemd", "--install", "--yes", "--json", "--file", memory, *NOW)
    document = json.loads(memttl(*words, env=config).stdout)
    page = (FIXTURES.parent / "docs/json.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in page for key in document)
    assert (document["installed"], document["every"], document["kind"]) == (True, "day", "systemd")
    assert [Path(file["path"]).suffix for file in document["files"]] == [".service", ".timer"]
    assert all(Path(file["path"]).read_text() == file["content"] for file in document["files"])
    assert [command["ran"] for command in document["commands"]] == [False, False]
    assert document["first_run"]["counts"]["removed"] == 7


def test_variables_that_a_timer_would_lack_go_along(memory: Path, config: dict[str, str], tmp_path: Path) -> None:
    env = {**config, "MEMTTL_STATE_DIR": str(tmp_path / "state")}
    printed = memttl("schedule", "systemd", "--file", memory, env=env).stdout
    assert f"Environment=MEMTTL_STATE_DIR={tmp_path}/state\n" in printed
    assert f"Environment=XDG_CONFIG_HOME={config['XDG_CONFIG_HOME']}\n" in printed


def test_crontab_of_the_user_gets_the_line(memory: Path, tmp_path: Path) -> None:
    program(tmp_path, "crontab", CRONTAB)
    env = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    ended = memttl("schedule", "cron", "--install", "--yes", "--file", memory, env=env)
    assert ended.returncode == 0, ended.stderr
    line = (tmp_path / "crontab").read_text().splitlines()[-2]
    assert line.split(" ", 5)[1:5] == ["3", "*", "*", "*"]
    command = line.split(" ", 5)[5].replace("\\%", "%")
    assert subprocess.run(["sh", "-c", command], env={"HOME": str(tmp_path)}, check=False).returncode == 0
    assert (state_folder(memory) / "ledger.db").exists()


@pytest.fixture
def of_nobody() -> Iterator[Path]:
    """A memory file of the user nobody, in a folder that it can reach; its crontab is empty before and after."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = copy_of(FIXTURES / "memory/example.jsonl", folder)
        os.chown(folder, NOBODY, NOBODY)
        os.chown(path, NOBODY, NOBODY)
        yield path


@needs_root
@pytest.mark.skipif(not shutil.which("crontab"), reason="crontab (cron) is missing")
def test_real_crontab_takes_the_line_and_gives_it_back(of_nobody: Path) -> None:
    def crontab() -> str:
        return subprocess.run(["crontab", "-u", "nobody", "-l"], capture_output=True, text=True, check=False).stdout

    if crontab():
        pytest.skip("the user nobody has a crontab here")
    try:
        ended = memttl_as_nobody("schedule", "cron", "--install", "--yes", "--file", of_nobody)
        assert ended.returncode == 0, ended.stderr
        assert f"--file {of_nobody}\n" in crontab()
        assert memttl_as_nobody("schedule", "cron", "--remove", "--yes", "--file", of_nobody).returncode == 0
        assert crontab() == ""
    finally:
        subprocess.run(["crontab", "-u", "nobody", "-r"], capture_output=True, check=False)


@pytest.mark.parametrize(
    ("words", "near"),
    [(["sytemd"], '"systemd"'), (["systemd", "scna"], '"scan"'), (["systemd", "--every", "dayly"], '"daily"')],
)
def test_misspelt_word_is_told_a_near_one(words: list[str], near: str) -> None:
    from typer.testing import CliRunner

    from memttl.cli import app

    error = CliRunner().invoke(app, ["schedule", *words]).exception
    assert isinstance(error, UsageError)
    assert f"(did you mean {near}?)" in error.message


def test_how_often_that_is_refused_offers_nothing_that_would_be_refused(memory: Path) -> None:
    ended = memttl("schedule", "systemd", "--every", "foo", "--file", memory)
    assert ended.returncode == 2
    assert "never" not in ended.stderr
    assert "Use --every 15min, --every 6h" in ended.stderr
