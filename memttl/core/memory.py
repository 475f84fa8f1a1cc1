"""The memory file: bytes into lines, told apart as the memory server's JSON.parse would tell them.

Called by `plan.py` and by the settled read. Nothing here repairs or reorders: a line is its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from memttl.core.model import Line, LineKind
from memttl.core.progress import TICK_BYTES, Tick, no_tick

BOM = b"\xef\xbb\xbf"
# what JavaScript's trim() takes away, which is how the server finds blank lines (U+FEFF is one, U+0085 is not)
_JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
# orjson reads 1,024 levels, the standard library as many as Python's stack allows (3.11: 1,000 less the callers'): one
# limit well below both, so that every machine plans the same; what lies deeper is kept untouched
MAX_DEPTH = 500
# NaN and the like, outside of strings: a string that holds such a word is matched whole
_CONSTANT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|NaN|-?Infinity', re.DOTALL)
# how the standard library begins what it says -> what a person can look for
_PROBLEMS = (
    ("Expecting value", "no JSON value"),
    ("Invalid control character", "a raw control character in a text"),
    ("Invalid \\escape", "a stray backslash"),
    ("Invalid \\uXXXX", "a stray backslash before u, without four hexadecimal digits behind it"),
    ("Expecting ',' delimiter", "a comma or bracket is missing"),
    ("Expecting ':' delimiter", "a colon is missing"),
    ("Expecting property name", "no name in double quotes where one must stand"),
)
_SERVER_TYPES: dict[str, LineKind] = {"entity": "entity", "relation": "relation"}


def line_spans(data: bytes, *, tick: Tick = no_tick) -> Iterator[tuple[int, int, int, int]]:
    """Yield (number from 1, start, end, start of the next line) of each line; a BOM at the very start is left out.

    `tick` is called with the bytes done, at about each MiB and at the end.
    """
    start, number = (len(BOM) if data.startswith(BOM) else 0), 0
    while start < len(data):
        tick(start)
        stop = min(start + TICK_BYTES, len(data))
        while start < stop:
            number += 1
            # LF only: the server writes raw U+2028, at which str.splitlines splits
            end = data.find(b"\n", start)
            after = end + 1 if end >= 0 else len(data)
            yield number, start, (end if end >= 0 else len(data)), after
            start = after
    tick(len(data))


def read_lines(data: bytes, *, tick: Tick = no_tick) -> Iterator[Line]:
    """Yield each line of the file, parsed, numbered from 1; `tick` as in `line_spans`."""
    for number, start, end, _ in line_spans(data, tick=tick):
        yield parse_line(data[start:end], number)


def entity_heads(data: bytes) -> list[tuple[str, str | None]]:
    """Give (name, type) of the entities whose observations can be judged, in order, duplicates included."""
    records = [line.record for line in read_lines(data) if line.is_judged and line.record is not None]
    return [(r["name"], r["entityType"] if isinstance(r.get("entityType"), str) else None) for r in records]


def parse_line(raw: bytes, number: int) -> Line:
    """Tell what one line is: entity, relation, other JSON, blank, or malformed (with column and problem)."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _parse_slowly(raw, number)
    if _is_too_deep(raw):
        return _parse_deep(raw, number)
    if _may_name_observations_twice(raw) and _names_observations_twice(raw):
        return _twice(raw, number)
    return _line_of(value, raw, number)


def shallow_record(raw: bytes) -> dict[str, Any]:
    """Give what can be read of a well-formed line that is nested too deep: the fields that are not."""
    from memttl.core.spans import is_deeper_than, top_level_items

    items = ((key, raw[start:end]) for key, start, end in top_level_items(raw))
    return {key: json.loads(value, parse_int=parse_int) for key, value in items if not is_deeper_than(value, MAX_DEPTH)}


def _line_of(value: object, raw: bytes, number: int) -> Line:
    if not isinstance(value, dict):
        return Line(number, "other", raw)
    word = value.get("type")
    return Line(number, _SERVER_TYPES.get(word, "other") if isinstance(word, str) else "other", raw, value)


