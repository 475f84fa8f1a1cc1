"""What the read tools of `memttl serve` show of a graph: all of it, what a query finds, or entities by name. Pure.

For `serving_view.py`, which judges. They follow release 2026.8.31 of the memory server, and what a read leaves out
since it has expired matches no query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from memttl.core.graph import Entity, Graph, IsHidden, Relation, nothing_hidden
from memttl.core.needle import Needle, needle_of

_SURROGATE = re.compile("[\ud800-\udfff]")  # half of a pair, which may match where `Graph.lowered` has it not


class View(NamedTuple):
    """What a read shows, in the order of the file: entities, each with the place of its row (from 0), and relations.

    A text that is left out is None, so that those that stay keep their indexes.
    """

    entities: tuple[tuple[int, Entity], ...]
    relations: tuple[Relation, ...]


def whole(graph: Graph, is_hidden: IsHidden = nothing_hidden) -> View:
    """Give all that a read may show."""
    return View(tuple((at, _shown(entity, is_hidden)) for at, entity in graph.entities), graph.relations)


def search(graph: Graph, query: str, is_hidden: IsHidden = nothing_hidden) -> View:
    """Give the entities whose name, type or a text holds the query in any case, and the relations of each."""
    needle = needle_of(query)
    pairs: Iterable[tuple[int, Entity]] = graph.entities
    if not _SURROGATE.search(needle.lowered):
        lowered = zip(graph.entities, graph.lowered, strict=True)
        pairs = [pair for pair, text in lowered if needle.lowered in text]
    shown = ((at, _shown(entity, is_hidden)) for at, entity in pairs)
    return _with_relations(graph, tuple((at, entity) for at, entity in shown if _matches(entity, needle)))


def open_nodes(graph: Graph, names: Iterable[str], is_hidden: IsHidden = nothing_hidden) -> View:
    """Give the entities of these names, and the relations of each; names that nothing has are passed over."""
    wanted = set(names)
    found = ((at, entity) for at, entity in graph.entities if entity.name in wanted)
    return _with_relations(graph, tuple((at, _shown(entity, is_hidden)) for at, entity in found))


def _with_relations(graph: Graph, entities: tuple[tuple[int, Entity], ...]) -> View:
    """Either end is enough, so that what an entity is joined to can be discovered."""
    names = {entity.name for _, entity in entities}
    return View(entities, tuple(r for r in graph.relations if r.start in names or r.end in names))


def _shown(entity: Entity, is_hidden: IsHidden) -> Entity:
    if is_hidden is nothing_hidden:
        return entity
    name = entity.name
    texts = tuple(None if text is None or is_hidden(name, text) else text for text in entity.texts)
    return entity if texts == entity.texts else entity._replace(texts=texts)


def _matches(entity: Entity, needle: Needle) -> bool:
    texts = (entity.name, entity.entity_type, *entity.texts)
    return any(text is not None and needle.is_in(text) for text in texts)
