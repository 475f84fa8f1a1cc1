"""The use case explain: it reads what it can, and believes no half of a file."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from process import FIXTURES, aged, copy_of, tree
from pruning import settings_of
from support import entity

from memttl.core.selection import Choice
from memttl.errors import Foreign, UnknownEntity, UsageError
from memttl.workflow.explain import explain
from memttl.workflow.scan import scan


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["one", "two"], name="A") + b"\n" + entity(["One"], name="B"))
    return aged(path)


def explained(path: Path, *names: str, **how: bool) -> list[tuple[str, object]]:
    """Entity and text of what is explained."""
    found = explain(settings_of(path), Choice(*names, **how)).explanation.verdicts
    return [(verdict.entity, verdict.observation) for verdict, _ in found]


@pytest.mark.parametrize(
    ("names", "how", "found"),
    [
        ((), {}, [("A", "one"), ("A", "two"), ("B", "One")]),
        (("A",), {}, [("A", "one"), ("A", "two")]),
        (("?", "ONE"), {}, [("A", "one"), ("B", "One")]),
        (("*", "one"), {"exact": True}, [("A", "one")]),
        (("*", "^[Oo]ne?"), {"pattern": True}, [("A", "one"), ("B", "One")]),
    ],
)
def test_it_explains_what_is_named(memory: Path, names: tuple[str, ...], how: dict[str, bool], found: object) -> None:
    assert explained(memory, *names, **how) == found


@pytest.mark.parametrize("names", [("a",), ("A", "three"), ("Z*",)])
def test_nothing_that_matches_is_an_error(memory: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(UnknownEntity):
        explained(memory, *names)


def test_pattern_that_is_none_is_an_error(memory: Path) -> None:
    with pytest.raises(UsageError, match="is no regular expression"):
        explained(memory, "A", "(", pattern=True)


def test_name_that_half_of_a_file_lacks_is_looked_for_again(memory: Path) -> None:
    whole = memory.read_bytes()
    memory.write_bytes(whole[:-20])
    threading.Timer(0.5, memory.write_bytes, (whole,)).start()
    assert explained(memory, "B") == [("B", "One")]


def test_name_that_a_damaged_file_lacks_for_good_is_an_error(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes()[:-20])
    with pytest.raises(UnknownEntity):
        explained(aged(memory), "B")


def test_foreign_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b'{"role":"user"}\n')
    with pytest.raises(Foreign):
        explained(aged(path))


def test_it_writes_nothing(memory: Path) -> None:
    before = tree(memory.parent)
    explained(memory)
    assert tree(memory.parent) == before


def test_instant_before_the_last_look_is_said(tmp_path: Path) -> None:
    memory = copy_of(FIXTURES / "memory/example.jsonl", tmp_path)
    scan(settings_of(memory, now="2026-06-01T12:00:00Z"))
    outcome = explain(settings_of(memory, now="2026-05-01T12:00:00Z"), Choice("Sprint 11"))
    assert any("runs behind; what was first seen since then counts as new" in w for w in outcome.warnings)


@pytest.mark.parametrize("option", [{"exact": True}, {"pattern": True}])
def test_option_that_says_how_text_is_meant_needs_one(tmp_path: Path, option: dict[str, bool]) -> None:
    memory = copy_of(FIXTURES / "memory/example.jsonl", tmp_path)
    with pytest.raises(UsageError, match="no TEXT is given"):
        explain(settings_of(memory), Choice("Sprint 11", **option))
