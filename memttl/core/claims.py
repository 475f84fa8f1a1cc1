"""A line that cannot be read into the names of the entities that it evidently holds, so that nobody makes a second one.

`graph.py` asks for each line that the graph lacks; reads leave such a line out all the same.
"""

from __future__ import annotations

import json
import re

# possessive, so that a line of megabytes costs one pass; a quote within a text has a backslash before it
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_ENTITY = re.compile(r'"type"\s*+:\s*+"entity"')
_NAME = re.compile(rf'"name"\s*+:\s*+({_STRING})', re.DOTALL)
_AS_THE_SERVER_WRITES = re.compile(rf'"type"\s*+:\s*+"entity"\s*+,\s*+"name"\s*+:\s*+({_STRING})', re.DOTALL)


def names_claimed(raw: bytes) -> tuple[str, ...]:
    """Give the names of the entities on a line that is damaged, as far as they can be told.

    A line that only memttl refuses is read as the memory server does: no UTF-8 replaced, of equal keys the last.
    """
    text = raw.decode("utf-8", "replace")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return _names_in(text)
    if not isinstance(record, dict) or record.get("type") != "entity" or not isinstance(record.get("name"), str):
        return ()
    return (record["name"],)


def _names_in(text: str) -> tuple[str, ...]:
    found = _AS_THE_SERVER_WRITES.findall(text)
    if not found and _ENTITY.search(text):
        found = _NAME.findall(text)[:1]  # a later one may be that of something within
    names = (_text_of(quoted) for quoted in found)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _text_of(quoted: str) -> str | None:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:  # a stray backslash
        return None
