"""The short list of what `memttl serve` is meant to answer otherwise than the stock server 2026.8.31, and why.

`test_serve_differential.py` holds every difference against it, and makes each row happen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from calls import Request, tool
from differential import Difference
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


def _from(*starts: str) -> Callable[[Difference], bool]:
    return lambda d: d.start in starts


def _asks_ours(d: Difference) -> bool:
    """It was asked of one of our tools, or with one of our arguments."""
    given = d.asked.params.get("arguments")
    if not isinstance(given, dict):
        return False
    items = [item for part in given.values() if isinstance(part, list) for item in part if isinstance(item, dict)]
    keys = {key for one in (given, *items) for key in one}
    return d.asked.params.get("name") in OURS or bool(keys & _ARGUMENTS)


_ARGUMENTS = {
    "ttl", "decay", "expires", "review_by", "pin", "exclude_expired", "expire_before", "include_metadata",
}  # fmt: skip
_ADD = {"entityName": "memttl", "contents": ["Is a tool"]}

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
        [
            tool("report_stale", {}),
            tool("add_observations", {"observations": [{**_ADD, "decay": "no such tier"}]}),
            tool("read_graph", {"exclude_expired": "yes"}),
        ],
        _asks_ours,
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
        _from("aged-every-mark"),
    ),
    Wanted(
        "names that JavaScript's objects have",
        "the stock server looks tools up in an object, and finds what every object has; there is no such tool",
        "example",
        [tool("toString", {}), tool("__proto__", {})],
        _is_of_every_object,
    ),
    Wanted(
        "a damaged line",
        "no tool of the stock server works beside one; ours leave it out, keep it byte for byte, and say so",
        "truncated-tail",
        [tool("read_graph", {}), tool("search_nodes", {"query": "a"})],
        _from("truncated-tail"),
    ),
    Wanted(
        "an observation that is no text",
        "the stock server's own check of its answers refuses the whole graph; ours leaves it out, and says so",
        "mixed-observation-kinds",
        [tool("read_graph", {}), tool("open_nodes", {"names": []})],
        _from("mixed-observation-kinds"),
    ),
)
