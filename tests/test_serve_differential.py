"""`memttl serve` beside the real server 2026.8.31: random calls get equal answers and leave equal graphs.

CI runs a tenth of the sequences. All 500: `SERVE_SEQUENCES=500 python -m pytest -n 4 tests/test_serve_differential.py`.
A sequence is its seed: what fails names start file and request, and `wanted.py` lists what may differ, with reasons.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from calls import TOOLS, Request
from differential import MISSING, NEVER_EXPIRES, STARTS, Pair, differences, sequence
from process import environ
from server import need_server
from serving import STOCK, Client, Message, serve, stock
from wanted import OURS, WANTED, is_wanted

SEQUENCES = int(os.environ.get("SERVE_SEQUENCES", "50"))
BATCH = len(STARTS)  # one pair of processes meets each start file once
pytestmark = [pytest.mark.server, pytest.mark.slow]
Plant = Callable[[Message], object]


def files_in(folder: Path) -> tuple[Path, Path]:
    """The places of two memory files, each in a folder of its own."""
    paths = folder / "stock/memory.jsonl", folder / "ours/memory.jsonl"
    for path in paths:
        path.parent.mkdir()
    return paths


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """The real server and `memttl serve`, under a policy by which nothing expires."""
    policy = tmp_path / "policy.toml"
    policy.write_text(NEVER_EXPIRES)
    stock_file, our_file = files_in(tmp_path)
    with Pair(stock(stock_file), stock_file, serve(our_file, "--policy", policy), our_file) as both:
        yield both


@pytest.mark.parametrize("first", range(0, SEQUENCES, BATCH))
def test_random_calls_get_the_answers_of_the_stock_server(pair: Pair, first: int) -> None:
    for seed in range(first, min(first + BATCH, SEQUENCES)):
        unwanted = [d.told() for d in sequence(pair, seed) if not is_wanted(d)]
        assert not unwanted, f"seed {seed}\n" + "\n".join(unwanted[:3])


def test_every_wanted_difference_is_there(pair: Pair) -> None:
    for row in WANTED:
        found = pair.run(row.start, row.requests)
        assert [d for d in found if row.fits(d)], f"no longer there: {row.name}"
        unwanted = [d.told() for d in found if not is_wanted(d)]
        assert not unwanted, f"{row.name}\n" + "\n".join(unwanted[:3])


PROTOCOL_REQUESTS = [
    *(Request("initialize", {"protocolVersion": v, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}})
      for v in ("2025-06-18", "2025-03-26", "2024-11-05", "2026-07-28", "1999-01-01", "")),
    Request("initialize", {}),
    Request("initialize", {"protocolVersion": 1, "capabilities": [], "clientInfo": None}),
    Request("ping", {}),
    Request("tools/list", {"cursor": "anything"}),
    Request("tools/list", {"cursor": 5}),
    Request("resources/list", {"cursor": 5}),
    Request("resources/templates/list", {}),
    Request("resources/read", {"uri": ""}),
    Request("resources/read", {"uri": "no uri"}),
    Request("resources/read", {"uri": "MEMORY://knowledge-graph"}),
    Request("resources/read", {"uri": "memory://knowledge-graph/"}),
    *(Request("resources/read", {"uri": uri}) for uri in (
        "memory://knowledge-graph ", "\n memory://knowledge-graph\x00", "mem\tory://knowledge-\ngraph",
        " memory://nope ",
        "memory://knowledge-graph\u00a0", "MEMORY://Knowledge-Graph", "memory:knowledge-graph", " no uri ",
        "memory://\u00e4%20?x#y",
    )),
    Request("resources/subscribe", {"uri": "memory://nope"}),
    Request("resources/subscribe", {}),
    Request("resources/unsubscribe", {"uri": "memory://nope"}),
    Request("prompts/list", {}),
    Request("logging/setLevel", {"level": "debug"}),
    Request("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a"}}),
    Request("tools/call", {}),
    Request("tools/call", {"arguments": {}}),
    Request("tools/call", {"name": {}, "arguments": []}),
    *(Request("tools/call", {"name": name, "arguments": {}, "task": task})
      for name in ("read_graph", "create_entities", "nope") for task in ({}, {"ttl": 5}, {"ttl": "x"}, 5, None)),
    Request("tools/call", {"name": 5, "task": 5}),
    Request("tools/call", {"name": 5, "task": {"ttl": "x"}}),
    Request("no/such/method", {}),
    Request("server/discover", {}),
    Request("subscriptions/listen", {"notifications": {}}),
]  # fmt: skip


def test_the_protocol_is_answered_as_the_stock_server_does(pair: Pair) -> None:
    found = [d for request in PROTOCOL_REQUESTS for d in pair.ask(MISSING, request)]
    unwanted = [d.told() for d in found if not is_wanted(d)]
    assert not unwanted, "\n".join(unwanted)


LINES = [
    b"nonsense", b"", b" \t", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"jsonrpc":"2.0"}', b'{"id":8,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"word","method":"ping"}\r', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"1.0","id":7,"method":"ping"}',
    b'[{"jsonrpc":"2.0","id":9,"method":"ping"}]', b'{"jsonrpc":"2.0","id":10,"method":5}',
    b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":[]}', b'{"jsonrpc":"2.0","id":12,"result":{}}',
    b'{"jsonrpc":"2.0","id":-5,"method":"ping"}', b'{"jsonrpc":"2.0","method":"notifications/nope"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
    *(b'{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"search_nodes","arguments":{"query":%s}}}' % n
      for n in (b"1e400", b"-1e400", b"[1e400]", b"1e308", b"123456789012345678901234567890")),
]  # fmt: skip


def test_lines_that_are_no_messages_are_passed_over_as_the_stock_server_does(pair: Pair) -> None:
    for line in LINES:
        answers = []
        for client in (pair.stock, pair.ours):
            client.write(line + b"\n")
            answers.append([client.ask("ping"), client.ask("ping"), client.stray(), client.notifications])
        assert answers[0] == answers[1], line


def test_its_tools_are_the_nine_and_ours_each_with_a_description(pair: Pair) -> None:
    listed = [client.ask("tools/list", {})["result"]["tools"] for client in (pair.stock, pair.ours)]
    names = [[one["name"] for one in tools] for tools in listed]
    assert names[1] == [*names[0], *OURS]
    assert names[0] == list(TOOLS)
    assert all(len(one["description"]) > 20 for one in listed[1])


def test_unsubscribed_is_told_nothing(pair: Pair) -> None:
    for client in (pair.stock, pair.ours):
        client.ask("resources/unsubscribe", {"uri": "memory://knowledge-graph"})
        client.notifications.clear()
        client.result("create_entities", entities=[])
        client.ask("ping")
    assert pair.stock.notifications == pair.ours.notifications == []


# the machinery itself: two stock servers differ in nothing, and one whose answers are falsified is found out


class Falsified(Client):
    """A stock server whose replies a function changes on their way."""

    plant: Plant = staticmethod(lambda _: None)

    def gather(self, numbers: Sequence[Any]) -> list[Message]:
        """Wait for the replies, and change them."""
        replies = super().gather(numbers)
        for reply in replies:
            self.plant(reply)
        return replies


@pytest.fixture(scope="module")
def stocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two stock servers; the second can be falsified."""
    one, other = files_in(tmp_path_factory.mktemp("stocks"))
    second = Falsified(["node", need_server(STOCK)], environ(MEMORY_FILE_PATH=str(other)))
    with Pair(stock(one), one, second, other) as both:
        yield both


