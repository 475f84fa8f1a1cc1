"""Entities and relations of a memory file into findings: names, ends, fields and texts that the server stumbles over.

Called by `checkup.py`, line by line. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memttl.core.findings import Finding, lines_of, of_file, several
from memttl.core.memory import shallow_record
from memttl.core.model import Line
from memttl.core.tokens import (
    tokens_of,
    weight_of_entity_frame,
    weight_of_graph_frame,
    weight_of_observation,
    weight_of_relation,
)
from memttl.core.wording import plural

_FIELDS = {
    "entity": frozenset({"type", "name", "entityType", "observations"}),
    "relation": frozenset({"type", "from", "to", "relationType"}),
}
# tab and line ends are ordinary in a text
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SEARCH_BREAKS = "its search_nodes fails for every query that reaches it"
_READ_BREAKS = "read_graph fails for the whole graph from release 2025.11.25 on"
_LOST = "servers newer than release 2026.8.31 skip the line and erase it at their next write"


class _Relation(NamedTuple):
    line: int
    start: str
    end: str


class GraphCheck:
    """Looks at each entity and relation, and adds up."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.entities = self.relations = self.observations = 0
        self._cents = 0
        self._names: dict[str, list[int]] = {}
        self._ends: list[_Relation] = []
        self._lines: dict[str, list[int]] = {}  # name of a finding -> lines
        self._fields: dict[str, None] = {}

    def add(self, line: Line) -> None:
        """Look at one entity or relation; one that is nested too deep is counted, and its name known."""
        self.entities += line.kind == "entity"
        self.relations += line.kind == "relation"
        if line.record is None:
            self._add_deep(line)
            return
        extra = line.record.keys() - _FIELDS[line.kind]
        if extra:
            self._note("extra-field", line)
            self._fields |= dict.fromkeys(key for key in line.record if key in extra)
        if line.kind == "entity":
            self._add_entity(line, line.record)
        else:
            self._add_relation(line, line.record)

    def _add_deep(self, line: Line) -> None:
        """Of an entity that is nested too deep only the name counts: relations may end at it."""
        name = shallow_record(line.raw).get("name") if line.kind == "entity" else None
        if isinstance(name, str):
            self._names.setdefault(name, []).append(line.number)

    def _note(self, name: str, line: Line) -> None:
        self._lines.setdefault(name, []).append(line.number)

    def _add_entity(self, line: Line, record: Mapping[str, Any]) -> None:
        self._cents += weight_of_entity_frame(record).cents
        name, observations = record.get("name"), record.get("observations")
        if isinstance(name, str):
            self._names.setdefault(name, []).append(line.number)
        else:
            self._note("no-name", line)
        if not isinstance(record.get("entityType"), str):
            self._note("no-entity-type", line)
        if not isinstance(observations, list):
            self._note("no-observations", line)
            return
        self.observations += len(observations)
        self._cents += sum(weight_of_observation(element).cents for element in observations)
        if not all(isinstance(element, str) for element in observations):
            self._note("observation-no-text", line)
        self._look_for_controls(line, [name, record.get("entityType"), *observations])

    def _add_relation(self, line: Line, record: Mapping[str, Any]) -> None:
        self._cents += weight_of_relation(record).cents
        start, end, kind = (record.get(key) for key in ("from", "to", "relationType"))
        if isinstance(start, str) and isinstance(end, str):
            self._ends.append(_Relation(line.number, start, end))
        if not all(isinstance(value, str) for value in (start, end, kind)):
            self._note("relation-incomplete", line)
        self._look_for_controls(line, [start, end, kind])

    def _look_for_controls(self, line: Line, texts: list[Any]) -> None:
        # most texts are printable ASCII or letters, and Python can tell that ten times as fast as the search
        odd = [text for text in texts if isinstance(text, str) and not text.isprintable()]
        if any("\0" in text for text in odd):
            self._note("nul-character", line)
        elif any(_CONTROLS.search(text) for text in odd):
            self._note("control-character", line)

    @property
    def tokens(self) -> int:
        """What a read_graph costs, estimated."""
        frame = weight_of_graph_frame(has_entities=self.entities > 0, has_relations=self.relations > 0)
        return tokens_of(self._cents + frame.cents)

    def findings(self, *, is_whole: bool = True) -> Iterator[Finding]:
        """Give what was found. Unless the file `is_whole`, an entity may stand where it cannot be read.

        Whoever deleted the relations of that one would lose them for good; after a repair they are told.
        """
        for name, (severity, words, server, command) in _KINDS.items():
            lines = self._lines.get(name, [])
            if lines:
                fields = f" ({several(list(self._fields))})" if name == "extra-field" else ""
                help_ = f"{command[0]} {of_file(command[1], self.file)} {command[2]}"
                message = f"{lines_of(lines)}: {words}{fields}"
                yield Finding(severity, name, message, help_, server, lines[0])  # type: ignore[arg-type]
        yield from self._duplicates(is_whole=is_whole)
        if is_whole:
            yield from self._dangling()

    def _duplicates(self, *, is_whole: bool) -> Iterator[Finding]:
        first = "" if is_whole else "once the file is mended, "  # until then the assistant can do nothing
        for name, lines in self._names.items():
            if len(lines) < 2:
                continue
            server = "the memory server adds to and deletes from the first alone, and delete_entities removes all"
            command = f"search {shlex.quote(name)} --expired include"
            help_ = f"{of_file(command, self.file)} shows them; {first}let the assistant move all into one."
            message = f"{lines_of(lines)}: {plural(len(lines), 'entity')} of the name {name}"
            yield Finding("warning", "duplicate-name", message, help_, server, lines[0])

    def _dangling(self) -> Iterator[Finding]:
        lost = [r for r in self._ends if r.start not in self._names or r.end not in self._names]
        if not lost:
            return
        ends = dict.fromkeys(end for r in lost for end in (r.start, r.end) if end not in self._names)
        message = f"{lines_of([r.line for r in lost])}: relations of entities that are not there: {several(list(ends))}"
        server = "servers from release 2026.7.4 on show them to the assistant, older ones do not"
        search = of_file(f"search {shlex.quote(next(iter(ends)))}", self.file)
        help_ = f"Let the assistant delete them or create the entity; {search} shows what names it."
        yield Finding("note", "dangling-relation", message, help_, server, lost[0].line)


