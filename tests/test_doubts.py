"""A memory file that nobody named is changed unasked only where the user's own configs name it, all of them read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from process import FIXTURES, Terminal, memttl, tree
from test_discover_command import config

from memttl.cli import app
from memttl.commands import keeping
from memttl.errors import NeedsYes, NoMemoryFile, UsageError
from memttl.memory_files import memory_files
from memttl.settings import Given
from memttl.setup.choice import candidates, doubts_of, the_one
from memttl.setup.discover import discover
from memttl.setup.found import Discovery, Machine

EXAMPLE = FIXTURES / "memory/example.jsonl"
CHANGING = [
    "prune --yes",
    "scan",
    "backfill --git",
    "set Anna x --ttl 1y --yes",
    "pin Anna --yes",
    "unpin Anna --yes",
    "renew Anna --yes",
    "undo --yes",
    "backups restore x --yes",
    "backups prune --yes",
    "forget Anna --yes --for-good",
    "move new/ --yes",
    "schedule cron --install --yes",
    "schedule cron --remove --yes",
    "doctor --repair --yes",
    "init --yes",
]
LOOKING = [
    "prune --dry-run",
    "report",
    "schedule cron",
    "init --dry-run --schedule none",
    "backups list",
    "log",
    "scan -h",
]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cloned repository in which this process stands, whose config names a file of the user's."""
    (tmp_path / "clone/.git").mkdir(parents=True)
    (tmp_path / "victim.jsonl").write_bytes(EXAMPLE.read_bytes())
    config(tmp_path / "clone", tmp_path / "victim.jsonl", client=".mcp.json")
    stands_in(tmp_path / "clone", tmp_path, monkeypatch)
    return tmp_path / "clone"


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which Claude Code's config is broken, and Cursor's names a file."""
    (tmp_path / "victim.jsonl").write_bytes(EXAMPLE.read_bytes())
    config(tmp_path, tmp_path / "victim.jsonl")
    (tmp_path / ".claude.json").write_text("{broken", encoding="utf-8")
    stands_in(tmp_path, tmp_path, monkeypatch)
    return tmp_path


def stands_in(folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("XDG_", "MEM", "CLAUDE", "CODEX", "COPILOT"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.chdir(folder)


def run(words: str) -> None:
    app(words.split(), prog_name="memttl", standalone_mode=False)


@pytest.mark.parametrize("words", CHANGING)
def test_what_changes_something_unasked_takes_no_file_that_only_a_project_names(words: str, clone: Path) -> None:
    before = tree(clone.parent)
    with pytest.raises(UsageError, match="only a config inside of a project names it") as error:
        run(words)
    assert error.value.hint == f"Name it: --file {clone.parent}/victim.jsonl."
    assert tree(clone.parent) == before


@pytest.mark.parametrize("words", CHANGING)
def test_what_changes_something_unasked_takes_no_file_where_a_config_could_not_be_read(
    words: str, broken: Path
) -> None:
    before = tree(broken)
    with pytest.raises(UsageError, match=r"the config of Claude Code \(.*\.claude\.json\) could not be read"):
        run(words)
    assert tree(broken) == before


@pytest.mark.parametrize("words", LOOKING)
def test_what_changes_nothing_goes_on(words: str, clone: Path) -> None:
    before = tree(clone.parent)
    run(words)
    assert tree(clone.parent) == before


def test_what_changes_nothing_says_who_names_the_file(clone: Path) -> None:
    ended = memttl("report", env={"HOME": str(clone.parent)}, cwd=clone)
    assert ended.returncode == 0
    assert f"memttl: only a config inside of a project names it ({clone}/.mcp.json)" in ended.stderr


def test_config_that_could_not_be_read_is_a_warning(broken: Path) -> None:
    ended = memttl("report", env={"HOME": str(broken)}, cwd=broken)
    assert ended.returncode == 0
    assert f"warning: the config of Claude Code ({broken}/.claude.json) could not be read" in ended.stderr


def test_who_is_asked_sees_the_path_also_with_quiet(clone: Path) -> None:
    terminal = Terminal("prune", "--quiet", "--now", "2026-06-01", env={"HOME": str(clone.parent)}, cwd=clone)
    terminal.read_until("[y/N]")
    terminal.type("n\n")
    assert f"the memory file is {clone.parent}/victim.jsonl" in terminal.end().screen.replace("\n", "")


def test_refused_timer_leaves_nothing_beside_the_file(clone: Path) -> None:
    before = tree(clone.parent)
    keeping.keep_refusal("prune", Given(), NeedsYes())
    assert tree(clone.parent) == before


def test_file_that_is_named_is_in_no_doubt(clone: Path) -> None:
    told: list[object] = []
    memory_files(Given((str(clone.parent / "victim.jsonl"),)), os.environ, doubt=told.append)
    memory_files(Given(), {**os.environ, "MEMTTL_FILE": "x"}, doubt=told.append)
    assert told == []


def found(home: Path, folder: Path) -> Discovery:
    return discover(Machine("linux", home, folder, {}), counting=False)


def doubts(home: Path, folder: Path) -> int:
    discovery = found(home, folder)
    return len(list(doubts_of(the_one(discovery), discovery)))


def test_file_that_the_user_names_too_is_in_no_doubt(clone: Path) -> None:
    assert doubts(clone.parent, clone) == 1
    config(clone.parent, clone.parent / "victim.jsonl")
    assert doubts(clone.parent, clone) == 0


def test_projects_in_the_users_own_config_are_the_users(tmp_path: Path) -> None:
    server = {"command": "npx", "args": ["x"], "env": {"MEMORY_FILE_PATH": str(tmp_path / "m.jsonl")}}
    projects = {str(tmp_path / "work"): {"mcpServers": {"memory": server}}}
    (tmp_path / ".claude.json").write_text(json.dumps({"projects": projects}), encoding="utf-8")
    assert doubts(tmp_path, tmp_path) == 0


def test_config_in_another_project_is_no_more_the_users(tmp_path: Path) -> None:
    config(tmp_path / "work", tmp_path / "m.jsonl", client=".mcp.json")
    projects: dict[str, object] = {str(tmp_path / "work"): {}}
    (tmp_path / ".claude.json").write_text(json.dumps({"projects": projects}), encoding="utf-8")
    assert doubts(tmp_path, tmp_path) == 1


def test_folder_is_no_memory_file(tmp_path: Path) -> None:
    config(tmp_path, tmp_path)
    with pytest.raises(NoMemoryFile, match="is a folder"):
        the_one(found(tmp_path, tmp_path))


def test_file_goes_before_a_folder(tmp_path: Path) -> None:
    config(tmp_path, tmp_path)
    config(tmp_path, tmp_path / "m.jsonl", client=".gemini/settings.json")
    assert [one.path for one in candidates(found(tmp_path, tmp_path))] == [tmp_path / "m.jsonl"]


def test_discover_offers_no_folder_to_look_into(tmp_path: Path) -> None:
    config(tmp_path, tmp_path)
    ended = memttl("discover", env={"HOME": str(tmp_path)}, cwd=tmp_path)
    assert "Every command uses" not in ended.stdout
    assert "memttl report" not in ended.stdout
