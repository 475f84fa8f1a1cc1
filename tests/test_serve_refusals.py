"""A call that the graph refuses is told so, and nobody is told of a change."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from support import entity

pytest.importorskip("mcp")

from memttl.core.graph import read_graph
from memttl.core.graph_edits import Answer, Edit, apply_edits
from memttl.server.calls import Calls


class Writer:
    """Applies each edit to the same bytes."""

    async def submit(self, edit: Edit) -> Answer:
        return apply_edits(read_graph(entity(None)), [edit]).answers[0]


def called(tool: str, **arguments: Any) -> tuple[dict[str, Any], int]:
    """The answer of a call, and how often a change was told."""
    changes = list[None]()

    async def changed() -> None:
        changes.append(None)

    calls = Calls(cast(Any, None), cast(Any, Writer()), changed)
    return asyncio.run(calls.call(tool, arguments)), len(changes)


def test_what_cannot_be_taken_out_is_no_success() -> None:
    answer, changes = called("delete_observations", deletions=[{"entityName": "E", "observations": ["a"]}])
    assert (answer["isError"], changes) == (True, 0)
    assert "no list of observations (line 1 of the memory file)" in answer["content"][0]["text"]


def test_what_names_nothing_is_a_success_as_it_is_for_the_server() -> None:
    answer, changes = called("delete_observations", deletions=[{"entityName": "F", "observations": ["a"]}])
    assert (answer.get("isError", False), changes) == (False, 1)
