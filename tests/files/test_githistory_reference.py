"""Births from a history of 300 commits, against a slow reference that asks git of every commit and every name."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from pathlib import Path

from pruning import settings_of
from repositories import DAY, MONDAY, Importer, git, needs_git
from support import entity

from memttl.core.digests import text_key
from memttl.core.history import EARLIEST, BirthFinder, wanted_of
from memttl.files.githistory import git_versions
from memttl.files.knowledge import knowledge_of
from memttl.files.state import state_of
from memttl.workflow.backfill import Sources, backfill

pytestmark = needs_git

NAMES = ["notes.jsonl", "kept/memory.jsonl", "kept/graph.jsonl", "memory.jsonl"]  # in the order of the renames
NOW = datetime.fromtimestamp(MONDAY + 400 * DAY, UTC)
Graph = dict[str, list[str]]
Held = set[tuple[str, str]]


class Story:
    """Writes a random history, commit by commit: what changes is drawn, the turns of the story are told."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.importer = Importer()
        self.time = MONDAY - 500 * DAY  # the first commits are from before November 2024
        self.texts = 0
        self.gone: list[tuple[str, str]] = []

    def edit(self, graph: Graph) -> Graph:
        """Add one to three observations; at times remove some, or bring back what went."""
        graph = {name: list(texts) for name, texts in graph.items()}
        for _ in range(self.random.randint(1, 3)):
            self.texts += 1
            text = f"observation {self.texts} of {self.random.random()}"
            graph.setdefault(f"entity {self.random.randrange(12)}", []).append(text)
        for _ in range(self.random.choice([0, 0, 1, 2])):
            name = self.random.choice(sorted(graph))
            if graph[name] and len(graph) > 3:
                self.gone.append((name, graph[name].pop(self.random.randrange(len(graph[name])))))
        if self.gone and self.random.random() < 0.3:
            name, text = self.gone.pop(self.random.randrange(len(self.gone)))
            graph.setdefault(name, []).append(text)
        return graph

    def commit(self, name: str | None, data: bytes | Graph, *parents: int) -> int:
        """Commit the file under a name (None: without it), beside files that have nothing to do with it."""
        self.time += self.random.randint(DAY // 2, 3 * DAY)
        authored = self.time - self.random.choice([0, 0, DAY, -DAY, -9 * DAY])  # rebased, or a clock that runs ahead
        files = {"README.md": b"x" * 400, "other.jsonl": b'{"type":"relation","from":"a"}\n' * 9}
        if name is not None:
            files[name] = data if isinstance(data, bytes) else written(data)
        return self.importer.commit(files, parents, authored=authored, committed=self.time)

    def edits(self, count: int, name: str, graph: Graph, parent: int) -> tuple[Graph, int]:
        """Tell a row of plain edits."""
        for _ in range(count):
            graph = self.edit(graph)
            parent = self.commit(name, graph, parent)
        return graph, parent


def written(graph: Graph) -> bytes:
    return b"".join(entity(texts, name=name) + b"\n" for name, texts in graph.items())


def united(one: Graph, other: Graph) -> Graph:
    return {name: list(dict.fromkeys(one.get(name, []) + other.get(name, []))) for name in {**one, **other}}


def tell(seed: int) -> Importer:
    """A history with all that the module's name promises; the file's last name is memory.jsonl."""
    story = Story(seed)
    graph = story.edit({f"entity {n}": [f"first {n}"] for n in range(8)})
    graph, head = story.edits(60, NAMES[0], graph, story.commit(NAMES[0], graph))
    graph = story.edit(graph)
    head = story.commit(NAMES[1], graph, head)  # a rename, with a change
    graph, head = story.edits(40, NAMES[1], graph, head)
    # two branches: the side renames, the main line goes on under the old name; both are merged under the new one
    side_graph, side = story.edits(25, NAMES[1], graph, head)
    side = story.commit(NAMES[2], side_graph, side)
    side_graph, side = story.edits(25, NAMES[2], side_graph, side)
    main_graph, head = story.edits(30, NAMES[1], graph, head)
    graph = united(main_graph, side_graph)
    head = story.commit(NAMES[2], graph, head, side)
    graph, head = story.edits(10, NAMES[2], graph, head)
    # an evil merge: it brings what neither side had, and drops what one of them had
    side_graph, side = story.edits(15, NAMES[2], graph, head)
    main_graph, head = story.edits(15, NAMES[2], graph, head)
    head = story.commit(NAMES[2], graph := story.edit(main_graph), head, side)
    # what the side had comes back by hand
    head = story.commit(NAMES[2], graph := united(graph, side_graph), head)
    # a merge that drops all that the side did (-s ours); some of it comes back later
    side_graph, side = story.edits(10, NAMES[2], graph, head)
    graph, head = story.edits(5, NAMES[2], graph, head)
    head = story.commit(NAMES[2], graph, head, side)
    head = story.commit(NAMES[2], graph := united(graph, side_graph), head)
    head = story.commit(NAMES[2], b"<<<<<<< HEAD\n" + written(graph) + b">>>>>>> side\n", head)
    graph, head = story.edits(20, NAMES[2], graph, head)
    head = story.commit(NAMES[2], written(graph)[: len(written(graph)) * 2 // 3], head)
    graph, head = story.edits(10, NAMES[2], graph, head)
    head = story.commit(None, b"", head)
    head = story.commit(None, b"", head)
    graph, head = story.edits(15, NAMES[2], graph, head)
    head = story.commit(NAMES[3], graph, head)
    story.edits(30, NAMES[3], graph, head)
    return story.importer


def held_by(data: bytes) -> Held:
    """What a version holds, by the standard library alone."""
    held: Held = set()
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.get("type") == "entity":
            held |= {(record["name"], text) for text in record["observations"]}
    return held


def slow_births(folder: Path, today: Held) -> tuple[dict[tuple[str, str], datetime], int]:
    """The earliest date of a commit that holds an observation which none of its parents holds, and the commits.

    Where that date cannot be, the next commit that holds it and is dated well stands in for it.
    """
    held: dict[str, Held] = {}
    waiting: Held = set()
    births: dict[tuple[str, str], datetime] = {}
    rows = git(folder, "rev-list", "--topo-order", "--reverse", "--parents", "HEAD").decode().splitlines()
    for row in rows:
        name, *parents = row.split()
        files = git(folder, "ls-tree", "-r", "--name-only", name).decode().splitlines()
        held[name] = set().union(*(held_by(git(folder, "show", f"{name}:{f}")) for f in files if f in NAMES))
        heads = git(folder, "cat-file", "commit", name).decode().splitlines()
        dates = [int(line.split()[-2]) for line in heads if line.startswith(("author ", "committer "))]
        when = datetime.fromtimestamp(max(dates), UTC)
        introduced = (held[name] & today).difference(*(held[parent] for parent in parents))
        if not EARLIEST <= when <= NOW:
            waiting |= introduced
            continue
        for observation in introduced | (waiting & held[name]):
            births[observation] = min(when, births.get(observation, when))
        waiting -= held[name]
    return births, len(rows)


def test_births_are_those_of_a_slow_reference(tmp_path: Path) -> None:
    folder = tell(1).into(tmp_path / "repository")
    path = folder / "memory.jsonl"
    today = held_by(path.read_bytes())
    expected, commits = slow_births(folder, today)
    assert commits >= 300
    history = git_versions(path)
    finder = BirthFinder(wanted_of(path.read_bytes()), NOW)
    for version in history:
        finder.meet(version)
    assert {key: birth.when for key, birth in finder.births.items()} == {
        (name, text_key(text)): when for (name, text), when in expected.items()
    }
    backfill(settings_of(path, now=NOW.isoformat()), Sources(git=True))
    with knowledge_of(state_of(path), must_know=True) as knowledge:
        assert {key: knowledge.known_of(*key).first_seen for key in expected} == expected
    assert set(history.names) == set(NAMES)
    assert len(expected) > 300
    assert any(row.when < EARLIEST for row in finder.not_taken)
