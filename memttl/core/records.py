"""What a run writes into the audit log: the fields of its `begin`, and one event for each removal. Pure.

So does a change of settings: one event for each observation and entity pin. `files/rebuild.py` reads these again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from memttl.core.asked import asked_document
from memttl.core.changes import Changes
from memttl.core.digests import raw_digest
from memttl.core.evidence import text_of
from memttl.core.memory import value_of
from memttl.core.places import standing
from memttl.core.plan import Plan
from memttl.core.policy import Policy
from memttl.core.wording import instant_text, when_text


def begin_fields(
    command: str, digest: str, new_digest: str, *, file: str, now: datetime, policy: Policy
) -> dict[str, Any]:
    """Give what the `begin` of a run holds besides its name and time; the digests are of the bytes before and after."""
    return {
        "command": command,
        "file": file,
        "now": instant_text(now),
        "policy": policy.where,
        "policy_digest": policy.digest,
        "file_digest": digest,
        "new_digest": new_digest,
        "limits": {"max_prune_fraction": policy.max_prune_fraction, "max_prune_count": policy.max_prune_count},
    }


def removal_events(data: bytes, plan: Plan, run: str, *, with_text: bool) -> list[dict[str, Any]]:
    """Give one event for each observation and each whole line that goes, with its raw JSON unless texts stay out."""
    by_line: dict[int, list[int]] = {}
    for verdict in plan.removals:
        by_line.setdefault(verdict.line, []).append(verdict.index)
    found = standing(data, by_line, {removal.line for removal in plan.lines})
    events = [
        {
            "event": "removed",
            "run": run,
            "entity": v.entity,
            "entity_type": v.entity_type,
            "line": v.line,
            "index": v.index,
            **raw_fields(found.elements[v.line, v.index].raw, with_text=with_text),
            "place": found.elements[v.line, v.index].place,
            "tier": v.tier,
            "rule": v.rule,
            "age_source": v.age_source,
            "created_at": when_text(v.created_at),
            "expires_at": instant_text(v.expires_at) if v.expires_at else None,
            "reason": v.reason,
        }
        for v in plan.removals
    ]
    for removal in plan.lines:
        line = found.lines[removal.line]
        events.append(
            {
                "event": f"removed_{removal.kind}",
                "run": run,
                "entity": removal.entity,
                "line": removal.line,
                **raw_fields(line.raw.decode(), with_text=with_text),
                "place": line.place,
                "reason": "emptied by this run (remove_empty_entities)",
            }
        )
    return events


def change_events(changes: Changes, run: str, command: str, time: str, *, with_text: bool) -> list[dict[str, Any]]:
    """Give one event for each observation whose settings change, and for each entity pin; `time` is the clock's."""
    head = {"event": "set", "run": run, "command": command, "time": time}
    events = []
    for change in changes.observations:
        raw = {"raw": json.dumps(change.text)} if with_text and change.text is not None else {}
        named = {"entity": change.entity, "digest": change.digest, **raw}
        events.append({**head, **named, "settings": asked_document(change.after)})
    for pin in changes.entity_pins:
        events.append({**head, "entity_pin": pin.pattern, "settings": {"pinned": True} if pin.pinned else {}})
    return events


def settings_logged(events: Iterable[dict[str, Any]], command: str, time: str) -> list[dict[str, Any]]:
    """Give the changes of settings that came with a run's removals and restorations, as events of their own.

    They stand in the log from the run's end on, since nothing is set by one that was not applied.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for event in events:
        if not isinstance(event.get("settings"), dict) or event.get("event") not in ("removed", "restored"):
            continue
        head = {"event": "set", "run": event["run"], "command": command, "time": time}
        text = text_of(value_of(event["raw"])) if "raw" in event else None
        raw = {"raw": json.dumps(text)} if text is not None else {}
        named = {"entity": event["entity"], "digest": event["digest"], **raw}
        found[event["entity"], event["digest"]] = {**head, **named, "settings": event["settings"]}
    return list(found.values())


def begin_again(begin: dict[str, Any]) -> dict[str, Any]:
    """Give the `begin` of a run's further write, which removes what a server put back."""
    return {**begin, "again": True}


def events_again(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Name removals that a run made a second time, so that an undo does not put the same observation back twice."""
    return [{**event, "event": f"{event['event']}_again"} for event in events]


def raw_fields(text: str, *, with_text: bool) -> dict[str, str]:
    """Give what an event holds of a JSON text: itself, unless texts stay out of the log, and its digest."""
    digest = {"raw_digest": raw_digest(text)}
    return {"raw": text, **digest} if with_text else digest
