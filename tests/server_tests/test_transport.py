"""The wire of `memttl serve`: what is still to be answered, what is answered at all, and where nobody can be."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("mcp")

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from memttl.errors import CannotPrint
from memttl.server.serve import _Session
from memttl.server.transport import _Asked, wire


def answer(number: int | str) -> SessionMessage:
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


def test_each_of_several_requests_of_one_id_is_waited_for() -> None:
    async def run() -> list[bool]:
        asked = _Asked()
        for number in (9, 9, "9"):
            asked.note(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=number, method="ping")))
        found = []
        for number in (9, "9", 9):
            asked.answer(answer(number))
            with anyio.move_on_after(0) as waiting:
                await asked.all_answered()
            found.append(not waiting.cancelled_caught)
        return found

    assert anyio.run(run) == [False, False, True]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_answer_that_cannot_be_written_is_an_error() -> None:
    source, source_end = os.pipe()
    sink = os.open("/dev/full", os.O_WRONLY)

    async def run() -> None:
        async with wire((source, sink)) as (_, outgoing):
            await outgoing.send(answer(1))
            await anyio.sleep_forever()

    with pytest.raises(CannotPrint, match="The client cannot be answered"):
        anyio.run(run)
    os.close(source_end)
    os.close(sink)


@pytest.mark.parametrize("method", ["nope", "tools/call", "ping"])
def test_message_without_an_id_is_left_to_the_sdk_which_answers_none(method: str) -> None:
    session = _Session(cast(Any, None), cast(Any, None))
    context = SimpleNamespace(request_id=None, method=method, params={"name": 3})

    async def call_next(_: object) -> str:
        return "passed on"

    async def run() -> list[object]:
        return [await layer(context, call_next) for layer in (session._refuse, session._answer_raw)]

    assert anyio.run(run) == ["passed on", "passed on"]
