"""An entry of a config that starts `memttl serve`: recognised in every form, told as memttl's own, and moved."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memttl.report.discover import discover_document, render
from memttl.setup.client_config import change_of
from memttl.setup.discover import discover
from memttl.setup.entries import Entry
from memttl.setup.found import Discovery, Machine
from memttl.setup.launches import Launch, launch_of

GOOD = '{"type":"entity","name":"A","entityType":"t","observations":["one"]}\n'
STOCK = ["npx", "-y", "@modelcontextprotocol/server-memory"]
NOWHERE = Machine("linux", Path("/home/anna"), Path("/home/anna"), {})


def launch(*words: str, env: dict[str, str] | None = None) -> Launch | None:
    return launch_of(Entry(("mcpServers", "memory"), None, words, env or {}, "", None, ""), NOWHERE)


@pytest.mark.parametrize(
    "words",
    [
        ["memttl"],
        ["/home/anna/.local/bin/memttl"],
        ["C:\\Python\\Scripts\\memttl.exe"],
        ["python", "-m", "memttl"],
        ["/opt/x/bin/python3.13", "-P", "-m", "memttl"],
        ["python3", "-Pm", "memttl"],
        ["python3", "-mmemttl"],
        ["python3", "-X", "utf8", "-W", "ignore", "-m", "memttl"],
        ["py", "-3.12", "-m", "memttl"],
        ["/opt/x/bin/python", "/opt/x/bin/memttl"],
        ["uvx", "--from", "memttl[mcp]", "memttl"],
        ["uvx", "memttl[mcp]@1.2"],
        ["uv", "run", "--directory", "/src", "memttl"],
        ["uv", "tool", "run", "--from", "memttl[mcp]==1.2", "memttl"],
        ["uv", "run", "python", "-m", "memttl"],
        ["pipx", "run", "--spec", "memttl[mcp]", "memttl"],
        ["pipx", "run", "memttl[mcp]"],
        ["env", "PYTHONPATH=/src", "python3", "-m", "memttl"],
        ["env", "-i", "PYTHONPATH=/src", "python3", "-m", "memttl"],
        ["mcp-proxy", "--port", "1", "--", "memttl"],
    ],
    ids=" ".join,
)
def test_own_server_is_recognised(words: list[str]) -> None:
    found = launch(*words, "serve", "--file", "/m.jsonl")
    assert found is not None
    assert (found.server, found.arguments) == ("memttl serve", ("--file", "/m.jsonl"))


@pytest.mark.parametrize(
    "words",
    [
        ["memttl", "prune", "--file", "/m.jsonl"],
        ["python", "-m", "memttls", "serve"],
        ["python", "serve", "-m", "memttl"],
        ["python", "-c", "import memttl", "serve"],
        ["memttl-gui", "serve"],
        ["uvx", "mkdocs", "serve"],
    ],
    ids=" ".join,
)
def test_what_is_not_memttl_serve_is_not_taken_for_it(words: list[str]) -> None:
    assert launch(*words) is None


def look(tmp_path: Path, servers: dict[str, list[str]], data: str = GOOD) -> Discovery:
    """What is found where Cursor starts servers on one file; {M} stands for it."""
    home = tmp_path / "home"
    (home / ".cursor").mkdir(parents=True)
    memory = home / "memory.jsonl"
    memory.write_text(data, encoding="utf-8")
    entries = {}
    for name, (command, *args) in servers.items():
        args = [word.replace("{M}", str(memory)) for word in args]
        env = {} if "serve" in args else {"env": {"MEMORY_FILE_PATH": str(memory)}}
        entries[name] = {"command": command, "args": args, **env}
    (home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    return discover(Machine("linux", home, home, {}))


def text(discovery: Discovery, tmp_path: Path) -> str:
    document = discover_document(discovery, used=None, because="")
    return render(document, datetime(2026, 6, 1, tzinfo=UTC), home=str(tmp_path / "home"))


def test_discover_says_that_it_is_memttl_itself(tmp_path: Path) -> None:
    found = look(tmp_path, {"memory": ["memttl", "serve", "--file", "{M}"]})
    assert '  used by Cursor through memttl serve ("memory" in ~/.cursor/mcp.json)\n' in text(found, tmp_path)
    document: dict[str, Any] = discover_document(found, used=None, because="")
    assert document["found"][0]["clients"][0]["server"] == "memttl serve"


def test_of_both_servers_in_one_config_only_one_should_be_on(tmp_path: Path) -> None:
    servers = {"memory": STOCK, "lifecycle": ["memttl", "serve", "--file", "{M}"]}
    (found,) = look(tmp_path, servers).found
    assert [trouble.problem for trouble in found.troubles] == [
        'Cursor starts 2 memory servers on it ("memory" and "lifecycle"), so that its assistant has every tool twice'
    ]


def test_servers_of_two_clients_on_one_file_are_no_trouble(tmp_path: Path) -> None:
    look(tmp_path, {"memory": STOCK})
    home = tmp_path / "home"
    entry = {"command": "memttl", "args": ["serve", "--file", str(home / "memory.jsonl")]}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"memory": entry}}), encoding="utf-8")
    (found,) = discover(Machine("linux", home, home, {})).found
    assert (len(found.pointers), found.troubles) == (2, ())


def test_damaged_line_does_not_stop_own_server(tmp_path: Path) -> None:
    told = text(look(tmp_path, {"memory": ["memttl", "serve", "--file", "{M}"]}, GOOD + "{\n"), tmp_path)
    assert "1 damaged line, which memttl serve leaves out" in told
    assert "fails at that" not in told


def test_damaged_line_stops_the_stock_server_beside_it(tmp_path: Path) -> None:
    servers = {"memory": STOCK, "lifecycle": ["memttl", "serve", "--file", "{M}"]}
    told = text(look(tmp_path, servers, GOOD + "{\n"), tmp_path)
    assert told.count(" ! ") == 2
    assert "the server fails at that" in told.replace("\n    ", " ")


@pytest.mark.parametrize(
    ("args", "place", "value"),
    [
        (["serve", "--file", "{M}", "--policy", "/p"], "args > item 3", '"/new"'),
        (["serve", "--policy", "/p", "--file={M}"], "args > item 4", '"--file=/new"'),
        (["serve", "-f{M}"], "args > item 2", '"-f/new"'),
    ],
)
def test_move_changes_the_one_word_that_names_the_file(args: list[str], place: str, value: str, tmp_path: Path) -> None:
    (found,) = look(tmp_path, {"memory": ["memttl", *args]}).found
    assert change_of(found.pointers[0], Path("/new"))[1:] == (f"mcpServers > memory > {place}", value)


def test_move_leaves_options_of_the_wrapper_alone(tmp_path: Path) -> None:
    (found,) = look(tmp_path, {"memory": ["proxy", "-f", "x", "--", "memttl", "serve", "-f", "{M}"]}).found
    printed = json.loads(change_of(found.pointers[0], Path("/new")).snippet)
    assert printed["mcpServers"]["memory"]["args"] == ["-f", "x", "--", "memttl", "serve", "-f", "/new"]


def test_move_changes_the_file_in_a_script_of_a_shell(tmp_path: Path) -> None:
    (found,) = look(tmp_path, {"memory": ["sh", "-c", "exec memttl serve -f {M} 2>>log"]}).found
    printed = json.loads(change_of(found.pointers[0], Path("/new place")).snippet)
    assert printed["mcpServers"]["memory"]["args"] == ["-c", "exec memttl serve -f '/new place' 2>>log"]


def test_move_changes_the_variable_where_that_alone_names_the_file(tmp_path: Path) -> None:
    config = tmp_path / ".cursor/mcp.json"
    config.parent.mkdir()
    entry = {"command": "memttl", "args": ["serve"], "env": {"MEMTTL_FILE": "/old.jsonl"}}
    config.write_text(json.dumps({"mcpServers": {"memory": entry}}), encoding="utf-8")
    (found,) = discover(Machine("linux", tmp_path, tmp_path, {})).found
    assert change_of(found.pointers[0], Path("/new"))[1:] == ("mcpServers > memory > env > MEMTTL_FILE", '"/new"')


def test_release_is_that_of_the_stock_server_beside_it(tmp_path: Path) -> None:
    script = tmp_path / "server-memory/dist/index.js"
    script.parent.mkdir(parents=True)
    about = '{"name": "@modelcontextprotocol/server-memory", "version": "2026.8.31"}'
    script.with_name("package.json").write_text(about, encoding="utf-8")
    servers = {"lifecycle": ["memttl", "serve", "--file", "{M}"], "memory": ["node", str(script)]}
    (found,) = look(tmp_path, servers).found
    assert found.release == "2026.8.31"
