"""A seed into a sequence of calls of the memory server's tools, right and wrong ones, for the differential test.

Names and texts are drawn from a few and from what the start file holds, so that calls meet what earlier ones did.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

RESOURCE = "memory://knowledge-graph"
NAMES = (
    "Ann", "ann", "Bob", "Zoë", "Zoe\u0308", "日本語", "", " ", "__proto__", "a\u0000b", "😀 team", "İSTANBUL",
    "entity", "constructor",
)  # fmt: skip
TEXTS = (
    "likes tea", "Likes Tea", "likes tea ", "", "🎉 party 👩\u200d👩\u200d👧", "lone \ud83d high", "lone \ude00 low",
    "nul \u0000 in it", "line\u2028and\u2029paragraph\u0085end", "cafe\u0301 or café", "tab\tand\nnewline\r\n",
    "\u202eright to left\u202c שלום", 'quote " and \\ backslash', "STRASSE ẞ straße", "ΟΔΟΣ οδος", "ﬁ ligature Ǆ",
    "\ufeffmark", "<b>&amp;</b>", "</script>", "2024-01-05: decided", "session: long ago 2020-01-01",
    "far [expires 2920-01-02]", "kept [pin]", "0", "null", '{"type":"entity"}', "\x7f\x1b[31m", "x" * 20_000,
)  # fmt: skip
KINDS = ("person", "Person", "note", "", "日本", "\ud800")
QUERIES = (
    "tea", "TEA", "", " ", "\ud83d", "\ude00", "😀", "i\u0307", "İ", "ß", "SS", "ς", "σ", "e\u0301", "\u0000", "\u2028",
    "person", "knows", "no such thing", "\\", '"', "ﬁ", "ǆ",
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 12345678901234567890, 1e300, "", "text", [], ["text"], [None], [[]], {},
    {"name": "Ann"},
)  # fmt: skip
STRANGE: tuple[tuple[str, Any], ...] = (
    ("extra", 1), ("type", "entity"), ("createdAt", "2020-01-01"), ("__proto__", {}), ("", None), ("Name", "Ann"),
    ("toString", "x"),
)  # fmt: skip
UNKNOWN_TOOLS: tuple[Any, ...] = (
    "nope", "", "Create_Entities", "create_entities ", "toString", "__proto__", "日本", "\ud800", 5, None,
    ["read_graph"],
)  # fmt: skip
REQUESTS: tuple[tuple[str, Any], ...] = (
    ("resources/read", {"uri": RESOURCE}), ("resources/read", {"uri": RESOURCE}), ("resources/read", {"uri": RESOURCE}),
    ("resources/read", {"uri": "memory://nope"}), ("resources/read", {"uri": 5}), ("resources/read", {}),
    ("ping", {}), ("nope", {}), ("prompts/list", {}),
)  # fmt: skip


class Request(NamedTuple):
    """One request of a client."""

    method: str
    params: Any


class Draw:
    """What one sequence draws from: chance, and the names and texts that it met."""

    def __init__(self, seed: int, graph: dict[str, list[Any]]) -> None:
        """Draw by a seed, over the graph of a start file."""
        self.chance = random.Random(seed)
        self.names = [entity["name"] for entity in graph["entities"]][:40]
        self.texts = [text for entity in graph["entities"] for text in entity["observations"]][:40]
        self.relations = list(graph["relations"])

    def one(self, known: list[str], pool: Sequence[str]) -> str:
        """A value that was met, or one of the pool, which then is known."""
        if known and self.chance.random() < 0.7:
            return self.chance.choice(known)
        known.append(self.chance.choice(pool))
        return known[-1]

    def some(self, make: Callable[[], Any]) -> list[Any]:
        """A few values, at times none, at times one twice."""
        made = [make() for _ in range(self.chance.choice((0, 1, 1, 1, 2, 2, 3, 5)))]
        if made and self.chance.random() < 0.2:
            made.append(self.chance.choice(made))
        return made

    def name(self) -> str:
        """The name of an entity."""
        return self.one(self.names, NAMES)

    def text(self) -> str:
        """An observation."""
        return self.one(self.texts, TEXTS)

    def entity(self) -> dict[str, Any]:
        """An entity of create_entities."""
        return {
            "name": self.name(),
            "entityType": self.chance.choice(KINDS),
            "observations": self.some(self.text),
        }

    def relation(self) -> dict[str, Any]:
        """A relation, often one that was met."""
        if self.relations and self.chance.random() < 0.4:
            return dict(self.chance.choice(self.relations))
        made = {"from": self.name(), "to": self.name(), "relationType": self.chance.choice(("knows", "uses", "", "日"))}
        self.relations.append(made)
        return dict(made)

    def of_entity(self, key: str) -> dict[str, Any]:
        """The name of an entity with some texts under `key`."""
        return {"entityName": self.name(), key: self.some(self.text)}


TOOLS: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "create_entities": lambda draw: {"entities": draw.some(draw.entity)},
    "create_relations": lambda draw: {"relations": draw.some(draw.relation)},
    "add_observations": lambda draw: {"observations": draw.some(lambda: draw.of_entity("contents"))},
    "delete_entities": lambda draw: {"entityNames": draw.some(draw.name)},
    "delete_observations": lambda draw: {"deletions": draw.some(lambda: draw.of_entity("observations"))},
    "delete_relations": lambda draw: {"relations": draw.some(draw.relation)},
    "read_graph": lambda _draw: {},
    "search_nodes": lambda draw: {"query": draw.chance.choice((*QUERIES, draw.name(), draw.text()[:20]))},
    "open_nodes": lambda draw: {"names": draw.some(draw.name)},
}
WEIGHTS = (5, 3, 6, 1, 3, 2, 2, 3, 2)


def requests_of(seed: int, graph: dict[str, list[Any]]) -> list[Request]:
    """The requests of one sequence over the graph of a start file."""
    draw = Draw(seed, graph)
    return [_request(draw) for _ in range(draw.chance.randint(6, 14))]


def tool(name: Any, arguments: Any) -> Request:
    """The request that calls a tool."""
    return Request("tools/call", {"name": name, "arguments": arguments})


def _request(draw: Draw) -> Request:
    chance = draw.chance.random()
    if chance < 0.05:
        return Request(*draw.chance.choice(REQUESTS))
    if chance < 0.08:
        return tool(draw.chance.choice(UNKNOWN_TOOLS), {})
    name = draw.chance.choices(list(TOOLS), WEIGHTS)[0]
    arguments: Any = TOOLS[name](draw)
    if chance < 0.12:
        return _without_arguments(draw, name)
    if chance < 0.32:
        arguments = json.loads(json.dumps(arguments))  # so that no part of it stands in two places
        for _ in range(draw.chance.choice((1, 1, 2, 3))):
            _spoil(draw, arguments)
    return tool(name, arguments)


def _without_arguments(draw: Draw, name: str) -> Request:
    """A call whose arguments are not there, or are no object."""
    if draw.chance.random() < 0.4:
        return Request("tools/call", {"name": name})
    return tool(name, draw.chance.choice((None, [], [{}], "text", 5, True, {})))


def _spoil(draw: Draw, arguments: dict[str, Any]) -> None:
    """Make one place of the arguments wrong: another type, missing, one more, or a list around it."""
    holder = draw.chance.choice(_holders(arguments))
    wrong, strange = copy.deepcopy((draw.chance.choice(WRONG), draw.chance.choice(STRANGE)))
    if isinstance(holder, dict) and (not holder or draw.chance.random() < 0.25):
        holder.update([strange])
        return
    if not holder:
        holder.append(wrong)
        return
    key = draw.chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    act = draw.chance.random()
    if act < 0.25:
        del holder[key]
    elif act < 0.35:
        holder[key] = [holder[key]]
    else:
        holder[key] = wrong


def _holders(value: Any) -> list[Any]:
    """Every object and list within a value, itself too."""
    if not isinstance(value, (dict, list)):
        return []
    parts = value.values() if isinstance(value, dict) else value
    return [value, *(holder for part in parts for holder in _holders(part))]
