"""The real memory server reads a pruned file to the same graph, minus what the document says was removed."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, aged
from pruning import pruned, state_folder
from server import RELEASES, Server, ServerError

from memttl.core.memory import read_lines
from memttl.report.documents import prune_document

EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "memory/expected.json").read_text(encoding="utf-8"))
PRUNED = [name for name, row in EXPECTED.items() if row["exit"] == 0]
# the server's own checks of what it answers allow text observations of named entities only; it fails at a BOM and null
UNREADABLE = [
    "bom-at-start.jsonl", "entity-without-name.jsonl", "mixed-observation-kinds.jsonl", "null-line.jsonl",
    "numbers-no-parser-keeps.jsonl", "object-observations.jsonl", "observations-missing.jsonl",
    "observations-null.jsonl",
]  # fmt: skip
pytestmark = pytest.mark.server


@pytest.fixture(scope="module", params=RELEASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server and its memory file, which it reads anew at each call."""
    path = tmp_path_factory.mktemp("server") / "memory.jsonl"
    with Server(request.param, path) as running:
        yield running, path


def lay(path: Path, data: bytes) -> None:
    """Lay a memory file there, of which memttl knows nothing: else it would be one that was swapped for another."""
    path.write_bytes(data)
    shutil.rmtree(state_folder(path), ignore_errors=True)


def without(graph: dict[str, Any], data: bytes, removed: list[dict[str, Any]]) -> dict[str, Any]:
    """The graph of a file without the observations that a document names."""
    left = copy.deepcopy(graph)
    places = [line.number for line in read_lines(data) if line.kind == "entity"]
    for verdict in sorted(removed, key=lambda v: (v["line"], -v["index"])):
        del left["entities"][places.index(verdict["line"])]["observations"][verdict["index"]]
    return left


@pytest.mark.parametrize("name", [name for name in PRUNED if name not in UNREADABLE])
def test_graph_after_is_the_graph_before_minus_what_was_removed(server: tuple[Server, Path], name: str) -> None:
    running, path = server
    data = (FIXTURES / "memory" / name).read_bytes()
    lay(path, data)
    before = running.call("read_graph")
    document = prune_document(pruned(aged(path)))
    assert document["applied"] is bool(EXPECTED[name]["expired"])
    assert running.call("read_graph") == without(before, data, document["removed"])


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_the_server_cannot_read_is_no_worse_after_a_prune(server: tuple[Server, Path], name: str) -> None:
    running, path = server
    lay(path, (FIXTURES / "memory" / name).read_bytes())
    with pytest.raises(ServerError) as before:
        running.call("read_graph")
    pruned(aged(path))
    with pytest.raises(ServerError) as after:
        running.call("read_graph")
    assert len(str(after.value)) <= len(str(before.value))


def test_server_goes_on_writing_to_a_pruned_file(server: tuple[Server, Path]) -> None:
    running, path = server
    lay(path, (FIXTURES / "memory/example.jsonl").read_bytes())
    pruned(aged(path))
    running.call("add_observations", observations=[{"entityName": "Mira", "contents": ["speaks Portuguese"]}])
    entities = {entity["name"]: entity["observations"] for entity in running.call("read_graph")["entities"]}
    assert entities["Mira"][-1] == "speaks Portuguese"
    assert len(entities["Sprint 11"]) == 3
