"""What a client of `memttl serve` wants changed, put on a graph: new bytes, and for each edit its answer. Pure.

`core/arrivals.py` calls it under the lock, several edits at once. An edit does what the memory server (release
2026.8.31) would do; one that it would refuse changes nothing, and the others go on. Every byte that no edit names
stays: an entity comes in behind the last one, an observation at the end of its list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memttl.core.graph import Graph, IsHidden, Relation, nothing_hidden
from memttl.core.graph_draft import Draft, Taken
from memttl.core.oddities import SHOWN
from memttl.core.wish import Patch
from memttl.core.wording import head_of

NO_PATCH = Patch()


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
    """What came of one edit. `refusal` is why nothing did, "" where all is well; `notes` are to be told besides.

    `entities`, `relations` and `added` (texts by entity, one row an addition) are what was made; `claimed` names the
    entities that were passed over, since a line that cannot be read holds them.
    """

    refusal: str = ""
    entities: tuple[NewEntity, ...] = ()
    relations: tuple[Relation, ...] = ()
    added: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    claimed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Edited(NamedTuple):
    """The graph as the edits leave it, and their answers, one each; what they took out of the one of before."""

    graph: Graph
    answers: tuple[Answer, ...]
    taken: tuple[Taken, ...] = ()

    @property
    def deletes(self) -> bool:
        """True where something was taken out."""
        return bool(self.taken)


def apply_edits(graph: Graph, edits: Iterable[Edit], is_hidden: IsHidden = nothing_hidden) -> Edited:
    """Put edits on a graph, one after the other, each on what the one before has made."""
    editor = _Editor(graph, is_hidden)
    answers = tuple(editor.apply(edit) for edit in edits)
    edited, taken = editor.draft.finish()
    told = tuple(answer._replace(notes=tuple(claim_notes(edited, answer.claimed))) for answer in answers)
    return Edited(edited, told, taken)


class _Editor:
    def __init__(self, graph: Graph, is_hidden: IsHidden) -> None:
        self.draft, self._graph, self._is_hidden = Draft(graph), graph, is_hidden
        self._fresh: set[tuple[str, str]] = set()  # entity and text of what came or was renewed by these edits

    def apply(self, edit: Edit) -> Answer:
        match edit:
            case CreateEntities(entities):
                return self._create_entities(entities)
            case CreateRelations(relations):
                return self._create_relations(relations)
            case AddObservations(additions):
                return self._add(additions)
            case DeleteEntities(names):
                claimed = self._claimed(names)  # they stay on their lines, and so do the relations that they are in
                for name in set(names).difference(claimed):
                    self.draft.take_entities(name)
                return Answer(claimed=claimed)
            case DeleteObservations(deletions):
                return self._delete(deletions)
            case DeleteRelations(relations):
                for relation in relations:
                    self.draft.take_relation(relation)
        return Answer()

    def _create_entities(self, entities: Sequence[NewEntity]) -> Answer:
        # as the server does: all are compared with what was there before, so a name that comes twice is made twice
        new = [entity for entity in entities if self.draft.place(entity.name) is None]
        claimed = self._claimed(entity.name for entity in new)
        made = tuple(entity for entity in new if entity.name not in claimed)
        for entity in made:
            self.draft.add_entity(entity.name, entity.entity_type, entity.observations)
        arrivals = [Arrival(e.name, text, e.patch, is_new=True) for e in made for text in dict.fromkeys(e.observations)]
        self._note(arrivals)
        return Answer(entities=made, arrivals=tuple(arrivals), claimed=claimed)

    def _claimed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Give those of these entities that a line holds which cannot be read, and which stays as it is."""
        return tuple(dict.fromkeys(name for name in names if name in self._graph.claims))

    def _create_relations(self, relations: Sequence[Relation]) -> Answer:
        made = tuple(relation for relation in relations if not self.draft.has(relation))  # twice, as with entities
        for relation in made:
            self.draft.add_relation(relation)
        return Answer(relations=made)

    def _add(self, additions: Sequence[Addition]) -> Answer:
        refusal = self._refusal([addition.entity for addition in additions], must_exist=True)
        if refusal:
            return Answer(refusal)
        arrivals, added = list[Arrival](), list[tuple[str, tuple[str, ...]]]()
        for addition in additions:
            found = self._add_to(addition)
            came = {arrival.text for arrival in found if arrival.is_new or arrival.is_renewed}
            added.append((addition.entity, tuple(text for text in addition.contents if text in came)))
            arrivals += found
        return Answer(added=tuple(added), arrivals=tuple(arrivals))

    def _add_to(self, addition: Addition) -> list[Arrival]:
        at = self.draft.place(addition.entity)
        assert at is not None
        there = self.draft.there(at)
        arrivals = [
            self._arrival(addition, text, is_new=text not in there) for text in dict.fromkeys(addition.contents)
        ]
        # as the server does: a text that comes twice in one addition is added twice
        self.draft.add_texts(at, [text for text in addition.contents if text not in there])
        self._note(arrivals)
        return arrivals

    def _arrival(self, addition: Addition, text: str, *, is_new: bool) -> Arrival:
        entity = addition.entity
        is_renewed = not is_new and (entity, text) not in self._fresh and self._is_hidden(entity, text)
        return Arrival(entity, text, addition.patch, is_new, is_renewed)

    def _note(self, arrivals: Iterable[Arrival]) -> None:
        self._fresh.update((arrival.entity, arrival.text) for arrival in arrivals)

    def _delete(self, deletions: Sequence[Deletion]) -> Answer:
        refusal = self._refusal([deletion.entity for deletion in deletions], must_exist=False)
        if refusal:
            return Answer(refusal)
        for deletion in deletions:
            at = self.draft.place(deletion.entity)
            if at is not None:
                self.draft.take_texts(at, deletion.observations)
        names = (deletion.entity for deletion in deletions)
        return Answer(claimed=self._claimed(name for name in names if self.draft.place(name) is None))

    def _refusal(self, names: Iterable[str], *, must_exist: bool) -> str:
        """Say at which of these the server would throw, which it does before it saves anything."""
        for name in names:
            at = self.draft.place(name)
            if at is None and must_exist and name in self._graph.claims:
                return f"Entity with name {name} stands in {_where(self._graph.claims[name])}; nothing was changed"
            if at is None and must_exist:
                return f"Entity with name {name} not found"  # the server's own words
            if at is not None and not self.draft.entity(at).has_list:
                where = f"line {at + 1} of the memory file"
                return f"Entity with name {name} has no list of observations ({where}); nothing was changed"
        return ""


def claim_notes(graph: Graph, names: Sequence[str]) -> Iterator[str]:
    """Say of entities that edits passed over where they stand in the graph that came of it."""
    for name in names[:SHOWN]:
        if name in graph.claims:
            yield f"The entity {head_of(name)} stands in {_where(graph.claims[name])}: that line stays as it is."
    rest = len(names) - SHOWN
    if rest > 0:
        yield f"So {'does' if rest == 1 else 'do'} {rest} more of the entities."


def _where(line: int) -> str:
    return f"line {line} of the memory file, which cannot be read"
