"""A plan onto bytes that a stranger has written since: what the plan removes, cut again in a few milliseconds.

The write path plans whole once and then asks here at each further try, since a busy server writes again before a whole
plan is done. Where more than the approved texts would have to be judged anew, it gives None: plan whole. Pure.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from memttl.core.cut import check_cut, cut_line
from memttl.core.memory import BOM, line_spans, parse_line
from memttl.core.model import Line
from memttl.core.plan import Plan, Texts
from memttl.core.policy import Policy


class Cut(NamedTuple):
    """One line without what the plan removes from it, and what that is, by entity and `repr` of the text."""

    raw: bytes
    removed: Texts


class Replanner:
    """One plan, ready to be applied to later versions of the file. Lines seen before are not parsed again."""

    def __init__(self, plan: Plan, policy: Policy) -> None:
        self._approved = plan.approval.observations
        self._types = {v.entity: v.entity_type for v in plan.removals}
        self._cuts: dict[bytes, Cut | None] = {}
        self._is_simple = not (
            plan.lines
            or plan.counts.malformed_lines
            or policy.inherit  # both judge an observation by its neighbours, which may be new
            or any(tier.keep_last for tier in policy.tiers.values())
            or policy.remove_empty_entities
        )

    def apply(self, data: bytes) -> tuple[bytes, Texts] | None:
        """Give the new bytes and what was cut, which may be nothing; None where the file must be planned whole."""
        if not self._is_simple or data.startswith(BOM):
            return None
        pieces: list[bytes] = []
        removed = Texts()
        for number, start, end, after in line_spans(data):
            cut = self._cut(data[start:end], number)
            if cut is None or cut.removed.keys() & removed.keys():  # an entity that stands twice
                return None
            pieces += (cut.raw, data[end:after])
            removed.update(cut.removed)
        if any(n > self._approved[key] for key, n in removed.items()):
            return None
        return b"".join(pieces), removed

    def _cut(self, raw: bytes, number: int) -> Cut | None:
        if raw not in self._cuts:
            self._cuts[raw] = self._cut_anew(raw, number)
        return self._cuts[raw]

    def _cut_anew(self, raw: bytes, number: int) -> Cut | None:
        line = parse_line(raw, number)
        if line.kind == "malformed":
            return None
        if not line.is_judged or line.record is None or line.record["name"] not in self._types:
            return Cut(raw, Texts())
        return self._cut_entity(line)

    def _cut_entity(self, line: Line) -> Cut | None:
        assert line.record is not None
        name, texts = line.record["name"], line.record["observations"]
        same_type = line.record.get("entityType") == self._types[name]
        if not same_type or not all(isinstance(text, str) for text in texts):
            return None
        indexes = [i for i, text in enumerate(texts) if (name, repr(text)) in self._approved]
        if not indexes:
            return Cut(line.raw, Texts())
        raw = cut_line(line.raw, indexes)
        _check(line.raw, raw, indexes)
        return Cut(raw, Texts((name, repr(texts[i])) for i in indexes))


def _check(before: bytes, after: bytes, indexes: list[int]) -> None:
    try:
        old, new = orjson.loads(before), orjson.loads(after)
    except orjson.JSONDecodeError:
        check_cut(before, after, indexes)
        return
    gone = set(indexes)
    if [text for i, text in enumerate(old["observations"]) if i not in gone] != new["observations"]:
        raise AssertionError("a cut would have changed more than whole observations; nothing was written")