def _parse_slowly(raw: bytes, number: int) -> Line:
    """What orjson refuses: blank lines, lone surrogates, numbers past a double, deep nesting, and broken JSON."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as e:
        column = len(raw[: e.start].decode("utf-8", "replace")) + 1
        return Line(number, "malformed", raw, column=column, problem="invalid UTF-8")
    if not text.strip(_JS_SPACE):
        return Line(number, "blank", raw)
    if _is_too_deep(raw):
        return _parse_deep(raw, number)
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_int=parse_int)
    except _Constant as e:
        column = next(m.start() for m in _CONSTANT.finditer(text) if m[0] == str(e)) + 1
        return Line(number, "malformed", raw, column=column, problem=f"{e} is no JSON")
    except json.JSONDecodeError as e:
        comma = _comma_before_the_end(e, text)
        if comma:
            return Line(number, "malformed", raw, column=comma, problem="a comma before a closing bracket")
        return Line(number, "malformed", raw, column=e.colno, problem=_problem(e, text))
    if _names_observations_twice(raw):
        return _twice(raw, number)
    return _line_of(value, raw, number)


class _Constant(ValueError):
    """NaN, Infinity or -Infinity, which Python reads and JSON.parse does not."""


def _refuse_constant(word: str) -> None:
    raise _Constant(word)


def value_of(raw: str) -> Any:
    """Read the JSON of one observation, numbers of any length included.

    Raises:
        ValueError, RecursionError: it cannot be read.
    """
    return json.loads(raw, parse_int=parse_int)


def parse_int(digits: str) -> int | float:
    """Read an integer of JSON; one of a thousand digits as a double, as JavaScript does."""
    return int(digits) if len(digits) < 1000 else float(digits)  # Python refuses to read integers of 4,301 digits


def _comma_before_the_end(e: json.JSONDecodeError, text: str) -> int:
    """Give the column of a comma with nothing behind it, 0 for another problem: Python names it from 3.13 on only."""
    if text[e.pos : e.pos + 1] == ",":
        return e.colno if text[e.pos + 1 :].lstrip()[:1] in ("]", "}") else 0
    before = text[: e.pos].rstrip()
    return len(before) if text[e.pos : e.pos + 1] in ("]", "}") and before.endswith(",") else 0


def _problem(e: json.JSONDecodeError, text: str) -> str:
    if e.msg == "Extra data":
        return "a second JSON value" if text[e.pos] in '{["' else "text after the JSON object"
    if e.pos >= len(text.rstrip(_JS_SPACE)) or e.msg.startswith("Unterminated string"):
        return "the line ends in the middle of a value"
    if e.pos == 0 and text.startswith("\ufeff"):
        return "a byte order mark after the start of the file"
    if text[e.pos] == "\0":
        return "NUL bytes"
    return next((words for begins, words in _PROBLEMS if e.msg.startswith(begins)), "no JSON")


def _is_too_deep(raw: bytes) -> bool:
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    from memttl.core.spans import is_deeper_than  # here and below: few lines ever need them

    return is_deeper_than(raw, MAX_DEPTH)


def _parse_deep(raw: bytes, number: int) -> Line:
    from memttl.core.spans import is_well_formed, top_level_items

    if not is_well_formed(raw):
        return Line(number, "malformed", raw, column=1, problem="broken JSON, nested very deep")
    if _names_observations_twice(raw):
        return _twice(raw, number)
    kinds = [raw[start:end] for key, start, end in top_level_items(raw) if key == "type"]
    kind = _SERVER_TYPES.get(json.loads(kinds[-1])) if kinds and kinds[-1].startswith(b'"') else None
    return Line(number, kind or "other", raw, too_deep=True)


def _may_name_observations_twice(raw: bytes) -> bool:
    # a key spelled with an escape ("obs\u0065rvations") counts too, so a line with escapes is looked at closely
    return raw.count(b'"observations"') > 1 or b"\\u" in raw


def _names_observations_twice(raw: bytes) -> bool:
    from memttl.core.spans import top_level_items

    return sum(key == "observations" for key, _, _ in top_level_items(raw)) > 1


def _twice(raw: bytes, number: int) -> Line:
    from memttl.core.spans import top_level_items

    starts = [start for key, start, _ in top_level_items(raw) if key == "observations"]
    column = len(raw[: starts[1]].decode("utf-8", "replace")) + 1
    return Line(number, "malformed", raw, column=column, problem="a second list of observations")
