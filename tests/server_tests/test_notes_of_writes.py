"""What the answers of the six tools that write say besides: damaged lines, as reads do, and what is hidden at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from called import Called, served
from process import aged
from support import entity, relation

HALF = b'{"type":"entity","name":"half","obs'
NOTE = "Line 3 of the memory file is shown in part or not at all: column 32: the line ends in the middle of a value."
LINK = [{"from": "E", "to": "E", "relationType": "is"}]
CALLS: dict[str, dict[str, Any]] = {
    "create_relations": {"relations": LINK},
    "add_observations": {"observations": [{"entityName": "E", "contents": ["b"]}]},
    "delete_observations": {"deletions": [{"entityName": "E", "observations": ["a"]}]},
    "delete_relations": {"relations": LINK},
    "delete_entities": {"entityNames": ["nobody"]},
    "create_entities": {"entities": [{"name": "E", "entityType": "t", "observations": []}]},
}
STRUCTURED: dict[str, Any] = {
    "create_relations": {"relations": LINK},
    "add_observations": {"results": [{"entityName": "E", "addedObservations": ["b"]}]},
    "create_entities": {"entities": []},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"\n".join([entity(["a"]), relation("E", "F")]) + b"\n")
    return path


@pytest.fixture
def call(path: Path) -> Iterator[Called]:
    with served(path) as called:
        yield called


@pytest.mark.parametrize("name", CALLS)
def test_a_write_beside_a_damaged_line_says_so(call: Called, path: Path, name: str) -> None:
    path.write_bytes(path.read_bytes() + HALF)
    aged(path)
    result = call.result(name, CALLS[name])
    assert [block["text"] for block in result["content"][1:]] == [NOTE]
    done = {"success": True, "message": result["content"][0]["text"]}
    assert result["structuredContent"] == STRUCTURED.get(name, done)
    assert HALF in path.read_bytes().split(b"\n")


@pytest.mark.parametrize("name", CALLS)
def test_a_write_of_a_sound_file_says_nothing_besides(call: Called, name: str) -> None:
    assert len(call.result(name, CALLS[name])["content"]) == 1


def test_many_damaged_lines_are_counted(call: Called, path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n".join([HALF] * 30))
    aged(path)
    [_, notes] = call.result("create_relations", CALLS["create_relations"])["content"]
    assert len(notes["text"].splitlines()) == 6
    assert notes["text"].endswith("So are 25 more lines; `memttl doctor` looks closer.")


def test_a_refusal_says_where_the_entity_stands(call: Called, path: Path) -> None:
    path.write_bytes(path.read_bytes() + HALF)
    aged(path)
    result = call.result("add_observations", {"observations": [{"entityName": "half", "contents": ["b"]}]})
    where = "line 3 of the memory file, which cannot be read"
    assert result["content"][0]["text"] == f"Entity with name half stands in {where}; nothing was changed"
    assert result["isError"]


def test_what_is_hidden_at_once_is_said(call: Called) -> None:
    items = [{"entityName": "E", "contents": ["gone"], "expires": "2020-01-01"}]
    texts = [block["text"] for block in call.result("add_observations", {"observations": items})["content"]]
    assert "1 of the observations is hidden at once" in texts[1]
    new = [{"name": "N", "entityType": "t", "observations": ["gone [expires 2020-01-01]"]}]
    texts = [block["text"] for block in call.result("create_entities", {"entities": new})["content"]]
    assert "1 of the observations is hidden at once" in texts[1]
