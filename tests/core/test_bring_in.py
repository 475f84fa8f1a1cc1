"""What another program made of a memory file, brought in: a version that was begun anew takes nothing away."""

from __future__ import annotations

import json

import pytest

from memttl.core.bring_in import bring_in, lacks_most

BASE = {"A": ["a 1", "a 2"], "B": ["b"], "C": []}


def text_of(graph: dict[str, list[str]]) -> bytes:
    lines = [{"type": "entity", "name": n, "entityType": "t", "observations": o} for n, o in graph.items()]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def graph_of(data: bytes) -> dict[str, list[str]]:
    return {record["name"]: record["observations"] for record in map(json.loads, data.splitlines())}


@pytest.mark.parametrize(
    ("theirs", "is_new"),
    [
        ({"N": ["n"]}, True),
        ({"A": ["n"]}, True),
        ({"A": [], "B": [], "C": []}, True),
        ({"A": ["a 1", "a 2"]}, True),
        ({"A": ["a 1", "a 2"], "B": ["b"]}, False),
        ({"A": ["a 1", "a 2"], "C": []}, False),
        ({"B": ["b"], "A": ["a 2", "n"], "C": []}, False),
    ],
)
def test_a_version_that_lacks_most_is_told(theirs: dict[str, list[str]], is_new: bool) -> None:
    assert lacks_most(text_of(BASE), text_of(theirs)) == is_new


def test_a_version_that_lacks_most_adds_and_takes_nothing_away() -> None:
    brought = bring_in(text_of(BASE), text_of({"N": ["n"]}), text_of(BASE))
    assert (graph_of(brought.data), brought.kept) == (BASE | {"N": ["n"]}, True)


def test_what_went_from_the_memory_meanwhile_does_not_return_with_it() -> None:
    brought = bring_in(text_of(BASE), text_of({"N": ["n"]}), text_of(BASE | {"A": ["a 1"]}))
    assert graph_of(brought.data) == BASE | {"A": ["a 1"], "N": ["n"]}


def test_what_was_removed_on_purpose_goes() -> None:
    brought = bring_in(text_of(BASE), text_of({"A": ["a 2"], "B": ["b"], "C": []}), text_of(BASE))
    assert (graph_of(brought.data)["A"], brought.kept) == (["a 2"], False)


def test_with_additions_alone_nothing_goes_at_all() -> None:
    brought = bring_in(text_of(BASE), text_of({"A": ["a 2"], "B": ["b"], "C": []}), text_of(BASE), adds_only=True)
    assert (graph_of(brought.data), brought.kept) == (BASE, True)
