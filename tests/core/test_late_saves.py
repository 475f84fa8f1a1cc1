"""A version that another program has saved shows whether it was made from the one of before our write, or does not."""

from __future__ import annotations

import pytest
from support import entity, relation

from memttl.core.graph import read_graph
from memttl.core.late_saves import is_late_save


def lines(*parts: bytes) -> bytes:
    return b"\n".join(parts)


def is_late(before: bytes, live: bytes, after: bytes) -> bool:
    return is_late_save(read_graph(before), read_graph(live), read_graph(after))


AB, B = entity(["x0", "x1"]), entity(["x1"])
TWO = [entity([name], name=name) for name in ("E", "F")]


@pytest.mark.parametrize(
    ("before", "live", "after"),
    [
        (AB, entity(["x0", "x1", "theirs"]), entity(["x0", "x1", "ours"])),
        (AB, AB, B),
        (AB, entity(["x0", "x1", "theirs"]), B),
        (lines(*TWO), lines(*TWO), TWO[1]),
        (
            lines(*TWO, relation("E", "F"), relation("F", "E")),
            lines(*TWO, relation("E", "F"), relation("F", "E")),
            lines(*TWO, relation("F", "E")),
        ),
    ],
)
def test_late_save_is_seen(before: bytes, live: bytes, after: bytes) -> None:
    assert is_late(before, live, after)


@pytest.mark.parametrize(
    ("before", "live", "after"),
    [
        (AB, AB, entity(["x0", "x1", "ours"])),
        (AB, entity(["x1", "x0"]), B),
        (AB, entity(["x1", "x0", "more"]), B),
        (AB, AB, entity(["x0"])),
        (AB, B, entity(["x0", "x1", "ours"])),
        (AB, entity(["x0", "x1", "theirs", "ours"]), entity(["x0", "x1", "ours"])),
        (lines(*TWO), lines(TWO[1], TWO[0]), TWO[1]),
        (AB, AB, AB),
    ],
)
def test_what_may_be_meant_is_none(before: bytes, live: bytes, after: bytes) -> None:
    assert not is_late(before, live, after)
