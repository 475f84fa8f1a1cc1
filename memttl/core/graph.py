"""The bytes of a memory file into the graph that `memttl serve` shows and changes: what the memory server would see.

`graph_edits.py` changes one, `workflow/serving_view.py` judges one. Where the memory server gives up, at a damaged line
or an entity without a list of observations, this goes on without it and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from memttl.core.evidence import text_of
from memttl.core.memory import BOM, parse_line
from memttl.core.model import Line


class Relation(NamedTuple):
    """A relation: the names of the entities at its ends, and its type."""

    start: str
    end: str
    relation_type: str


class Entity(NamedTuple):
    """An entity. `texts`: one for each element of its list, None for one that holds no text.

    `has_list` is false where it has no list of observations, so that none can be added.
    """

    name: str
    entity_type: str
    texts: tuple[str | None, ...]
    has_list: bool = True


class Row(NamedTuple):
    """One line (its number is that of the file in which it was first met), and what the graph has of it.

    `odd` says what is amiss with a line that the graph lacks, or has in part; "" for the rest.
    """

    line: Line
    entity: Entity | None = None
    relation: Relation | None = None
    odd: str = ""


class Graph:
    """A memory file as rows; `entities` and `relations` are those with something to show, in order."""

    def __init__(self, data: bytes, rows: tuple[Row, ...]) -> None:
        self.data, self.rows = data, rows

    @property
    def has_bom(self) -> bool:
        """True where the file begins with a byte order mark."""
        return self.data.startswith(BOM)

    @cached_property
    def entities(self) -> tuple[tuple[int, Entity], ...]:
        """The entities, each with the place of its row (from 0)."""
        return tuple((at, row.entity) for at, row in enumerate(self.rows) if row.entity is not None)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """The relations."""
        return tuple(row.relation for row in self.rows if row.relation is not None)

    @cached_property
    def odd(self) -> tuple[tuple[int, str], ...]:
        """What the graph lacks of the file: the number of each such line (from 1) and what is amiss with it."""
        return tuple((at, row.odd) for at, row in enumerate(self.rows, start=1) if row.odd)


def read_graph(data: bytes, known: Graph | None = None) -> Graph:
    """Read the bytes of a memory file; lines that `known` has too are not parsed again."""
    if known is not None and known.data == data:
        return known
    cache = {row.line.raw: row for row in known.rows} if known is not None else {}
    rows = tuple(cache.get(raw) or row_of(raw, number) for number, raw in enumerate(lines_of(data), start=1))
    return Graph(data, rows)


def lines_of(data: bytes) -> list[bytes]:
    """Give the lines of a memory file without their LF and without a byte order mark at the start."""
    body = data.removeprefix(BOM)
    return body.removesuffix(b"\n").split(b"\n") if body else []


def row_of(raw: bytes, number: int) -> Row:
    """Read one line."""
    line = parse_line(raw, number)
    if line.kind == "malformed":
        return Row(line, odd=f"column {line.column}: {line.problem}")
    if line.too_deep:
        return Row(line, odd="nested too deep")
    record = line.record
    if line.kind == "entity" and record is not None:
        return _entity_row(line, record)
    if line.kind == "relation" and record is not None:
        start, end, kind = (record.get(key) for key in ("from", "to", "relationType"))
        if isinstance(start, str) and isinstance(end, str) and isinstance(kind, str):
            return Row(line, relation=Relation(start, end, kind))
        return Row(line, odd="a relation without texts for its ends and its type")
    return Row(line)


def _entity_row(line: Line, record: dict[str, Any]) -> Row:
    name, kind, found = record.get("name"), record.get("entityType"), record.get("observations")
    if not isinstance(name, str):
        return Row(line, odd="an entity without a name")
    entity_type = kind if isinstance(kind, str) else ""
    if not isinstance(found, list):
        return Row(line, Entity(name, entity_type, (), has_list=False), odd="no list of observations")
    texts = tuple(map(text_of, found))
    return Row(line, Entity(name, entity_type, texts), odd="; ".join(_amiss(kind, texts)))


def _amiss(kind: object, texts: tuple[str | None, ...]) -> Iterator[str]:
    if not isinstance(kind, str):
        yield "no entity type"
    missing = texts.count(None)
    if missing:
        yield f"{missing} of its observations hold no text"
