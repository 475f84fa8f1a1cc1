"""The real memory server as a child process, spoken to over its standard streams as an MCP client does."""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

import pytest
from process import FIXTURES, environ

SERVERS = FIXTURES / "server/node_modules"
RELEASES = ("2026-8-31", "2026-7-4")
TIMEOUT_S = 30.0


def need_server(release: str) -> Path:
    """The program of one release, or a skip that says what is missing."""
    program = SERVERS / f"server-{release}/dist/index.js"
    if not shutil.which("node"):
        missing("node is not installed")
    if not program.exists():
        missing(f"the memory server {release} is not installed: npm ci --prefix fixtures/server")
    return program


def missing(sentence: str) -> NoReturn:
    """Skip a test for want of something that `.ci/run` installs, so that CI fails instead."""
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


class ServerError(Exception):
    """The server answered a call with an error."""


class Server:
    """One running memory server on one memory file."""

    def __init__(self, release: str, memory: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(need_server(release))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ(MEMORY_FILE_PATH=str(memory)),
        )
        self._ids = itertools.count(1)
        client = {"name": "memttl-tests", "version": "0"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; give what it answers.

        Raises:
            ServerError: it answered with an error.
        """
        return json.loads(self.text(tool, **arguments))

    def text(self, tool: str, **arguments: Any) -> str:
        """Call a tool; give the text of its answer as it came.

        Raises:
            ServerError: it answered with an error.
        """
        result = self._ask("tools/call", name=tool, arguments=arguments)
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise ServerError(text)
        return text

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()

    def _ask(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        while True:
            answer = json.loads(self._line())
            if answer.get("id") == number:
                if "error" in answer:
                    raise ServerError(answer["error"]["message"])
                return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], TIMEOUT_S)[0]:
            raise AssertionError("the memory server does not answer")
        return self._process.stdout.readline()
