"""What a read of `memttl serve` tells of an observation, made of the verdict on it; few are judged again at a change.

`serving_view.py` asks for each entity whose line or whose knowledge has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from memttl.core.classify import KnownOf, judge_entity
from memttl.core.digests import text_key
from memttl.core.judge import Judge
from memttl.core.model import AgeSource, Line, Verdict
from memttl.core.wording import instant_text, when_text

Changed = Mapping[str, Collection[bytes]]  # entity -> the keys of its texts of which more is known than before
NO_CHANGE: Changed = {}


class Life(NamedTuple):
    """What a read tells of one observation besides its text; nothing is known of one that was not judged."""

    created_at: str | None = None
    expires_at: datetime | None = None
    tier: str | None = None
    age_source: AgeSource | None = None
    pinned: bool = False
    review_due: bool = False


UNJUDGED = Life()


class Judged(NamedTuple):
    """A line that was judged, and the life of each element of its list."""

    line: Line
    lives: tuple[Life, ...]


def lives_of(
    line: Line, judge: Judge, known_of: KnownOf, old: Judged | None = None, changed: Collection[bytes] = ()
) -> tuple[Life, ...]:
    """Judge an entity's line; a text that `old` holds, judged by the same policy in the same hour, is not judged again.

    `changed` are the keys of texts of which more is known than then.
    """
    assert line.record is not None
    found = line.record["observations"]
    kept = _kept(old, line.record, judge) if old else {}
    for text in [text for text in kept if text_key(text) in changed] if changed else ():
        del kept[text]
    fresh = [element for element in found if not (isinstance(element, str) and element in kept)]
    part = line if len(fresh) == len(found) else line._replace(record={**line.record, "observations": fresh})
    judged = map(_life, judge_entity(part, judge, known_of))
    return tuple(kept[e] if isinstance(e, str) and e in kept else next(judged) for e in found)


def _kept(old: Judged, record: dict[str, Any], judge: Judge) -> dict[str, Life]:
    """Give the lives of texts that do not depend on what else the entity holds."""
    policy, was = judge.policy, old.line.record
    if was is None or policy.inherit or any(tier.keep_last for tier in policy.tiers.values()):
        return {}
    if _without_list(was) != _without_list(record):
        return {}
    return {e: life for e, life in zip(was["observations"], old.lives, strict=True) if isinstance(e, str)}


def _without_list(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "observations"}


def _life(v: Verdict) -> Life:
    if v.tier is None:
        return UNJUDGED
    return Life(when_text(v.created_at), v.expires_at, v.tier, v.age_source, v.pinned, v.review_due)


def life_json(life: Life) -> bytes:
    """Write it as JSON."""
    at = instant_text(life.expires_at) if life.expires_at is not None else None
    return orjson.dumps({**life._asdict(), "expires_at": at})
