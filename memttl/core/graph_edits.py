"""What a client of `memttl serve` wants changed, put on a graph: new bytes, and for each edit its answer. Pure.

`workflow/serving.py` calls it under the lock, several edits at once. An edit does what the memory server (release
2026.8.31) would do; one that it would refuse changes nothing, and the others go on. Every byte that no edit names
stays: an entity comes in behind the last one, an observation at the end of its list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memttl.core.cut import check_cut, cut_line
from memttl.core.graph import Graph, Relation, Row, row_of
from memttl.core.insert import entity_line, insert_elements
from memttl.core.js_json import as_json
from memttl.core.memory import BOM
from memttl.core.wish import Patch

NO_PATCH = Patch()
IsHidden = Callable[[str, str], bool]  # does a read leave out this text of this entity, since it has expired?


class NewEntity(NamedTuple):
    """An entity to be made; `patch` is what is set for each of its observations."""

    name: str
    entity_type: str
    observations: tuple[str, ...]
    patch: Patch = NO_PATCH


class Addition(NamedTuple):
    """Observations to be added to one entity; `patch` as in `NewEntity`."""

    entity: str
    contents: tuple[str, ...]
    patch: Patch = NO_PATCH


class Deletion(NamedTuple):
    """Observations to be taken out of one entity."""

    entity: str
    observations: tuple[str, ...]


class CreateEntities(NamedTuple):
    """Make entities; those whose name is there already are passed over."""

    entities: tuple[NewEntity, ...]


class CreateRelations(NamedTuple):
    """Make relations; those that are there already are passed over."""

    relations: tuple[Relation, ...]


class AddObservations(NamedTuple):
    """Add observations; those that are there already are passed over, one that has expired is renewed."""

    additions: tuple[Addition, ...]


class DeleteEntities(NamedTuple):
    """Take out entities, and the relations at whose ends they stand."""

    names: tuple[str, ...]


class DeleteObservations(NamedTuple):
    """Take out observations."""

    deletions: tuple[Deletion, ...]


class DeleteRelations(NamedTuple):
    """Take out relations."""

    relations: tuple[Relation, ...]


Edit = CreateEntities | CreateRelations | AddObservations | DeleteEntities | DeleteObservations | DeleteRelations


class Arrival(NamedTuple):
    """An observation that an edit names: added, renewed, or there already and given settings."""

    entity: str
    text: str
    patch: Patch
    is_new: bool = False
    is_renewed: bool = False


class Answer(NamedTuple):
    """What came of one edit. `refusal` is why nothing did, "" where all is well.

    `entities`, `relations` and `added` (texts by entity, one row an addition) are what was made.
    """

    refusal: str = ""
    entities: tuple[NewEntity, ...] = ()
    relations: tuple[Relation, ...] = ()
    added: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arrivals: tuple[Arrival, ...] = ()


class Edited(NamedTuple):
    """The graph as the edits leave it, and their answers, one each. `deletes`: something was taken out."""

    graph: Graph
    answers: tuple[Answer, ...]
    deletes: bool


def apply_edits(graph: Graph, edits: Iterable[Edit], is_hidden: IsHidden = lambda _entity, _text: False) -> Edited:
    """Put edits on a graph, one after the other, each on what the one before has made."""
    draft = _Draft(graph, is_hidden)
    answers = tuple(draft.apply(edit) for edit in edits)
    return Edited(draft.graph(), answers, draft.deletes)


class _Draft:
    """The rows of a graph while they change."""

    def __init__(self, graph: Graph, is_hidden: IsHidden) -> None:
        self._graph, self._is_hidden = graph, is_hidden
        self._rows = list(graph.rows)
        self._is_changed = self.deletes = False

    def graph(self) -> Graph:
        """Give the graph as it is now."""
        if not self._is_changed:
            return self._graph
        old = self._graph.data
        text = b"\n".join(row.line.raw for row in self._rows)
        end = b"\n" if self._rows and old.endswith(b"\n") else b""
        return Graph((BOM if self._graph.has_bom else b"") + text + end, tuple(self._rows))

    def apply(self, edit: Edit) -> Answer:
        match edit:
            case CreateEntities(entities):
                return self._create_entities(entities)
            case CreateRelations(relations):
                return self._create_relations(relations)
            case AddObservations(additions):
                return self._add(additions)
            case DeleteEntities(names):
                self._keep(lambda row: not _names_one(row, set(names)))
            case DeleteObservations(deletions):
                for deletion in deletions:
                    self._delete(deletion)
            case DeleteRelations(relations):
                gone = set(relations)
                self._keep(lambda row: row.relation is None or row.relation not in gone)
        return Answer()

    def _create_entities(self, entities: Sequence[NewEntity]) -> Answer:
        there = {row.entity.name for row in self._rows if row.entity is not None}
        # as the server does: a name that comes twice in one call is made twice
        made = tuple(entity for entity in entities if entity.name not in there)
        lines = [entity_line(e.name, e.entity_type, map(as_json, e.observations)) for e in made]
        self._insert(self._behind_entities(), lines)
        arrivals = tuple(Arrival(e.name, text, e.patch, is_new=True) for e in made for text in e.observations)
        return Answer(entities=made, arrivals=arrivals)

    def _create_relations(self, relations: Sequence[Relation]) -> Answer:
        there = {row.relation for row in self._rows}
        made = tuple(relation for relation in relations if relation not in there)
        self._insert(len(self._rows), [_relation_line(relation) for relation in made])
        return Answer(relations=made)

    def _add(self, additions: Sequence[Addition]) -> Answer:
        places = self._places({addition.entity for addition in additions})
        for addition in additions:
            refusal = self._refusal(addition.entity, places.get(addition.entity))
            if refusal:
                return Answer(refusal)
        arrivals, added = list[Arrival](), list[tuple[str, tuple[str, ...]]]()
        for addition in additions:
            found = self._add_to(places[addition.entity], addition)
            arrivals += found
            added.append((addition.entity, tuple(a.text for a in found if a.is_new or a.is_renewed)))
        return Answer(added=tuple(added), arrivals=tuple(arrivals))

    def _refusal(self, name: str, at: int | None) -> str:
        entity = self._rows[at].entity if at is not None else None
        if at is None or entity is None:
            return f"Entity with name {name} not found"  # the server's own words
        if not entity.has_list:
            return f"Entity with name {name} has no list of observations (line {at + 1} of the memory file)"
        return ""

    def _add_to(self, at: int, addition: Addition) -> list[Arrival]:
        row = self._rows[at]
        entity = row.entity
        assert entity is not None
        there = set(entity.texts)
        # as the server does: a text that comes twice in one call is added twice
        new = [text for text in addition.contents if text not in there]
        if new:
            position = len(entity.texts)
            raw, _ = insert_elements(row.line.raw, [(position, as_json(text)) for text in new])
            self._replace(at, raw)
        return [self._arrival(addition, text, is_new=text not in there) for text in addition.contents]

    def _arrival(self, addition: Addition, text: str, *, is_new: bool) -> Arrival:
        is_renewed = not is_new and self._is_hidden(addition.entity, text)
        return Arrival(addition.entity, text, addition.patch, is_new, is_renewed)

    def _delete(self, deletion: Deletion) -> None:
        at = self._places({deletion.entity}).get(deletion.entity)
        entity = self._rows[at].entity if at is not None else None
        if at is None or entity is None:
            return
        gone = [index for index, text in enumerate(entity.texts) if text in deletion.observations]
        if gone:
            raw = self._rows[at].line.raw
            cut = cut_line(raw, gone)
            check_cut(raw, cut, gone)
            self._replace(at, cut)
            self.deletes = True

    def _places(self, names: set[str]) -> dict[str, int]:
        """Give the row of the first entity of each of these names: the server changes no other."""
        found: dict[str, int] = {}
        for at, row in enumerate(self._rows):
            if row.entity is not None and row.entity.name in names:
                found.setdefault(row.entity.name, at)
        return found

    def _behind_entities(self) -> int:
        """Give the place for a new entity: behind the last one, or before the first relation, as the server does."""
        kinds = [row.line.kind for row in self._rows]
        last = max((at for at, kind in enumerate(kinds) if kind == "entity"), default=-1)
        return last + 1 if last >= 0 else kinds.index("relation") if "relation" in kinds else len(kinds)

    def _insert(self, at: int, lines: Sequence[bytes]) -> None:
        end = b"\r" if at and self._rows[at - 1].line.raw.endswith(b"\r") else b""
        self._rows[at:at] = [row_of(line + end, at + number) for number, line in enumerate(lines, start=1)]
        self._is_changed = self._is_changed or bool(lines)

    def _replace(self, at: int, raw: bytes) -> None:
        self._rows[at] = row_of(raw, at + 1)
        self._is_changed = True

    def _keep(self, stays: Callable[[Row], bool]) -> None:
        kept = [row for row in self._rows if stays(row)]
        if len(kept) < len(self._rows):
            self._rows, self._is_changed, self.deletes = kept, True, True


def _names_one(row: Row, names: set[str]) -> bool:
    if row.entity is not None:
        return row.entity.name in names
    return row.relation is not None and (row.relation.start in names or row.relation.end in names)


def _relation_line(relation: Relation) -> bytes:
    start, end, kind = map(as_json, relation)
    return f'{{"type":"relation","from":{start},"to":{end},"relationType":{kind}}}'.encode()
