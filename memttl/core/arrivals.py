"""What is set for an observation that a client of `memttl serve` adds, renews, or gives settings. Pure.

`workflow/serving.py` asks for each arrival of `graph_edits.py`; most need none, since a first sighting tells their age.
"""

from __future__ import annotations

import json
from typing import Any

from memttl.core.asked import asked_document
from memttl.core.change_plan import renewal
from memttl.core.classify import KnownOf, judge_entity
from memttl.core.digests import text_digest
from memttl.core.durations import Duration
from memttl.core.graph import Row
from memttl.core.graph_edits import NO_PATCH, Arrival
from memttl.core.judge import Judge
from memttl.core.model import NOTHING_KNOWN, UserSettings, Verdict


def settings_of(arrival: Arrival, judge: Judge, known_of: KnownOf, verdict: Verdict | None) -> UserSettings | None:
    """Give what is set for it from now on, None where that stays as it is.

    `verdict` is that on the text as it was before, needed where the arrival renews it.
    """
    known = known_of(arrival.entity, arrival.text)
    was, now = known.settings._replace(entity_pin=""), judge.now.replace(microsecond=0)
    afresh = UserSettings(pinned=was.pinned, pinned_by_undo=was.pinned_by_undo)
    if arrival.is_new:
        if arrival.patch == NO_PATCH and known._replace(settings=was) == NOTHING_KNOWN:
            return None
        # a text that was here before is as old as then, unless it is said to be new
        return arrival.patch.on(afresh)._replace(created=now)
    if arrival.is_renewed:
        return _renewed(arrival, judge, afresh, verdict)
    after = arrival.patch.on(was)
    return after if after != was else None


def _renewed(arrival: Arrival, judge: Judge, afresh: UserSettings, verdict: Verdict | None) -> UserSettings:
    """From now on: for as long as the call says, or as its tier keeps."""
    after = arrival.patch.on(afresh)
    if after.expires is not None or after.review_by is not None:  # an expiry would count more than the call's review
        return after
    tier = after.tier or (verdict.tier if verdict else None)
    ttl = after.ttl or (judge.policy.tiers[tier].ttl if tier in judge.policy.tiers else None)
    return renewal(ttl or Duration(is_never=True), judge).on(after._replace(ttl=None))


def hidden_texts(row: Row, judge: Judge, known_of: KnownOf) -> dict[str, Verdict]:
    """Give the texts of one entity that have expired, every copy of them, each with a verdict."""
    if not row.line.is_judged:
        return {}
    verdicts = [v for v in judge_entity(row.line, judge, known_of) if v.tier is not None]
    stays = {v.observation for v in verdicts if not v.expired}
    return {v.observation: v for v in verdicts if v.observation not in stays}


def set_event(arrival: Arrival, after: UserSettings, run: str, time: str, *, with_text: bool) -> dict[str, Any]:
    """Give the line of the audit log that sets it; `time` is the clock's."""
    raw = {"raw": json.dumps(arrival.text)} if with_text else {}
    return {
        "event": "set",
        "run": run,
        "command": "serve",
        "time": time,
        "entity": arrival.entity,
        "digest": text_digest(arrival.text),
        **raw,
        "settings": asked_document(after),
    }
