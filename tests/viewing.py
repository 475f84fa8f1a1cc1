"""What tests of the reads of `memttl serve` need: a view of some lines, and an answer taken apart."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from support import NOW, judge_of

from memttl.core.classify import KnownOf
from memttl.core.graph import read_graph
from memttl.core.model import NOTHING_KNOWN
from memttl.core.serving_view import Answer, View, view_of

EXPIRED, LASTING, DUE = "[session] 2026-01-05: old", "plain", "note (expires 2026-07-01)"


def nothing_known(_entity: str, _text: str) -> Any:
    return NOTHING_KNOWN


def view(*lines: bytes, policy: str = "", known_of: KnownOf | None = nothing_known, now: datetime = NOW) -> View:
    """A view of these lines, judged at an instant."""
    return view_of(read_graph(b"\n".join(lines)), judge_of(policy, now=now), known_of)


def graph_of(answer: Answer) -> Any:
    """The graph that an answer shows; its text must hold the same, as JSON.stringify would write it."""
    graph = json.loads(answer.pieces.structured)
    text = json.loads(answer.pieces.text)
    assert json.loads(text) == graph
    return graph


def shown(answer: Answer) -> dict[str, list[str]]:
    """The observations of each entity that an answer shows."""
    return {entity["name"]: entity["observations"] for entity in graph_of(answer)["entities"]}


def metadata_of(answer: Answer) -> Any:
    return json.loads(answer.metadata)
