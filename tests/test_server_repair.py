"""The real memory server reads every damaged file once it is repaired, and finds in it what was whole."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES
from server import RELEASES, Server
from support import entity, relation

from memttl.core.memory import read_lines
from memttl.core.repair import plan_repair

EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "memory/expected.json").read_text(encoding="utf-8"))
OTHER_TOOLS = ("gzip.jsonl", "chat-log.jsonl", "think-tank-underscore-type.jsonl", "empty-object-alone.jsonl")
DAMAGED = [
    FIXTURES / "memory" / name for name, row in EXPECTED.items() if row["exit"] == 65 and name not in OTHER_TOOLS
]
DAMAGED += [
    FIXTURES / "memory" / name for name in ("bom-at-start.jsonl", "null-line.jsonl", "graph-object-before-lines.jsonl")
]
DAMAGED += sorted((FIXTURES / "from-servers").glob("*.jsonl"))
SEED = 20261129
TEXTS = ["plain", 'quotes " and \\', '"]}', "é \u2028 😀", "{}", "C:\\new", "tab\tand\nnewline", ""]
pytestmark = pytest.mark.server


@pytest.fixture(scope="module", params=RELEASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server and its memory file, which it reads anew at each call."""
    path = tmp_path_factory.mktemp("server") / "memory.jsonl"
    with Server(request.param, path) as running:
        yield running, path


def counts(data: bytes) -> tuple[int, int]:
    kinds = [line.kind for line in read_lines(data)]
    return kinds.count("entity"), kinds.count("relation")


@pytest.mark.parametrize("damaged", DAMAGED, ids=lambda path: path.stem)
def test_server_reads_every_damaged_fixture_after_its_repair(server: tuple[Server, Path], damaged: Path) -> None:
    running, path = server
    new = plan_repair(damaged.read_bytes()).data
    path.write_bytes(new)
    graph = running.call("read_graph")
    assert (len(graph["entities"]), len(graph["relations"])) == counts(new)


@pytest.mark.parametrize("number", range(40))
def test_server_reads_a_file_damaged_at_random_after_its_repair(server: tuple[Server, Path], number: int) -> None:
    running, path = server
    chance = random.Random(SEED + number)
    whole = [record(chance, place) for place in range(chance.randint(1, 6))]
    new = plan_repair(damage(chance, whole)).data
    path.write_bytes(new)
    graph = running.call("read_graph")
    found = [*graph["entities"], *graph["relations"]]
    assert all(without_type(json.loads(line)) in [without_type(item) for item in found] for line in whole)


def without_type(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "type"}


def record(chance: random.Random, place: int) -> bytes:
    if chance.random() < 0.3:
        return relation(f"E{place}", "E0")
    return entity([chance.choice(TEXTS) for _ in range(chance.randint(0, 4))], name=f"E{place}")


def damage(chance: random.Random, whole: list[bytes]) -> bytes:
    """Whole records with tails, heads, brackets and NULs between them, now and then as UTF-16 or behind a BOM."""
    pieces = []
    for line in whole:
        other = chance.choice(whole)
        cut = chance.randint(1, len(other) - 1)
        junk = chance.choice(
            [other[cut:], other[:cut], b"}", b"]}", b"\0\0\0", b"\xef\xbb\xbf", other[cut:] + other[:cut]]
        )
        pieces += [line, chance.choice([b"\n", b"", junk, junk + b"\n", b"\n" + junk + b"\n"])]
    data = b"".join(pieces)
    text = data.decode("utf-8", "replace")  # a cut may part the bytes of one character
    forms = [data, data, data, b"\xef\xbb\xbf" + data]
    return chance.choice([*forms, *(text.encode(name) for name in ("utf-16", "utf-16-le", "utf-16-be"))])
