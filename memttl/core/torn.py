"""Completes a record that breaks off: to its last whole observation, or with the bracket that alone is missing.

Called by `salvage.py` where a reading broke. Nothing is guessed: a string without its closing quote and a number that
may go on are not whole, and what has no name and no list of observations yet is not completed at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from memttl.core.lenient import STRING, Edit, Reader

_SPACE = re.compile(rb"[ \t\r\n]*+")


class Completed(NamedTuple):
    """How a torn record is completed: what stands up to `end` stays, `closing` comes behind it, `edits` mend it."""

    end: int
    closing: bytes
    edits: tuple[Edit, ...]


class _Value(NamedTuple):
    start: int
    end: int
    edits: tuple[Edit, ...]


def complete(reader: Reader, start: int, limit: int, *, in_graph: bool) -> Completed | None:
    """Complete the object that begins at `start` and breaks off before `limit`; None where it cannot be.

    With `in_graph` it needs no `type`: it stands in a list of a document that says what it is.
    """
    fields: dict[str, _Value] = {}
    torn_list: int | None = None
    end = start + 1
    for key, value_start, value in _fields(reader, start, limit):
        if value is None:
            if key == "observations" and reader.text[value_start : value_start + 1] == b"[":
                torn_list = value_start
            break
        fields[key] = value
        end = value.end
    edits = [edit for value in fields.values() for edit in value.edits]
    kind = _kind_of(reader.text, fields, in_graph=in_graph)
    if kind == "relation":
        return Completed(end, b"}", tuple(edits))
    if kind != "entity" or not _is_text(reader.text, fields.get("name")):
        return None
    if torn_list is None:
        return Completed(end, b"}", tuple(edits)) if "observations" in fields else None
    end = torn_list + 1
    for value in _elements(reader, torn_list, limit):
        end = value.end
        edits += value.edits
    return Completed(end, b"]}", tuple(edits))


def _kind_of(text: bytes, fields: dict[str, _Value], *, in_graph: bool) -> str | None:
    """Give entity or relation where every field but the observations is there in whole."""
    told = _text_of(text, fields["type"]) if "type" in fields else None
    if told in ("entity", None) and _is_text(text, fields.get("entityType")):
        return "entity" if told or in_graph else None
    if told in ("relation", None) and all(_is_text(text, fields.get(key)) for key in ("from", "to", "relationType")):
        return "relation" if told or in_graph else None
    return None


def _is_text(text: bytes, value: _Value | None) -> bool:
    return value is not None and text[value.start : value.start + 1] == b'"'


def _text_of(text: bytes, value: _Value) -> str | None:
    if not _is_text(text, value):
        return None
    try:
        return str(json.loads(text[value.start : value.end]))
    except ValueError:
        return None


def _fields(reader: Reader, start: int, limit: int) -> Iterator[tuple[str, int, _Value | None]]:
    """Yield (key, start of the value, value) of an object as far as it goes; the value that is torn is None."""
    at = _skip(reader.text, start + 1, limit)
    while key := STRING.match(reader.text, at, limit):
        colon = _skip(reader.text, key.end(), limit)
        value_start = _skip(reader.text, colon + 1, limit)
        if reader.text[colon : colon + 1] != b":" or value_start >= limit:
            return
        value = _value(reader, value_start, limit)
        yield _key(key[0]), value_start, value
        if value is None:
            return
        comma = _skip(reader.text, value.end, limit)
        if comma >= limit or reader.text[comma : comma + 1] != b",":
            return
        at = _skip(reader.text, comma + 1, limit)


def _key(raw: bytes) -> str:
    try:
        return str(json.loads(raw))
    except ValueError:
        return ""


def _elements(reader: Reader, start: int, limit: int) -> Iterator[_Value]:
    at = _skip(reader.text, start + 1, limit)
    while at < limit:
        value = _value(reader, at, limit)
        if value is None:
            return
        yield value
        comma = _skip(reader.text, value.end, limit)
        if comma >= limit or reader.text[comma : comma + 1] != b",":
            return
        at = _skip(reader.text, comma + 1, limit)


def _value(reader: Reader, start: int, limit: int) -> _Value | None:
    """Read one value that is surely whole: a raw newline ends a torn string, a number may go on where it breaks off."""
    first = reader.text[start : start + 1]
    reading = reader.read(start, limit)
    if not reading.whole or first in (b"]", b"}"):
        return None
    if reader.text.find(b"\n", start, reading.end) >= 0 and any(_mends_newline(e) for e in reading.edits):
        return None
    if first not in b'"[{' and not _is_ended(reader.text, reading.end, limit):
        return None
    return _Value(start, reading.end, reading.edits)


def _mends_newline(edit: Edit) -> bool:
    return b"\\n" in edit[2]


def _is_ended(text: bytes, at: int, limit: int) -> bool:
    return at < limit and text[at : at + 1] in (b",", b"]", b"}", b" ", b"\t", b"\r", b"\n")


def _skip(text: bytes, at: int, limit: int) -> int:
    found: re.Match[bytes] | None = _SPACE.match(text, at, limit)
    return found.end() if found else limit
