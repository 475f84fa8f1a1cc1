"""Random edits on random files, beside a small model of the memory server: the same graph, and all other bytes stay.

The model is the source of release 2026.8.31 in plain Python, with the texts that a read hides beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from strategies import OTHERS, entity_lines, styled

from memttl.core.graph import Graph, Relation, read_graph
from memttl.core.graph_draft import Taken
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
from memttl.core.spans import top_level_items

NAMES = ["A", "a", "B", "", "ß", "\ud800", "observations", "ẞ", "Z"]
TEXTS = ["", "x", "X", "é", "e\u0301", "\ud83d", '"]}', "\u2028\n\\", "[session] 2026-01-01: x"]
KINDS = ["x", "X", ""]
ODD = [
    b"{", b'{"type":"entity","name":"A","obs', b"null", b"\xff", b"NaN",
    b'{"type":"entity","entityType":"note","observations":["x"]}',
    b'{"type":"entity","name":"B","entityType":"note"}',
    b'{"type":"entity","name":"ss","entityType":"note","observations":"x"}',
    b'{"type":"relation","from":"A"}',
]  # fmt: skip
BOM = b"\xef\xbb\xbf"


@dataclass
class Item:
    """An entity or a relation of the model; `line` is where it stood (from 1), 0 for one that came."""

    line: int
    ends: tuple[Any, Any, Any] = (None, None, None)
    name: str = ""
    kind: str = ""
    # each text with the index at which it stood, -1 for one that came; None for what has no list
    texts: list[tuple[str | None, int]] | None = field(default_factory=list)

    def found(self) -> set[str | None]:
        assert self.texts is not None
        return {text for text, _ in self.texts}


class Refused(Exception):
    """The server throws before it saves."""


class Model:
    def __init__(self, lines: list[bytes], hidden: set[tuple[str, str]]) -> None:
        self.entities, self.relations = list[Item](), list[Item]()
        self.hidden = set(hidden)
        for number, line in enumerate(lines, start=1):
            self._load(number, line)

    def _load(self, number: int, line: bytes) -> None:
        try:
            item = json.loads(line, parse_constant=lambda _: 1 / 0)
        except (ValueError, ZeroDivisionError):
            return
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "entity" and isinstance(item.get("name"), str):
            found = item.get("observations")
            texts = [(said(o), at) for at, o in enumerate(found)] if isinstance(found, list) else None
            entity_type = item.get("entityType")
            self.entities.append(
                Item(number, (), item["name"], entity_type if isinstance(entity_type, str) else "", texts)
            )
        if kind == "relation":
            self.relations.append(
                Item(number, (item.get("from"), item.get("to"), item.get("relationType")), texts=None)
            )

    def first(self, name: str) -> Item | None:
        return next((e for e in self.entities if e.name == name), None)

    def apply(self, edit: Edit) -> Any:
        """Do what the server does; give what it answers."""
        match edit:
            case CreateEntities(entities):
                made = [e for e in entities if not self.first(e.name)]
                for e in made:
                    self.entities.append(Item(0, (), e.name, e.entity_type, [(text, -1) for text in e.observations]))
                    self.hidden -= {(e.name, text) for text in e.observations}
                return made
            case CreateRelations(relations):
                new = [r for r in relations if not any(there.ends == tuple(r) for there in self.relations)]
                self.relations += [Item(0, tuple(r)) for r in new]
                return new
            case AddObservations(additions):
                for addition in additions:
                    entity = self.first(addition.entity)
                    if entity is None or entity.texts is None:
                        raise Refused("not found" if entity is None else "no list")
                return [self._add(addition) for addition in additions]
            case DeleteEntities(names):
                self.entities = [e for e in self.entities if e.name not in names]
                self.relations = [r for r in self.relations if r.ends[0] not in names and r.ends[1] not in names]
            case DeleteObservations(deletions):
                found = [(self.first(d.entity), d.observations) for d in deletions]
                if any(e is not None and e.texts is None for e, _ in found):
                    raise Refused("no list")
                for e, gone in found:
                    if e is not None:
                        e.texts = [pair for pair in e.texts or [] if pair[0] not in gone]
            case DeleteRelations(relations):
                self.relations = [r for r in self.relations if not any(r.ends == tuple(gone) for gone in relations)]
        return None

    def _add(self, addition: Addition) -> tuple[str, tuple[str, ...]]:
        entity = self.first(addition.entity)
        assert entity is not None
        assert entity.texts is not None
        there = entity.found()
        new = [text for text in addition.contents if text not in there]
        renewed = {text for text in addition.contents if text in there and (entity.name, text) in self.hidden}
        entity.texts += [(text, -1) for text in new]
        self.hidden -= {(entity.name, text) for text in addition.contents}
        return entity.name, tuple(text for text in addition.contents if text in new or text in renewed)


def said(observation: object) -> str | None:
    if isinstance(observation, dict):
        fields = [observation.get(key) for key in ("content", "contents", "text", "observation", "value")]
        return next((value for value in fields if isinstance(value, str)), None)
    return observation if isinstance(observation, str) else None


@st.composite
def relation_lines(draw: st.DrawFn) -> bytes:
    names = st.sampled_from(NAMES)
    record = {"type": "relation", "from": draw(names), "to": draw(names), "relationType": draw(st.sampled_from(KINDS))}
    return styled(draw, record)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A file and its lines."""
    line = st.one_of(entity_lines(), entity_lines(), relation_lines(), st.sampled_from([*OTHERS, *ODD]))
    end = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    data = end.join(draw(st.lists(line, max_size=8))) + draw(st.sampled_from([b"", end]))
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    return draw(st.sampled_from([b"", b"", BOM])) + data, lines


