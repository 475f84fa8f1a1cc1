"""The list of memory files on which `memttl serve` is meant to answer otherwise than the stock server, and how.

`test_serve_files.py` tries every file of the fixtures: one that is not listed here must get the stock server's answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from calls import Request, tool
from differential import BLANK, Message

BOM = b"\xef\xbb\xbf"
NO_JSON = "is not valid JSON"
AFTER_JSON = "Unexpected non-whitespace character after JSON"
UNTERMINATED = "Unterminated string in JSON"
WRONG_SHAPE = "Output validation error: Invalid structured content for tool read_graph"
_KEYS = ("type", "name", "entityType", "observations", "from", "to", "relationType")
TEXT_FIELDS = ("content", "contents", "text", "observation", "value")


class Partly(NamedTuple):
    """A file of which ours leaves something out, and says so; else it answers as the stock server does on the rest.

    The rest is what the stock server is put on instead: the file without the `lines` of these numbers, from 1, and
    where it `has_odd_lists` with texts alone. `stock` is a part of what it answers to a read of the whole file, ""
    where that succeeds. `says` begins the note in each answer of ours.
    """

    reason: str
    stock: str
    says: str
    lines: tuple[int, ...] = ()
    has_odd_lists: bool = False

    def left_out(self, data: bytes) -> list[bytes]:
        """The lines of the file that are left out."""
        lines = data.removeprefix(BOM).split(b"\n")
        return [lines[number - 1] for number in self.lines]

    def rest(self, data: bytes, left_out: Sequence[bytes]) -> bytes:
        """What is left of the file, or of what was made of it."""
        lines = [line for line in data.removeprefix(BOM).split(b"\n") if line not in left_out]
        return b"\n".join(map(_in_texts, lines) if self.has_odd_lists else lines)


class Refused(NamedTuple):
    """A file that every tool of ours refuses with `says`, and that stays as it is; `stock` as in `Partly`."""

    reason: str
    stock: str
    says: str


class Said(NamedTuple):
    """A call on such a file that no rest of the file explains: what both answer: isError, first text, notes."""

    start: str
    asked: Request
    stock: tuple[bool, Any, str]
    ours: tuple[bool, Any, str]


def _in_texts(line: bytes) -> bytes:
    """A line with a list of texts alone: of an object its text, else nothing; a missing list is an empty one."""
    if not line.decode().strip(BLANK):
        return line
    record: Message = {key: value for key, value in json.loads(line).items() if key in _KEYS}
    if record["type"] == "entity":
        record["observations"] = [text for one in record.get("observations") or () for text in _texts(one)]
    return json.dumps(record).encode()


def _texts(observation: Any) -> list[str]:
    found = [observation]
    if isinstance(observation, dict):
        found = [observation[key] for key in TEXT_FIELDS if isinstance(observation.get(key), str)]
    return [text for text in found[:1] if isinstance(text, str)]


def _torn(stock: str, number: int, says: str, *more: int) -> Partly:
    reason = "no tool of the stock server works beside a damaged line; ours leave it out and keep it byte for byte"
    return Partly(reason, stock, _line(number, says), (number, *more))


def _odd_lists(number: int, says: str) -> Partly:
    return Partly(_LISTS, WRONG_SHAPE, _line(number, says), has_odd_lists=True)


def _line(number: int, says: str) -> str:
    return f"Line {number} of the memory file is shown in part or not at all: {says}."


_LISTS = "the stock server's check of its own answers refuses the whole graph; ours leaves out what is no text"
_ONLY_OURS = "the stock server reads it, and would lose a part of it at the next write; ours leaves it out and keeps it"
_OTHERS = "it is another tool's file, which the stock server erases at its first write"
_DOCUMENT = "it is one document, which the stock server erases at its first write or cannot read"

WANTED_FILES: dict[str, Partly | Refused] = {
    "bom-at-start": Partly(
        "no tool of the stock server works on such a file; ours do, and keep the mark",
        NO_JSON,
        "The file begins with a byte order mark: the memory server cannot read such a file; it is kept as it is.",
    ),
    "bom-after-start": _torn(NO_JSON, 2, "column 1: a byte order mark after the start of the file"),
    "comma-before-closing-bracket": _torn(NO_JSON, 1, "column 149: a comma before a closing bracket"),
    "line-blank-only-for-python": _torn(NO_JSON, 2, "column 1: no JSON value"),
    "nan-number": _torn(NO_JSON, 2, "column 121: NaN is no JSON"),
    "nul-block-within-a-line": _torn(AFTER_JSON, 1, "column 151: text after the JSON object"),
    "nul-padding": _torn(NO_JSON, 4, "column 1: NUL bytes"),
    "null-line": _torn("Cannot read properties of null", 2, "null instead of an object"),
    "raw-tab-and-newline-in-string": _torn(
        "Bad control character", 1, "column 106: a raw control character in a text", 2, 3
    ),
    "record-over-several-lines": _torn(
        "Expected property name", 1, "column 2: the line ends in the middle of a value", *range(2, 10)
    ),
    "stray-backslash-in-string": _torn("Bad escaped character", 1, "column 84: a stray backslash"),
    "torn-head-before-a-whole-record": _torn("Expected ','", 1, "column 123: a comma or bracket is missing"),
    "truncated-entity-tail": _torn(UNTERMINATED, 3, "column 102: the line ends in the middle of a value"),
    "truncated-tail": _torn(UNTERMINATED, 3, "column 47: the line ends in the middle of a value"),
    "two-objects-on-one-line": _torn(AFTER_JSON, 2, "column 87: a second JSON value"),
    "../from-servers/race_2025.4.25_00": _torn(AFTER_JSON, 3, "column 66: a second JSON value"),
    "../from-servers/race_2025.4.25_01": _torn(AFTER_JSON, 3, "column 66: text after the JSON object"),
    "../from-servers/race_2025.4.25_02": _torn(AFTER_JSON, 3, "column 66: text after the JSON object"),
    "../from-servers/race_2025.4.25_03": _torn(AFTER_JSON, 1, "column 113: text after the JSON object", 3),
    "../from-servers/race_2025.4.25_04": _torn(AFTER_JSON, 3, "column 66: text after the JSON object"),
    "deep-nesting-in-extra-field": Partly(_ONLY_OURS, "", _line(2, "nested too deep"), (2,)),
    "invalid-utf8-byte": Partly(_ONLY_OURS, "", _line(1, "column 131: invalid UTF-8"), (1,)),
    "two-observations-keys": Partly(_ONLY_OURS, "", _line(1, "column 149: a second list of observations"), (1,)),
    "two-observations-keys-one-escaped": Partly(
        _ONLY_OURS, "", _line(1, "column 154: a second list of observations"), (1,)
    ),
    "entity-without-name": Partly(_LISTS, WRONG_SHAPE, _line(2, "an entity without a name"), (2,)),
    "mixed-observation-kinds": Partly(
        _LISTS, WRONG_SHAPE, _line(1, "4 of its observations hold no text"), has_odd_lists=True
    ),
    "numbers-no-parser-keeps": Partly(
        _LISTS, WRONG_SHAPE, _line(1, "1 of its observations hold no text"), has_odd_lists=True
    ),
    "object-observations": Partly(
        _LISTS, WRONG_SHAPE, _line(1, "1 of its observations hold no text"), has_odd_lists=True
    ),
    "observations-missing": _odd_lists(2, "no list of observations"),
    "observations-null": _odd_lists(2, "no list of observations"),
    "chat-log": Refused(_OTHERS, "", "The file is no memory file of the MCP memory server: its lines have no type"),
    "think-tank-underscore-type": Refused(
        _OTHERS, "", "The file is no memory file of the MCP memory server: its lines say _type"
    ),
    "empty-object-alone": Refused(_DOCUMENT, "", "The file is an empty JSON object, not one JSON object a line"),
    "one-line-array": Refused(_DOCUMENT, "", "The file is one JSON array, not one JSON object a line"),
    "one-line-graph-object": Refused(_DOCUMENT, "", "The file is one JSON document with entities and relations"),
    "pretty-printed-array": Refused(_DOCUMENT, "Unexpected end of JSON", "The file is one JSON array"),
    "pretty-printed-graph-object": Refused(_DOCUMENT, "Expected property name", "The file is one JSON document"),
    "truncated-graph-object": Refused(_DOCUMENT, UNTERMINATED, "1 line that the memory server cannot read"),
    "gzip": Refused("it is no text", NO_JSON, "The file is compressed with gzip"),
    "utf-16-be-without-bom": Refused("it is no UTF-8", NO_JSON, "The file is written in UTF-16"),
    "utf-16-le-with-bom": Refused("it is no UTF-8", NO_JSON, "The file is written in UTF-16"),
}


def _says(start: str, *before: str) -> str:
    row = WANTED_FILES[start]
    return "\n".join((*before, row.says))


def _which(line: int) -> str:
    return f"line {line} of the memory file, which cannot be read"


def _stands(name: str, line: int) -> str:
    return (
        f"The entity {name} stands in line {line} of the memory file, which cannot be read: that line stays as it is."
    )


def _add(name: str) -> Request:
    return tool("add_observations", {"observations": [{"entityName": name, "contents": ["x"]}]})


def _not_added(name: str, line: int) -> str:
    return (
        f"Entity with name {name} stands in line {line} of the memory file, which cannot be read; nothing was changed"
    )


def _no_list(name: str) -> str:
    return f"Entity with name {name} has no list of observations (line 2 of the memory file); nothing was changed"


def _on_a_line_only_ours_cannot_read(start: str, name: str, line: int) -> tuple[Said, ...]:
    new = tool("create_entities", {"entities": [{"name": name, "entityType": "t", "observations": []}]})
    gone, deleted = tool("delete_entities", {"entityNames": [name]}), "Entities deleted successfully"
    added = [{"entityName": name, "addedObservations": ["x"]}]
    stands = _says(start, _stands(name, line))
    return (
        Said(start, new, (False, [], ""), (False, [], stands)),
        Said(start, _add(name), (False, added, ""), (True, _not_added(name, line), _says(start))),
        Said(start, gone, (False, deleted, ""), (False, deleted, stands)),
    )


SAID: tuple[Said, ...] = (
    *_on_a_line_only_ours_cannot_read("invalid-utf8-byte", "menu-import", 1),
    *_on_a_line_only_ours_cannot_read("two-observations-keys", "feature flags", 1),
    *_on_a_line_only_ours_cannot_read("deep-nesting-in-extra-field", "generated parser", 2),
    Said(
        "truncated-entity-tail",
        _add("gate log"),
        (True, "Unterminated string in JSON at position 113", ""),
        (True, _not_added("gate log", 3), _says("truncated-entity-tail")),
    ),
    Said(
        "observations-null",
        _add("Interns 2026"),
        (True, "Cannot read properties of null (reading 'includes')", ""),
        (True, _no_list("Interns 2026"), _says("observations-null")),
    ),
    Said(
        "observations-missing",
        _add("Changelog"),
        (True, "Cannot read properties of undefined (reading 'includes')", ""),
        (True, _no_list("Changelog"), _says("observations-missing")),
    ),
)
