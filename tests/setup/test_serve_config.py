"""The piece of a client's config that starts `memttl serve`: it is valid, and our own discovery finds it again."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from clients import Case
from process import ROOT

from memttl.errors import UsageError
from memttl.report.serve_config import config_words
from memttl.setup import mcp_extra, serve_config
from memttl.setup.clients import CLIENTS
from memttl.setup.configs import read_config
from memttl.setup.discover import discover
from memttl.setup.found import Machine
from memttl.setup.here import Here, this_installation
from memttl.setup.jsonc import plain_json
from memttl.setup.serve_config import ServeConfig, client_of, config_for
from memttl.setup.serve_place import words_in_the_way

WORDS = [client.word for client in CLIENTS]
PIPX = ("/home/anna/.local/share/pipx/venvs/memttl/bin/python", "-P", "-m", "memttl")
# of the fixtures of each client: the stock server on {HOME}/memory.jsonl, besides another server
STOCK = {
    "claude-desktop": "claude-desktop-linux",
    "claude": "claude-code-linux",
    "cursor": "cursor-linux",
    "vscode": "vs-code-linux",
    "copilot": "copilot-linux",
    "windsurf": "windsurf-linux",
    "zed": "zed-linux",
    "codex": "codex-linux",
    "gemini": "gemini-cli-linux",
    "cline": "cline-linux",
}


def machine_of(home: Path) -> Machine:
    home.mkdir(exist_ok=True)
    return Machine("linux", home, home, {"HOME": str(home)})


def here_of(**how: Any) -> Here:
    own = this_installation({"HOME": "/home/anna"})
    calm = {"program": ("/opt/m/bin/python", "-P", "-m", "memttl"), "passing": None, "checkout": None}
    return own._replace(**{**calm, "environment": (), **how})


def printed(word: str, machine: Machine, memory: Path | str, **how: Any) -> ServeConfig:
    here = how.pop("here", None) or here_of()
    return config_for(client_of(word), str(memory), discover(machine, counting=False), machine, here, **how)


def values_of(one: ServeConfig) -> dict[str, Any]:
    return tomllib.loads(one.snippet) if one.config.endswith(".toml") else json.loads(one.snippet)


def entry_of(one: ServeConfig) -> dict[str, Any]:
    found = values_of(one)
    for key in one.keys:
        (found,) = [found[key]]
    return found


def paste(one: ServeConfig) -> None:
    """Put the piece into the config as the words above it say: in place of the entry of that name, or beside others."""
    path = Path(one.config)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".toml" or not path.exists():
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        before, _, _ = text.partition("[mcp_servers.memory]")  # the last one of the fixture
        path.write_text(before + one.snippet, encoding="utf-8")
        return
    whole = json.loads(plain_json(path.read_text(encoding="utf-8")))
    table = whole
    for key in one.keys[:-1]:
        table = table[key]
    table[one.keys[-1]] = entry_of(one)
    path.write_text(json.dumps(whole), encoding="utf-8")


@pytest.mark.parametrize("word", WORDS)
def test_pasted_piece_is_found_again_as_a_server_on_that_file(word: str, tmp_path: Path) -> None:
    machine, memory = machine_of(tmp_path / "home"), tmp_path / "my notes/memory.jsonl"
    one = printed(word, machine, memory, options=("--prune-every", "24h"), policy="/home/anna/my policy.toml")
    paste(one)
    discovery = discover(machine)
    assert discovery.unread == ()
    (found,) = discovery.found
    assert (found.path, [(p.client, p.server, p.keys) for p in found.pointers]) == (
        memory,
        [(client_of(word).title, "memttl serve", one.keys)],
    )
    entry = entry_of(one)
    assert [entry["command"], *entry["args"]] == [
        *("/opt/m/bin/python", "-P", "-m", "memttl", "serve", "--file", str(memory)),
        *("--policy", "/home/anna/my policy.toml", "--prune-every", "24h"),
    ]


@pytest.mark.parametrize("word", WORDS)
def test_piece_replaces_the_entry_of_the_stock_server(word: str, tmp_path: Path) -> None:
    case = Case(STOCK[word], tmp_path / "home")
    memory = case.home / "memory.jsonl"
    (before,) = discover(case.machine).found
    one = printed(word, case.machine, memory)
    assert (one.replaces, one.config, one.keys) == (
        before.pointers[0].keys[-1],
        str(before.pointers[0].config),
        before.pointers[0].keys,
    )
    paste(one)
    (found,) = discover(case.machine).found
    assert found.path == memory
    assert [(p.config, p.keys, p.server) for p in found.pointers] == [
        (p.config, p.keys, "memttl serve") for p in before.pointers
    ]


def test_other_variables_and_keys_of_the_entry_stay(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    env = {"DEBUG": "1", "MEMORY_FILE_PATH": "/m.jsonl"}
    write(machine, {"notes": {"type": "stdio", **stock(""), "env": env, "alwaysAllow": ["read_graph"]}})
    here = here_of(environment=(("PYTHONPATH", "/src"),))
    assert entry_of(printed("cursor", machine, "/m.jsonl", here=here)) == {
        "type": "stdio",
        "command": "/opt/m/bin/python",
        "args": ["-P", "-m", "memttl", "serve", "--file", "/m.jsonl"],
        "env": {"DEBUG": "1", "PYTHONPATH": "/src"},
        "alwaysAllow": ["read_graph"],
    }


def write(machine: Machine, servers: dict[str, Any], name: str = ".cursor/mcp.json") -> Path:
    path = machine.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def stock(path: str, **more: Any) -> dict[str, Any]:
    args = ["-y", "@modelcontextprotocol/server-memory"]
    return {"command": "npx", "args": args, **({"env": {"MEMORY_FILE_PATH": path}} if path else {}), **more}


def test_old_form_of_zed_keeps_its_form(tmp_path: Path) -> None:
    case = Case("zed-linux-old-form", tmp_path / "home")
    one = printed("zed", case.machine, case.home / "memory.jsonl")
    command = entry_of(one)["command"]
    assert (command["path"], "env" in command, entry_of(one)["settings"]) == ("/opt/m/bin/python", False, {})
    paste(one)
    (found,) = discover(case.machine).found
    assert found.pointers[0].is_memttl


def test_only_memory_server_of_the_user_is_replaced_though_it_names_another_file(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    write(machine, {"graph": stock("/old/memory.jsonl")})
    one = printed("cursor", machine, "/new/memory.jsonl")
    assert (one.replaces, one.before) == ("graph", "/old/memory.jsonl")
    assert "names /old/memory.jsonl, which stays where it is" in " ".join(config_words(one, home="")[1])


def test_of_two_servers_on_other_files_none_is_replaced(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    write(machine, {"memory": stock("/a/memory.jsonl"), "memttl": stock("/b/memory.jsonl")})
    one = printed("cursor", machine, "/new/memory.jsonl")
    assert (one.replaces, one.keys) == ("", ("mcpServers", "memttl-2"))


def test_entry_of_a_project_on_another_file_is_left_alone(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    folder = machine.home / "repository"
    write(machine, {"memory": stock("/strange/memory.jsonl")}, "repository/.cursor/mcp.json")
    one = printed("cursor", machine._replace(folder=folder), "/new/memory.jsonl")
    assert (one.replaces, one.config) == ("", str(machine.home / ".cursor/mcp.json"))


def test_second_entry_on_the_same_file_is_to_be_taken_out(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    config = write(machine, {"memory": stock("/m.jsonl"), "again": stock("/m.jsonl")})
    one = printed("cursor", machine, "/m.jsonl")
    assert (one.replaces, one.others) == ("memory", (("again", str(config)),))
    assert any(line.startswith('Take "again" out') for line in config_words(one, home="")[1])


def test_name_of_another_server_is_not_taken(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    write(machine, {"memory": {"command": "uvx", "args": ["mcp-server-weather"]}})
    assert printed("cursor", machine, "/m.jsonl").keys == ("mcpServers", "memttl")


def test_claude_code_is_told_by_its_own_command_too(tmp_path: Path) -> None:
    here = here_of(environment=(("PYTHONPATH", "/my src"),))
    (line,) = printed("claude", machine_of(tmp_path / "home"), "/m y.jsonl", here=here).commands
    assert shlex.split(line) == [
        *("claude", "mcp", "add", "-e", "PYTHONPATH=/my src", "--scope", "user", "memory", "--"),
        *("/opt/m/bin/python", "-P", "-m", "memttl", "serve", "--file", "/m y.jsonl"),
    ]


def test_claude_code_first_removes_what_is_there_in_its_scope(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    folder = machine.home / "repository"
    write(machine, {"memory": stock("/m.jsonl")}, "repository/.mcp.json")
    one = printed("claude", machine._replace(folder=folder), "/m.jsonl")
    assert one.commands[0] == "claude mcp remove --scope project memory"
    assert one.folder == str(folder)


def test_variable_names_the_policy_where_no_option_does(tmp_path: Path) -> None:
    here = here_of(environ={"MEMTTL_POLICY": "/p.toml"})
    args = entry_of(printed("cursor", machine_of(tmp_path / "home"), "/m.jsonl", here=here))["args"]
    assert args[-2:] == ["--policy", "/p.toml"]


def test_python_without_a_window_is_not_used_for_a_server(tmp_path: Path) -> None:
    here = here_of(program=("C:\\py\\pythonw.exe", "-P", "-m", "memttl"))
    assert (
        entry_of(printed("cursor", machine_of(tmp_path / "home"), "/m", here=here))["command"] == "C:\\py\\python.exe"
    )


def test_memttl_in_a_cache_is_warned_of(tmp_path: Path) -> None:
    one = printed("cursor", machine_of(tmp_path / "home"), "/m.jsonl", here=here_of(passing="/c/uv/archive-v0/x"))
    assert any("lies in a cache (/c/uv/archive-v0/x)" in warning for warning in one.warnings)


def test_config_that_cannot_be_read_is_warned_of(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    write(machine, {}).write_text("{", encoding="utf-8")
    assert any("mcp.json could not be read" in warning for warning in printed("cursor", machine, "/m.jsonl").warnings)


def test_path_that_no_config_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no config can name it"):
        printed("cursor", machine_of(tmp_path / "home"), "/m\udcff.jsonl")


def test_path_with_a_variable_in_it_is_warned_of(tmp_path: Path) -> None:
    one = printed("cursor", machine_of(tmp_path / "home"), "/m/${env:X}.jsonl")
    assert any("put something else in for ${env:X}" in warning for warning in one.warnings)


@pytest.mark.parametrize("word", ["Claude Code", "claude-code", "VS-Code", "Gemini CLI"])
def test_title_of_a_client_is_understood(word: str) -> None:
    assert client_of(word).title.lower() == word.lower().replace("-", " ")


def test_unknown_client_is_refused_with_a_near_one_and_all() -> None:
    with pytest.raises(UsageError, match=r"knows no 'cursr' \(did you mean \"cursor\"") as refused:
        client_of("cursr")
    assert all(word in str(refused.value.hint) for word in WORDS)


@pytest.mark.parametrize(
    ("how", "command"),
    [
        ("/x, by pipx", "pipx inject --force memttl 'mcp>=2'"),
        ("/x, by uv tool", f"uv pip install --python {sys.executable} 'mcp>=2'"),
        ("/x, by pip", f"{sys.executable} -m pip install 'mcp>=2'"),
        ("/x, not installed", f"{sys.executable} -m pip install 'mcp>=2'"),
    ],
)
def test_missing_extra_is_told_with_the_command_for_this_installation(
    how: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_extra, "installed", lambda: how)
    monkeypatch.setattr(serve_config, "extra_problem", lambda: "it is not there")
    assert printed("cursor", machine_of(tmp_path / "home"), "/m.jsonl").warnings == (f"it is not there: {command}",)


def test_extra_is_the_one_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert mcp_extra.REQUIREMENT in project["project"]["optional-dependencies"]["mcp"]


@pytest.mark.parametrize(
    ("name", "is_there", "told"),
    [
        ("_npx/0123/memory.jsonl", True, "Move it to a place of your own: memttl move ~/memory.jsonl --file "),
        ("_npx/0123/memory.jsonl", False, "Let the config name a file of your own before use."),
        (
            "no/memory.jsonl",
            False,
            "does not exist, and the server makes none: it could not write anything. Make it:",
        ),
        ("", True, "it is a folder; that is no memory file"),
    ],
)
def test_place_that_is_amiss_is_warned_of(name: str, is_there: bool, told: str, tmp_path: Path) -> None:
    memory = tmp_path / name
    if is_there and name:
        memory.parent.mkdir(parents=True)
        memory.write_bytes(b"")
    (warning,) = printed("cursor", machine_of(tmp_path / "home"), memory).warnings
    assert f"the memory file is {memory}; " in warning
    assert told in warning


def test_file_that_is_not_there_yet_is_no_fault(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    assert printed("cursor", machine, tmp_path / "memory.jsonl").warnings == ()
    assert list(words_in_the_way(str(tmp_path / "memory.jsonl"), machine)) == []


def test_words_say_where_the_piece_goes(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    write(machine, {"memory": stock("/m.jsonl")})
    one = printed("cursor", machine, "/m.jsonl")
    above, below = config_words(one, home=str(machine.home))
    assert above == [
        'In ~/.cursor/mcp.json, replace the value of "memory" under mcpServers by what stands behind it here; leave '
        "the rest of the file as it is:"
    ]
    assert below == ["Then restart Cursor; `memttl discover` shows what it starts."]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ("page", "words"), [("docs/serve.md", WORDS), ("README.md", ["claude-desktop", "cursor", "vscode", "zed", "codex"])]
)
def test_pages_show_for_each_client_what_is_printed(page: str, words: list[str], tmp_path: Path) -> None:
    here = here_of(program=PIPX)
    shown = [json.loads(block) for block in blocks(page, "json") if "/home/anna/" in block]
    shown += [tomllib.loads(block) for block in blocks(page, "text") if "[mcp_servers" in block]
    pieces = [printed(word, machine_of(tmp_path / "home"), "/home/anna/memory.jsonl", here=here) for word in words]
    assert sorted(map(str, shown)) == sorted(str(values_of(piece)) for piece in pieces)


@pytest.mark.parametrize("page", ["docs/serve.md", "README.md"])
def test_pages_show_the_command_of_claude_code(page: str, tmp_path: Path) -> None:
    here = here_of(program=PIPX)
    (command,) = printed("claude", machine_of(tmp_path / "home"), "/home/anna/memory.jsonl", here=here).commands
    assert f"{command}\n" in blocks(page, "sh")


def test_nothing_is_written(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "home")
    printed("cursor", machine, tmp_path / "memory.jsonl")
    assert os.listdir(machine.home) == []
    assert not read_config(machine.home / ".cursor/mcp.json").is_there
