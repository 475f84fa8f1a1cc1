"""What doctor says that the memory server does with a file is what the real server does with it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkups import checked
from process import FIXTURES, aged
from server import RELEASES, Server, ServerError
from support import entity

ALL = sorted([*(FIXTURES / "memory").glob("*.jsonl"), *(FIXTURES / "from-servers").glob("*.jsonl")])
pytestmark = pytest.mark.server


@pytest.fixture(scope="module", params=RELEASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server and its memory file, which it reads anew at each call."""
    path = tmp_path_factory.mktemp("server") / "memory.jsonl"
    with Server(request.param, path) as running:
        yield running, path


def said(path: Path) -> str:
    """All that doctor says of what the server does."""
    return "\n".join(finding.server for finding in checked(aged(path)).findings)


def fails(server: Server, tool: str, **arguments: object) -> bool:
    try:
        server.call(tool, **arguments)
    except ServerError:
        return True
    return False


@pytest.mark.parametrize("fixture", ALL, ids=lambda path: path.name)
def test_server_fails_at_every_tool_just_where_doctor_says_so(server: tuple[Server, Path], fixture: Path) -> None:
    running, path = server
    shutil.copy(fixture, path)
    before = path.read_bytes()
    words = said(path)
    assert fails(running, "open_nodes", names=["nobody"]) == ("every tool of the memory server fails" in words)
    if "every tool" in words:
        assert fails(running, "create_entities", entities=[])
        assert path.read_bytes() == before


@pytest.mark.parametrize("fixture", ALL, ids=lambda path: path.name)
def test_server_refuses_the_graph_just_where_doctor_says_so(server: tuple[Server, Path], fixture: Path) -> None:
    running, path = server
    shutil.copy(fixture, path)
    words = said(path)
    told = "every tool of the memory server fails" in words or "read_graph fails for the whole graph" in words
    assert fails(running, "read_graph") == told


@pytest.mark.parametrize("fixture", ALL, ids=lambda path: path.name)
def test_after_a_write_of_the_server_nothing_is_left_that_it_erases(server: tuple[Server, Path], fixture: Path) -> None:
    running, path = server
    shutil.copy(fixture, path)
    if "every tool" in said(path):
        return
    running.call("create_entities", entities=[{"name": "new", "entityType": "t", "observations": ["a"]}])
    left = {finding.name for finding in checked(aged(path)).findings}
    assert not left & {"unknown-type", "no-object", "extra-field", "blank-line", "crlf", "marker-line", "foreign"}
    assert not left & {"malformed-line"}


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (b'{"type":"note","x":"gone"}', b"gone"),
        (b'["gone"]', b"gone"),
        (b'"gone"', b"gone"),
        (entity(["a"], name="B", extra="gone"), b"gone"),
        (entity(["a"], name="B")[:-1] + b',"observations":["last"]}', b'"a"'),
        (entity(["gone"], name="B").replace(b"gone", b"\xff"), b"\xff"),
    ],
    ids=str,
)
def test_what_doctor_says_is_erased_is_erased(server: tuple[Server, Path], line: bytes, kept: bytes) -> None:
    running, path = server
    path.write_bytes(entity(["note"], name="A") + b"\n" + line)
    words = said(path)
    assert any(verb in words for verb in ("erases", "drop them", "writes that"))
    running.call("create_entities", entities=[{"name": "new", "entityType": "t", "observations": ["b"]}])
    assert kept not in path.read_bytes()


def test_null_line_stops_the_server(server: tuple[Server, Path]) -> None:
    running, path = server
    path.write_bytes(entity(["note"]) + b"\nnull")
    assert "every tool" in said(path)
    assert fails(running, "read_graph")


@pytest.mark.parametrize("record", [b'{"type":"entity","name":"B","observations":[]}', b'{"type":"entity"}'])
def test_search_breaks_just_where_doctor_says_so(server: tuple[Server, Path], record: bytes) -> None:
    running, path = server
    path.write_bytes(entity(["note"], name="A") + b"\n" + record)
    assert "search_nodes fails" in said(path)
    assert fails(running, "search_nodes", query="zzz")
