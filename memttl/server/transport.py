"""The wire: JSON-RPC messages, one a line, over the streams that the process was started with.

The SDK's own transport goes through pydantic's JSON and text files; a graph of a megabyte takes half the time here.
Nothing else can reach the wire: while it is open, the process's own standard output leads to its standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

import anyio
import orjson
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter


@asynccontextmanager
async def wire() -> AsyncIterator[tuple[Any, Any]]:
    """Open the wire; give the SDK's two streams, what comes and what goes. The first ends where standard input does."""
    source, sink = _own_streams()
    incoming, read_stream = create_context_streams[SessionMessage | Exception](0)
    write_stream, outgoing = create_context_streams[SessionMessage](0)

    async def read() -> None:
        async with incoming:
            while line := await anyio.to_thread.run_sync(source.readline, abandon_on_cancel=True):
                if line.strip():
                    await incoming.send(_message(line))

    async def write() -> None:
        async with outgoing:
            async for message in outgoing:
                await anyio.to_thread.run_sync(_put, sink, _line(message))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield read_stream, write_stream
        tasks.cancel_scope.cancel()


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep standard input and output for the wire alone; whatever else reads or prints meets nothing, or stderr."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(_value(line), by_name=False))
    except ValueError as e:
        return e


def _value(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return json.loads(line.decode("utf-8", "replace"))  # half of a pair of surrogates, which orjson refuses


def _line(message: SessionMessage) -> bytes:
    value = message.message.model_dump(by_alias=True, exclude_unset=True)
    try:
        return orjson.dumps(value) + b"\n"
    except TypeError:
        return json.dumps(value).encode() + b"\n"


def _put(sink: BinaryIO, line: bytes) -> None:
    sink.write(line)
    sink.flush()
