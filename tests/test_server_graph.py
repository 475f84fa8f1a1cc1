"""The real memory server beside the six edits and the reads of a graph: the same answers, and the same graph."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES
from server import Server, ServerError
from support import NOW, entity, judge_of, relation
from viewing import graph_of

from memttl.core.graph import Graph, Relation, read_graph
from memttl.core.graph_edits import (
    Addition,
    AddObservations,
    Answer,
    CreateEntities,
    CreateRelations,
    DeleteEntities,
    DeleteObservations,
    DeleteRelations,
    Deletion,
    Edit,
    NewEntity,
    apply_edits,
)
from memttl.core.serving_view import Reading, View, view_of

pytestmark = pytest.mark.server

NAMES = ["Queue", "queue", "twin", "É", "e\u0301", "İ", "", "🙂", "\ud83d", "nowhere", "__proto__", '"\\']
TEXTS = ["", "x", "X", " x", "İstanbul", "Straße", "ΟΔΟΣ", "🙂 and 🙁", "\ud83d", "a\nb", "\u2028", '"]}', "\0", "é"]
KINDS = ["note", "Note", ""]
QUERIES = [*NAMES, *TEXTS, "STRASSE", "istanbul", "σ", "ς", "\ude42", "NOTE", "and", "i", "O", "\n"]
START = b"\r\n".join(
    [
        b"",
        b'{"type":"_aim"}',
        entity(["x", "x", "é"], name="twin"),
        relation("twin", "nowhere"),
        b'{ "observations" : [ "\\u0078" , "\\u00e9"\t] , "type" : "entity", "entityType":"note", "name":"Queue" }',
        entity(["second"], name="twin", kind="", version=1),
        "\u2028".encode(),
        relation("nowhere", "twin"),
        relation("nowhere", "twin"),
        b'{"name":"no type"}',
        b"",
    ]
)
CALLS = 120


class Chance(random.Random):
    """Draws edits, each with the arguments of the tool that it is."""

    def edit(self) -> tuple[str, dict[str, Any], Edit]:
        draw = [self.entities, self.entities, self.relations, self.add, self.add, self.add, self.take, self.rest]
        return self.choice(draw)()

    def some(self, found: list[str], most: int = 3) -> list[str]:
        return [self.choice(found) for _ in range(self.randint(0, most))]

    def entities(self) -> tuple[str, dict[str, Any], Edit]:
        made = [(name, self.choice(KINDS), self.some(TEXTS)) for name in self.some(NAMES)]
        given = [{"name": n, "entityType": k, "observations": o} for n, k, o in made]
        edit = CreateEntities(tuple(NewEntity(n, k, tuple(o)) for n, k, o in made))
        return "create_entities", {"entities": given}, edit

    def relations(self) -> tuple[str, dict[str, Any], Edit]:
        given, found = self._relations()
        return "create_relations", {"relations": given}, CreateRelations(found)

    def _relations(self) -> tuple[list[dict[str, str]], tuple[Relation, ...]]:
        found = [Relation(name, self.choice(NAMES), self.choice(KINDS)) for name in self.some(NAMES)]
        return [{"from": r.start, "to": r.end, "relationType": r.relation_type} for r in found], tuple(found)

    def add(self) -> tuple[str, dict[str, Any], Edit]:
        found = [(name, self.some(TEXTS)) for name in self.some(NAMES, 2)]
        given = [{"entityName": name, "contents": texts} for name, texts in found]
        edit = AddObservations(tuple(Addition(name, tuple(texts)) for name, texts in found))
        return "add_observations", {"observations": given}, edit

    def take(self) -> tuple[str, dict[str, Any], Edit]:
        found = [(name, self.some(TEXTS)) for name in self.some(NAMES)]
        given = [{"entityName": name, "observations": texts} for name, texts in found]
        edit = DeleteObservations(tuple(Deletion(n, tuple(t)) for n, t in found))
        return "delete_observations", {"deletions": given}, edit

    def rest(self) -> tuple[str, dict[str, Any], Edit]:
        if self.random() < 0.5:
            given, found = self._relations()
            return "delete_relations", {"relations": given}, DeleteRelations(found)
        names = self.some(NAMES, 1)
        return "delete_entities", {"entityNames": names}, DeleteEntities(tuple(names))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server and its memory file, which it reads anew at each call."""
    path = tmp_path_factory.mktemp("server") / "memory.jsonl"
    with Server("2026-8-31", path) as running:
        yield running, path


