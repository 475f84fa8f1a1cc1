"""The graph of a memory file: what the memory server would see in it, and what it is told to lack."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from strategies import OTHERS
from support import entity, json_line, relation

from memttl.core.graph import Entity, Graph, Relation, read_graph

BOM = b"\xef\xbb\xbf"
DEEP = b"[" * 600 + b"]" * 600
# what the graph lacks, and what it says of it
ODD = [
    (b'{"type":"entity","name":"F","obs', "column 29: the line ends in the middle of a value"),
    (entity(["a"], name="F") + entity(["b"]), "column 70: a second JSON value"),
    (BOM + entity(["a"], name="F"), "column 1: a byte order mark after the start of the file"),
    (b'{"type":"entity","name":"F","entityType":"","observations":["\xff"]}', "column 62: invalid UTF-8"),
    (b'{"type":"entity","name":"F","observations":[],"observations":[]}', "column 62: a second list of observations"),
    (b"null\r", "null instead of an object"),
    (json_line({"type": "entity", "observations": []}), "an entity without a name"),
    (b'{"type":"entity","name":"F","entityType":"","observations":[],"x":' + DEEP + b"}", "nested too deep"),
    (json_line({"type": "relation", "from": "F"}), "a relation without texts for its ends and its type"),
]  # fmt: skip


def graph_of(*lines: bytes) -> Graph:
    return read_graph(b"\n".join(lines))


def entities_of(*lines: bytes) -> list[Entity]:
    return [found for _, found in graph_of(*lines).entities]


def test_entities_and_relations_are_those_of_the_lines_in_order() -> None:
    graph = graph_of(entity(["a", "b"]), relation("E", "F"), entity([], name="F", kind="x"), relation("F", "E"))
    assert graph.entities == ((0, Entity("E", "note", ("a", "b"))), (2, Entity("F", "x", ())))
    assert graph.relations == (Relation("E", "F", "knows"), Relation("F", "E", "knows"))
    assert graph.odd == ()


@pytest.mark.parametrize("data", [b"", BOM, b"\n", b" \n\t\r\n", "\u2028\n\ufeff\v\f\u00a0".encode()])
def test_what_is_blank_for_the_server_is_an_empty_graph(data: bytes) -> None:
    graph = read_graph(data)
    assert (graph.entities, graph.relations, graph.odd) == ((), (), ())


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n", b"\r\n \r\n"])
@pytest.mark.parametrize("start", [b"", BOM])
def test_line_ends_and_a_byte_order_mark_are_no_part_of_the_graph(start: bytes, end: bytes) -> None:
    graph = read_graph(start + entity(["a"]) + end + relation("E", "F") + end)
    assert [found for _, found in graph.entities] == [Entity("E", "note", ("a",))]
    assert graph.relations == (Relation("E", "F", "knows"),)
    assert graph.odd == ()


def test_a_line_may_hold_line_separators_that_are_none_for_the_server() -> None:
    assert entities_of(entity(["a\u2028b\u0085c"])) == [Entity("E", "note", ("a\u2028b\u0085c",))]


@pytest.mark.parametrize("line", [b'{"type":"_aim"}', b'{"type":"Entity","name":"E"}', b"{}", b"[1]", b"42", b'"x"'])
def test_other_lines_are_no_part_of_the_graph_and_nothing_is_amiss_with_them(line: bytes) -> None:
    graph = graph_of(line)
    assert (graph.entities, graph.relations, graph.odd) == ((), (), ())


def test_extra_fields_change_nothing() -> None:
    assert entities_of(entity(["a"], createdAt="2026-01-01", from_=1)) == [Entity("E", "note", ("a",))]
    assert graph_of(relation("E", "F", version=1)).relations == (Relation("E", "F", "knows"),)


def test_the_last_of_equal_keys_counts() -> None:
    line = b'{"type":"relation","name":"x","type":"entity","name":"E","entityType":"note","observations":["a"]}'
    assert entities_of(line) == [Entity("E", "note", ("a",))]


def test_entities_of_one_name_are_all_there() -> None:
    graph = graph_of(entity(["a"]), entity(["b"]), entity(["c"], name="e"))
    assert [found.texts for _, found in graph.entities] == [("a",), ("b",), ("c",)]
    assert graph.places == {"E": [0, 1], "e": [2]}


def test_names_are_compared_as_they_are_spelled() -> None:
    assert len(graph_of(entity([], name="caf\u00e9"), entity([], name="cafe\u0301")).places) == 2


def test_an_observation_that_is_an_object_is_its_text() -> None:
    assert entities_of(entity([{"content": "a", "x": 1}, {"text": "b"}, "c"])) == [Entity("E", "note", ("a", "b", "c"))]


def test_observations_without_a_text_are_told_and_keep_their_places() -> None:
    graph = graph_of(entity([7, "a", None, {"x": "y"}]))
    assert graph.entities == ((0, Entity("E", "note", (None, "a", None, None))),)
    assert graph.odd == ((1, "3 of its observations hold no text"),)


@pytest.mark.parametrize("observations", [None, "text", {"0": "a"}, 7])
def test_an_entity_without_a_list_is_shown_and_told(observations: Any) -> None:
    graph = graph_of(entity(observations))
    assert graph.entities == ((0, Entity("E", "note", (), has_list=False)),)
    assert graph.odd == ((1, "no list of observations"),)


def test_an_entity_without_a_type_is_shown_and_told() -> None:
    graph = graph_of(entity(["a"], kind=3))
    assert graph.entities == ((0, Entity("E", "", ("a",))),)
    assert graph.odd == ((1, "no entity type"),)


@pytest.mark.parametrize(("line", "says"), ODD)
def test_what_the_graph_lacks_is_told_by_line(line: bytes, says: str) -> None:
    graph = graph_of(entity(["a"]), line, relation("E", "F"))
    assert [found.name for _, found in graph.entities] == ["E"]
    assert graph.relations == (Relation("E", "F", "knows"),)
    assert graph.odd == ((2, says),)


def test_an_odd_relation_has_the_ends_that_it_names() -> None:
    graph = graph_of(json_line({"type": "relation", "from1_": "A", "to": "B"}), relation("B", "B"), b'{"from":"B"}')
    assert graph.end_places == {"B": [0, 1, 1]}


def test_the_same_bytes_are_the_same_graph() -> None:
    data = entity(["a"])
    known = read_graph(data)
    assert read_graph(bytes(bytearray(data)), known) is known


def test_lines_that_are_known_are_not_parsed_again() -> None:
    lines = [entity([str(number)], name=str(number)) for number in range(9)]
    known = graph_of(*lines)
    new = read_graph(b"\n".join([lines[0], b"", *lines[2:5], entity(["x"]), *lines[6:], lines[1]]), known)
    same = [0, None, 2, 3, 4, None, 6, 7, 8, 1]
    assert [next((at for at, row in enumerate(known.rows) if row is found), None) for found in new.rows] == same


LINES = [*OTHERS, b"{", b"a", b"b", b"\r", BOM, entity(["a"]), entity(["b"]), relation("E", "F")]
files = st.tuples(
    st.sampled_from([b"", b"", BOM, BOM[:2]]),
    st.lists(st.sampled_from(LINES), max_size=6),
    st.sampled_from([b"", b"\n", b"\n\n"]),
).map(lambda parts: parts[0] + b"\n".join(parts[1]) + parts[2])


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A file, and another that shares its start, its end or its lines, or is cut somewhere."""
    old = draw(files)
    start, stop = sorted([draw(st.integers(0, len(old))), draw(st.integers(0, len(old)))])
    middle = draw(st.one_of(st.sampled_from([b"", b"\n", b"x", *LINES]), files))
    return old, draw(st.sampled_from([old[:start] + middle + old[stop:], old[start:stop], middle]))


@settings(phases=[p for p in Phase if p is not Phase.shrink], max_examples=300)
@given(versions())
def test_reading_beside_a_known_graph_is_reading_anew(pair: tuple[bytes, bytes]) -> None:
    old, new = pair
    read, anew = read_graph(new, read_graph(old)), read_graph(new)
    assert [row.line.raw for row in read.rows] == [row.line.raw for row in anew.rows]
    assert (read.entities, read.relations, read.odd) == (anew.entities, anew.relations, anew.odd)
    assert read.data == new
