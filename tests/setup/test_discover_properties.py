"""Whatever lies where a client's config should lie: nothing is raised, and nothing waits."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import AWKWARD
from support import instant

from memttl.errors import NoMemoryFile, UsageError
from memttl.report.discover import discover_document, render
from memttl.report.documents import to_text
from memttl.setup.choice import the_one
from memttl.setup.client_config import config_with
from memttl.setup.discover import discover, pointers_to
from memttl.setup.found import Discovery, Machine, System

SERVER = "@modelcontextprotocol/server-memory"
SYSTEMS: list[System] = ["linux", "macos", "windows"]
PARTS = (
    "npx -y -p --package cmd /c node dist/index.js docker run -v a:/app/dist C:\\a:/b --mount mcp/memory -e bash -c env"
    " -- = type=bind,source=/a,target=/app/dist MEMORY_FILE_PATH MEMORY_FILE_PATH=~/x mcp-server-memory --memory-path"
    " ' ~ ~x .. ${HOME} ${env:HOME}/m ${workspaceFolder} %HOME% mcp-knowledge-graph /m.jsonl"
)
words = st.sampled_from([*AWKWARD, *PARTS.split(" "), SERVER, f"{SERVER}@latest", f"npx {SERVER}", "\0", "/" * 300])
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
            assert config_with(pointer, Path("/new/memory.jsonl"))
        if found.path:
            assert pointers_to(discovery, found.path) == found.pointers
    with suppress(NoMemoryFile, UsageError):
        assert the_one(discovery) in discovery.found
    return discovery


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
