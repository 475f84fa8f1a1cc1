"""The three tools that read, and the resource: arguments into a reading of the view, and that into an answer.

`calls.py` hands their calls over. An answer is made of pieces of JSON that are ready (`core/serving_json.py`), which
only the transport puts together.
"""

from __future__ import annotations

from typing import Any

import anyio
import orjson

from memttl.core.listing import read_expire_before
from memttl.core.serving_view import Answer, Reading
from memttl.errors import MemttlError
from memttl.server.answers import METADATA, raw_text, text_block
from memttl.settings import Settings
from memttl.workflow.serving import Seen, Serving

Arguments = dict[str, Any]


class Reads:
    """Answers what reads, in one thread of its own, so that no read waits for a write."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._one_reader = anyio.CapacityLimiter(1)

    async def read_graph(self, given: Arguments) -> dict[str, Any]:
        """Answer `read_graph`.

        Raises:
            MemttlError: the memory file cannot be read, or an argument.
        """
        return await anyio.to_thread.run_sync(self._read, given, limiter=self._one_reader)

    async def search_nodes(self, given: Arguments) -> dict[str, Any]:
        """Answer `search_nodes`; raises as `read_graph`."""
        return await anyio.to_thread.run_sync(self._search, given, limiter=self._one_reader)

    async def open_nodes(self, given: Arguments) -> dict[str, Any]:
        """Answer `open_nodes`; raises as `read_graph`."""
        return await anyio.to_thread.run_sync(self._open, given, limiter=self._one_reader)

    async def text(self) -> str:
        """Give the text of `read_graph`, which is that of the resource; raises as it."""
        answer = await self.read_graph({})
        return str(orjson.loads(orjson.dumps(answer["content"][0]["text"])))

    def _read(self, given: Arguments) -> dict[str, Any]:
        seen, reading = self._seen(given)
        return _result(seen, seen.view.read(reading, seen.settings.now, metadata=_asks(given)))

    def _search(self, given: Arguments) -> dict[str, Any]:
        seen, reading = self._seen(given)
        return _result(seen, seen.view.search(given["query"], reading, seen.settings.now, metadata=_asks(given)))

    def _open(self, given: Arguments) -> dict[str, Any]:
        seen, reading = self._seen(given)
        return _result(seen, seen.view.open(given["names"], reading, seen.settings.now, metadata=_asks(given)))

    def _seen(self, given: Arguments) -> tuple[Seen, Reading]:
        try:
            seen = self._serving.view()
        except MemttlError as e:  # its words are a command's, which would have changed something
            e.message = e.message.replace("; nothing was done", "; nothing was read")
            raise
        return seen, _reading(seen.settings, given)


def _asks(given: Arguments) -> bool:
    return given.get("include_metadata") is True


def _reading(settings: Settings, given: Arguments) -> Reading:
    text, before = given.get("expire_before"), None
    if text is not None:
        before = read_expire_before(text, settings.policy, name="expire_before", undone="nothing was read")
    return Reading(given.get("exclude_expired") is not False, before)


def _result(seen: Seen, answer: Answer) -> dict[str, Any]:
    """Put the graph first, as the stock server has it; what it lacks stands in text blocks behind it."""
    content: list[dict[str, Any]] = [raw_text(answer.pieces.text)]
    result: dict[str, Any] = {"content": content, "structuredContent": orjson.Fragment(answer.pieces.structured)}
    if answer.metadata:
        # models are shown text blocks, programs may look at _meta
        content.append(text_block(f'{{"{METADATA}":{answer.metadata.decode()}}}'))
        result["_meta"] = {METADATA: orjson.Fragment(answer.metadata)}
    if seen.notes:
        content.append(text_block("\n".join(seen.notes)))
    return result