def view(graph: Graph) -> View:
    """What reads show of a graph where nothing has expired."""
    return view_of(graph, judge_of(), None)


def told(edit: Edit, answer: Answer) -> Any:
    """The answer of an edit as the server gives it; None for a tool that gives a sentence."""
    if answer.refusal:
        return answer.refusal
    match edit:
        case CreateEntities():
            made = answer.entities
            return [{"name": e.name, "entityType": e.entity_type, "observations": [*e.observations]} for e in made]
        case CreateRelations():
            return [{"from": r.start, "to": r.end, "relationType": r.relation_type} for r in answer.relations]
        case AddObservations():
            return [{"entityName": name, "addedObservations": [*texts]} for name, texts in answer.added]
    return None


def called(running: Server, tool: str, arguments: dict[str, Any]) -> Any:
    try:
        text = running.text(tool, **arguments)
    except ServerError as refused:
        return str(refused)
    return None if tool.startswith("delete") else json.loads(text)


def test_calls_do_to_a_graph_what_the_server_does_to_its_file(server: tuple[Server, Path]) -> None:
    running, path = server
    path.write_bytes(START)
    graph, chance, refused = read_graph(START), Chance(8), 0
    for _ in range(CALLS):
        tool, arguments, edit = chance.edit()
        result = apply_edits(graph, [edit])
        answer = called(running, tool, arguments)
        assert told(edit, result.answers[0]) == answer, ascii(arguments)
        refused += isinstance(answer, str)
        graph = read_graph(result.graph.data, graph)
        check_reads(running, graph, chance)
    assert read_graph(path.read_bytes()).entities != ()
    assert 0 < refused < CALLS / 2
    assert b'\r\n{"type":"_aim"}\r\n' in graph.data


def check_reads(running: Server, graph: Graph, chance: Chance) -> None:
    shown, reading = view(graph), Reading()
    assert graph_of(shown.read(reading, NOW)) == running.call("read_graph")
    query, names = chance.choice(QUERIES), chance.some(NAMES)
    assert graph_of(shown.search(query, reading, NOW)) == running.call("search_nodes", query=query), ascii(query)
    assert graph_of(shown.open(names, reading, NOW)) == running.call("open_nodes", names=names), ascii(names)


def test_the_file_that_edits_make_is_the_servers_own_graph(server: tuple[Server, Path]) -> None:
    running, path = server
    chance = Chance(88)
    result = apply_edits(read_graph(START), [chance.edit()[2] for _ in range(CALLS)])
    path.write_bytes(result.graph.data)
    assert running.call("read_graph") == graph_of(view(result.graph).read(Reading(), NOW))


# where the server gives up at the whole of a file, we go on without a line
GIVES_UP = {
    "bom-after-start.jsonl", "nan-number.jsonl", "null-line.jsonl", "truncated-entity-tail.jsonl",
    "two-objects-on-one-line.jsonl", "mixed-observation-kinds.jsonl", "observations-missing.jsonl",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(GIVES_UP))
def test_what_the_server_cannot_read_is_read_and_told(server: tuple[Server, Path], name: str) -> None:
    running, path = server
    data = (FIXTURES / "memory" / name).read_bytes()
    path.write_bytes(data)
    with pytest.raises(ServerError):
        running.call("read_graph")
    graph = read_graph(data)
    assert graph.odd
    assert graph.entities
