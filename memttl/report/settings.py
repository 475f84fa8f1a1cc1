"""Changes of settings, and lists of them, as lines of text and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from memttl.core.asked import asked_document
from memttl.core.changes import Change, Changes, PinChange
from memttl.core.model import Expiry, UserSettings, Verdict
from memttl.core.settings_list import Listed
from memttl.core.settings_outcome import ChangeOutcome, ListOutcome
from memttl.core.wording import instant_text, plural
from memttl.core.zones import in_zone
from memttl.report.documents import SCHEMA
from memttl.report.text import cut, expiry_words, observation_text, visible

# command -> (what it would do, what it did, the word for its question)
_VERBS = {
    "set": ("Would change the settings of", "Changed the settings of", "Change the settings of"),
    "pin": ("Would pin", "Pinned", "Pin"),
    "unpin": ("Would unpin", "Unpinned", "Unpin"),
    "renew": ("Would renew", "Renewed", "Renew"),
}
_NAMES_SHOWN = 5


def render(outcome: ChangeOutcome, *, with_plan: bool = True, width: int | None = None) -> str:
    """Give what changes, grouped by entity, then the total; the total alone without `with_plan`.

    Texts are shortened to `width` columns where a screen has so many.
    """
    lines = [*plan_lines(outcome.changes, outcome.now, width)] if with_plan else []
    return "".join(visible(line) + "\n" for line in (*lines, *_closing(outcome, with_plan=with_plan)))


def question(outcome: ChangeOutcome) -> str:
    """Give the question that stands below the plan."""
    return visible(f"{_VERBS[outcome.command][2]} {_count(outcome)} of {outcome.file}?")


def plan_lines(changes: Changes, now: datetime, width: int | None) -> Iterator[str]:
    """Give what changes, grouped by entity, and an empty line below; texts are shortened to `width` columns."""
    for entity, of_entity in groupby(changes.observations, key=lambda c: c.entity):
        yield entity
        for change in of_entity:
            before, after = (_settings(asked, now) for asked in (change.before, change.after))
            yield f"  - {before} -> {after}{_expiries(change, now)}"
            yield cut(f"    {_text(change.text, change.digest)}", width)
    for pin in changes.entity_pins:
        yield _pin(pin)
    if not changes.are_none:
        yield ""


def _settings(asked: UserSettings, now: datetime) -> str:
    rows = {
        "pinned": ("by an undo" if asked.pinned_by_undo else "") if asked.pinned else None,
        "created": _when(asked.created, now),
        "expires": _when(asked.expires, now),
        "review by": _when(asked.review_by, now),
        "ttl": asked.ttl,
        "tier": asked.tier,
    }
    return ", ".join(f"{name} {value}".rstrip() for name, value in rows.items() if value is not None) or "nothing set"


def _when(when: Expiry | None, now: datetime) -> str | None:
    """Write an instant with its time at midnight, too: a day that is set is a last one, and its midnight is not."""
    if not isinstance(when, datetime):
        return when if when is None or isinstance(when, str) else when.isoformat()
    return f"{in_zone(when, now.tzinfo or UTC):%Y-%m-%d %H:%M %Z}"


def _expiries(change: Change, now: datetime) -> str:
    if change.was is None or change.will_be is None:
        return "; gone from the file"
    before, after = _expiry(change.was, now), _expiry(change.will_be, now)
    return f"; expiry {before}" + (f" -> {after}" if after != before else ", as before")


def _expiry(verdict: Verdict, now: datetime) -> str:
    return expiry_words(verdict, now) if verdict.expires_at else "never"


def _text(text: str | None, digest: str) -> str:
    return f"text not kept, SHA-256 {digest}" if text is None else observation_text(text)


def _pin(pin: PinChange) -> str:
    names = ", ".join(pin.entities[:_NAMES_SHOWN])
    more = f" and {len(pin.entities) - _NAMES_SHOWN} more" if len(pin.entities) > _NAMES_SHOWN else ""
    what = "pinned, with what comes later" if pin.pinned else "no longer pinned"
    return f"entity {pin.pattern}: {what}; today {names or 'no entity'}{more}"


def _closing(outcome: ChangeOutcome, *, with_plan: bool) -> Iterator[str]:
    changes, (would, did, _) = outcome.changes, _VERBS[outcome.command]
    if changes.are_none:
        yield f"Nothing to change in {outcome.file}: {_unchanged(changes.unchanged)}."
        return
    if outcome.run is not None or with_plan:
        also = f"; {_unchanged(changes.unchanged)}" if changes.unchanged else ""
        yield f"{did if outcome.run is not None else would} {_count(outcome)} of {outcome.file}{also}."
    if outcome.declined:
        yield "Nothing was changed."
    elif outcome.dry_run:
        yield "Dry run: nothing was written."


def _unchanged(count: int) -> str:
    return f"{count} already as asked"


def _count(outcome: ChangeOutcome) -> str:
    changes = outcome.changes
    pins = plural(len(changes.entity_pins), "entity pattern") if changes.entity_pins else ""
    return pins or plural(len(changes.observations), "observation")


def change_document(outcome: ChangeOutcome) -> dict[str, Any]:
    """Give what was changed or would be."""
    changes = outcome.changes
    pins = [{"pattern": p.pattern, "pinned": p.pinned, "entities": len(p.entities)} for p in changes.entity_pins]
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "recorded": outcome.run is not None,
        "dry_run": outcome.dry_run,
        "run": outcome.run,
        "changes": change_documents(changes),
        "entity_pins": pins,
        "unchanged": changes.unchanged,
        "warnings": list(outcome.warnings),
    }


def change_documents(changes: Changes) -> list[dict[str, Any]]:
    """Give the change of each observation."""
    return [_change_document(change) for change in changes.observations]


def _change_document(change: Change) -> dict[str, Any]:
    return {
        "entity": change.entity,
        "observation": change.text,
        "digest": change.digest,
        "present": change.is_present,
        "before": asked_document(change.before),
        "after": asked_document(change.after),
        "expires_before": _instant(change.was),
        "expires_after": _instant(change.will_be),
    }


def _instant(verdict: Verdict | None) -> str | None:
    return instant_text(verdict.expires_at) if verdict is not None and verdict.expires_at is not None else None


def render_list(outcome: ListOutcome) -> str:
    """Give all settings, grouped by entity, and the entity pins."""
    found = outcome.found
    lines = [f"entity {pattern}: pinned, with what comes later" for pattern in found.entity_pins]
    for entity, listed in groupby(found.settings, key=lambda item: item.setting.entity):
        lines += [entity, *(line for item in listed for line in _listed(item, outcome.now))]
    if not lines:
        lines = [f"Nothing is set in {outcome.file}."]
    return "".join(visible(line) + "\n" for line in lines)


def _listed(item: Listed, now: datetime) -> list[str]:
    setting = item.setting
    gone = "" if item.is_present else "; gone from the file"
    return [f"  - {_settings(setting.asked, now)}{gone}", f"    {_text(setting.text, setting.digest)}"]


def list_document(outcome: ListOutcome) -> dict[str, Any]:
    """Give all settings; `observation` is null where it is gone and its text was not kept."""
    found = outcome.found
    return {
        "schema": SCHEMA,
        "file": outcome.file,
        "now": instant_text(outcome.now),
        "settings": [_listed_document(item) for item in found.settings],
        "entity_pins": list(found.entity_pins),
        "warnings": list(outcome.warnings),
    }


def _listed_document(item: Listed) -> dict[str, Any]:
    setting = item.setting
    return {
        "entity": setting.entity,
        "observation": setting.text,
        "digest": setting.digest,
        "present": item.is_present,
        "settings": asked_document(setting.asked),
    }
