"""The bytes of a memory file into the graph that `memttl serve` shows and changes: what the memory server would see.

`graph_edits.py` changes one, `serving_view.py` judges one. Where the memory
server gives up, at a damaged line or an entity without a list of observations, this goes on without it and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from memttl.core.claims import names_claimed
from memttl.core.evidence import text_of
from memttl.core.memory import BOM, parse_line
from memttl.core.model import Line

IsHidden = Callable[[str, str], bool]  # does a read leave out this text of this entity, since it has expired?
K = TypeVar("K", bound=Hashable)


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

    @property
    def ends(self) -> tuple[str, ...]:
        """The names of the entities at its ends, where it is a relation, also one that the graph lacks."""
        if self.relation is not None:
            return self.relation[:2]
        if self.line.kind != "relation" or self.line.record is None:
            return ()
        return tuple(name for key in ("from", "to") if isinstance(name := self.line.record.get(key), str))


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

    @cached_property
    def claims(self) -> dict[str, int]:
        """The names of entities that lines which cannot be read evidently hold, each with the first such line's number.

        The memory server may find such an entity, or will once the line is mended.
        """
        found: dict[str, int] = {}
        for number, _ in self.odd:
            row = self.rows[number - 1]
            if row.entity is None and row.line.kind in ("malformed", "entity"):
                for name in names_claimed(row.line.raw):
                    found.setdefault(name, number)
        return found

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The places of the rows of each entity's name, in order."""
        return _places((entity.name, at) for at, entity in self.entities)

    @cached_property
    def relation_places(self) -> dict[Relation, list[int]]:
        """The places of the rows of each relation, in order."""
        return _places((row.relation, at) for at, row in enumerate(self.rows) if row.relation is not None)

    @cached_property
    def end_places(self) -> dict[str, list[int]]:
        """The places of the rows of the relations at whose ends each name stands; twice where it is at both."""
        return _places((name, at) for at, row in enumerate(self.rows) if row.entity is None for name in row.ends)


def read_graph(data: bytes, known: Graph | None = None) -> Graph:
    """Read the bytes of a memory file; lines that `known` has too are not parsed again."""
    if known is None:
        return Graph(data, tuple(row_of(raw, number) for number, raw in enumerate(lines_of(data), start=1)))
    if known.data == data:
        return known
    new, old = data.removeprefix(BOM), known.data.removeprefix(BOM)
    start = new.rfind(b"\n", 0, _common_start(new, old)) + 1
    before = new.count(b"\n", 0, start)
    line_end = new.find(b"\n", len(new) - _common_end(new, old, start))
    stop = line_end + 1 if line_end >= 0 else len(new)
    after = new.count(b"\n", stop) + (stop < len(new) and not new.endswith(b"\n"))
    cache = {row.line.raw: row for row in known.rows[before : len(known.rows) - after]}
    changed = enumerate(_split(new[start:stop]), start=before + 1)
    middle = tuple(cache.get(raw) or row_of(raw, number) for number, raw in changed)
    return Graph(data, known.rows[:before] + middle + known.rows[len(known.rows) - after :])


def lines_of(data: bytes) -> list[bytes]:
    """Give the lines of a memory file without their LF and without a byte order mark at the start."""
    return _split(data.removeprefix(BOM))


def row_of(raw: bytes, number: int) -> Row:
    """Read one line."""
    line = parse_line(raw, number)
    if line.kind == "malformed":
        return Row(line, odd=f"column {line.column}: {line.problem}")
    if line.kind == "other":
        # the server asks each value for its type, which null has not, and gives up
        return Row(line, odd="null instead of an object") if raw.strip() == b"null" else Row(line)
    record = line.record
    if record is None:
        return Row(line, odd="nested too deep" if line.too_deep else "")
    return _entity_row(line, record) if line.kind == "entity" else _relation_row(line, record)


def nothing_hidden(_entity: str, _text: str) -> bool:
    """Say of every text that a read shows it."""
    return False


def _entity_row(line: Line, record: dict[str, Any]) -> Row:
    name, kind, found = record.get("name"), record.get("entityType"), record.get("observations")
    if not isinstance(name, str):
        return Row(line, odd="an entity without a name")
    entity_type = kind if isinstance(kind, str) else ""
    if not isinstance(found, list):
        return Row(line, Entity(name, entity_type, (), has_list=False), odd="no list of observations")
    # nearly all lists hold texts alone
    texts = tuple(found) if set(map(type, found)) == {str} else tuple(map(text_of, found))
    return Row(line, Entity(name, entity_type, texts), odd="; ".join(_amiss(kind, texts)))


def _amiss(kind: object, texts: tuple[str | None, ...]) -> Iterator[str]:
    if not isinstance(kind, str):
        yield "no entity type"
    missing = texts.count(None)
    if missing:
        yield f"{missing} of its observations hold no text"


def _relation_row(line: Line, record: dict[str, Any]) -> Row:
    start, end, kind = record.get("from"), record.get("to"), record.get("relationType")
    if isinstance(start, str) and isinstance(end, str) and isinstance(kind, str):
        return Row(line, relation=Relation(start, end, kind))
    return Row(line, odd="a relation without texts for its ends and its type")


def _places(pairs: Iterable[tuple[K, int]]) -> dict[K, list[int]]:
    found: dict[K, list[int]] = {}
    for key, at in pairs:
        found.setdefault(key, []).append(at)
    return found


def _split(body: bytes) -> list[bytes]:
    return body.removesuffix(b"\n").split(b"\n") if body else []


def _common_start(one: bytes, other: bytes) -> int:
    """Give how many bytes two begin with alike; by halves, since Python compares slices at the speed of memory."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: bytes, other: bytes, start: int) -> int:
    """Give how many bytes two end with alike, from `start` on."""
    low, high = 0, min(len(one), len(other)) - start
    while low < high:
        middle = (low + high + 1) // 2
        if one.endswith(other[len(other) - middle : len(other) - low], 0, len(one) - low):
            low = middle
        else:
            high = middle - 1
    return low
