"""The piece of a client's config that names another memory file: what it changes, and that the client finds it so."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from clients import CASES, Case

from memttl.setup.client_config import change_of
from memttl.setup.discover import discover
from memttl.setup.found import Pointer

NEW = "/home/anna/notes of mine/memory.jsonl"


def pointer(config: Path, *keys: str, client: str = "Cursor") -> Pointer:
    return Pointer(client, config, keys, None, None)


def entry(tmp_path: Path, value: dict[str, Any]) -> dict[str, Any]:
    """The entry as it is printed with the new path."""
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"memory": value, "other": {"command": "x"}}}), encoding="utf-8")
    printed = json.loads(change_of(pointer(config, "mcpServers", "memory"), Path(NEW)).snippet)
    assert list(printed) == ["mcpServers"]
    assert list(printed["mcpServers"]) == ["memory"]
    return printed["mcpServers"]["memory"]


def test_only_the_path_is_another(tmp_path: Path) -> None:
    before = {"type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"],
              "env": {"DEBUG": "1", "MEMORY_FILE_PATH": "/old"}, "autoApprove": ["read_graph"]}  # fmt: skip
    assert entry(tmp_path, before) == {**before, "env": {"DEBUG": "1", "MEMORY_FILE_PATH": NEW}}


def test_container_gets_the_folder_and_names_the_file_in_it(tmp_path: Path) -> None:
    args = ["run", "-i", "--rm", "-v", "notes:/app/dist", "-e", "MEMORY_FILE_PATH=/x", "-e", "A=b", "mcp/memory"]
    assert entry(tmp_path, {"command": "docker", "args": args})["args"] == [
        "run", "-i", "--rm", "-v", "notes:/app/dist", "-e", "A=b",
        "-v", "/home/anna/notes of mine:/memory", "-e", "MEMORY_FILE_PATH=/memory/memory.jsonl", "mcp/memory",
    ]  # fmt: skip


@pytest.mark.parametrize("args", [["--memory-path", "/old"], ["--memory-path=/old"], []])
def test_fork_gets_its_argument(args: list[str], tmp_path: Path) -> None:
    printed = entry(tmp_path, {"command": "npx", "args": ["-y", "mcp-knowledge-graph", *args]})
    assert " ".join(printed["args"]).replace("=", " ") == f"-y mcp-knowledge-graph --memory-path {NEW}"


def test_toml_keeps_what_else_is_set(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    table = '[mcp_servers."my memory"]\ncommand = "npx"\nargs = ["@modelcontextprotocol/server-memory"]\n'
    config.write_text(table + "enabled = true\nstartup_timeout_sec = 20.5\n[other]\na = 1\n", encoding="utf-8")
    printed = change_of(pointer(config, "mcp_servers", "my memory", client="Codex"), Path("C:\\new\\m.jsonl")).snippet
    assert tomllib.loads(printed) == {
        "mcp_servers": {
            "my memory": {
                "command": "npx",
                "args": ["@modelcontextprotocol/server-memory"],
                "enabled": True,
                "startup_timeout_sec": 20.5,
                "env": {"MEMORY_FILE_PATH": "C:\\new\\m.jsonl"},
            }
        }
    }


def test_entry_that_is_gone_gives_nothing(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    assert change_of(pointer(config, "mcpServers", "memory"), Path(NEW)).snippet == ""
    config.write_text('{"mcpServers": {"memory": {"command": "uvx"}}}', encoding="utf-8")
    assert change_of(pointer(config, "mcpServers", "memory"), Path(NEW)).snippet == ""


@pytest.mark.parametrize("name", [name for name in CASES if "unreadable" not in name and "0.6.2" not in name])
def test_client_with_the_new_piece_uses_the_new_file(name: str, tmp_path: Path) -> None:
    case = Case(name, tmp_path / "home")
    new = tmp_path / "new place/memory.jsonl"
    for found in discover(case.machine).found:
        for one in found.pointers:
            printed = change_of(one, new).snippet
            one.config.write_text(printed, encoding="utf-8")
            again = discover(case.machine)
            assert [f.path for f in again.found for p in f.pointers if p[:3] == one[:3]] == [new], printed
            return


def pointer_to(config: Path, entry: dict[str, Any]) -> Pointer:
    config.write_text(json.dumps({"mcpServers": {"other": {"command": "x"}, "memory": entry}}), encoding="utf-8")
    return Pointer("Cursor", config, ("mcpServers", "memory"), None, None)


SERVER = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}


def test_one_value_that_changes_is_named_with_the_way_to_it(tmp_path: Path) -> None:
    pointer = pointer_to(tmp_path / "mcp.json", {**SERVER, "env": {"MEMORY_FILE_PATH": "/old"}})
    place = "mcpServers > memory > env > MEMORY_FILE_PATH"
    assert change_of(pointer, Path("/new"))[1:] == (place, '"/new"')


def test_value_that_is_not_there_yet_is_no_change_of_one(tmp_path: Path) -> None:
    assert change_of(pointer_to(tmp_path / "mcp.json", SERVER), Path("/new"))[1:] == ("", "")
