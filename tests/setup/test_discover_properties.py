"""Whatever lies where a client's config should lie: nothing is raised, and nothing waits."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import AWKWARD
from support import instant

from memttl.errors import BadPolicy, NoMemoryFile, UsageError
from memttl.report.discover import discover_document, render
from memttl.report.documents import to_text
from memttl.settings import Given, resolve, surroundings
from memttl.setup.choice import the_one
from memttl.setup.client_config import change_of
from memttl.setup.discover import discover, pointers_to
from memttl.setup.found import Discovery, Machine, System

SERVER = "@modelcontextprotocol/server-memory"
SYSTEMS: list[System] = ["linux", "macos", "windows"]
PARTS = (
    "npx -y -p --package cmd /c node dist/index.js docker run -v a:/app/dist C:\\a:/b --mount mcp/memory -e bash -c env"
    " -- = type=bind,source=/a,target=/app/dist MEMORY_FILE_PATH MEMORY_FILE_PATH=~/x mcp-server-memory --memory-path"
    " ' ~ ~x .. ${HOME} ${env:HOME}/m ${workspaceFolder} %HOME% mcp-knowledge-graph /m.jsonl"
)
NO_PATHS = ("/a\0b", "/x\ud800.jsonl", "/" + "d/" * 3000 + "m.jsonl")
words = st.sampled_from(
    [*AWKWARD, *PARTS.split(" "), SERVER, f"{SERVER}@latest", f"npx {SERVER}", "\0", "/" * 300, *NO_PATHS]
)
anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
servers = st.dictionaries(
    words,
    st.fixed_dictionaries(
        {"command": words | anything, "args": st.lists(words, max_size=8) | anything},
        optional={
            "env": st.dictionaries(st.sampled_from(["MEMORY_FILE_PATH", "npm_config_cache", "A"]), words | anything),
            "cwd": words | anything,
            "envFile": words | anything,
            "disabled": anything,
        },
    )
    | anything,
    max_size=3,
)
KEYS = ["mcpServers", "servers", "context_servers", "mcp_servers"]
configs = st.dictionaries(st.sampled_from(KEYS), servers | anything, max_size=4) | st.fixed_dictionaries(
    {
        "projects": st.dictionaries(
            words, st.fixed_dictionaries({"mcpServers": servers | anything}) | anything, max_size=2
        )
    }
)
PLACES = (
    ".claude.json .cursor/mcp.json .config/Code/User/mcp.json .config/zed/settings.json .codex/config.toml "
    ".gemini/settings.json work/.mcp.json .npmrc"
)


def everything(home: Path, system: System) -> Discovery:
    """Look around, and do with the result all that commands do."""
    machine = Machine(system, home, home / "work", {"HOME": str(home)}, home / "Roaming", home / "Local")
    discovery = discover(machine)
    document = discover_document(discovery, used=None, because="")
    assert json.loads(to_text(document)) == document
    text = render(document, instant("2026-06-01T12:00:00Z"), home=str(home), verbose=True)
    assert text.replace("\n", "").isprintable() or "\u00a0" in text or "\u3000" in text
    for found in discovery.found:
        for pointer in found.pointers:
            assert change_of(pointer, Path("/new/memory.jsonl")).snippet
        if found.path:
            assert pointers_to(discovery, found.path) == found.pointers
            used(found.path)
    with suppress(NoMemoryFile, UsageError):
        assert the_one(discovery) in discovery.found
    return discovery


def used(path: Path) -> None:
    """Go on with a path that was found as commands do: it is one that a file may have."""
    with suppress(OSError):
        os.stat(path)
    with suppress(BadPolicy):
        settings = resolve(str(path), Given(), {}, instant("2026-06-01T12:00:00Z"))
        surroundings(settings.named, Given(), {})
        assert os.fsencode(settings.memory)


def laid(home: Path, data: bytes) -> None:
    for place in PLACES.split():
        path = home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@given(configs, st.sampled_from(SYSTEMS))
def test_no_shape_of_a_config_does_harm(config: Any, system: System) -> None:
    with TemporaryDirectory() as name:
        laid(Path(name), json.dumps(config).encode())
        everything(Path(name), system)


@given(st.binary(max_size=200))
def test_no_bytes_do_harm(data: bytes) -> None:
    with TemporaryDirectory() as name:
        laid(Path(name), data)
        everything(Path(name), "linux")


@given(st.lists(words, min_size=1, max_size=9), st.sampled_from(SYSTEMS))
def test_no_command_line_does_harm(line: list[str], system: System) -> None:
    with TemporaryDirectory() as name:
        laid(Path(name), json.dumps({"mcpServers": {"m": {"command": line[0], "args": line[1:]}}}).encode())
        everything(Path(name), system)


@pytest.mark.parametrize("system", SYSTEMS)
def test_home_that_is_not_there_holds_nothing(system: System, tmp_path: Path) -> None:
    assert everything(tmp_path / "gone", system).found == ()


def of_codex(home: Path, text: str) -> Discovery:
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(text, encoding="utf-8")
    return everything(home, "linux")


@pytest.mark.parametrize("path", NO_PATHS)
def test_path_that_no_file_can_have_is_a_trouble(path: str, tmp_path: Path) -> None:
    server = {"command": "npx", "args": [SERVER], "env": {"MEMORY_FILE_PATH": path}}
    laid(tmp_path, json.dumps({"mcpServers": {"memory": server}}).encode())
    found = everything(tmp_path, "linux").found
    assert {(one.path, one.troubles[0].name) for one in found} == {(None, "no-path")}


def test_number_of_more_digits_than_python_writes_does_no_harm(tmp_path: Path) -> None:
    text = f'[mcp_servers.m]\ncommand = "npx"\nargs = ["{SERVER}"]\nenv = {{ MEMORY_FILE_PATH = 0x{"f" * 6000} }}\n'
    unread = of_codex(tmp_path, text).unread
    assert [one.problem for one in unread] == ["it is no valid TOML (a number of more than 64 bits)"]


@pytest.mark.parametrize("text", [".".join("a" * 100_000) + " = 1", f"[{'.'.join('a' * 2000)}]\n" * 50])
def test_key_of_very_many_parts_is_not_read(text: str, tmp_path: Path) -> None:
    assert [unread.problem for unread in of_codex(tmp_path, text).unread] == [
        "it is no valid TOML (keys of too many parts)"
    ]


def test_dots_in_texts_count_for_nothing(tmp_path: Path) -> None:
    assert of_codex(tmp_path, f"a = \"{'.' * 5000}\"\nb = '{'.' * 5000}'\n").unread == ()
