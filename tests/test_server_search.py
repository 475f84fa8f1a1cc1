"""The real memory server's `search_nodes` and ours find the same in every fixture, where nothing has expired."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, aged
from pruning import settings_of
from server import RELEASES, Server, ServerError
from support import entity, relation

from memttl.core.search import Query, SearchOutcome
from memttl.report.search import search_document
from memttl.workflow.search import search

pytestmark = pytest.mark.server

BEFORE_ALL = "2000-01-01T00:00:00Z"  # no date in a fixture lies before it, so that nothing has expired
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "memory/expected.json").read_text(encoding="utf-8"))
# where the server gives up: at what is no text, at what has no name or list, at null, at a byte order mark
UNREADABLE = {
    "bom-at-start.jsonl", "entity-without-name.jsonl", "mixed-observation-kinds.jsonl", "null-line.jsonl",
    "numbers-no-parser-keeps.jsonl", "object-observations.jsonl", "observations-missing.jsonl",
    "observations-null.jsonl",
}  # fmt: skip
READABLE = [name for name, row in EXPECTED.items() if row["exit"] == 0 and name not in UNREADABLE]
ODD = b"\n".join(
    [
        entity(["İstanbul", "DİYARBAKIR ılık", "Straße STRASSE", "ΟΔΟΣ ὀδός ΣΣ", "ﬁne", "300 \u212a"], name="İ"),
        entity(["cafe\u0301", "caf\u00e9", "CAF\u00c9", "🙂 and 🙁", "𐐀𐐨"], name="cafe\u0301", kind="🙂"),
        entity(["\ud83d alone", "low \ude42 alone", "NUL \0, tab \t, LF \n, CR \r, LS \u2028"], name="\ud83d"),
        entity(['he said "no"', "it's", "back\\slash", "C:\\new\\table", "%_.*?[a-z]+(", "  two  spaces "], name='"'),
        entity([], name="", kind=""),
        entity(["first of two"], name="twin"),
        entity(["second of two"], name="twin"),
        entity(["another"], name="TWIN"),
        relation("twin", "nowhere"),
        relation("nowhere", "twin"),
        relation("TWIN", "İ"),
        relation("", "\ud83d"),
        relation("nowhere", "nowhere either"),
    ]
)
# fmt: off
PICKED = [
    "", " ", "  ", "i", "I", "İ", "ı", "i\u0307", "\u0307", "istanbul", "ISTANBUL", "i\u0307stanbul", "diyarbakır",
    "ß", "ẞ", "ss", "SS", "strasse", "σ", "Σ", "ς", "οδος", "ΟΔΟΣ", "οδοσ", "ὈΔΌΣ", "σς", "fi", "ﬁ", "k", "\u212a",
    "e\u0301", "\u0301", "é", "É", "CAFÉ", "cafe", "CAFE\u0301", "🙂", "\ud83d", "\ude42", "\ude41", "\ud83d\ude42 a",
    "\ude42 and \ud83d", "𐐀", "𐐨", "\udc00", "\udc28", "\ud801", '"', "'", "\\", "\\n", "\n", "\t", "\r", "\0",
    "\u2028", "[a-z]", ".*", "%", "_", "?", "two", "TWIN", "nowhere", "note", "knows", "entity", "null", "undefined",
]
# fmt: on
DRAWN_OF_EACH = 8


def drawn(graph: dict[str, Any], seed: str) -> list[str]:
    """Queries out of the words, substrings, names and types of a graph, in odd case."""
    chance = random.Random(seed)
    texts = [value for record in (*graph["entities"], *graph["relations"]) for value in texts_of(record)] or ["nothing"]
    return [in_odd_case(part_of(chance.choice(texts), chance), chance) for _ in range(DRAWN_OF_EACH)]


def texts_of(record: dict[str, Any]) -> list[str]:
    return [text for value in record.values() for text in (value if isinstance(value, list) else [value])]


def part_of(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return chance.choice([text, chance.choice(text.split() or [text]), text[start : start + chance.randint(1, 6)]])


def in_odd_case(text: str, chance: random.Random) -> str:
    return chance.choice([str, str.upper, str.lower, str.swapcase, str.title])(text)


def found(path: Path, query: str) -> SearchOutcome:
    return search(settings_of(path, now=BEFORE_ALL), Query(query))


def graph_of(outcome: SearchOutcome) -> dict[str, Any]:
    """What was found, as the server would give it."""
    document = json.loads(json.dumps(search_document(outcome)))
    return {key: document[key] for key in ("entities", "relations")}


@pytest.fixture(scope="module", params=RELEASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server and its memory file, which it reads anew at each call."""
    path = tmp_path_factory.mktemp("server") / "memory.jsonl"
    with Server(request.param, path) as running:
        yield running, path


def test_enough_is_compared() -> None:
    assert len(READABLE) * DRAWN_OF_EACH + len(PICKED) >= 200


@pytest.mark.parametrize("name", READABLE)
def test_drawn_queries_find_what_the_server_finds(server: tuple[Server, Path], name: str) -> None:
    running, path = server
    path.write_bytes((FIXTURES / "memory" / name).read_bytes())
    aged(path)
    everything = search(settings_of(path, now=BEFORE_ALL), Query("", "include")).found
    assert not any(verdict.expired for verdict in everything.verdicts)
    for query in drawn(running.call("read_graph"), name):
        assert graph_of(found(path, query)) == running.call("search_nodes", query=query), ascii(query)


def test_picked_queries_find_what_the_server_finds(server: tuple[Server, Path]) -> None:
    running, path = server
    path.write_bytes(ODD)
    aged(path)
    for query in PICKED:
        assert graph_of(found(path, query)) == running.call("search_nodes", query=query), ascii(query)


def test_picked_queries_find_something_and_not_everything(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(ODD)
    counts = [len(found(aged(path), query).found.entities) for query in PICKED]
    assert sum(0 < count < 8 for count in counts) > len(PICKED) / 2
    assert counts[0] == 8


@pytest.mark.parametrize("name", sorted(UNREADABLE))
def test_what_the_server_cannot_search_is_searched_all_the_same(server: tuple[Server, Path], name: str) -> None:
    running, path = server
    path.write_bytes((FIXTURES / "memory" / name).read_bytes())
    with pytest.raises(ServerError):
        running.call("search_nodes", query="")
    outcome = search(settings_of(aged(path), now=BEFORE_ALL), Query(""))
    lines = [line for line in path.read_bytes().split(b"\n") if b'"type":"entity"' in line]
    assert len(outcome.found.entities) == len(lines) > 0
