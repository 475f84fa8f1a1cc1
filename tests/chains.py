"""What tests of the audit log need: runs and settings as memttl logs them, and a log of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memttl.core.digests import text_digest
from memttl.files import audit

OLD, YOUNG, LATER = "2026-01-05T12:00:00.000Z", "2026-06-01T12:00:00.000Z", "2026-06-02T12:00:00.000Z"
Event = dict[str, Any]


def removed(run: str, text: str = "x", kind: str = "removed") -> Event:
    """The line of one removal."""
    raw = json.dumps(text)
    return {
        "event": kind,
        "run": run,
        "entity": "E",
        "entity_type": "note",
        "line": 1,
        "index": 0,
        "raw": raw,
        "raw_digest": hashlib.sha256(raw.encode()).hexdigest(),
        "tier": "session",
        "reason": "session notes keep 30 days; written 2026-04-01",
    }


def run_of(
    run: str, time: str, *lines: Event, command: str = "prune", applied: bool = True, **begin: Any
) -> list[Event]:
    """The lines of one run, from its begin to its end."""
    head = {"event": "begin", "run": run, "time": time, "write": 1, "command": command, "now": time[:19] + "Z", **begin}
    return [head, *lines, {"event": "end", "run": run, "time": time, "applied": applied}]


def set_line(text: str, time: str = OLD, run: str = "5e7", **settings: Any) -> Event:
    """The line of one setting."""
    named = {"entity": "E", "digest": text_digest(text), "raw": json.dumps(text)}
    return {
        "event": "set",
        "run": run,
        "command": "pin",
        "time": time,
        **named,
        "settings": settings or {"pinned": True},
    }


def put(log: Path, *events: Event) -> Path:
    """Add events to a log."""
    audit.append(log, events, log.parent.stat())
    return log


def kinds_in(events: Iterable[Event]) -> list[str]:
    """The kinds of events, in order."""
    return [str(event["event"]) for event in events]
