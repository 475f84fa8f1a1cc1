"""A timeline of the audit log, and how its chain stands, as JSON documents."""

from __future__ import annotations

from typing import Any

from memttl.core.log_outcome import LogOutcome, VerifyOutcome
from memttl.core.past_runs import Event, PastRun
from memttl.core.timeline import Entry, is_edited
from memttl.core.wording import instant_text
from memttl.report.documents import SCHEMA, finite
from memttl.report.log import value_of

_COUNTED = ("removed", "restored", "quarantined", "set")


def log_document(outcome: LogOutcome) -> dict[str, Any]:
    """Give the timeline, oldest first."""
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "runs": [_entry(entry) for entry in outcome.entries],
        "warnings": list(outcome.warnings),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    """Give one run; what stands alone in the log has the keys of a run that wrote nothing."""
    past, told = entry.past, entry.told
    begin: Event = past.begin if past else {}
    return {
        "kind": entry.kind,
        "run": entry.run,
        "command": entry.command,
        "time": instant_text(entry.moment) if entry.moment else None,
        "applied": past.applied if past else None,
        "settled": past is not None and past.end.get("settled") is True,
        "thinned": _string(begin.get("thinned")),
        "backup": _string(past.end.get("backup")) if past else None,
        "undoes": _string(begin.get("undoes")),
        "undone_by": (past.undone_by or None) if past else None,
        "partly_undone_by": list(past.partly_undone_by) if past else [],
        "edited": entry.is_edited,
        "counts": _counts(entry, past),
        "told": {
            key: value for key, value in told.items() if key not in ("v", "event", "run", "time", "prev", "edited")
        },
        "changes": [_change(change) for change in entry.changes],
    }


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _counts(entry: Entry, past: PastRun | None) -> dict[str, int]:
    if past is not None and past.is_thinned:
        return {word: n if isinstance(n := past.begin.get(word, 0), int) else 0 for word in _COUNTED}
    kinds = [str(c.get("of") if c.get("event") == "erased" else c.get("event")) for c in entry.changes]
    return {word: sum(kind.startswith(word) for kind in kinds) for word in _COUNTED}


def _change(change: Event) -> dict[str, Any]:
    raw = change.get("raw")
    keys = ("entity", "entity_type", "entity_pin", "line", "index")
    return {
        "event": change.get("event"),
        **{key: change.get(key) for key in keys},
        "observation": finite(value_of(raw)) if isinstance(raw, str) else None,
        "digest": change.get("raw_digest", change.get("digest")),
        **{key: change.get(key) for key in ("tier", "rule", "age_source", "created_at", "expires_at", "reason")},
        "settings": change.get("settings"),
        "edited": is_edited(change),
    }


def verify_document(outcome: VerifyOutcome) -> dict[str, Any]:
    """Give what following the chain found; `broken` is null for a whole log."""
    found = outcome.found
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "log": outcome.log,
        "whole": found.broken is None,
        "lines": found.lines,
        "summaries": found.summaries,
        "erased": found.erased,
        "torn": list(found.torn),
        "torn_end": found.is_end_torn,
        "broken": found.broken._asdict() if found.broken else None,
        "hint": outcome.hint or None,
        "warnings": list(outcome.warnings),
    }