_LOOK = ("Give it back what it lacks with an editor, on a copy;", "doctor", "looks again.")
# name -> severity, what it is, what the server does with it, and help around a command
_KINDS: dict[str, tuple[str, str, str, tuple[str, str, str]]] = {
    "no-name": (
        "warning", "an entity without a name that is text", f"{_SEARCH_BREAKS}; {_READ_BREAKS}; {_LOST}", _LOOK,
    ),
    "no-entity-type": (
        "warning", "an entity without a type that is text", f"{_SEARCH_BREAKS}; {_READ_BREAKS}; {_LOST}", _LOOK,
    ),
    "no-observations": (
        "warning",
        "an entity without a list of observations",
        f"search_nodes and add_observations fail at it; {_READ_BREAKS}; {_LOST}",
        _LOOK,
    ),
    "observation-no-text": (
        "warning",
        "an observation that is no text",
        f"the memory server keeps it (whole numbers past 2^53 lose digits), but {_SEARCH_BREAKS}; {_READ_BREAKS}; "
        f"{_LOST}, with the whole entity",
        ("Let the assistant write it as text;", "explain", "shows it."),
    ),
    "relation-incomplete": (
        "warning", "a relation that lacks from, to or relationType", f"{_READ_BREAKS}; {_LOST}", _LOOK,
    ),
    "extra-field": (
        "warning",
        "fields that the memory server does not know",
        "releases before 2025.9.25 keep them, that one and all later drop them at their next write; with 2025.11.25 a "
        "strict client refuses the whole read_graph",
        ("Times in them are lost then:", "explain", "tells which ages rest on them, and `memttl scan` begins others."),
    ),
    "nul-character": (
        "note",
        "a NUL character in a text",
        "the memory server keeps it, but clients and databases may cut the text off there",
        ("Let the assistant write the text anew;", "explain", "shows it with its control characters spelled out."),
    ),
    "control-character": (
        "note",
        "control characters in a text",
        "the memory server keeps them; on a terminal they may move the cursor or colour what follows",
        ("Let the assistant write the text anew;", "explain", "shows it with its control characters spelled out."),
    ),
}  # fmt: skip
