"""The wire: JSON-RPC messages, one a line, over the streams that the process was started with.

The SDK's own transport goes through pydantic's JSON and text files, and knows no JSON that is ready. Nothing else can
reach the wire: while it is open, the process's own standard output leads to its standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager, suppress
from typing import Any, NoReturn

import anyio
import orjson
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter

from memttl.errors import CannotPrint
from memttl.server.answers import encoded

_PIECE = 1 << 20
_PATIENCE_S = 3.0  # a client that has closed the wire soon ends what does not go by itself
Send = Callable[[SessionMessage | Exception], Coroutine[Any, Any, None]]
_NEVER_ANSWERED = "subscriptions/listen"  # it lasts as long as the connection


@asynccontextmanager
async def wire(
    ends: tuple[int, int] | None = None, *, stopped: anyio.Event | None = None
) -> AsyncIterator[tuple[Any, Any]]:
    """Open the wire; give the SDK's two streams, what comes and what goes.

    The first ends where standard input does, or once `stopped` is set, after all that was asked is answered, for which
    it waits a few seconds. Where nobody reads the answers any more, the body is cancelled. `ends` are descriptors to
    read and write in place of the standard ones.

    Raises:
        CannotPrint: an answer cannot be written, though there is somebody to read it: the disk is full, say.
    """
    source, sink = ends or _own_streams()
    failed: OSError | None = None
    incoming, read_stream = create_context_streams[SessionMessage | Exception](0)
    write_stream, outgoing = create_context_streams[SessionMessage](0)
    asked = _Asked()

    async def end() -> None:
        with anyio.move_on_after(_PATIENCE_S):
            await asked.all_answered()
        await incoming.aclose()

    watching = anyio.CancelScope()

    async def end_when(stopped: anyio.Event) -> None:
        with watching:
            await stopped.wait()
            await end()

    async def write() -> None:
        nonlocal failed
        async with outgoing:
            async for message in outgoing:
                try:
                    await anyio.to_thread.run_sync(_put, sink, message)
                except OSError as e:
                    failed = e
                    tasks.cancel_scope.cancel()
                asked.answer(message)

    async def send(message: SessionMessage | Exception) -> None:
        asked.note(message)
        await incoming.send(message)

    _read_on(source, send, end)
    async with anyio.create_task_group() as tasks, incoming:
        tasks.start_soon(write)
        if stopped is not None:
            tasks.start_soon(end_when, stopped)
        yield read_stream, write_stream
        watching.cancel()
        await write_stream.aclose()
    if failed is not None and not isinstance(failed, ConnectionError):  # else the client is gone
        raise CannotPrint(f"The client cannot be answered: standard output cannot be written ({failed.strerror}).")


class _Asked:
    """The requests that are not answered yet, by their ids."""

    def __init__(self) -> None:
        self._open = Counter[str]()  # two may have the same id, and 9 is "9" to the SDK
        self._changed = anyio.Event()

    def note(self, message: SessionMessage | Exception) -> None:
        """Note what comes: a request, or that one is cancelled, which is then never answered."""
        found = message.message if isinstance(message, SessionMessage) else None
        if isinstance(found, JSONRPCRequest) and found.method != _NEVER_ANSWERED:
            self._open[str(found.id)] += 1
        if isinstance(found, JSONRPCNotification) and found.method == "notifications/cancelled":
            self._close((found.params or {}).get("requestId"))

    def answer(self, message: SessionMessage) -> None:
        """Note what went."""
        if isinstance(message.message, (JSONRPCResponse, JSONRPCError)):
            self._close(message.message.id)

    def _close(self, number: object) -> None:
        self._open -= Counter([str(number)])
        self._changed.set()

    async def all_answered(self) -> None:
        """Wait until nothing is open."""
        while self._open:
            self._changed = anyio.Event()
            await self._changed.wait()


def _own_streams() -> tuple[int, int]:
    """Keep standard input and output for the wire alone; whatever else reads or prints meets nothing, or stderr."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(nothing, 1)
    os.close(nothing)
    sys.stdout = sys.stderr
    return source, sink


def _read_on(source: int, send: Send, end: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Read lines in a thread until the source ends; it is not waited for where the wire is closed before."""
    loop = asyncio.get_running_loop()

    def on_loop(work: Coroutine[Any, Any, None]) -> Future[None]:
        try:
            return asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError:
            work.close()
            raise

    def read() -> None:
        # the loop may be over at any time: then there is nobody left to read for
        with suppress(RuntimeError, CancelledError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            _each_line(source, lambda line: on_loop(send(_message(line))).result())
            on_loop(end())

    threading.Thread(target=read, name="memttl-reader", daemon=True).start()


def _each_line(source: int, take: Callable[[bytes], object]) -> None:
    """Take each line that is not blank, the last one also without its LF."""
    begun: list[bytes] = []
    while piece := _piece(source):
        first, *others = piece.split(b"\n")
        begun.append(first)
        for line in others:
            whole, begun = b"".join(begun), [line]
            if whole.strip():
                take(whole)
    if (whole := b"".join(begun)).strip():
        take(whole)


def _piece(source: int) -> bytes:
    while True:
        try:
            return os.read(source, _PIECE)
        except BlockingIOError:
            select.select([source], [], [])
        except OSError:  # a terminal that went away
            return b""


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(_value(line), by_name=False))
    except (ValueError, RecursionError) as e:
        return e if isinstance(e, ValueError) else ValueError("nested too deep")


def _value(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        # half of a pair of surrogates, which orjson refuses
        return json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _put(sink: int, message: SessionMessage) -> None:
    rest = memoryview(_line(message))
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:
            select.select([], [sink], [])


def _line(message: SessionMessage) -> bytes:
    found = message.message
    if isinstance(found, JSONRPCResponse):  # its result may hold JSON that is ready, which pydantic knows nothing of
        return encoded({"jsonrpc": found.jsonrpc, "id": found.id, "result": found.result}) + b"\n"
    return encoded(found.model_dump(by_alias=True, exclude_unset=True)) + b"\n"
