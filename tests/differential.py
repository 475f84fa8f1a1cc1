"""Two memory servers side by side on copies of one file: answers, notifications and the files as graphs compared.

`test_serve_differential.py` puts the real server beside `memttl serve`; what may differ stands in `wanted.py`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from calls import Request, requests_of, tool
from process import FIXTURES
from serving import Client, Message

NEVER_EXPIRES = """version = 1
default_tier = "permanent"
[[rules]]
name = "nothing"
prefix = ["no text begins so"]
tier = "permanent"
[age]
grace = "100y"
"""
READABLE = (
    "example", "aim-first-line", "ansi-escapes-html-and-markup", "blank-lines-between", "created-at-and-version",
    "crlf-line-ends", "dangling-relations", "duplicate-entity-names", "every-mark", "go-escapes-trailing-newline",
    "inline-extra-arrays", "keys-in-other-order", "lone-surrogate-escapes", "nul-escape-in-string", "only-relations",
    "python-spacing-and-escapes", "raw-u2028-and-u0085-in-observation", "relations-with-entity-keys",
    "server-order-no-trailing-newline", "trailing-newline", "unknown-types", "wide-right-to-left-and-emoji",
    "empty", "blank-lines-only",
)  # fmt: skip
BLANK = " \t\r\v\f\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))  # trim()
MISSING = "missing"  # no file at all
AGED = "aged-"
STARTS = (MISSING, *READABLE)


class Difference(NamedTuple):
    """One thing that two servers answered differently, and how to see it again."""

    start: str
    asked: Request
    where: str
    stock: Any
    ours: Any

    def told(self) -> str:
        """Say it in lines for a failed test."""
        asked = json.dumps(self.asked)[:2000]
        return f"{self.start}: {asked}\n  {self.where}\n    stock: {_short(self.stock)}\n    ours:  {_short(self.ours)}"


class Pair:
    """A stock server and ours, each on its own file in a folder of its own."""

    def __init__(self, stock: Client, stock_file: Path, ours: Client, our_file: Path) -> None:
        self.stock, self.ours = stock, ours
        self.files = (stock_file, our_file)
        for client in (stock, ours):
            client.subscribe()

    def run(self, start: str, requests: Sequence[Request]) -> list[Difference]:
        """Put the start file in place, make the requests one by one, then compare the files; give what differs."""
        for path in self.files:
            put(path, bytes_of(start))
        self.stock.notifications.clear()
        self.ours.notifications.clear()
        found = [difference for request in requests for difference in self.ask(start, request)]
        return found + self._compare_files(start) + self._compare_notifications(start)

    def ask(self, start: str, request: Request) -> list[Difference]:
        """Make one request to both; give what differs."""
        numbers = (self.stock.post(*request), self.ours.post(*request))  # both work at once: half the time
        replies = self.stock.gather([numbers[0]])[0], self.ours.gather([numbers[1]])[0]
        return [Difference(start, request, *parts) for parts in differences(*replies)]

    def _compare_files(self, start: str) -> list[Difference]:
        """Compare the files as graphs, then let each server read what the other wrote."""
        written = [path.read_bytes() if path.exists() else None for path in self.files]
        graphs = [graph_of(data or b"") for data in written]
        asked = Request("the files", {})
        found = [] if _equal(*graphs) else [Difference(start, asked, "files", *graphs)]
        for path, data in zip(self.files, reversed(written), strict=True):
            put(path, data)
        return found + self.ask(start, tool("read_graph", {}))

    def _compare_notifications(self, start: str) -> list[Difference]:
        told = self.stock.notifications, self.ours.notifications
        return [] if _equal(*told) else [Difference(start, Request("notifications", {}), "notifications", *told)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for client in (self.stock, self.ours):
            client.__exit__(kind, error, at)


def sequence(pair: Pair, seed: int) -> list[Difference]:
    """Run the random sequence of a seed; its start file goes by the seed too."""
    start = STARTS[seed % len(STARTS)]
    return pair.run(start, requests_of(seed, graph_of(bytes_of(start) or b"")))


def differences(stock: Message, ours: Message) -> list[tuple[str, Any, Any]]:
    """What differs in two replies to one request: the place, and what each says there."""
    if "error" in stock or "error" in ours:
        parts = [_error(stock), _error(ours)]
        return [] if _equal(*parts) else [("error", *parts)]
    a, b = stock["result"], ours["result"]
    if "content" not in a and "contents" not in a:
        return [] if _equal(a, b) else [("result", a, b)]
    found = [("isError", a.get("isError", False), b.get("isError", False))]
    found.append(("structuredContent", a.get("structuredContent"), b.get("structuredContent")))
    for key in ("content", "contents"):
        found.append((key, _read(a.get(key)), _read(b.get(key))))
    found.append(("keys", _keys(a), _keys(b)))
    return [(where, one, other) for where, one, other in found if not _equal(one, other)]


def graph_of(data: bytes) -> dict[str, list[Any]]:
    """The graph of a file as the stock server takes it, worked out without it and without memttl; no damaged lines."""
    records = [_parsed(line) for line in data.decode(errors="replace").split("\n") if line.strip(BLANK)]
    kept = [record for record in records if isinstance(record, dict)]
    return {
        "entities": [_only(r, "name", "entityType", "observations") for r in kept if r.get("type") == "entity"],
        "relations": [_only(r, "from", "to", "relationType") for r in kept if r.get("type") == "relation"],
    }


def bytes_of(start: str) -> bytes | None:
    """The bytes of a start file, None where there is none: dates put off by 900 years, or of `aged-…` set back by one.

    So what expires has expired, or has not, whenever the tests are run.
    """
    if start == MISSING:
        return None
    data = (FIXTURES / f"memory/{start.removeprefix(AGED)}.jsonl").read_bytes()
    data = data.replace(b"ttl: 30m", b"ttl: 99y") if start.startswith(AGED) else data
    year, other = (rb"\b2026(?=-)", b"2025") if start.startswith(AGED) else (rb"\b20(?=\d\d-)", b"29")
    return re.sub(year, other, data)


def put(path: Path, data: bytes | None) -> None:
    """Put bytes at a path by a rename, as the stock server does, or take the file away."""
    if data is None:
        path.unlink(missing_ok=True)
        return
    new = path.with_name("new")
    new.write_bytes(data)
    os.utime(new, (1_700_000_000, 1_700_000_000))  # as of a copy put back: what a server saves late is new
    os.replace(new, path)


def _error(reply: Message) -> Any:
    """The error of a reply, without data, or what came instead."""
    return {key: reply["error"].get(key) for key in ("code", "message")} if "error" in reply else reply["result"]


def _read(blocks: Any) -> Any:
    """Content blocks with each text that is JSON read as such: how it is spaced is no matter."""
    return [{**block, "text": _parsed(block.get("text"))} for block in blocks or []]


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _keys(result: Message) -> list[str]:
    """The keys of a result; `isError: false` says as much as none."""
    return sorted(key for key, value in result.items() if (key, value) != ("isError", False))


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: True is not 1, and 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _only(record: Message, *keys: str) -> Message:
    return {key: record[key] for key in keys if key in record}


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 1500 else f"{text[:700]} … {text[-700:]}"
