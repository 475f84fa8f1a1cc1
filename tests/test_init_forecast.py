"""memttl init tells before its last question what its answers, the history and the first scheduled run would remove."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from process import Terminal, memttl, tree
from repositories import MONDAY, commit, needs_git, new_repository

NOW = "2026-06-01T12:00:00Z"
ZONE = {"TZ": "Europe/Brussels"}
NOTES = [f"[session] looked at place {number}" for number in range(30)]
FACTS = [f"fact {number}" for number in range(40)]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {
        **ZONE,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PATH": str(tmp_path / "bin") + os.pathsep + "/usr/bin:/bin",
    }


def memory(folder: Path, *notes: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "memory.jsonl"
    record = {"type": "entity", "name": "E", "entityType": "notes", "observations": [*notes, *FACTS]}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    os.utime(path, (1, 1))
    return path


def in_git(tmp_path: Path, *notes: str) -> Path:
    """A memory file whose one commit is older than any TTL."""
    folder = new_repository(tmp_path / "r")
    path = memory(folder, *notes)
    commit(folder, {"memory.jsonl": path.read_bytes()}, MONDAY)
    os.utime(path, (1, 1))
    return path


def at_terminal(path: Path, *options: str, env: dict[str, str], columns: int = 100) -> Terminal:
    return Terminal("init", "--file", path, "--now", NOW, *options, env=env, columns=columns)


@needs_git
def test_yes_to_the_history_shows_what_it_lets_go_before_the_last_question(
    tmp_path: Path, home: dict[str, str]
) -> None:
    path = in_git(tmp_path, *NOTES[:3])
    before = tree(path.parent)
    terminal = at_terminal(path, "--schedule", "none", env=home)
    first = terminal.read_until("Begin the ages")
    assert "Today a prune by this policy would remove nothing." in first
    assert "does not count the ages that its git history" in first
    terminal.type("\n")
    terminal.read_until("Take earlier ages")
    terminal.type("\n")
    screen = terminal.read_until("Do it?")
    assert "with the ages from git, would remove 3 of 43 observations" in screen
    assert "looked at place 2" in screen
    assert tree(path.parent) == before
    terminal.type("\n")
    terminal.end()


@needs_git
def test_schedule_shows_its_first_run_before_it_is_asked_for(tmp_path: Path, home: dict[str, str]) -> None:
    path = in_git(tmp_path, *NOTES[:3])
    terminal = at_terminal(path, "--rules", "--scan", "--backfill", env=home)
    screen = terminal.read_until("every day, by")
    assert "its first run would remove 3 of 43 observations" in " ".join(screen.split())
    terminal.type("\x03")
    terminal.end()


@needs_git
@pytest.mark.parametrize("option", ["--yes", "--dry-run"])
def test_history_is_counted_where_nobody_is_asked(tmp_path: Path, home: dict[str, str], option: str) -> None:
    path = in_git(tmp_path, *NOTES[:3])
    ended = memttl("init", "--file", path, "--now", NOW, option, "--schedule", "systemd", env=home)
    assert ended.returncode == 0, ended.stderr
    assert "Today a prune by this policy, with the ages from git, would remove 3 of 43" in ended.stdout
    assert "its first run would remove 3 of 43" in ended.stdout
    assert "would remove nothing" not in ended.stdout


@needs_git
def test_history_that_is_not_taken_is_not_counted(tmp_path: Path, home: dict[str, str]) -> None:
    path = in_git(tmp_path, *NOTES[:3])
    ended = memttl("init", "--file", path, "--now", NOW, "-n", "--no-backfill", "--schedule", "none", env=home)
    assert "Today a prune by this policy would remove nothing." in ended.stdout


@needs_git
def test_schedule_is_not_installed_where_the_history_brings_each_run_past_a_limit(
    tmp_path: Path, home: dict[str, str]
) -> None:
    path = in_git(tmp_path, *NOTES, *(f"[session] more {number}" for number in range(30)))
    ended = memttl("init", "--file", path, "--now", NOW, "--yes", "--schedule", "systemd", env=home)
    assert ended.returncode == 4
    assert "past a limit" in ended.stdout
    assert "No schedule: each run would be refused" in ended.stdout
    assert not (tmp_path / "config/systemd").exists()


def test_quiet_init_says_why_the_schedule_is_refused(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path, *(f"[session] 2026-01-05: {number}" for number in range(60)))
    ended = memttl("init", "--file", path, "--now", NOW, "--yes", "--schedule", "cron", "--quiet", env=home)
    assert ended.returncode == 4
    assert ended.stdout == ""
    assert ended.stderr.startswith(f"memttl: {path}: 60 of 100 observations would go (60%), more than ")
    assert ended.stderr.count("\n") == 1
    assert (tmp_path / "memttl.toml").exists()


@needs_git
def test_history_is_walked_once_where_the_rules_are_not_taken(tmp_path: Path, home: dict[str, str]) -> None:
    path = in_git(tmp_path, *NOTES[:3], "[scratch] 2026-01-05: looked")
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin/git"
    git.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nPATH=/usr/bin:/bin exec git "$@"\n')
    git.chmod(0o755)
    terminal = at_terminal(path, "--scan", "--backfill", "--schedule", "none", env=home)
    terminal.read_until("Take these rules?")
    walks = (tmp_path / "calls").read_text().count(" log ")
    assert walks
    terminal.type("n\n")
    screen = " ".join(terminal.read_until("Do it?").split())
    assert "with the ages from git, would remove 3 of 44" in screen
    assert (tmp_path / "calls").read_text().count(" log ") == walks
    terminal.type("\x03")
    terminal.end()


def test_forecast_is_that_of_the_policy_that_stays(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path, "[session] 2026-01-05: looked")
    (tmp_path / "memttl.toml").write_text('[tiers]\nsession = "never"\n')
    terminal = at_terminal(path, "--rules", "--scan", "--schedule", "none", env=home)
    terminal.read_until("Replace it?")
    terminal.type("\n")
    screen = " ".join(terminal.read_until("Do it?").split())
    assert f"Today a prune by the policy {tmp_path / 'memttl.toml'} would remove nothing." in screen
    terminal.type("\n")
    terminal.end()


def test_built_in_tiers_instead_of_the_rules_get_a_forecast_of_their_own(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path, "[scratch] 2026-01-05: looked")
    terminal = at_terminal(path, "--scan", "--schedule", "none", env=home)
    assert "would remove 1 of 41" in terminal.read_until("Take these rules?")
    terminal.type("n\n")
    screen = terminal.read_until("Do it?")
    assert "Without them:" in screen
    assert "Today a prune by this policy would remove nothing." in screen
    terminal.type("\n")
    terminal.end()


def test_up_to_twenty_texts_are_all_shown(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path, *(f"[session] 2026-01-05: place {number}." for number in range(20)))
    ended = memttl("init", "--file", path, "--now", NOW, "--yes", "--schedule", "none", env=home)
    assert [n for n in range(20) if f"place {n}." not in ended.stdout] == []


def test_of_more_texts_s_shows_all(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path, *(f"[scratch] 2026-01-05: place {number}." for number in range(30)))
    terminal = at_terminal(path, "--scan", "--schedule", "none", env=home)
    screen = terminal.read_until("Take these rules?")
    assert "and 10 more: `memttl init --dry-run --verbose` shows all" in screen
    assert "place 29." not in screen
    terminal.type("s\n")
    terminal.read_until("place 29.")
    terminal.read_until("Take these rules?")
    terminal.type("\x03")
    terminal.end()


def test_lines_are_folded_between_words_at_the_width_of_the_terminal(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path, "[scratch] 2026-01-05: " + "long words " * 30)
    terminal = at_terminal(path, "--schedule", "none", env=home, columns=80)
    terminal.read_until("Take these rules?")
    terminal.type("\n")
    terminal.read_until("first sighting.")
    terminal.type("\n")
    screen = terminal.read_until("Do it?")
    # a path alone may be longer than the screen
    assert [line for line in screen.splitlines() if len(line) > 80 and str(tmp_path) not in line] == []
    assert "\\n" not in screen
    assert "This will be done:" in screen
    terminal.type("\x03")
    terminal.end()


def test_dry_run_tells_the_forecast_below_the_policy(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path, "[scratch] 2026-01-05: looked")
    ended = memttl("init", "--file", path, "--now", NOW, "--dry-run", "--schedule", "none", env=home)
    assert ended.stdout.count("Today a prune") == 1
    assert ended.stdout.index("[tiers]") < ended.stdout.index("Today a prune")


def test_schedule_that_is_in_place_is_told_and_none_is_asked_for(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path)
    memttl("schedule", "systemd", "--install", "--yes", "--file", path, env=home)
    units = tree(tmp_path / "config")
    terminal = at_terminal(path, env=home)
    terminal.read_until("Begin the ages")
    terminal.type("\n")
    screen = terminal.read_until("Do it?")
    assert "systemd has a schedule of `memttl prune` for this file already" in screen
    assert "every day, by" not in screen
    terminal.type("y\n")
    assert "prunes it every night" not in terminal.end().screen
    assert tree(tmp_path / "config") == units


def test_second_kind_of_schedule_is_told_as_such(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path)
    memttl("schedule", "systemd", "--install", "--yes", "--file", path, env=home)
    ended = memttl("init", "--file", path, "--now", NOW, "--dry-run", "--schedule", "cron", env=home)
    assert "systemd has a schedule" in ended.stdout
    assert "memttl schedule systemd prune --remove" in ended.stdout


def test_schedule_that_nothing_runs_yet_is_not_said_to_be_done(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path)
    ended = memttl("init", "--file", path, "--now", NOW, "--yes", "--schedule", "systemd", env=home)
    assert ended.returncode == 0, ended.stderr
    assert "Written, not started yet: have systemd run" in ended.stdout
    assert "Done: have systemd run" not in ended.stdout
    assert "systemd does not answer here; where it does, run:" in ended.stdout


def test_only_schedulers_of_this_kind_of_machine_are_offered(tmp_path: Path, home: dict[str, str]) -> None:
    path = memory(tmp_path)
    terminal = at_terminal(path, "--scan", env=home)
    screen = terminal.read_until("every day, by")
    screen += terminal.read_until("none [")
    assert "windows" not in screen
    terminal.type("\x03")
    terminal.end()


def test_npx_file_that_is_not_there_yet_is_not_to_be_moved(tmp_path: Path, home: dict[str, str]) -> None:
    path = tmp_path / "_npx/15b/node_modules/@modelcontextprotocol/server-memory/dist/memory.jsonl"
    path.parent.mkdir(parents=True)
    ended = memttl("init", "-n", "--file", path, "--now", NOW, env=home)
    assert "Let the config name a file of your own before use" in ended.stdout
    assert "memttl move" not in ended.stdout


@needs_git
def test_ages_that_come_from_git_are_not_called_first_sightings(tmp_path: Path, home: dict[str, str]) -> None:
    path = in_git(tmp_path, *NOTES[:3])
    memttl("backfill", "--git", "--file", path, "--now", NOW, env=home)
    ended = memttl("init", "-n", "--file", path, "--now", NOW, "--schedule", "none", env=home)
    assert "Age known of 43 of 43 (43 of them only from old versions of the file)." in ended.stdout
    assert "since memttl first saw them" not in ended.stdout


@pytest.mark.parametrize(
    "content", [None, '{"type":"entity","name":"E","entityType":"t","observations":["x"]}\n{"type"']
)
def test_nothing_is_counted_anew_where_nothing_was_asked(
    tmp_path: Path, home: dict[str, str], content: str | None
) -> None:
    path = tmp_path / "memory.jsonl"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    ended = memttl("init", "--yes", "--file", path, "--now", NOW, env=home)
    assert ended.returncode == 0, ended.stderr
    assert "With these answers" not in ended.stdout
