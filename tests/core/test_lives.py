"""What was judged before is as if it were judged again, whatever else an entity holds."""

from __future__ import annotations

import pytest
from support import entity, judge_of
from viewing import nothing_known

from memttl.core.lives import Judged, lives_of
from memttl.core.memory import parse_line

OLD = ["[session] 2026-05-01: a", "b", "[session] 2026-05-02: c", {"content": "d", "ttl": 3}, 7]
POLICIES = {
    "built-in": "",
    "keep_last": '[tiers]\nsession = { ttl = "10d", keep_last = 1 }',
    "inherit": "[age]\ninherit = true",
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize(
    ("observations", "fields"),
    [
        ([*OLD, "[session] 2026-05-20: new"], {}),
        (OLD[1:], {}),
        ([OLD[2], *OLD, OLD[0]], {}),
        ([], {}),
        (OLD, {"ttl": 1}),
        ([*OLD, "x"], {"decay": "session"}),
    ],
    ids=["one more", "one less", "twice", "none", "another TTL", "another tier"],
)
def test_kept_lives_are_those_of_a_judgement_anew(policy: str, observations: list[object], fields: dict) -> None:
    judge = judge_of(policy)
    old = parse_line(entity(OLD), 1)
    new = parse_line(entity(observations, **fields), 1)
    judged = Judged(old, lives_of(old, judge, nothing_known))
    assert lives_of(new, judge, nothing_known, judged) == lives_of(new, judge, nothing_known)
