"""The weight of a `read_graph`: exact in characters, additive, and near what real tokenizers counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from server import RELEASES, Server
from strategies import AWKWARD
from support import FIXTURES

from memttl.core.memory import read_lines
from memttl.core.tokens import (
    Weight,
    tokens_of,
    weight_of_entity_frame,
    weight_of_graph_frame,
    weight_of_observation,
    weight_of_relation,
    weight_of_text,
)

MEASURED: dict[str, Any] = json.loads((FIXTURES / "tokens/measured.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = MEASURED["rows"]
FILES = [row["file"] for row in ROWS if "file" in row]
OBSERVATIONS = [
    *AWKWARD, 0, -7, 1.5, 10**30, True, None, [], {}, [[]], ["a", ["b"]], {"text": "a\nb", "tags": ["x", {}]},
]  # fmt: skip


def records_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "records" in row:
        return row["records"]
    return [line.record for line in read_lines((FIXTURES / row["file"]).read_bytes()) if line.record is not None]


def total(weights: Iterable[Weight]) -> Weight:
    every = list(weights)
    return Weight(sum(w.characters for w in every), sum(w.cents for w in every))


def weight_of_entity(record: Mapping[str, Any]) -> Weight:
    observations = record.get("observations")
    inner = map(weight_of_observation, observations) if isinstance(observations, list) else ()
    return total([weight_of_entity_frame(record), *inner])


def weigh(records: Iterable[Mapping[str, Any]]) -> Weight:
    """The weight of the whole text."""
    entities = [weight_of_entity(r) for r in records if r.get("type") == "entity"]
    relations = [weight_of_relation(r) for r in records if r.get("type") == "relation"]
    frame = weight_of_graph_frame(has_entities=bool(entities), has_relations=bool(relations))
    return total([*entities, *relations, frame])


def whole_text(records: Iterable[Mapping[str, Any]]) -> str:
    """What the server would send, by Python's own JSON."""
    every = list(records)
    graph = {
        "entities": [only(r, "name", "entityType", "observations") for r in every if r.get("type") == "entity"],
        "relations": [only(r, "from", "to", "relationType") for r in every if r.get("type") == "relation"],
    }
    return json.dumps(graph, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def only(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}


def cents_of(character: str) -> int:
    """What one character weighs, told one by one."""
    if character.isascii():
        return 18 if character.isalpha() or character == " " else 75 if character.isdigit() else 40
    return {2: 50, 3: 65, 4: 250}[len(character.encode())]


def entity(*observations: object) -> dict[str, Any]:
    return {"type": "entity", "name": "E", "entityType": "note", "observations": list(observations)}


def nested(levels: int) -> object:
    value: object = "deep"
    for _ in range(levels):
        value = [value]
    return value


def name_of(row: Mapping[str, Any]) -> str:
    return row.get("kind") or Path(row["file"]).stem


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_estimate_is_near_the_median_of_real_tokenizers(row: dict[str, Any]) -> None:
    middle = median(row["tokens"].values())
    tolerance = 0.15 if name_of(row).startswith("English") else 0.35
    assert abs(tokens_of(weigh(records_of(row)).cents) - middle) <= tolerance * middle


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_characters_are_those_of_json_stringify(row: dict[str, Any]) -> None:
    assert weigh(records_of(row)).characters == row["characters"]


@pytest.fixture(scope="module", params=RELEASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server and its memory file, which it reads anew at each call."""
    path = tmp_path_factory.mktemp("server") / "memory.jsonl"
    with Server(request.param, path) as running:
        yield running, path


@pytest.mark.server
@pytest.mark.parametrize("name", FILES)
def test_characters_are_those_that_the_server_sends(server: tuple[Server, Path], name: str) -> None:
    running, path = server
    path.write_bytes((FIXTURES / name).read_bytes())
    assert len(running.text("read_graph")) == weigh(records_of({"file": name})).characters


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_tokens_are_those_of_the_characters_one_by_one(row: dict[str, Any]) -> None:
    records = records_of(row)
    expected = sum(125 if c == "\n" else cents_of(c) for c in whole_text(records))
    assert weigh(records).cents == expected


@pytest.mark.parametrize("observation", OBSERVATIONS, ids=ascii)
def test_an_observation_weighs_what_the_text_has_more_with_it(observation: object) -> None:
    few, many = whole_text([entity("first")]), whole_text([entity("first", observation)])
    assert weight_of_observation(observation).characters == len(many) - len(few)


def test_the_frame_of_an_entity_does_not_depend_on_what_is_in_its_list() -> None:
    assert weight_of_entity_frame(entity("a")) == weight_of_entity_frame(entity(*OBSERVATIONS))


def test_an_emptied_list_frees_six_characters_more() -> None:
    assert weight_of_entity_frame(entity("a")).characters == weight_of_entity_frame(entity()).characters + 6


def test_only_what_the_server_sends_is_weighed() -> None:
    more = {"createdAt": "2026-01-05", "version": 3, "from": "a", "to": "b"}
    assert weight_of_entity_frame(entity("x") | more) == weight_of_entity_frame(entity("x"))
    relation = {"from": "a", "to": "b", "relationType": "knows"}
    assert weight_of_relation({"type": "relation", **relation, "name": "n"}) == weight_of_relation(relation)


def test_a_key_that_is_missing_is_not_sent() -> None:
    assert weight_of_entity_frame({"type": "entity", "name": "E"}).characters == len(
        '    {\n      "name": "E"\n    },\n'
    )
    assert weight_of_entity_frame({"type": "entity"}).characters == len("    {},\n")


def test_null_in_the_place_of_a_list_is_sent() -> None:
    assert weight_of_entity_frame({"observations": None}).characters == len(
        '    {\n      "observations": null\n    },\n'
    )


def test_a_lone_surrogate_is_sent_as_its_escape() -> None:
    assert weight_of_observation("cut \ud83d") == weight_of_observation("cut ~ud83d")
    assert weight_of_observation("cut \ud83d").characters == len('        "cut \\ud83d",\n')


def test_a_lone_surrogate_changes_nothing_else() -> None:
    value = {"text": 'a\t"b"\x1f\x7f', "tags": ["é", [], {}]}
    lone = weight_of_observation(["\udfff", value]).characters
    assert lone == weight_of_observation(["123456", value]).characters


@pytest.mark.parametrize("levels", [10, 253, 254, 500])
def test_every_level_is_indented_by_two(levels: int) -> None:
    opening = [" " * (8 + 2 * level) + "[\n" for level in range(levels)]
    text = "".join(opening) + " " * (8 + 2 * levels) + '"deep"\n' + "".join(opening)[:-1] + ",\n"
    assert weight_of_observation(nested(levels)).characters == len(text)


def test_what_is_nested_too_deep_for_python_does_not_raise() -> None:
    assert weight_of_observation(nested(100_000)) == weight_of_observation(None)


@pytest.mark.parametrize(
    ("character", "cents"),
    [("a", 18), ("Z", 18), (" ", 18), ("7", 75), ("-", 40), ("/", 40), ("\x7f", 40), ("é", 50), ("ш", 50), ("ع", 50),
     ("語", 65), ("한", 65), ("→", 65), ("\u2028", 65), ("：", 65), ("😀", 250), ("\U0010ffff", 250)],
)  # fmt: skip
def test_each_character_weighs_what_its_class_does(character: str, cents: int) -> None:
    empty = weight_of_observation("")
    assert weight_of_observation(3 * character) == (empty.characters + 3, empty.cents + 3 * cents)


@pytest.mark.parametrize(
    ("has_entities", "has_relations", "text"),
    [
        (False, False, '{\n  "entities": [],\n  "relations": []\n}'),
        (True, False, '{\n  "entities": [\n  ],\n  "relations": []\n}'),
        (False, True, '{\n  "entities": [],\n  "relations": [\n  ]\n}'),
        (True, True, '{\n  "entities": [\n  ],\n  "relations": [\n  ]\n}'),
    ],
)
def test_the_frame_of_a_graph_leaves_out_the_last_commas(has_entities: bool, has_relations: bool, text: str) -> None:
    frame = weight_of_graph_frame(has_entities=has_entities, has_relations=has_relations)
    assert frame.characters == len(text) - has_entities - has_relations


@pytest.mark.parametrize(("cents", "tokens"), [(0, 0), (49, 0), (50, 1), (149, 1), (150, 2)])
def test_sums_are_rounded_to_the_nearest_token(cents: int, tokens: int) -> None:
    assert tokens_of(cents) == tokens


@pytest.mark.parametrize("text", ["", "ab 12", "a\nb\n", "für – 漢"])
def test_a_text_of_its_own_weighs_its_characters_and_no_more(text: str) -> None:
    assert weight_of_text(text).characters == len(text)
    assert weight_of_text(text * 2).cents == 2 * weight_of_text(text).cents
