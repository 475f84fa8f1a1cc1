"""A raw JSON-RPC client of a memory server on its standard streams, without any SDK: what is sent and answered is seen.

`stock` opens the real server, `serve` opens `memttl serve`. Whatever hangs ends with a word on what did not come.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from process import environ
from server import need_server

STOCK = "2026-8-31"
RESOURCE = "memory://knowledge-graph"
PROTOCOL = "2025-11-25"  # the newest that the stock release speaks
TIMEOUT_S = 60.0
Message = dict[str, Any]


class Absent:
    """No value, where None is one."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = Absent()


class Client:
    """One running server; a thread reads what it says, so that neither side ever waits for the other to read."""

    def __init__(
        self, command: Sequence[str | Path], env: Mapping[str, str], *, protocol: str | None = PROTOCOL
    ) -> None:
        """Start a server and shake hands, unless `protocol` is empty."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=dict(env)
        )
        self._ids = itertools.count(1)
        self._heard: queue.Queue[bytes] = queue.Queue()
        self._replies: dict[Any, Message] = {}
        self.notifications: list[Message] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.initialized = self.initialize(protocol) if protocol else {}

    def initialize(self, protocol: str) -> Message:
        """Shake hands; give the whole reply."""
        client = {"name": "memttl-tests", "version": "0"}
        reply = self.ask("initialize", {"protocolVersion": protocol, "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})
        return reply

    def ask(self, method: str, params: Any = ABSENT) -> Message:
        """Make a request and wait for its reply: a message with `result` or `error`, its id taken out."""
        return self.gather([self.post(method, params)])[0]

    def call(self, tool: Any, arguments: Any = ABSENT) -> Message:
        """Call a tool; give the whole reply."""
        return self.ask("tools/call", _call(tool, arguments))

    def result(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed; give its structured content."""
        return done(self.call(tool, arguments))

    def pipeline(self, calls: Iterable[tuple[str, Any]]) -> list[Message]:
        """Make many calls without waiting for any, in one write; give their replies in the calls' order."""
        requests = [self._request("tools/call", _call(tool, arguments)) for tool, arguments in calls]
        self.write(b"".join(_line(request) for request in requests))
        return self.gather([request["id"] for request in requests])

    def post(self, method: str, params: Any = ABSENT) -> int:
        """Make a request without waiting; give its id for `gather`."""
        request = self._request(method, params)
        self.send(request)
        number: int = request["id"]
        return number

    def gather(self, numbers: Sequence[Any]) -> list[Message]:
        """Wait for the replies to these requests."""
        deadline = time.monotonic() + TIMEOUT_S
        while missing := [number for number in numbers if number not in self._replies]:
            self._hear(deadline, f"{len(missing)} of {len(numbers)} replies")
        return [self._replies.pop(number) for number in numbers]

    def stray(self) -> dict[Any, Message]:
        """Take the replies that came and nobody waited for."""
        taken, self._replies = self._replies, {}
        return taken

    def subscribe(self, uri: str = RESOURCE) -> None:
        """Ask to be told when the graph changes."""
        assert self.ask("resources/subscribe", {"uri": uri}) == {"result": {}}

    def notified(self, count: int) -> list[Message]:
        """Wait until so many notifications have come; give all."""
        deadline = time.monotonic() + TIMEOUT_S
        while len(self.notifications) < count:
            self._hear(deadline, f"notification {count}")
        return list(self.notifications)

    def send(self, message: Message) -> None:
        """Send one message."""
        self.write(_line(message))

    def write(self, data: bytes) -> None:
        """Write raw bytes to the server's input."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._failure("reads no more") from None

    def errors(self) -> str:
        """All that it wrote to standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def close(self, *, timeout_s: float = TIMEOUT_S) -> int:
        """Close its input and wait for its end; give the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise self._failure(f"did not end within {timeout_s:.0f} s of the end of its input") from None

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()
        self._listener.join(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(BrokenPipeError):  # what was not yet flushed when it ended
            self.kill()
        self._errors.close()

    def _request(self, method: str, params: Any) -> Message:
        message = {"id": next(self._ids), "method": method}
        return message if params is ABSENT else {**message, "params": params}

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._heard.put(line)
        self._heard.put(b"")

    def _hear(self, deadline: float, wanted: str) -> None:
        """Take in one message, whose kind tells where it belongs."""
        try:
            line = self._heard.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self._failure(f"hangs: {wanted} did not come within {TIMEOUT_S:.0f} s") from None
        if not line:
            self._heard.put(b"")
            raise self._failure(f"ended with exit code {self.process.wait()}: {wanted} did not come")
        try:
            message = json.loads(line)
        except ValueError:
            raise self._failure(f"wrote a line that is no JSON: {line!r}") from None
        assert message.pop("jsonrpc", None) == "2.0", line
        if "method" in message:
            self.notifications.append(message)
        else:
            self._replies[message.pop("id", None)] = message

    def _failure(self, sentence: str) -> AssertionError:
        return AssertionError(f"the server {sentence}; it said: {self.errors()[-2000:] or 'nothing'}")


def stock(path: Path, **options: Any) -> Client:
    """Open the real server on a memory file."""
    return Client(["node", need_server(STOCK)], environ(MEMORY_FILE_PATH=str(path)), **options)


def serve(path: Path, *words: str | Path, env: Mapping[str, str] | None = None, **options: Any) -> Client:
    """Open `memttl serve` on a memory file; `words` are added to its command, `env` to the clean environment."""
    command = [sys.executable, "-m", "memttl", "serve", "--file", path, *words]
    return Client(command, environ(**(env or {})), **options)


def done(reply: Message) -> Any:
    """The structured content of a reply that must be a success."""
    assert "error" not in reply, reply
    assert not reply["result"].get("isError"), reply
    return reply["result"]["structuredContent"]


def added(entity: str, *contents: str) -> tuple[str, Message]:
    """A call that adds observations to one entity."""
    return "add_observations", {"observations": [{"entityName": entity, "contents": list(contents)}]}


def _call(tool: Any, arguments: Any) -> Message:
    return {"name": tool} if arguments is ABSENT else {"name": tool, "arguments": arguments}


def _line(message: Message) -> bytes:
    """One message as ASCII: a lone surrogate goes as its escape, which is all that JSON has for it."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
