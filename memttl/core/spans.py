"""Byte spans inside one raw JSON line: where each key's value and each observation begins and ends.

`memory.py` asks for the keys of a line, `cut.py` for the spans of its observations. It never recurses, so that a line
nested thousands deep is no trouble; it trusts that the line is well-formed, which `is_well_formed` can prove without
recursing where the standard library gives up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

# unrolled, so that a string of megabytes costs one pass: "[^"\\]*(?:\\.[^"\\]*)*"
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*")
_NESTING = re.compile(rb'["\[\]{}]')
_SCALAR = re.compile(rb"[^,\]} \t\r\n]+")


def top_level_items(line: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield (key, start, end) of each value of the object that the line holds, duplicates too; nothing for no object.

    Keys are unescaped: `"obs\\u0065rvations"` is `observations`, as it is for JSON.parse.
    """
    at = _skip_space(line, 0)
    if line[at : at + 1] != b"{":
        return
    at = _skip_space(line, at + 1)
    while line[at : at + 1] == b'"':
        key_end = _value_end(line, at)
        key = json.loads(line[at:key_end])
        start = _skip_space(line, _skip_space(line, key_end) + 1)
        end = _value_end(line, start)
        yield key, start, end
        at = _skip_space(line, end)
        if line[at : at + 1] != b",":
            return
        at = _skip_space(line, at + 1)


def elements(line: bytes, start: int) -> list[tuple[int, int]]:
    """Give the (start, end) of each element of the JSON array that begins at `start`."""
    spans: list[tuple[int, int]] = []
    at = _skip_space(line, start + 1)
    while line[at : at + 1] != b"]":
        end = _value_end(line, at)
        spans.append((at, end))
        at = _skip_space(line, end)
        if line[at : at + 1] == b",":
            at = _skip_space(line, at + 1)
    return spans


def _skip_space(line: bytes, at: int) -> int:
    found = _SPACE.match(line, at)
    assert found is not None  # it matches the empty string
    return found.end()


def _value_end(line: bytes, at: int) -> int:
    first = line[at : at + 1]
    if first == b'"':
        return _match_end(_STRING, line, at)
    if first not in (b"[", b"{"):
        return _match_end(_SCALAR, line, at)
    depth = 0
    while True:
        found = _NESTING.search(line, at)
        if found is None:
            raise ValueError("a bracket is not closed")
        if found[0] == b'"':
            at = _match_end(_STRING, line, found.start())
            continue
        depth += 1 if found[0] in b"[{" else -1
        at = found.end()
        if depth == 0:
            return at


def _match_end(pattern: re.Pattern[bytes], line: bytes, at: int) -> int:
    found = pattern.match(line, at)
    if found is None:
        raise ValueError(f"no JSON value at byte {at}")
    return found.end()


def is_deeper_than(line: bytes, limit: int) -> bool:
    """Say whether brackets are nested more than `limit` deep."""
    if line.count(b"[") + line.count(b"{") <= limit:
        return False
    depth = at = 0
    while found := _NESTING.search(line, at):
        at = found.end()
        if found[0] == b'"':
            string = _STRING.match(line, found.start())
            if string is None:
                return False
            at = string.end()
            continue
        depth += 1 if found[0] in b"[{" else -1
        if depth > limit:
            return True
    return False


_TOKEN = re.compile(
    rb"[ \t\r\n]*(?:"
    rb'(?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")'
    rb"|(?P<scalar>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+-])|true|false|null)"
    rb"|(?P<mark>[\[\]{}:,]))"
)


def is_well_formed(line: bytes) -> bool:
    """Say whether JSON.parse would take the line, at any depth of nesting (RFC 8259, UTF-8 checked by the caller)."""
    stack = bytearray()  # one byte an open bracket
    expect = "value"
    at, end = 0, len(line.rstrip(b" \t\r\n"))
    while at < end:
        token = _TOKEN.match(line, at)
        if token is None:
            return False
        at = token.end()
        expect = _next_state(expect, stack, token["mark"] or (b'"' if token["string"] else b"0"))
        if not expect:
            return False
    return expect == "end" and not stack


def _next_state(expect: str, stack: bytearray, token: bytes) -> str:
    """One step of the grammar: what may follow `token` where `expect` was due; empty for an error."""
    if token in (b'"', b"0"):
        if expect in ("key", "key or }") and token == b'"':
            return "colon"
        return _after_value(stack) if expect in ("value", "value or ]") else ""
    if token in (b"[", b"{"):
        if expect not in ("value", "value or ]"):
            return ""
        stack.append(token[0])
        return "value or ]" if token == b"[" else "key or }"
    if token == b":":
        return "value" if expect == "colon" else ""
    if token == b",":
        return {"comma or ]": "value", "comma or }": "key"}.get(expect, "")
    if expect not in (f"comma or {token.decode()}", f"value or {token.decode()}", f"key or {token.decode()}"):
        return ""
    stack.pop()
    return _after_value(stack)


def _after_value(stack: bytearray) -> str:
    if not stack:
        return "end"
    return "comma or ]" if stack[-1] == ord("[") else "comma or }"
