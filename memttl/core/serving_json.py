"""What reads of `memttl serve` show, as pieces of JSON that are made once and joined for each answer. Pure.

`serving_view.py` keeps the pieces of each line of the memory file: an answer of a megabyte is then copied, not made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from memttl.core.js_json import as_json, escape_lone


class Piece(NamedTuple):
    """One entity or relation: as JSON, and as it stands in the answer's text, which is a string of JSON within JSON."""

    json: bytes
    in_text: bytes


class Pieces(NamedTuple):
    """A whole answer: its structured content, and its text as a quoted string. Both are JSON."""

    structured: bytes
    text: bytes


def piece_of(value: Mapping[str, Any]) -> Piece:
    """Write one entity or relation as the memory server does, in both ways."""
    # strings hold no raw line feed, so that each one begins a line
    return Piece(quoted(value), _inside(b"    " + pretty(value).replace(b"\n", b"\n    ")))


def joined(entities: Sequence[Piece], relations: Sequence[Piece]) -> Pieces:
    """Join pieces to the graph that an answer shows."""
    lists = (b'"entities"', entities), (b'"relations"', relations)
    structured = b",".join(name + b":[" + b",".join([p.json for p in pieces]) + b"]" for name, pieces in lists)
    shown = b",\\n".join(_inside(b"  " + name + b": ") + _list_in_text(pieces) for name, pieces in lists)
    return Pieces(b"{" + structured + b"}", b'"{\\n' + shown + b'\\n}"')


def quoted(value: object) -> bytes:
    """Write a value as JSON, as the memory server does."""
    try:
        return orjson.dumps(value)
    except TypeError:  # half of a pair of surrogates
        return as_json(value).encode()


def pretty(value: object) -> bytes:
    """Write a value as JSON of several lines, as the memory server does in its texts."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except TypeError:
        return escape_lone(json.dumps(value, indent=2, ensure_ascii=False)).encode()


def values(found: Iterable[bytes]) -> bytes:
    """Join JSON values to a list."""
    return b"[" + b",".join(found) + b"]"


def _inside(text: bytes) -> bytes:
    return orjson.dumps(text.decode())[1:-1]


def _list_in_text(pieces: Sequence[Piece]) -> bytes:
    return b"[\\n" + b",\\n".join([p.in_text for p in pieces]) + b"\\n  ]" if pieces else b"[]"
