"""The six edits: what each makes of a graph as the memory server would, which bytes stay, and what is told."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from support import entity, json_line, relation

from memttl.core.durations import parse_duration
from memttl.core.graph import Graph, Relation, nothing_hidden, read_graph
from memttl.core.graph_draft import Taken
from memttl.core.graph_edits import (
    NO_PATCH,
    Addition,
    AddObservations,
    Answer,
    Arrival,
    CreateEntities,
    CreateRelations,
    DeleteEntities,
    DeleteObservations,
    DeleteRelations,
    Deletion,
    Edit,
    Edited,
    IsHidden,
    NewEntity,
    apply_edits,
)
from memttl.core.wish import Patch

BOM = b"\xef\xbb\xbf"
KNOWS = Relation("E", "F", "knows")
TTL = Patch(ttl=parse_duration("7d"))


def edited(data: bytes, *edits: Edit, is_hidden: IsHidden = nothing_hidden) -> Edited:
    return apply_edits(read_graph(data), edits, is_hidden)


def after(data: bytes, *edits: Edit) -> bytes:
    return edited(data, *edits).graph.data


def add(name: str, *texts: str, patch: Patch = NO_PATCH) -> AddObservations:
    return AddObservations((Addition(name, texts, patch),))


def take(name: str, *texts: str) -> DeleteObservations:
    return DeleteObservations((Deletion(name, texts),))


def make(name: str, *texts: str, kind: str = "note") -> CreateEntities:
    return CreateEntities((NewEntity(name, kind, texts),))


def added(answer: Answer) -> dict[str, tuple[str, ...]]:
    return dict(answer.added)


def lines(*found: bytes) -> bytes:
    return b"\n".join(found)


# entities that are made


def test_an_entity_is_written_as_the_server_writes_it() -> None:
    line = '{"type":"entity","name":"É\\"","entityType":"","observations":["a\\n","\u2028\\ud800"]}'.encode()
    assert after(b"", make('É"', "a\n", "\u2028\ud800", kind="")) == line


def test_an_entity_comes_behind_the_last_one() -> None:
    data = lines(entity(["a"]), relation("E", "F"), entity([], name="F"), relation("F", "E"))
    new = lines(entity(["a"]), relation("E", "F"), entity([], name="F"), entity(["x"], name="G"), relation("F", "E"))
    assert after(data, make("G", "x")) == new


def test_the_first_entity_comes_before_the_first_relation() -> None:
    data = lines(b'{"type":"_aim"}', relation("E", "F"))
    assert after(data, make("G")) == lines(b'{"type":"_aim"}', entity([], name="G"), relation("E", "F"))


@pytest.mark.parametrize("data", [b"\n", b"\r\n\r\n", b" ", BOM, BOM + b"\n"])
def test_what_is_blank_stays_behind_what_comes(data: bytes) -> None:
    new = after(data, make("G"), CreateRelations((KNOWS,)))
    assert [found.name for _, found in read_graph(new).entities] == ["G"]
    assert read_graph(new).relations == (KNOWS,)
    rest = data.removeprefix(BOM)
    assert new.removeprefix(BOM).endswith(rest)
    assert new.startswith(BOM) == data.startswith(BOM)


def test_an_entity_whose_name_is_there_is_passed_over() -> None:
    result = edited(entity(["a"]), make("E", "b"), make("e"), make("E"))
    assert [answer.entities for answer in result.answers] == [(), (NewEntity("e", "note", ()),), ()]
    assert result.graph.data == lines(entity(["a"]), entity([], name="e"))


def test_a_name_that_comes_twice_in_one_call_is_made_twice() -> None:
    twice = NewEntity("E", "note", ("a",)), NewEntity("E", "x", ("b",))
    result = edited(b"", CreateEntities(twice))
    assert result.answers[0].entities == twice
    assert result.graph.data == lines(entity(["a"]), entity(["b"], kind="x"))


def test_an_entity_that_another_edit_has_made_is_there_for_the_next() -> None:
    result = edited(b"", make("E", "a"), make("E", "b"), add("E", "a", "b"))
    assert result.answers[1].entities == ()
    assert added(result.answers[2]) == {"E": ("b",)}
    assert result.graph.data == entity(["a", "b"])


# relations


def test_a_relation_comes_at_the_end_as_the_server_writes_it() -> None:
    result = edited(lines(relation("E", "G"), entity([])), CreateRelations((KNOWS,)))
    assert result.answers[0].relations == (KNOWS,)
    assert result.graph.data == lines(relation("E", "G"), entity([]), relation("E", "F"))


@pytest.mark.parametrize("other", [("e", "F", "knows"), ("F", "E", "knows"), ("E", "F", "Knows"), ("E", "F", "")])
def test_relations_are_one_only_where_all_of_them_is_equal(other: tuple[str, str, str]) -> None:
    result = edited(relation("E", "F"), CreateRelations((KNOWS, Relation(*other))), CreateRelations((KNOWS,)))
    assert [answer.relations for answer in result.answers] == [(other,), ()]


def test_a_relation_that_comes_twice_in_one_call_is_made_twice() -> None:
    assert after(b"", CreateRelations((KNOWS, KNOWS))) == lines(relation("E", "F"), relation("E", "F"))


def test_each_equal_relation_is_taken_out() -> None:
    data = lines(relation("E", "F"), relation("F", "E"), relation("E", "F", version=2))
    result = edited(data, DeleteRelations((KNOWS, Relation("E", "F", "nothing"))))
    assert result.graph.data == relation("F", "E")
    assert result.taken == (Taken(1), Taken(3))


# observations


def test_observations_come_at_the_end_of_the_first_entity_of_the_name() -> None:
    data = lines(entity(["a"]), entity(["b"]))
    result = edited(data, add("E", "c", "d"))
    assert result.graph.data == lines(entity(["a", "c", "d"]), entity(["b"]))
    assert not result.deletes


def test_an_observation_that_is_there_is_passed_over() -> None:
    result = edited(entity(["a", {"text": "b"}]), add("E", "b", "c", "a", "A", "a "))
    assert added(result.answers[0]) == {"E": ("c", "A", "a ")}


def test_an_observation_that_comes_twice_in_one_addition_is_added_twice() -> None:
    result = edited(entity([]), AddObservations((Addition("E", ("a", "a")), Addition("E", ("a", "b")))))
    assert result.answers[0].added == (("E", ("a", "a")), ("E", ("b",)))
    assert result.graph.data == entity(["a", "a", "b"])


def test_texts_are_compared_as_they_are_spelled() -> None:
    assert after(entity(["caf\u00e9"]), add("E", "cafe\u0301")) == entity(["caf\u00e9", "cafe\u0301"])


def test_each_equal_observation_of_the_first_entity_is_taken_out() -> None:
    data = lines(entity(["a", "b", {"content": "a"}, 7]), entity(["a"]))
    result = edited(data, take("E", "a", "z"))
    assert result.graph.data == lines(entity(["b", 7]), entity(["a"]))
    assert (result.deletes, result.taken) == (True, (Taken(1, (0, 2)),))


def test_what_names_nothing_takes_nothing() -> None:
    data = lines(entity(["a"]), relation("E", "F"))
    nothing = take("E", "b"), take("Z", "a"), DeleteEntities(("Z",)), DeleteRelations((Relation("E", "F", ""),))
    graph = read_graph(data)
    result = apply_edits(graph, nothing)
    assert result == Edited(graph, (Answer(),) * 4)
    assert not result.deletes
    assert result.graph is graph


def test_an_entity_goes_with_all_of_its_name_and_their_relations() -> None:
    data = lines(entity(["a"]), relation("E", "F"), entity([]), entity([], name="F"), relation("F", "E"))
    result = edited(data + b"\n", DeleteEntities(("E",)))
    assert result.graph.data == entity([], name="F") + b"\n"
    assert result.taken == (Taken(1), Taken(2), Taken(3), Taken(5))


def test_relations_of_a_name_go_though_no_entity_has_it() -> None:
    assert after(lines(relation("E", "F"), relation("F", "G")), DeleteEntities(("E",))) == relation("F", "G")


def test_a_relation_that_the_graph_lacks_goes_with_the_entity_at_its_end() -> None:
    data = lines(entity([]), json_line({"type": "relation", "from1_": "X", "to": "E"}), b'{"type":"note","to":"E"}')
    assert after(data, DeleteEntities(("E",))) == b'{"type":"note","to":"E"}'


def test_a_file_of_which_all_goes_is_empty() -> None:
    assert after(lines(entity([]), relation("E", "F"), b""), DeleteEntities(("E",))) == b""


# refusals


@pytest.mark.parametrize("known_first", [True, False])
def test_an_unknown_entity_refuses_the_whole_edit_and_no_other(known_first: bool) -> None:
    additions = [Addition("E", ("b",)), Addition("Z", ("b",))]
    edit = AddObservations(tuple(additions if known_first else additions[::-1]))
    result = edited(entity(["a"]), add("E", "x"), edit, add("E", "y"))
    assert result.answers[1] == Answer("Entity with name Z not found")
    assert result.graph.data == entity(["a", "x", "y"])


def test_the_first_that_is_amiss_is_named() -> None:
    edit = AddObservations((Addition("Y", ()), Addition("Z", ())))
    assert edited(b"", edit).answers[0].refusal == "Entity with name Y not found"


@pytest.mark.parametrize("edit", [
    AddObservations((Addition("F", ("b",)), Addition("E", ()))),
    DeleteObservations((Deletion("F", ("a",)), Deletion("E", ()))),
])  # fmt: skip
def test_an_entity_without_a_list_refuses_the_whole_edit(edit: Edit) -> None:
    data = lines(entity(["a"], name="F"), entity(None), entity(["a"]))
    result = edited(data, edit)
    says = "Entity with name E has no list of observations (line 2 of the memory file); nothing was changed"
    assert result.answers == (Answer(says),)
    assert result.graph.data == data


def test_an_entity_without_a_list_is_there_and_can_be_taken_out() -> None:
    result = edited(entity(None), make("E"), DeleteEntities(("E",)))
    assert result.answers[0].entities == ()
    assert result.graph.data == b""


# several edits


def test_an_edit_sees_what_the_ones_before_have_made() -> None:
    result = edited(entity(["a"]), add("E", "b"), take("E", "a", "b"), add("E", "a"), DeleteEntities(("E",)), add("E"))
    assert [answer.refusal for answer in result.answers] == ["", "", "", "", "Entity with name E not found"]
    assert (result.graph.data, result.taken) == (b"", (Taken(1),))


def test_what_goes_and_comes_back_as_it_was_is_no_change() -> None:
    graph = read_graph(lines(entity(["a"]), relation("E", "F")))
    result = apply_edits(graph, [take("E", "a"), add("E", "a")])
    assert (result.graph is graph, result.taken, result.deletes) == (True, (), False)


def test_what_comes_and_goes_was_never_taken_out() -> None:
    edits = add("E", "b"), make("F"), CreateRelations((KNOWS,)), take("E", "b"), DeleteEntities(("F",))
    result = edited(entity(["a"]), *edits)
    assert (result.graph.data, result.taken) == (entity(["a"]), ())


def test_an_entity_that_is_taken_out_may_be_made_anew() -> None:
    data = lines(entity(["a"]), entity(["b"]), relation("E", "F"))
    result = edited(data, DeleteEntities(("E",)), make("E", "a"), add("E", "a", "c"))
    assert result.graph.data == entity(["a", "c"])
    assert added(result.answers[2]) == {"E": ("c",)}


def test_a_relation_that_went_with_an_entity_may_be_made_anew() -> None:
    result = edited(lines(entity([]), relation("E", "F")), DeleteEntities(("E",)), CreateRelations((KNOWS,)))
    assert result.answers[1].relations == (KNOWS,)
    assert read_graph(result.graph.data).relations == (KNOWS,)


def test_the_graph_that_was_edited_stays_as_it_was() -> None:
    data = lines(entity(["a"]), relation("E", "F"))
    graph = read_graph(data)
    apply_edits(graph, [take("E", "a"), CreateRelations((Relation("E", "F", "x"),)), make("F"), DeleteEntities(("E",))])
    anew = read_graph(data)
    assert shown(graph) == shown(anew)
    assert (graph.places, graph.relation_places) == (anew.places, anew.relation_places)
    assert graph.end_places == anew.end_places


# what is told of observations


def test_what_is_added_or_named_arrives_with_its_settings() -> None:
    new = NewEntity("F", "note", ("x", "x"), TTL)
    result = edited(entity(["a"]), add("E", "a", "b", "b", patch=TTL), CreateEntities((new,)), make("E", "c"))
    assert [answer.arrivals for answer in result.answers] == [
        (Arrival("E", "a", TTL), Arrival("E", "b", TTL, is_new=True)),
        (Arrival("F", "x", TTL, is_new=True),),
        (),
    ]


def test_a_hidden_observation_that_is_added_again_is_renewed_and_not_written_twice() -> None:
    data = entity(["a", "b"])
    result = edited(data, add("E", "b", "a", "b"), is_hidden=lambda name, text: (name, text) == ("E", "b"))
    assert result.graph.data == data
    assert added(result.answers[0]) == {"E": ("b", "b")}
    assert result.answers[0].arrivals == (Arrival("E", "b", Patch(), is_renewed=True), Arrival("E", "a", Patch()))


@pytest.mark.parametrize("before", [[], [take("E", "a")], [DeleteEntities(("E",)), make("E")]])
def test_what_was_renewed_or_is_new_is_hidden_no_more(before: list[Edit]) -> None:
    edits = [*before, add("E", "a"), add("E", "a"), AddObservations((Addition("E", ("a",)), Addition("E", ("a",))))]
    result = edited(entity(["a"]), *edits, is_hidden=lambda _name, _text: True)
    assert [answer.added for answer in result.answers[-3:]] == [(("E", ("a",)),), (("E", ()),), (("E", ()),) * 2]
    assert result.graph.data == entity(["a"])


def test_a_hidden_observation_is_taken_out_by_name() -> None:
    assert edited(entity(["a", "b"]), take("E", "a"), is_hidden=lambda _n, _t: True).graph.data == entity(["b"])


# bytes

# what stands before the list, the list, the list with "x" in it, and what stands behind
UNUSUAL = [
    (b'{"observations": ', b'[ "a" , "\\u0062"\t]', b'[ "a" , "\\u0062" , "x"\t]', b' , "type":"entity","name":"E"}\r'),
    (b' {"type":"entity", "name":"E", "observations":', b'["a", "b"]', b'["a", "b", "x"]', b', "x":[1, 2e400]} '),
    (b'{"type":"entity","name":"D","name":"E","observations":', b"[ ]", b'["x" ]', b',"y":"\\ud800"}'),
    (b'{"type":"entity","name":"E","o":{"observations":[]},"obs\\u0065rvations":', b"[{},7]", b'[{},7,"x"]', b"}"),
    (b'{"a":1234567890123456789012,"a":0.10,"type":"entity","name":"\\u0045","observations":', b'["]"]', b'["]","x"]',
     b"}"),
]  # fmt: skip
AROUND = [(b"", b""), (b"{torn\n\n", b"\nnull\n \n"), (BOM + b"\r\n", b"\r\n")]


@pytest.mark.parametrize(("head", "old", "new", "tail"), UNUSUAL)
@pytest.mark.parametrize(("above", "below"), AROUND)
def test_an_observation_comes_and_goes_in_an_unusual_line_and_every_other_byte_stays(
    head: bytes, old: bytes, new: bytes, tail: bytes, above: bytes, below: bytes
) -> None:
    data = above + head + old + tail + below
    with_it = after(data, add("E", "x"))
    assert with_it == above + head + new + tail + below
    assert after(with_it, take("E", "x")) == data


def test_what_comes_into_a_file_of_crlf_ends_so() -> None:
    data = b"\r\n".join([entity(["a"]), relation("E", "F"), b""])
    new = b"\r\n".join([entity(["a"]), entity([], name="G"), relation("E", "F"), relation("F", "E"), b""])
    assert after(data, make("G"), CreateRelations((Relation("F", "E", "knows"),))) == new


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_last_line_ends_as_it_did(end: bytes) -> None:
    assert after(entity([]) + end, make("F")) == lines(entity([]), entity([], name="F")) + end


def test_an_odd_line_stays_where_it_is_and_its_entity_cannot_be_reached() -> None:
    torn = b'{"type":"entity","name":"T","obs'
    data = lines(entity([]), torn)
    result = edited(data, add("T", "x"), add("E", "x"), DeleteEntities(("T", "E")))
    assert result.answers[0].refusal == (
        "Entity with name T stands in line 2 of the memory file, which cannot be read; nothing was changed"
    )
    assert result.graph.data == torn


def test_the_graph_is_what_its_bytes_are_read_as() -> None:
    graph = edited(lines(entity(["a"]), b"\x00"), add("E", "b"), make("F", "c"), CreateRelations((KNOWS,))).graph
    assert shown(graph) == shown(read_graph(graph.data))


def shown(graph: Graph) -> list[Iterable[object]]:
    return [graph.entities, graph.relations, graph.odd, [row.line.raw for row in graph.rows]]
