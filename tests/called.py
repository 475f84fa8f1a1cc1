"""The tools of `memttl serve` called in this process, on a memory file: no wire, no client, and a day of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
from pruning import NOW, settings_of

from memttl.errors import BadPolicy
from memttl.server.answers import encoded
from memttl.server.calls import Calls
from memttl.server.tools import TOOLS
from memttl.server.writer import Writer
from memttl.settings import Settings
from memttl.workflow.serving import Serving

_GIVES = {tool.name: tool.listed().get("outputSchema") for tool in TOOLS}


class Called:
    """One served memory file. `now` may be moved; `changed` counts how often a client was told of a change."""

    def __init__(self, path: Path, now: str) -> None:
        self.path, self.now, self.changed = path, now, 0
        self.bad_policy: BadPolicy | None = None
        self.serving = Serving(self.settings)
        self.writer = Writer(self.serving.apply, self.serving.rest)
        self.calls = Calls(self.serving, self.writer, self.note)
        self.runner = asyncio.Runner()

    def settings(self) -> Settings:
        """The settings as they are now."""
        return settings_of(self.path, now=self.now)._replace(bad_policy=self.bad_policy)

    async def note(self) -> None:
        """Be told of a change, as a client is."""
        self.changed += 1

    def result(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The whole result of a call, whatever comes of it."""
        return self.runner.run(self.calls.call(tool, arguments))

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds, which its output schema allows."""
        import orjson

        result = self.runner.run(self.calls.call(tool, arguments))
        assert not result.get("isError"), result
        content: dict[str, Any] = orjson.loads(encoded(result["structuredContent"]))
        jsonschema.validate(content, _GIVES[tool])
        return content

    def error(self, tool: str, **arguments: Any) -> str:
        """The text of a call that fails."""
        result = self.runner.run(self.calls.call(tool, arguments))
        assert result.get("isError"), result
        text: str = result["content"][0]["text"]
        return text


@contextmanager
def served(path: Path, *, policy: str = "", now: str = NOW) -> Iterator[Called]:
    """Serve a memory file to this process; a policy's text is written beside it."""
    if policy:
        (path.parent / "memttl.toml").write_text(policy, encoding="utf-8")
    called = Called(path, now)
    called.writer.start()
    try:
        yield called
    finally:
        called.writer.stop(within_s=20)
        called.runner.close()
