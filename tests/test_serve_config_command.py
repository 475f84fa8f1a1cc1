"""`memttl serve --print-config` at the command line: the piece on stdout, all else on stderr, and what it starts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from process import TIMEOUT_S, memttl


def printed(home: Path, *args: str | Path) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    return memttl("serve", *args, env={"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}, cwd=home)


def entry_of(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return json.loads(ended.stdout)["mcpServers"]["memory"]


def test_standard_output_is_the_piece_alone(tmp_path: Path) -> None:
    ended = printed(tmp_path / "home", "--print-config", "cursor", "--file", "memory.jsonl")
    assert entry_of(ended)["args"][-2:] == ["--file", str(tmp_path / "home/memory.jsonl")]
    assert ended.returncode == 0
    assert "Make a file ~/.cursor/mcp.json of this" in ended.stderr
    assert "Then restart Cursor" in ended.stderr
    assert os.listdir(tmp_path / "home") == []


def test_words_of_the_piece_start_the_server_from_anywhere(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    memory = tmp_path / "my notes/memory.jsonl"
    memory.parent.mkdir()
    entry = entry_of(printed(tmp_path / "home", "--print-config", "claude-desktop", "--file", memory))
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    ended = subprocess.run(
        [entry["command"], *entry["args"]],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **entry.get("env", {})},
        input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}) + "\n",
        cwd="/",
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )
    assert json.loads(ended.stdout)["result"]["serverInfo"], ended.stderr


def test_file_that_only_a_config_names_is_taken_and_its_entry_replaced(tmp_path: Path) -> None:
    config = tmp_path / "home/.cursor/mcp.json"
    config.parent.mkdir(parents=True)
    args = ["-y", "@modelcontextprotocol/server-memory"]
    server = {"command": "npx", "args": args, "env": {"MEMORY_FILE_PATH": "/srv/no/memory.jsonl"}}
    config.write_text(json.dumps({"mcpServers": {"memory": server}}), encoding="utf-8")
    ended = printed(tmp_path / "home", "--print-config", "cursor")
    assert entry_of(ended)["args"][-2:] == ["--file", "/srv/no/memory.jsonl"]
    assert 'replace the value of "memory"' in ended.stderr
    assert "warning: the memory file is /srv/no/memory.jsonl; the folder /srv/no does not exist" in ended.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--print-config", "cursr", "--file", "m.jsonl"), 'did you mean "cursor"?'),
        (("--print-config", "cursor", "--file", "a.jsonl", "--file", "b.jsonl"), "a server serves one"),
        (("--print-config", "cursor"), "No memory file is named"),
        (("--print-config", "cursor", "--file", "m.jsonl", "--policy", "none.toml"), "none.toml"),
    ],
)
def test_what_cannot_be_printed_is_refused(args: tuple[str, ...], told: str, tmp_path: Path) -> None:
    ended = printed(tmp_path / "home", *args)
    assert (ended.stdout, told in ended.stderr, "Traceback" in ended.stderr) == ("", True, False)
    assert ended.returncode in (2, 66, 78)
