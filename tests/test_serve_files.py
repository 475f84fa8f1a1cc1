"""`memttl serve` beside the real server 2026.8.31 on every memory file of the fixtures, damaged and foreign too."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from calls import Request, tool
from differential import NEVER_EXPIRES, Pair, bytes_of, graph_of, put
from process import FIXTURES
from serving import Message, serve, stock
from wanted_files import BOM, SAID, WANTED_FILES, Partly, Refused

pytestmark = [pytest.mark.server, pytest.mark.slow]
FOLDERS = {"memory": "", "from-servers": "../from-servers/"}
STARTS = [
    f"{way}{path.stem}" for folder, way in FOLDERS.items() for path in sorted((FIXTURES / folder).glob("*.jsonl"))
]
READ = tool("read_graph", {})


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The real server and `memttl serve`, under a policy by which nothing expires: one pair for all."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "policy.toml").write_text(NEVER_EXPIRES)
    paths = folder / "stock/memory.jsonl", folder / "ours/memory.jsonl"
    for path in paths:
        path.parent.mkdir()
    with Pair(stock(paths[0]), paths[0], serve(paths[1], "--policy", folder / "policy.toml"), paths[1]) as both:
        yield both


def calls_on(data: bytes) -> list[Request]:
    """A short sequence of calls: every tool, on an entity of the file and on one that is not there."""
    names = [entity["name"] for entity in graph_of(data)["entities"]] or ["no one"]
    new = [{"name": name, "entityType": "t", "observations": ["one"]} for name in (names[0], "New")]
    link = [{"from": names[0], "to": "New", "relationType": "knows"}]
    return [
        READ,
        tool("search_nodes", {"query": "e"}),
        tool("open_nodes", {"names": names[:1]}),
        tool("add_observations", {"observations": [{"entityName": names[0], "contents": ["likes tea"]}]}),
        tool("add_observations", {"observations": [{"entityName": "nobody", "contents": ["likes tea"]}]}),
        tool("create_entities", {"entities": new}),
        tool("create_relations", {"relations": link}),
        READ,
        tool("delete_observations", {"deletions": [{"entityName": names[0], "observations": ["likes tea"]}]}),
        tool("delete_relations", {"relations": link}),
        tool("delete_entities", {"entityNames": ["New", "nobody"]}),
        READ,
    ]


def answered(reply: Message) -> tuple[bool, Any, Any, str]:
    """A result: isError, structured content, the first text, read where it is JSON; and what is said besides."""
    result = reply["result"]
    first, *rest = [block["text"] for block in result["content"]]
    with contextlib.suppress(ValueError):
        first = json.loads(first)
    return result.get("isError", False), result.get("structuredContent"), first, "\n".join(rest)


def stock_on(pair: Pair, data: bytes) -> str:
    """What the stock server says to a read of a file; "" where it succeeds."""
    put(pair.files[0], data)
    is_error, _, text, _ = answered(pair.stock.ask(*READ))
    return str(text) if is_error else ""


def test_list_names_fixtures_alone() -> None:
    assert set(WANTED_FILES) <= set(STARTS)


def test_files_are_answered_as_by_the_stock_server(pair: Pair) -> None:
    for start in STARTS:
        if start not in WANTED_FILES:
            found = pair.run(start, calls_on(bytes_of(start) or b""))
            assert not found, "\n".join(d.told() for d in found[:3])


def test_files_are_answered_as_their_readable_rest_is_by_the_stock_server(pair: Pair) -> None:
    for start, row in WANTED_FILES.items():
        if isinstance(row, Partly):
            answer_as_on_the_rest(pair, start, row)


def answer_as_on_the_rest(pair: Pair, start: str, row: Partly) -> None:
    """Our server on a file answers as the stock server on the rest of it, says what it left out, and keeps that."""
    data = bytes_of(start) or b""
    told = stock_on(pair, data)
    assert (row.stock in told) if row.stock else not told, start
    left_out = row.left_out(data)
    rest = row.rest(data, left_out)
    put(pair.files[0], rest)
    put(pair.files[1], data)
    for number, request in enumerate(calls_on(rest)):
        theirs, ours = answered(pair.stock.ask(*request)), answered(pair.ours.ask(*request))
        assert ours[:3] == theirs[:3], (start, request)
        if number == 0:
            assert ours[3].startswith(row.says), (start, request)
        assert unnumbered(ours[3]).startswith(unnumbered(row.says)), (start, request)
    written = pair.files[1].read_bytes()
    assert set(left_out) <= set(written.split(b"\n")), start
    assert written.startswith(BOM) == data.startswith(BOM), start
    assert graph_of(row.rest(written, left_out)) == graph_of(pair.files[0].read_bytes()), start


def unnumbered(notes: str) -> str:
    """Notes whose line may have another number by now."""
    return re.sub("^Line [0-9]+ ", "Line ", notes)


def test_files_are_refused_by_every_tool_and_stay(pair: Pair) -> None:
    for start, row in WANTED_FILES.items():
        if isinstance(row, Refused):
            data = bytes_of(start) or b""
            told = stock_on(pair, data)
            assert (row.stock in told) if row.stock else not told, start
            put(pair.files[1], data)
            for request in calls_on(b""):
                is_error, structured, text, notes = answered(pair.ours.ask(*request))
                assert (is_error, structured, notes) == (True, None, ""), (start, request)
                assert text.startswith(row.says), (start, request)
            assert pair.files[1].read_bytes() == data, start


def test_calls_that_no_rest_of_a_file_explains(pair: Pair) -> None:
    for said in SAID:
        for path in pair.files:
            put(path, bytes_of(said.start))
        replies = [answered(client.ask(*said.asked)) for client in (pair.stock, pair.ours)]
        found = [(is_error, text, notes) for is_error, _, text, notes in replies]
        assert found == [said.stock, said.ours], said
