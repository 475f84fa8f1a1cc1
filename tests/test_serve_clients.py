"""`memttl serve` as the official clients see it: the SDKs of Python and JavaScript, and the MCP inspector's CLI mode.

Each of them checks answers by the tools' own output schemas. The JavaScript ones come with `npm ci --prefix
fixtures/server`; without node they are skipped, but never in CI.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from calls import TOOLS
from process import FIXTURES, environ
from server import SERVERS, missing, need_server
from serving import RESOURCE, STOCK
from wanted import OURS

ALL = [*TOOLS, *OURS]
ZOE = {"name": "Zoë", "entityType": "person", "observations": ["likes 🍵"]}
TIMEOUT_S = 60
pytestmark = [pytest.mark.server, pytest.mark.slow]


def command(memory: Path) -> list[str]:
    """What a client's config holds."""
    return [sys.executable, "-m", "memttl", "serve", "--file", str(memory)]


def node(script: Path, *words: str | Path, cwd: Path | None = None) -> Any:
    """Run a script of the npm packages on a server's command; give the JSON that it prints."""
    need_server(STOCK)
    if not script.exists():
        missing(f"{script.name} is not installed: npm ci --prefix fixtures/server")
    run = subprocess.run(
        ["node", script, *words], env=environ(), cwd=cwd, capture_output=True, encoding="utf-8", timeout=TIMEOUT_S
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_client_of_the_python_sdk(tmp_path: Path, mode: str) -> None:
    from mcp import Client, StdioServerParameters

    async def talk() -> None:
        program, *words = command(tmp_path / "memory.jsonl")
        server = StdioServerParameters(command=program, args=words, env=environ())
        with anyio.fail_after(TIMEOUT_S):
            async with Client(server, mode=mode) as client:
                assert [tool.name for tool in (await client.list_tools()).tools] == ALL
                made = await client.call_tool("create_entities", {"entities": [ZOE]})
                assert made.structured_content == {"entities": [ZOE]}
                item = {"entityName": "Zoë", "contents": ["likes 🍵", "new"], "ttl": 30}
                added = await client.call_tool("add_observations", {"observations": [item]})
                assert added.structured_content == {"results": [{"entityName": "Zoë", "addedObservations": ["new"]}]}
                shown = await client.call_tool("read_graph", {"include_metadata": True})
                graph = {"entities": [{**ZOE, "observations": ["likes 🍵", "new"]}], "relations": []}
                assert shown.structured_content == graph
                assert (await client.call_tool("open_nodes", {"names": 5})).is_error
                assert [str(one.uri) for one in (await client.list_resources()).resources] == [RESOURCE]
                (content,) = (await client.read_resource(RESOURCE)).contents
                assert json.loads(content.text) == graph

    anyio.run(talk)


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")  # of the newest protocol
def test_client_of_the_python_sdk_is_told_of_changes(tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters

    async def talk() -> None:
        program, *words = command(tmp_path / "memory.jsonl")
        server = StdioServerParameters(command=program, args=words, env=environ())
        told = anyio.Event()

        async def hear(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/resources/updated":
                assert str(message.params.uri) == RESOURCE
                told.set()

        with anyio.fail_after(TIMEOUT_S):
            async with Client(server, mode="legacy", message_handler=hear) as client:
                await client.session.subscribe_resource(RESOURCE)
                await client.call_tool("create_entities", {"entities": [ZOE]})
                await told.wait()

    anyio.run(talk)


def test_client_of_the_python_sdk_listens_for_changes_by_the_newest_protocol(tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters

    async def talk() -> None:
        program, *words = command(tmp_path / "memory.jsonl")
        server = StdioServerParameters(command=program, args=words, env=environ())
        with anyio.fail_after(TIMEOUT_S):
            async with (
                Client(server, mode="2026-07-28") as client,
                client.listen(resource_subscriptions=[RESOURCE]) as events,
            ):
                await client.call_tool("create_entities", {"entities": [ZOE]})
                event = await anext(aiter(events))
                assert str(event.uri) == RESOURCE

    anyio.run(talk)


def test_client_of_the_javascript_sdk(tmp_path: Path) -> None:
    seen = node(FIXTURES / "server/client.mjs", *command(tmp_path / "memory.jsonl"))
    graph = {"entities": [{**ZOE, "observations": ["likes 🍵", "new"]}], "relations": []}
    assert seen.pop("server")["name"]
    assert seen == {
        "tools": ALL,
        "created": {"entities": [ZOE]},
        "updated": RESOURCE,
        "added": {"results": [{"entityName": "Zoë", "addedObservations": ["new"]}]},
        "found": graph,
        "resources": [RESOURCE],
        "resource": graph,
        "refused": True,
        "ours": graph,
    }


def test_client_of_the_javascript_sdk_sees_the_same_of_the_stock_server(tmp_path: Path) -> None:
    words = ("env", f"MEMORY_FILE_PATH={tmp_path / 'a.jsonl'}", "node", need_server(STOCK))
    theirs = node(FIXTURES / "server/client.mjs", *words)
    ours = node(FIXTURES / "server/client.mjs", *command(tmp_path / "b.jsonl"))
    assert {**ours, "tools": ours["tools"][:9], "server": theirs["server"], "ours": None} == {**theirs, "ours": None}


def test_inspector_lists_its_tools(tmp_path: Path) -> None:
    listed = inspect(tmp_path, "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == ALL


def inspect(folder: Path, *words: str) -> Any:
    """What the inspector's CLI mode prints of the server on a memory file."""
    build = SERVERS / "@modelcontextprotocol/inspector-cli/build"
    # it looks for its package.json from the folder that it runs in
    return node(build / "cli.js", "--cli", *command(folder / "memory.jsonl"), *words, cwd=build)
