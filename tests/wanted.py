"""The short list of what `memttl serve` is meant to answer otherwise than the stock server 2026.8.31, and why.

`test_serve_differential.py` holds every difference against it, and makes each row happen. Files that are not as the
stock server writes them have a list of their own, `wanted_files.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from calls import Request, tool
from differential import AGED, Difference
from serving import PROTOCOL, RESOURCE

from memttl.server.tools import TOOLS

OURS = tuple(tool.name for tool in TOOLS[9:])  # behind the nine of the stock server
_NO_TEXT = {"description"}
_CLIENT = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "memttl-tests", "version": "0"}}


class Wanted(NamedTuple):
    """A difference that is meant: why, requests over a start file that show it, and which differences are of it."""

    name: str
    reason: str
    start: str
    requests: Sequence[Request]
    fits: Callable[[Difference], bool]


def is_wanted(difference: Difference) -> bool:
    """Whether a row of the list stands for this difference."""
    return any(row.fits(difference) for row in WANTED)


def plain(tools: Sequence[dict[str, Any]], like: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tools as they are without descriptions, and without what only memttl has: tools and properties not in `like`."""
    stock = {one["name"]: one for one in like}
    return [_less(one, stock[one["name"]]) for one in tools if one["name"] in stock]


def _less(value: Any, like: Any) -> Any:
    """A value without descriptions, and without the properties of a schema that the other has not."""
    if isinstance(value, list):
        others = like if isinstance(like, list) else []
        return [_less(one, others[at] if at < len(others) else None) for at, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    other = like if isinstance(like, dict) else {}
    return {
        key: (
            {name: _less(one, other[key][name]) for name, one in inner.items() if name in other.get(key, {})}
            if key == "properties"
            else _less(inner, other.get(key))
        )
        for key, inner in value.items()
        if key not in _NO_TEXT
    }


def _is_another_server(d: Difference) -> bool:
    if d.asked.method != "initialize" or d.where != "result":
        return False
    return {**d.stock, "serverInfo": None} == {**d.ours, "serverInfo": None}


def _is_more_tools(d: Difference) -> bool:
    if d.asked.method != "tools/list" or d.where != "result":
        return False
    like = d.stock["tools"]
    return plain(d.ours["tools"], like) == plain(like, like) and set(d.ours) == set(d.stock)


def _is_resource_in_our_words(d: Difference) -> bool:
    if d.asked.method != "resources/list" or d.where != "result":
        return False
    return _less(d.ours, d.stock) == _less(d.stock, d.stock)


def _is_of_every_object(d: Difference) -> bool:
    if d.asked.method != "tools/call" or d.asked.params.get("name") not in ("toString", "__proto__"):
        return False
    return str(d.stock[0]["text"]).replace("disabled", "not found") == d.ours[0]["text"]


def _is_less_what_has_expired(d: Difference) -> bool:
    """Ours is what the stock server says less the texts that have expired, which search does not look at either."""
    if d.start != f"{AGED}every-mark" or d.where not in ("structuredContent", "content", "contents"):
        return False
    query = d.asked.params.get("arguments", {}).get("query", "")
    return bool(d.ours == _unexpired(d.stock, query))


def _unexpired(said: Any, query: str) -> Any:
    if isinstance(said, list):
        return [{**block, "text": _unexpired(block["text"], query)} for block in said]
    left = [{**e, "observations": [text for text in e["observations"] if text in STAY]} for e in said["entities"]]
    found = [e for e in left if query in "\n".join([e["name"], e["entityType"], *e["observations"]]).lower()]
    names = {e["name"] for e in found}
    return {"entities": found, "relations": [r for r in said["relations"] if {r["from"], r["to"]} & names]}


def _undated(value: Any) -> str:
    """A value as JSON, without the time of day at which it was asked for."""
    return re.sub('"until": "[^"]*"', '"until": ""', json.dumps(value, sort_keys=True))


def _is_of_ours(d: Difference) -> bool:
    """It was asked of one of our tools, or with one of our arguments; and the answer is the one that is meant."""
    for asked, is_error, said in _OURS_SAY:
        if d.asked == asked:
            ours = {
                "isError": is_error,
                "structuredContent": None if is_error else said,
                "content": [{"type": "text", "text": said}],
                "keys": ["content", "isError" if is_error else "structuredContent"],
            }
            return _undated(d.ours) == _undated(ours[d.where])
    return False


_ADD = {"entityName": "memttl", "contents": ["Is a tool"]}
_WRONG = "MCP error -32602: Input validation error: Invalid arguments for tool read_graph"
_OURS_SAY: tuple[tuple[Request, bool, Any], ...] = (
    (
        tool("report_stale", {}),
        False,
        {
            "message": "Nothing is stale among 63 observations.",
            "until": "",
            "stale": [],
            "left_out": 0,
            "counts": {"observations": 63, "expired": 0, "due": 0, "review": 0},
            "warnings": [],
        },
    ),
    (
        tool("add_observations", {"observations": [{**_ADD, "decay": "no such tier"}]}),
        True,
        "observations[0].decay knows no tier 'no such tier'; nothing was done.\n"
        "The policy's tiers are: session, operational, permanent.",
    ),
    (
        tool("read_graph", {"exclude_expired": "yes"}),
        True,
        f"{_WRONG}: Invalid input: expected boolean, received string at exclude_expired",
    ),
)
STAY = (
    "Root certificate of the lab [expires: never]", "Trial licence of the profiler [expires 2025-02-30]",
    "[permanent] Invoices are in integer cents (review by 2025-05-01)", "Cache headers changed (2025-01-08) (ttl: 99y)",
    "Rotates keys by hand [tier: nosuch]", "[session] 2025-01-10: agreed to stay with the monorepo [pin]",
    "[session] 2025-01-11: naming of queues, see ADR 7 (pinned)",
    "[session] 2025-01-12: order of migrations matters - keep", "PR template needs fixes (review by Anna)",
    "Presigned URLs expire in 24h", "Use the token cache (refresh before expiration)",
)  # fmt: skip

WANTED = (
    Wanted(
        "another server",
        "it says who it is",
        "example",
        [Request("initialize", _CLIENT)],
        _is_another_server,
    ),
    Wanted(
        "more tools, more arguments, and descriptions in our words",
        "what it adds is optional: names, titles, hints and schemas of the nine tools are equal without it",
        "example",
        [Request("tools/list", {})],
        _is_more_tools,
    ),
    Wanted(
        "the resource in our words",
        "it leaves out what has expired, and its description says so",
        "example",
        [Request("resources/list", {})],
        _is_resource_in_our_words,
    ),
    Wanted(
        "our tools and arguments",
        "the stock server has no such tools, and drops arguments that it does not know",
        "example",
        [asked for asked, _, _ in _OURS_SAY],
        _is_of_ours,
    ),
    Wanted(
        "what has expired",
        "it is left out of reads, which is what the server with a lifecycle is for",
        "aged-every-mark",
        [
            tool("read_graph", {}),
            tool("search_nodes", {"query": "vpn"}),
            tool("open_nodes", {"names": ["Access and certificates"]}),
            Request("resources/read", {"uri": RESOURCE}),
        ],
        _is_less_what_has_expired,
    ),
    Wanted(
        "names that JavaScript's objects have",
        "the stock server looks tools up in an object, and finds what every object has; there is no such tool",
        "example",
        [tool("toString", {}), tool("__proto__", {})],
        _is_of_every_object,
    ),
)
