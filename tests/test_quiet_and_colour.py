"""Every command: silent with --quiet when all is well, results on stdout, and no escape where colour is refused."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from process import FIXTURES, copy_of

from memttl.cli import app

# what a command needs so that it has something to do and nobody to ask
ARGUMENTS: dict[str, list[str]] = {
    "search": ["webhook"],
    "explain": ["Sprint 11"],
    "set": ["Sprint 11", "--ttl", "90d", "--yes"],
    "pin": ["postgres-main", "--yes"],
    "unpin": ["Jonas", "--yes"],
    "renew": ["Sprint 11", "--for", "90d", "--yes"],
    "forget": ["--text", "webhook", "--yes", "--for-good"],
    "backfill": ["--from", "old.jsonl"],
    "prune": ["--yes", "--force"],
    "undo": ["--yes"],
    "init": ["--yes"],
    "schedule": ["systemd"],
    "move": ["moved/", "--yes"],
    "backups show": ["latest"],
    "backups diff": ["latest"],
    "backups restore": ["latest", "--yes"],
    "backups prune": ["--yes"],
}
DOCUMENTS = {"policy schema", "policy prompt", "schedule"}  # asked for by name, so that --quiet does not take them away
BY_NO_POLICY = {"policy schema", "discover", "schedule"}
DIALOGUES = {"review"}  # they have terminals of their own in their tests


def commands(command: Any, path: str = "") -> list[str]:
    """Every command that does something, by its words."""
    found = [path] if path and {"quiet", "color"} <= {p.name for p in command.params} else []
    for name, sub in getattr(command, "commands", {}).items():
        found += commands(sub, f"{path} {name}".strip())
    return found


COMMANDS = [name for name in commands(typer.main.get_command(app)) if name not in DIALOGUES]


def run(name: str, *options: str) -> int:
    """Run a command in this process."""
    return int(app([*name.split(), *ARGUMENTS.get(name, []), *options], prog_name="memttl", standalone_mode=False) or 0)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a memory file of which runs have removed, set and kept something."""
    folder = tmp_path_factory.mktemp("made")
    path = copy_of(FIXTURES / "memory/example.jsonl", folder)
    copy_of(path, folder, name="old.jsonl")
    for words in (
        ["prune", "--tier", "session", "--yes", "--force"],
        ["pin", "Jonas", "--yes"],
        ["scan"],
    ):
        app([*words, "--quiet", "--file", str(path)], standalone_mode=False)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, in which the test stands; nothing of this user's surroundings."""
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("NO_COLOR", "FORCE_COLOR", "MEMORY_FILE_PATH", "MEMTTL_POLICY", "MEMTTL_STATE_DIR", "MEMTTL_NOW"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMTTL_FILE", str(copy / "memory.jsonl"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.chdir(copy)
    return copy


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen_of(monkeypatch: pytest.MonkeyPatch, name: str, *options: str) -> str:
    """What a terminal on stdout, and a pipe, get of a command; put in place here, since pytest has its own by now."""
    screen, pipe = _Screen(), io.StringIO()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setattr("sys.stderr", pipe)
    assert run(name, *options) == 0
    return screen.getvalue() + pipe.getvalue()


@pytest.mark.parametrize("name", sorted({*COMMANDS} - DOCUMENTS))
def test_quiet_says_nothing_when_all_is_well(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--quiet") == 0
    assert tuple(capsys.readouterr()) == ("", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_result_stands_on_stdout(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name) == 0
    printed = capsys.readouterr()
    assert printed.out
    says_more = name == "schedule"  # how the printed text is put to use
    assert says_more or all(line.startswith("warning: ") for line in printed.err.splitlines())


@pytest.mark.parametrize("name", sorted({*COMMANDS} - BY_NO_POLICY))
def test_verbose_says_on_stderr_what_was_decided_by(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(name, "--verbose") == 0
    assert "policy built-in" in capsys.readouterr().err


COLOURED = ("prune", "report", "search")


@pytest.mark.parametrize("name", COMMANDS)
def test_terminal_gets_no_escape_with_no_color(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = screen_of(monkeypatch, name)
    assert shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("name", COLOURED)
def test_dumb_terminal_and_option_refuse_colour_too(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in screen_of(monkeypatch, name, "--no-color")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in screen_of(monkeypatch, name)


@pytest.mark.parametrize("name", COLOURED)
def test_terminal_gets_colour_where_nobody_refuses_it(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in screen_of(monkeypatch, name)
