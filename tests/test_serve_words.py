"""What a client says of how long an observation lasts is set for it, and refused by the client's own word."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support import NOW, entity

pytest.importorskip("mcp")

from memttl.core.durations import Duration
from memttl.core.graph import read_graph
from memttl.core.graph_edits import Answer, Edit, apply_edits
from memttl.core.policy_load import load_policy
from memttl.core.wish import Patch
from memttl.server.calls import Calls

SETTINGS = SimpleNamespace(policy=load_policy(""), now=NOW)
SAID = {"ttl": 1.5, "decay": "session", "pin": True}
MEANT = Patch(True, ttl=Duration(days=1, hours=12), tier="session")  # as `memttl set` would put it


def called(tool: str, **arguments: Any) -> tuple[dict[str, Any], list[Patch]]:
    """The answer of a call on the entity E, and the patch of each observation that arrived."""
    answers = list[Answer]()

    class Writer:
        async def submit(self, edit: Edit) -> Answer:
            answers.append(apply_edits(read_graph(entity([])), [edit]).answers[0])
            return answers[-1]

    async def changed() -> None:
        pass

    calls = Calls(cast(Any, SimpleNamespace(resolve=lambda: SETTINGS)), cast(Any, Writer()), changed)
    result = asyncio.run(calls.call(tool, arguments))
    return result, [arrival.patch for answer in answers for arrival in answer.arrivals]


def test_all_that_is_said_with_new_observations_is_set_for_each() -> None:
    made = {"name": "F", "entityType": "t", "observations": ["a"], **SAID}
    added = {"entityName": "E", "contents": ["a", "b"], **SAID}
    assert called("create_entities", entities=[made])[1] == [MEANT]
    assert called("add_observations", observations=[added])[1] == [MEANT, MEANT]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"ttl": 0}, "observations[0].ttl cannot be read"),
        ({"ttl": 3, "expires": "2026-08-01"}, "observations[0].ttl and observations[0].expires both say when it ends"),
        ({"review_by": "never"}, "review_by 'never' cannot be read"),
        ({"decay": "sesion"}, "session, operational, permanent"),
    ],
)
def test_what_cannot_be_read_is_an_error_and_nothing_arrives(said: dict[str, Any], words: str) -> None:
    result, arrived = called("add_observations", observations=[{"entityName": "E", "contents": ["a"], **said}])
    assert (result["isError"], arrived) == (True, [])
    assert words in result["content"][0]["text"]