def edits_of(texts: list[str]) -> st.SearchStrategy[list[Edit]]:
    name, text = st.sampled_from(NAMES), st.sampled_from(texts)
    several = st.lists(text, max_size=3).map(tuple)
    relations = st.lists(st.builds(Relation, name, name, st.sampled_from(KINDS)), max_size=3).map(tuple)
    new = st.builds(NewEntity, name, st.sampled_from(KINDS), several)
    return st.lists(
        st.one_of(
            st.builds(CreateEntities, st.lists(new, max_size=3).map(tuple)),
            st.builds(CreateRelations, relations),
            st.builds(AddObservations, st.lists(st.builds(Addition, name, several), max_size=2).map(tuple)),
            st.builds(AddObservations, st.builds(Addition, name, several).map(lambda addition: (addition,))),
            st.builds(DeleteEntities, st.lists(name, max_size=2).map(tuple)),
            st.builds(DeleteObservations, st.lists(st.builds(Deletion, name, several), max_size=2).map(tuple)),
            st.builds(DeleteRelations, relations),
        ),
        max_size=8,
    )


@settings(phases=[p for p in Phase if p is not Phase.shrink], max_examples=120, deadline=None)
@given(st.data())
def test_edits_make_of_a_file_what_the_server_would_and_touch_nothing_else(data: st.DataObject) -> None:
    file, lines = data.draw(files())
    graph = read_graph(file)
    present = [(e.name, text) for _, e in graph.entities for text in e.texts if text is not None]
    hidden = data.draw(st.sets(st.sampled_from(present))) if present else set()
    edits = data.draw(edits_of([*TEXTS, *{text for _, text in present}]))
    model = Model(lines, hidden)
    result = apply_edits(graph, edits, lambda name, text: (name, text) in hidden)
    for edit, answer in zip(edits, result.answers, strict=True):
        check_answer(model, edit, answer)
    check_graph(result.graph, model)
    check_graph(read_graph(result.graph.data), model)
    check_bytes(result.graph, model, lines)
    assert result.graph.has_bom == file.startswith(BOM)
    assert list(result.taken) == ([] if result.graph.data == file else taken_of(graph, model))
    assert result.deletes == bool(result.taken)


def check_answer(model: Model, edit: Edit, answer: Answer) -> None:
    try:
        expected = model.apply(edit)
    except Refused as refused:
        why = str(refused)
        assert (why in answer.refusal, answer) == (True, Answer(answer.refusal))
        return
    assert answer.refusal == ""
    given = {CreateEntities: answer.entities, CreateRelations: answer.relations, AddObservations: answer.added}
    assert list(given.get(type(edit), ())) == (expected or [])
    came = [(a.entity, a.text) for a in answer.arrivals if a.is_new or a.is_renewed]
    told = [(name, text) for name, texts in answer.added for text in texts]
    told += [(entity.name, text) for entity in answer.entities for text in entity.observations]
    assert set(came) == set(told)


def check_graph(graph: Graph, model: Model) -> None:
    texts = [(e.name, e.kind, tuple(text for text, _ in e.texts or []), e.texts is not None) for e in model.entities]
    assert [tuple(e) for _, e in graph.entities] == texts
    whole = [r.ends for r in model.relations if all(isinstance(end, str) for end in r.ends)]
    assert [tuple(r) for r in graph.relations] == whole


def check_bytes(graph: Graph, model: Model, lines: list[bytes]) -> None:
    """Every line that no edit named is as it was, in its order, and of the others all but the list."""
    raws = [row.line.raw for row in graph.rows]
    assert b"\n".join(raws) + (b"\n" if raws and graph.data.endswith(b"\n") else b"") == graph.data.removeprefix(BOM)
    items, gone, found = {item.line: item for item in model.entities}, gone_lines(model, lines), iter(raws)
    for number, line in enumerate(lines, start=1):
        if number not in gone:
            is_as_before = line.__eq__ if is_untouched(items.get(number), line) else has_around(line)
            assert any(map(is_as_before, found)), line  # goes on behind the line that it finds


def gone_lines(model: Model, lines: list[bytes]) -> set[int]:
    before = Model(lines, set())
    there = {item.line for item in [*model.entities, *model.relations]}
    return {item.line for item in [*before.entities, *before.relations]} - there


def is_untouched(entity: Item | None, line: bytes) -> bool:
    if entity is None or entity.texts is None:
        return True
    return [at for _, at in entity.texts] == list(range(len(json.loads(line)["observations"])))


def has_around(old: bytes) -> Callable[[bytes], bool]:
    """Give what says whether a line is this one but for its list."""
    start, stop = next((start, stop) for key, start, stop in top_level_items(old) if key == "observations")
    return lambda new: new.startswith(old[: start + 1]) and new.endswith(old[stop - 1 :])


def taken_of(graph: Graph, model: Model) -> list[Taken]:
    lines = [row.line.raw for row in graph.rows]
    found = [Taken(number) for number in gone_lines(model, lines)]
    for entity in model.entities:
        if entity.line and entity.texts is not None:
            kept = {at for _, at in entity.texts}
            gone = set(range(len(json.loads(lines[entity.line - 1])["observations"]))) - kept
            found += [Taken(entity.line, tuple(sorted(gone)))] if gone else []
    return sorted(found)
