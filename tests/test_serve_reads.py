"""`memttl serve` as a process: what its read tools answer, what it says of a damaged file, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ledgers import scanned, written
from process import environ
from server import Server
from viewing import EXPIRED, LASTING

pytest.importorskip("mcp")

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "0"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
NOW = "2026-06-01T12:00:00Z"
PROGRAM = f"""import sys, datetime
import memttl.commands.serving_settings as settings
class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromisoformat("{NOW}")
settings.datetime = Clock  # a server goes by the clock alone
sys.argv[0] = 'memttl'
"""
MAIN = "from memttl.__main__ import main; main()"


def message(number: int, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def call(number: int, tool: str, **arguments: object) -> bytes:
    return message(number, "tools/call", name=tool, arguments=arguments)


def served(path: Path, *requests: bytes, code: str = "", **env: str) -> dict[int, Any]:
    """All answers by their ids, to requests that are written at once, before the input is closed.

    `code` runs in the server's process before it serves.
    """
    ended = subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}{code}\n{MAIN}", "serve", "--file", str(path)],
        input=message(0, "initialize", **HELLO) + b"".join(requests),
        capture_output=True,
        env=environ(**env),
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr
    answers = [json.loads(line) for line in ended.stdout.split(b"\n") if line]
    return {answer["id"]: answer.get("result", answer.get("error")) for answer in answers}


def test_answers_of_a_session(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"E": [LASTING, EXPIRED, "\ud83d"], "F": [EXPIRED]})
    path.write_bytes(path.read_bytes() + b"{nope\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    # a print, or what a child prints, must not reach the wire
    noise = "import atexit, os; print('early', file=sys.stderr)\nimport memttl.server.reads as r\nold = r._result\n"
    noise += "def loud(*a):\n  print('print'); os.system('echo child'); return old(*a)\nr._result = loud"
    found = served(
        path,
        call(1, "read_graph"),
        call(2, "search_nodes", query="old"),
        call(3, "open_nodes", names=["F"], exclude_expired=False, include_metadata=True),
        call(4, "read_graph", expire_before="someday"),
        message(5, "resources/read", uri="memory://knowledge-graph"),
        call(6, "read_graph", expire_before="2027-01-01"),
        b"nope\n" + call(7, "read_graph").rstrip(),
        code=noise,
    )
    graph = found[1]["structuredContent"]
    assert {e["name"]: e["observations"] for e in graph["entities"]} == {"E": [LASTING, "\ud83d"], "F": []}
    assert json.loads(found[1]["content"][0]["text"]) == graph
    assert "Line 3 of the memory file" in found[1]["content"][1]["text"]
    assert found[2]["structuredContent"]["entities"] == []
    told = found[3]["_meta"]["memttl/metadata"]
    assert json.loads(found[3]["content"][1]["text"]) == {"memttl/metadata": told}
    assert told[0]["observations"][0]["expires_at"] == "2026-02-05T00:00:00Z"
    assert found[4]["isError"]
    assert found[5]["contents"][0]["text"] == found[1]["content"][0]["text"]
    assert found[6]["structuredContent"] == {"entities": [], "relations": []}
    assert found[7] == found[1]


def test_client_of_the_newest_protocol_is_told_who_answers(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"E": ["a"]})
    program = [sys.executable, "-m", "memttl", "serve", "--file", str(path)]
    params = {"name": "read_graph", "arguments": {"include_metadata": True}, "_meta": ENVELOPE}
    ended = subprocess.run(
        program, input=message(1, "tools/call", **params), capture_output=True, env=environ(), timeout=60, check=True
    )
    result = json.loads(ended.stdout)["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "memttl"
    assert result["_meta"]["memttl/metadata"][0]["name"] == "E"


def test_reads_answer_as_the_stock_server_does(tmp_path: Path) -> None:
    graph = {"Ä \u2028": ["", "tab\t", "é😀", "a"], "leer": [], "a": ["A"]}
    path = written(tmp_path / "memory.jsonl", graph)
    path.write_bytes(path.read_bytes() + b'{"type":"relation","from":"a","to":"x","relationType":"r"}\n')
    reads: list[tuple[str, dict[str, Any]]] = [
        ("read_graph", {}), ("search_nodes", {"query": "A"}), ("search_nodes", {"query": ""}),
        ("open_nodes", {"names": ["a", "a", "nope"]}), ("search_nodes", {"query": "nothing at all"}),
    ]  # fmt: skip
    ours = served(path, *(call(number, tool, **given) for number, (tool, given) in enumerate(reads, start=1)))
    with Server("2026-8-31", path) as stock:
        theirs = [stock.text(tool, **given) for tool, given in reads]
    assert [ours[number]["content"][0]["text"] for number in range(1, len(reads) + 1)] == theirs


def test_file_of_another_tool_is_an_error_of_every_tool(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b'{"role":"user","content":"hi"}\n' * 3)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    entity = {"name": "E", "entityType": "t", "observations": ["a"]}
    found = served(path, call(1, "read_graph"), call(2, "create_entities", entities=[entity]))
    assert [found[n]["isError"] for n in (1, 2)] == [True, True]
    assert "no type" in found[1]["content"][0]["text"]
    assert b"entity" not in path.read_bytes()


def test_what_was_added_a_moment_ago_is_as_old_as_that(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"E": ["a"]})
    scanned(path, "2026-05-01T00:00:00Z")
    program = [sys.executable, "-c", PROGRAM + MAIN, "serve", "--file", str(path)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ()) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(request: bytes) -> Any:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(request)
            server.stdin.flush()
            return json.loads(server.stdout.readline())["result"]

        ask(message(0, "initialize", **HELLO))
        items = [{"entityName": "E", "contents": ["plain"]}, {"entityName": "E", "contents": ["short"], "ttl": 3}]
        ask(call(1, "read_graph", include_metadata=True))
        ask(call(2, "add_observations", observations=items))
        lives = [ask(call(n, "read_graph", include_metadata=True))["_meta"]["memttl/metadata"][0] for n in (3, 4)]
        server.stdin.close()
        assert server.wait() == 0
    created = [(o["created_at"], o["expires_at"]) for o in lives[0]["observations"]]
    assert created == [("2026-05-01T00:00:00Z", None), (NOW, None), (NOW, "2026-06-04T12:00:00Z")]
    assert lives[0] == lives[1]


def test_broken_pipe_is_no_error(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"E": ["a"]})
    program = [sys.executable, "-m", "memttl", "serve", "--file", str(path)]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ()
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        server.stdin.write(message(0, "initialize", **HELLO))
        server.stdin.flush()
        assert server.stderr.read().splitlines() == [f"memttl serve: {path}, policy built-in".encode()]
        assert server.wait(timeout=30) == 0
