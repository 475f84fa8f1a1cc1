"""The first five minutes of the README, as a newcomer plays them: with a client's config, and by no other step."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from process import FIXTURES, Terminal, copy_of, environ
from scheduling import as_systemd_reads, program, values
from test_docs import README, blocks

EXAMPLE = FIXTURES / "memory/example.jsonl"
# what is typed at each question; the rest take what Enter takes
TYPED = {"every day, by": "none\n", "Do it?": "y\n", "[y/N]": "y\n"}
ASKED = {
    "memttl init": ("Take these rules?", "Begin the ages", "every day, by", "Do it?"),
    "memttl schedule systemd --install": ("[y/N]",),
    "memttl undo": ("[y/N]",),
}


def first_steps() -> list[str]:
    """The commands of the README's first block behind the installation, in their order."""
    block = next(text for text in blocks("sh", README) if text.startswith("memttl discover"))
    return [shlex.join(shlex.split(line, comments=True)) for line in block.splitlines()]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with Claude Desktop's config and a memory file, on a machine whose systemd does not answer."""
    copy_of(EXAMPLE, tmp_path)
    config = tmp_path / ".config/Claude/claude_desktop_config.json"
    config.parent.mkdir(parents=True)
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    memory = {**server, "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}}
    config.write_text(json.dumps({"mcpServers": {"memory": memory}}), encoding="utf-8")
    for name in ("systemctl", "crontab", "loginctl"):  # those of whoever runs the tests are not to hear of it
        program(tmp_path, name, "exit 1")
    return tmp_path


def variables(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "PATH": f"{home}/bin{os.pathsep}{os.environ['PATH']}",
    }


def play(home: Path, command: str) -> str:
    """Type a command at a terminal, and answer what it asks; give the screen."""
    terminal = Terminal(*shlex.split(command)[1:], env=variables(home), cwd=home)
    for question in ASKED.get(command, ()):
        terminal.read_until(question)
        terminal.type(TYPED.get(question, "\n"))
    ended = terminal.end()
    assert ended.code == 0, ended.screen
    return ended.screen


def run_once(home: Path) -> None:
    """Run what the timer would run, by the words of the unit that was installed."""
    (unit,) = (home / ".config/systemd/user").glob("*.service")
    (line,) = values(unit.read_text(encoding="utf-8"), "ExecStart")
    subprocess.run(as_systemd_reads(line), env=environ(**variables(home)), stdin=subprocess.DEVNULL, check=True)


def test_the_first_five_minutes_take_no_step_that_the_readme_does_not_show(home: Path) -> None:
    memory = home / "memory.jsonl"
    steps = first_steps()
    assert steps[-1] == "memttl undo"
    screens = {step: play(home, step) for step in steps[:-1]}
    assert "used by Claude Desktop" in screens["memttl discover"]
    assert memory.read_bytes() == EXAMPLE.read_bytes()
    assert (home / "memttl.toml").is_file()
    run_once(home)
    assert memory.stat().st_size < EXAMPLE.stat().st_size
    play(home, "memttl undo")
    assert memory.read_bytes() == EXAMPLE.read_bytes()


def test_the_first_steps_name_real_commands() -> None:
    assert [step.split()[1] for step in first_steps()] == ["discover", "report", "init", "prune", "schedule", "undo"]