def first_difference(pair: Pair) -> list[str]:
    """The places at which the first sequence that differs does."""
    for seed in range(2 * BATCH):
        if found := sequence(pair, seed):
            return [d.where for d in found]
    return []


def test_two_stock_servers_differ_in_nothing(stocks: Pair) -> None:
    assert first_difference(stocks) == []


def _less_of_the_graph(reply: Message) -> None:
    entities = reply.get("result", {}).get("structuredContent", {}).get("entities")
    if entities:
        entities.pop()


def _another_text(reply: Message) -> None:
    for block in reply.get("result", {}).get("content", []):
        block["text"] = block["text"].replace("tea", "coffee")


def _another_complaint(reply: Message) -> None:
    if reply.get("result", {}).get("isError"):
        reply["result"]["content"][0]["text"] += "."


def _one_block_more(reply: Message) -> None:
    reply.get("result", {}).get("content", []).append({"type": "text", "text": "by the way"})


PLANTS: dict[str, tuple[Plant, set[str]]] = {
    "an entity less": (_less_of_the_graph, {"structuredContent"}),
    "another text": (_another_text, {"content"}),
    "another complaint": (_another_complaint, {"content"}),
    "one block more": (_one_block_more, {"content"}),
    "no isError": (lambda reply: reply.get("result", {}).pop("isError", None), {"isError", "keys"}),
    "one key more": (lambda reply: reply.get("result", {}).update(_meta={}), {"keys", "result"}),
    "another code": (lambda reply: reply.get("error", {}).update(code=-32000), {"error"}),
    "another message": (lambda reply: reply.get("error", {}).update(message="Not so"), {"error"}),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_a_falsified_answer_is_found(stocks: Pair, monkeypatch: pytest.MonkeyPatch, plant: str) -> None:
    falsify, places = PLANTS[plant]
    monkeypatch.setattr(stocks.ours, "plant", falsify)
    found = set(first_difference(stocks))
    assert found
    assert found <= places


def test_a_falsified_file_is_found(stocks: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stocks.files[1]

    def cut_last_line(_: Message) -> None:
        if path.exists():
            path.write_bytes(path.read_bytes().rpartition(b"\n")[0])

    monkeypatch.setattr(stocks.ours, "plant", cut_last_line)
    assert "files" in first_difference(stocks)


def test_a_missing_notification_is_found(stocks: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stocks.ours, "plant", lambda _: stocks.ours.notifications.clear())
    assert set(first_difference(stocks)) == {"notifications"}


def test_true_is_not_one_and_one_is_not_one_point_nought() -> None:
    answers = [{"result": {"value": value}} for value in (True, 1, 1.0)]
    assert [len(differences(one, other)) for one in answers for other in answers] == [0, 1, 1, 1, 0, 1, 1, 1, 0]


def test_every_tool_is_called_rightly_and_wrongly_by_the_sequences_of_ci(
    stocks: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: set[tuple[Any, bool]] = set()

    def note(start: str, request: Request) -> list[Any]:
        reply = stocks.stock.ask(*request)
        if request.method == "tools/call" and isinstance(request.params["name"], str):
            met.add((request.params["name"], "error" in reply or bool(reply["result"].get("isError"))))
        return []

    monkeypatch.setattr(stocks, "ask", note)
    for seed in range(50):
        sequence(stocks, seed)
    wanted = {(name, is_wrong) for name in TOOLS for is_wrong in (False, True)}
    assert wanted - {("read_graph", True)} <= met  # read_graph takes nothing that could be wrong
