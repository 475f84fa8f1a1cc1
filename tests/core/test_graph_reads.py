"""What the read tools show of a graph: what a query finds, entities by name, and nothing that is hidden."""

from __future__ import annotations

import pytest
from support import entity, relation

from memttl.core.graph import Entity, Graph, Relation, read_graph
from memttl.core.graph_edits import Addition, AddObservations, apply_edits
from memttl.core.graph_reads import View, open_nodes, search, whole


def graph_of(*lines: bytes) -> Graph:
    return read_graph(b"\n".join(lines))


def names_of(view: View) -> list[str]:
    return [found.name for _, found in view.entities]


def hides(*texts: str):
    return lambda _entity, text: text in texts


GRAPH = graph_of(
    entity(["Redis is fast", "slow disk"], name="Queue", kind="service"),
    relation("Queue", "Nowhere"),
    entity(["a plan"], name="Team", kind="People"),
    entity([], name="Redis", kind="store"),
    relation("Team", "Redis"),
    relation("Nowhere", "Team"),
    relation("Nowhere", "Else"),
)


# in what text, which query, and whether it is found
CASES = [
    ("İ", "i", True), ("İ", "i\u0307", True), ("İ", "İ", True), ("I", "ı", False), ("ı", "I", False),
    ("ß", "SS", False), ("ẞ", "ß", True), ("STRASSE", "straße", False), ("ΟΔΟΣ", "ς", True), ("ΟΔΟΣ", "σ", False),
    ("Σ", "σ", True), ("ΑΣ Β", "ας", True), ("\u212a", "K", True), ("ﬁ", "fi", False), ("caf\u00e9", "e\u0301", False),
    ("🙂", "\ud83d", True), ("🙂 a", "\ude42 A", True), ("🙂", "\ude41", False), ("\ud83d", "\ud83d", True),
    ("a\nb", "A\nB", True), ("a\x00b", "\x00", True), ("a\u2028B", "\u2028b", True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("redis", ["Queue", "Redis"]),
        ("REDIS IS", ["Queue"]),
        ("people", ["Team"]),
        ("team", ["Team"]),
        ("", ["Queue", "Team", "Redis"]),
        ("fastslow", []),
        ("fast\nslow", []),
        ("queueservice", []),
        ("nowhere", []),
        (" ", ["Queue", "Team"]),
    ],
)
def test_an_entity_is_found_by_its_name_its_type_or_one_of_its_texts(query: str, names: list[str]) -> None:
    assert names_of(search(GRAPH, query)) == names


def test_what_is_found_is_shown_whole_at_its_place() -> None:
    found = search(GRAPH, "slow").entities
    assert found == ((0, Entity("Queue", "service", ("Redis is fast", "slow disk"))),)
    assert GRAPH.rows[0].entity == found[0][1]


@pytest.mark.parametrize(
    ("names", "ends"),
    [
        (["Queue"], [("Queue", "Nowhere")]),
        (["Team"], [("Team", "Redis"), ("Nowhere", "Team")]),
        (["Redis", "Queue"], [("Queue", "Nowhere"), ("Team", "Redis")]),
        (["Nowhere"], []),
        ([], []),
    ],
)
def test_a_relation_is_shown_where_an_entity_at_either_end_is(names: list[str], ends: list[tuple[str, str]]) -> None:
    assert [relation[:2] for relation in open_nodes(GRAPH, names).relations] == ends


def test_entities_are_opened_by_their_exact_names_in_the_order_of_the_file() -> None:
    assert names_of(open_nodes(GRAPH, ["Team", "Nowhere", "Queue", "Team", "redis"])) == ["Queue", "Team"]


def test_all_entities_of_a_name_are_opened() -> None:
    graph = graph_of(entity(["a"]), entity(["b"]))
    assert [found.texts for _, found in open_nodes(graph, ["E"]).entities] == [("a",), ("b",)]


def test_the_whole_is_all_there_is() -> None:
    assert whole(GRAPH) == View(GRAPH.entities, GRAPH.relations)


@pytest.mark.parametrize(("text", "query", "is_found"), CASES)
def test_case_is_that_of_javascript(text: str, query: str, is_found: bool) -> None:
    graph = graph_of(entity(["x", text, "y"], name="N", kind="n"))
    assert bool(search(graph, query).entities) == is_found


def test_the_text_of_an_object_is_searched_and_what_has_none_finds_nothing() -> None:
    graph = graph_of(entity([7, {"text": "seven"}, None]), entity(None, name="F"))
    assert names_of(search(graph, "seven")) == ["E"]
    assert names_of(search(graph, "null")) == names_of(search(graph, "7")) == []
    assert names_of(search(graph, "f")) == ["F"]


def test_a_hidden_text_matches_nothing_and_is_not_shown() -> None:
    is_hidden = hides("Redis is fast", "a plan")
    assert names_of(search(GRAPH, "fast", is_hidden)) == []
    assert names_of(search(GRAPH, "redis", is_hidden)) == ["Redis"]
    shown = ((0, Entity("Queue", "service", (None, "slow disk"))),)
    assert search(GRAPH, "slow", is_hidden).entities == shown
    assert open_nodes(GRAPH, ["Queue"], is_hidden).entities == shown
    assert whole(GRAPH, is_hidden).entities[:2] == (shown[0], (2, Entity("Team", "People", (None,))))


def test_an_entity_of_which_all_is_hidden_is_found_by_its_name_with_its_relations() -> None:
    found = search(GRAPH, "team", hides("a plan"))
    assert found.entities == ((2, Entity("Team", "People", (None,))),)
    assert found.relations == (Relation("Team", "Redis", "knows"), Relation("Nowhere", "Team", "knows"))


def test_what_has_come_since_a_search_is_found_by_the_next() -> None:
    graph = graph_of(entity(["old"]), entity(["old"], name="F"))
    assert names_of(search(graph, "new")) == []
    after = apply_edits(graph, [AddObservations((Addition("F", ("NEW",)),))]).graph
    assert (names_of(search(after, "new")), names_of(search(after, "old"))) == (["F"], ["E", "F"])
    assert names_of(search(read_graph(graph.data, after), "new")) == []
