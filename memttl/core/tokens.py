"""What a `read_graph` costs: records of a memory file into characters and estimated tokens (stub)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Weight(NamedTuple):
    """Characters of what read_graph sends, and estimated tokens, in hundredths."""

    characters: int = 0
    cents: int = 0


def weight_of_entity_frame(record: Mapping[str, Any]) -> Weight:
    return Weight(60, 60 * 25)


def weight_of_observation(element: object) -> Weight:
    n = len(element) if isinstance(element, str) else len(repr(element))
    return Weight(n + 10, (n + 10) * 25)


def weight_of_relation(record: Mapping[str, Any]) -> Weight:
    return Weight(60, 60 * 25)


def tokens_of(cents: int) -> int:
    return -(-cents // 100)
