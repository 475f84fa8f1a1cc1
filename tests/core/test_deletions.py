"""What edits took out of a graph, told as the differences of the two versions tell it."""

from __future__ import annotations

import random

import pytest
from support import entity, relation

from memttl.core.deletions import taken_events
from memttl.core.differences import differences
from memttl.core.graph import Relation, read_graph
from memttl.core.graph_edits import DeleteEntities, DeleteObservations, DeleteRelations, Deletion, Edit, apply_edits
from memttl.core.restore_records import deletion_events

NAMES, TEXTS = ["A", "B", "É", "\\", "gone"], ["x", "y", '"]}', "é", "z \\ z"]
LINES = [
    "\ufeff".encode() + entity(["x", "x", "y"], name="A"),
    relation("A", "B"),
    b"{torn",
    entity(["é", '"]}'], name="É", kind="store", id=7),
    b'{ "observations":[ "\\u0078" , "y" ], "type":"entity","entityType":5,"name":"B" }\r',
    b"",
    entity(["y", "z \\ z", {"text": "x"}, 7], name="A"),
    relation("B", "A"),
    relation("B", "A"),
    entity([], name="\\"),
    b'{"type":"other"}',
]


def edit(chance: random.Random) -> Edit:
    def some(found: list[str]) -> tuple[str, ...]:
        return tuple(chance.choice(found) for _ in range(chance.randint(0, 3)))

    kind = chance.randrange(3)
    if kind == 0:
        return DeleteEntities(some(NAMES))
    if kind == 1:
        return DeleteObservations(tuple(Deletion(name, some(TEXTS)) for name in some(NAMES)))
    return DeleteRelations(tuple(Relation(name, chance.choice(NAMES), "knows") for name in some(NAMES)))


@pytest.mark.parametrize("seed", range(60))
def test_events_of_what_is_taken_are_those_of_the_differences(seed: int) -> None:
    chance = random.Random(seed)
    lines = chance.sample(LINES[1:], chance.randint(4, len(LINES) - 1))
    graph = read_graph(b"\n".join([*LINES[:1], *lines]) + b"\n")
    result = apply_edits(graph, [edit(chance) for _ in range(chance.randint(2, 6))])
    found = differences(graph.data, result.graph.data)
    wanted = deletion_events(graph.data, found, "run", with_text=True)
    told = taken_events(graph, result.taken, "run", with_text=True) if result.taken else []
    assert told == wanted
