"""One JSON value into the lines that the memory server reads: documents taken apart, values over several lines joined.

Called by `salvage.py` with a well-formed value. Each record keeps its own bytes: key order, number spelling, escapes;
only white space between tokens goes, and only where it spans lines.
"""

from __future__ import annotations

import re
from typing import Any

from memttl.core.memory import parse_line
from memttl.core.model import Line
from memttl.core.spans import elements, top_level_items

_STRING_OR_SPACE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[ \t\r\n]++', re.DOTALL)
_TYPES = {"entities": "entity", "relations": "relation"}


def compact(raw: bytes) -> bytes:
    """Take the white space between tokens out of a value that spans lines; another one stays as it is."""
    if b"\n" not in raw:
        return raw
    return _STRING_OR_SPACE.sub(lambda found: found[0] if found[0][:1] == b'"' else b"", raw)


def document_lines(raw: bytes) -> list[bytes] | None:
    """Give the lines of an array of records or of a graph document, None for any other value."""
    first = raw.lstrip(b" \t\r\n")[:1]
    if first == b"[":
        return _array_lines(raw)
    if first == b"{" and (b"entities" in raw or b"relations" in raw):
        return _graph_lines(raw)
    return None


def typed(raw: bytes, kind: str) -> bytes:
    """Give an object the type of its list as its first key, where it has none."""
    if not raw.startswith(b"{") or any(key == "type" for key, _, _ in top_level_items(raw)):
        return raw
    rest = raw[1:]
    return b'{"type":"%s"' % kind.encode() + (rest if rest.lstrip() == b"}" else b"," + rest)


def kind_by_shape(record: dict[str, Any]) -> str | None:
    """Tell what an object without a type is, by the keys that the server writes."""
    if isinstance(record.get("name"), str) and isinstance(record.get("observations"), list):
        return "entity" if isinstance(record.get("entityType"), str) else None
    ends = (record.get("from"), record.get("to"), record.get("relationType"))
    return "relation" if all(isinstance(end, str) for end in ends) else None


def united(raw: bytes) -> bytes:
    """Join the lists of an entity that names its observations twice into the last: what that lacks comes first in it.

    JSON.parse takes the last list, so what stands in the others is nothing to the server.
    """
    items = list(top_level_items(raw))
    named = [i for i, (key, _, _) in enumerate(items) if key == "observations"]
    lists = [i for i in named if raw[items[i][1] : items[i][1] + 1] == b"["]
    stays = (lists or named)[-1]
    missing: dict[bytes, None] = {}
    for i in lists[:-1]:
        missing |= dict.fromkeys(_elements_of(raw, items[i][1]))
    there = set(_elements_of(raw, items[stays][1])) if lists else set()
    start, end = items[stays][1:]
    grown = _with_first(raw[start:end], [element for element in missing if element not in there])
    return _with_items(raw, items, set(named) - {stays}, {stays: grown})


def _elements_of(raw: bytes, start: int) -> list[bytes]:
    return [raw[a:b] for a, b in elements(raw, start)]


def _with_first(raw_list: bytes, missing: list[bytes]) -> bytes:
    if not missing:
        return raw_list
    rest = raw_list[1:]
    return b"[" + b",".join(missing) + (b"" if rest.lstrip() == b"]" else b",") + rest


def _with_items(raw: bytes, items: list[tuple[str, int, int]], gone: set[int], other: dict[int, bytes]) -> bytes:
    """Give an object without some of its items, each with the comma before it, and with other values for some."""
    pieces: list[bytes] = []
    before = raw.index(b"{") + 1
    for i, (_, start, end) in enumerate(items):
        head = raw[before:start]
        if i not in gone:
            pieces.append((head if pieces or not i else head[head.index(b",") + 1 :]) + other.get(i, raw[start:end]))
        before = end
    return raw[: raw.index(b"{") + 1] + b"".join(pieces) + raw[before:]


def _array_lines(raw: bytes) -> list[bytes] | None:
    found = [raw[start:end] for start, end in elements(raw, raw.index(b"["))]
    lines = [_as_line(element) for element in found]
    kinds = [line.kind for line in lines]
    if not any(kind in ("entity", "relation") for kind in kinds):
        shapes = [kind_by_shape(line.record) if line.record else None for line in lines]
        if not any(shapes):
            return None
        return [typed(line.raw, shape) if shape else line.raw for line, shape in zip(lines, shapes, strict=True)]
    return [line.raw for line in lines]


def _as_line(element: bytes) -> Line:
    return parse_line(compact(element), 1)


def _graph_lines(raw: bytes) -> list[bytes] | None:
    items = list(top_level_items(raw))
    if any(key == "type" for key, _, _ in items):
        return None
    lists = [(key, start) for key, start, _ in items if key in _TYPES and raw[start : start + 1] == b"["]
    lines = [typed(compact(raw[a:b]), _TYPES[key]) for key, start in lists for a, b in elements(raw, start)]
    return lines if any(parse_line(line, 1).kind in ("entity", "relation") for line in lines) else None
