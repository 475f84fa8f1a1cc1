"""The rows of a graph while edits change them, and the graph that comes of it: each line is cut and filled once. Pure.

`graph_edits.py` says what goes and what comes. Until the end the rows keep their places, and each that goes leaves a
hole, so that no edit of a batch has to look at all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

from memttl.core.cut import check_cut, cut_line
from memttl.core.graph import Entity, Graph, Relation, Row, row_of
from memttl.core.insert import entity_line, insert_elements
from memttl.core.js_json import as_json
from memttl.core.memory import BOM

K = TypeVar("K", bound=Hashable)


class Taken(NamedTuple):
    """What edits took out of one line of the file as it was: the observations at `indexes`, else the whole line.

    `line` counts from 1, the indexes from 0.
    """

    line: int
    indexes: tuple[int, ...] = ()


@dataclass(slots=True)
class _List:
    """The list of observations of a row while it changes: `gone` indexes of what stood there, and what is `new`."""

    there: set[str | None]
    gone: set[int] = field(default_factory=set)
    new: list[str] = field(default_factory=list)


class Draft:
    """A graph while it changes. A place is that of a row in the graph; what comes has the places behind.

    The indexes share their lists with those of the graph, so that a list is never changed in place.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph, self._size = graph, len(graph.rows)
        self._slots: list[Row | None] = list(graph.rows)
        self._lists: dict[int, _List] = {}

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        return dict(self._graph.places)

    @cached_property
    def _relations(self) -> dict[Relation, list[int]]:
        return dict(self._graph.relation_places)

    @cached_property
    def _ends(self) -> dict[str, list[int]]:
        return dict(self._graph.end_places)

    def place(self, name: str) -> int | None:
        """Give the place of the first entity of this name: the server changes no other."""
        places = self._places.get(name)
        return places[0] if places else None

    def entity(self, at: int) -> Entity:
        """Give the entity at a place as it was."""
        row = self._slots[at]
        assert row is not None
        assert row.entity is not None
        return row.entity

    def has(self, relation: Relation) -> bool:
        """Say whether a relation is there."""
        return relation in self._relations

    def there(self, at: int) -> set[str | None]:
        """Give the texts of the entity at a place as they are now."""
        return self._list(at).there

    def add_texts(self, at: int, texts: Collection[str]) -> None:
        """Put texts at the end of the list of the entity at a place."""
        changing = self._list(at)
        changing.new += texts
        changing.there.update(texts)

    def take_texts(self, at: int, texts: Collection[str]) -> None:
        """Take texts out of the list of the entity at a place, wherever they stand."""
        changing, wanted = self._list(at), set(texts)
        if not changing.there & wanted:
            return
        changing.gone.update(index for index, text in enumerate(self.entity(at).texts) if text in wanted)
        changing.new = [text for text in changing.new if text not in wanted]
        changing.there -= wanted

    def add_entity(self, name: str, entity_type: str, texts: Iterable[str]) -> None:
        """Make an entity."""
        self._places[name] = [*self._places.get(name, ()), len(self._slots)]
        self._slots.append(row_of(entity_line(name, entity_type, map(as_json, texts)), 0))

    def add_relation(self, relation: Relation) -> None:
        """Make a relation."""
        at = len(self._slots)
        self._relations[relation] = [*self._relations.get(relation, ()), at]
        for name in relation[:2]:
            self._ends[name] = [*self._ends.get(name, ()), at]
        self._slots.append(row_of(_relation_line(relation), 0))

    def take_entities(self, name: str) -> None:
        """Take out all entities of a name, and the relations at whose ends it stands."""
        for at in self._places.pop(name, ()):
            self._slots[at] = None
        for at in self._ends.pop(name, ()):
            row = self._slots[at]
            if row is not None and row.relation is not None:
                self._relations.pop(row.relation, None)
            self._slots[at] = None

    def take_relation(self, relation: Relation) -> None:
        """Take out a relation, each time that it is there."""
        for at in self._relations.pop(relation, ()):
            self._slots[at] = None

    def finish(self) -> tuple[Graph, tuple[Taken, ...]]:
        """Give the graph as it is now, and what was taken out of the old one, in order."""
        taken = tuple(self._taken())
        for at, changing in self._lists.items():
            row = self._slots[at]
            if row is not None and (changing.gone or changing.new):
                self._slots[at] = _changed(row, changing)
        if self._slots == list(self._graph.rows):
            return self._graph, ()
        rows = tuple(self._rows())
        end = b"\n" if rows and self._graph.data.endswith(b"\n") else b""
        text = b"\n".join(row.line.raw for row in rows)
        return Graph((BOM if self._graph.has_bom else b"") + text + end, rows), taken

    def _list(self, at: int) -> _List:
        if at not in self._lists:
            self._lists[at] = _List(set(self.entity(at).texts))
        return self._lists[at]

    def _taken(self) -> Iterable[Taken]:
        for at, row in enumerate(self._slots[: self._size]):
            if row is None:
                yield Taken(at + 1)
            elif at in self._lists and self._lists[at].gone:
                yield Taken(at + 1, tuple(sorted(self._lists[at].gone)))

    def _rows(self) -> list[Row]:
        """Give all rows, those that came in the server's order: entities behind the last one, relations at the end."""
        if len(self._slots) == self._size:
            return _live(self._slots)
        old, came = self._slots[: self._size], [row for row in self._slots[self._size :] if row is not None]
        entities, relations = [r for r in came if r.entity is not None], [r for r in came if r.entity is None]
        end = _end(old)
        middle = _behind_entities(old, end)
        rows = _live(old[:middle])
        rows += _numbered(entities, rows or _live(old[middle:]), len(rows))
        rows += _live(old[middle:end])
        rows += _numbered(relations, rows, len(rows))
        return rows + _live(old[end:])


def _changed(row: Row, changing: _List) -> Row:
    assert row.entity is not None
    raw, count = row.line.raw, len(row.entity.texts) - len(changing.gone)
    if changing.gone:
        cut = cut_line(raw, changing.gone)
        check_cut(raw, cut, changing.gone)
        raw = cut
    if changing.new:
        raw, _ = insert_elements(raw, [(count, as_json(text)) for text in changing.new])
    return row_of(raw, row.line.number)


def _relation_line(relation: Relation) -> bytes:
    start, end, kind = map(as_json, relation)
    return f'{{"type":"relation","from":{start},"to":{end},"relationType":{kind}}}'.encode()


def _live(slots: Iterable[Row | None]) -> list[Row]:
    return [row for row in slots if row is not None]


def _end(slots: Sequence[Row | None]) -> int:
    """Give the place behind the last line that is not blank."""
    at = len(slots)
    while at:
        row = slots[at - 1]
        if row is not None and row.line.kind != "blank":
            break
        at -= 1
    return at


def _behind_entities(slots: Sequence[Row | None], end: int) -> int:
    """Give the place behind the last entity, else that of the first relation, else `end`."""
    kinds = [row.line.kind if row is not None else "blank" for row in slots]
    if "entity" in kinds:
        return len(kinds) - kinds[::-1].index("entity")
    return kinds.index("relation") if "relation" in kinds else end


def _numbered(came: Sequence[Row], near: Sequence[Row], before: int) -> list[Row]:
    """Give rows that came their numbers, behind `before` others, and the line end of the rows near by."""
    end = b"\r" if near and near[-1].line.raw.endswith(b"\r") else b""
    return [
        row._replace(line=row.line._replace(number=number, raw=row.line.raw + end))
        for number, row in enumerate(came, start=before + 1)
    ]
