"""The wire of `memttl serve`: each line that is a message comes, each answer goes, and the end comes behind both."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from typing import Any

import anyio
import orjson
import pytest

pytest.importorskip("mcp")

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from memttl.server.answers import encoded
from memttl.server.transport import wire


def line(number: object, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "echo", "params": params}).encode() + b"\n"


def echoed(pieces: Sequence[bytes], *, answers: bool = True) -> tuple[list[Any], list[Any]]:
    """What comes of the pieces that are written, and the answers to its requests, which are their parameters."""
    (source, feed), (drain, sink) = os.pipe(), os.pipe()
    came, heard = list[Any](), list[bytes]()

    def write() -> None:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(feed, view) :]
        os.close(feed)

    def read() -> None:
        while piece := os.read(drain, 1 << 20):
            heard.append(piece)

    async def serve() -> None:
        async with wire((source, sink)) as (incoming, outgoing):
            async for item in incoming:
                came.append(item.message if isinstance(item, SessionMessage) else item)
                if answers and isinstance(came[-1], JSONRPCRequest):
                    # as the SDK does, aside, while the next ones are read
                    result = {"echo": came[-1].params}
                    answer = JSONRPCResponse(jsonrpc="2.0", id=came[-1].id, result=result)
                    await outgoing.send(SessionMessage(answer))

    threads = [threading.Thread(target=work) for work in (write, read)]
    for thread in threads:
        thread.start()
    anyio.run(serve)
    os.close(sink)
    for thread in threads:
        thread.join()
    return came, [json.loads(answer)["result"]["echo"] for answer in b"".join(heard).split(b"\n") if answer]


def test_lines_come_however_they_are_cut_into_pieces() -> None:
    data = line(1, a=1) + b"\r\n  \n" + line(2, a=2).replace(b"\n", b"\r\n") + line(3, a=3).rstrip()
    for cuts in (1, 7, len(data)):
        pieces = [data[at : at + cuts] for at in range(0, len(data), cuts)]
        assert echoed(pieces)[1] == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_long_line_comes_whole() -> None:
    text = "x" * 25_000_000
    assert echoed([line(1, text=text), line(2)])[1] == [{"text": text}, {}]


@pytest.mark.parametrize(
    "bad",
    [b"nope", b"{}", b"[]", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1}', b"[" * 100_000, b'{"jsonrpc":"2.0","id":NaN}'],
    ids=["no JSON", "no message", "a list", "no UTF-8", "no method", "too deep", "NaN"],
)
def test_what_is_no_message_is_passed_on_as_an_error_and_the_next_line_comes(bad: bytes) -> None:
    came, answers = echoed([bad + b"\n", line(1, a=1)])
    assert isinstance(came[0], ValueError)
    assert answers == [{"a": 1}]


def test_lone_surrogates_come_and_go() -> None:
    assert echoed([line(1, text="\ud800 é")])[1] == [{"text": "\ud800 é"}]


def test_what_is_cancelled_is_not_waited_for() -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    came, answers = echoed([line(1), json.dumps(cancelled).encode()], answers=False)
    assert (len(came), answers) == (2, [])


def test_end_of_the_reader_ends_the_wire() -> None:
    (source, feed), (drain, sink) = os.pipe(), os.pipe()
    os.close(drain)
    os.write(feed, line(1))  # and it stays open

    async def serve() -> None:
        async with wire((source, sink)) as (incoming, outgoing):
            async for item in incoming:
                answer = JSONRPCResponse(jsonrpc="2.0", id=item.message.id, result={})
                await outgoing.send(SessionMessage(answer))

    anyio.run(serve)
    os.close(feed)


def test_json_that_is_ready_is_written_beside_what_orjson_refuses() -> None:
    value = {"a": orjson.Fragment(b'{"b":[1]}'), "c": ["\ud800", 1 << 80], "d\udc00": None}
    assert json.loads(encoded(value)) == {"a": {"b": [1]}, "c": ["\ud800", 1 << 80], "d\udc00": None}
