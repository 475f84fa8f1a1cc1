"""Names of entities on lines that cannot be read: taken, so that no second entity of that name is made."""

from __future__ import annotations

import pytest
from support import entity, relation

from memttl.core.claims import names_claimed
from memttl.core.graph import Graph, read_graph
from memttl.core.graph_edits import (
    Addition,
    AddObservations,
    Answer,
    CreateEntities,
    DeleteEntities,
    DeleteObservations,
    Deletion,
    Edit,
    NewEntity,
    apply_edits,
)
from memttl.core.oddities import SHOWN

NO_UTF8 = b'{"type":"entity","name":"F","entityType":"","observations":["\xff"]}'
TWICE = b'{"type":"entity","name":"F","observations":[],"observations":["a"]}'
DEEP = b'{"type":"entity","name":"F","entityType":"","observations":[],"x":' + b"[" * 6000 + b"]" * 6000 + b"}"
CLAIMS = [
    (NO_UTF8, ("F",)),
    (TWICE, ("F",)),
    (DEEP, ("F",)),
    (b'{"type":"entity","name":"F\xff","observations":[]}', ("F\ufffd",)),
    (b'{"type":"entity","name":"E","name":"F","observations":[],"observations":[]}', ("F",)),
    (b'{"type":"entity","name":"F","obs', ("F",)),
    (b'{"type" : "entity" , "name" : "F", "obs', ("F",)),
    (b'{"name":"F","type":"entity","observations":[{"name":"inner"', ("F",)),
    (b'\xef\xbb\xbf{"type":"entity","name":"F"}', ("F",)),
    (b'{"type":"entity","name":"say \\"F\\"","obs', ('say "F"',)),
    (b'{"type":"entity","name":"\\u0046","obs', ("F",)),
    (entity(["a"], name="F") + entity(["b"], name="G"), ("F", "G")),
    (b'{"type":"entity","name":"F","entityType":"t","observations":[NaN]}', ("F",)),
    # no name, or not that of an entity
    (b'{"type":"entity","name":"hal', ()),
    (b'{"type":"entity","observations":["\\"name\\":\\"F\\"', ()),
    (b'{"type":"relation","name":"F","from":"F\xff"}', ()),
    (b'{"type":"relation","from":"F","to', ()),
    (b'{"type":"entity","name":5,"observations":[],"observations":[]}', ()),
    (b'{"type":"entity","name":"F\\q","obs', ()),
    (b"\x00\x00\x00", ()),
    (b"[" * 6000, ()),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "names"), CLAIMS)
def test_names_on_a_damaged_line(raw: bytes, names: tuple[str, ...]) -> None:
    assert names_claimed(raw) == names


def answered(edit: Edit, *lines: bytes) -> tuple[Graph, Answer]:
    edited = apply_edits(read_graph(b"\n".join(lines)), [edit])
    return edited.graph, edited.answers[0]


def make(*names: str) -> Edit:
    return CreateEntities(tuple(NewEntity(name, "note", ("b",)) for name in names))


@pytest.mark.parametrize("line", [NO_UTF8, TWICE, DEEP, b'{"type":"entity","name":"F","obs'])
def test_entity_on_a_line_that_cannot_be_read_is_not_made_again(line: bytes) -> None:
    graph, answer = answered(make("F", "G"), entity(["a"]), line)
    assert [found.name for _, found in graph.entities] == ["E", "G"]
    assert [found.name for found in answer.entities] == ["G"]
    # where it stands once the new entity has come in before it
    place = 1 + [row.line.raw for row in graph.rows].index(line)
    assert answer.notes == (
        f"The entity F stands in line {place} of the memory file, which cannot be read: that line stays as it is.",
    )


def test_refusal_to_add_to_it_says_where_it_stands() -> None:
    edit = AddObservations((Addition("F", ("b",)),))
    graph, answer = answered(edit, entity(["a"]), NO_UTF8)
    where = "line 2 of the memory file, which cannot be read"
    assert answer.refusal == f"Entity with name F stands in {where}; nothing was changed"
    assert graph.data == entity(["a"]) + b"\n" + NO_UTF8


@pytest.mark.parametrize("edit", [DeleteEntities(("F",)), DeleteObservations((Deletion("F", ("a",)),))])
def test_deletion_says_that_the_line_stays(edit: Edit) -> None:
    graph, answer = answered(edit, entity(["a"]), NO_UTF8)
    assert graph.data.endswith(NO_UTF8)
    assert "F stands in line 2" in answer.notes[0]


def test_relations_of_an_entity_that_stays_stay_too() -> None:
    lines = entity(["a"], name="A"), NO_UTF8, relation("A", "F"), relation("A", "B")
    graph, _ = answered(DeleteEntities(("F", "B")), *lines)
    assert [(r.start, r.end) for r in graph.relations] == [("A", "F")]


def test_entity_that_can_be_read_as_well_is_added_to() -> None:
    _, answer = answered(AddObservations((Addition("F", ("b",)),)), NO_UTF8, entity(["a"], name="F"))
    assert answer.added == (("F", ("b",)),)
    assert answer.notes == ()


def test_notes_of_many_are_counted() -> None:
    lines = [b'{"type":"entity","name":"%d","obs' % n for n in range(9)]
    _, answer = answered(make(*map(str, range(9))), relation("a", "b"), *lines)
    assert len(answer.notes) == SHOWN + 1
    assert answer.notes[-1] == "So do 4 more of the entities."
