"""Words that sentences share: births and days as people read them, and counted nouns. Stable, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, tzinfo

from memttl.core.model import Birth, Expiry, When
from memttl.core.zones import in_zone

_BORN = {
    "set": "created {} (set)",
    "object": "created {}",
    "text": "written {}",
    "inherited": "its entity is dated {}",
    "entity": "its entity was created {}",
    "seen": "first seen {}",
}

FROM_OLD_VERSION = "in an old version of the file"  # where a backfill has found a text
_HEAD = 40  # characters
_SHOWN = 8  # names or labels in one sentence


def birth_words(birth: Birth, zone: tzinfo = UTC) -> str:
    """Say how old it is and how that is known: `written 2026-04-01`."""
    assert birth.when is not None
    known = FROM_OLD_VERSION + ", {}" if birth.backfilled else _BORN[birth.source]
    words = "arrived {}" if birth.arrived else known
    return words.format(day_words(birth.when, zone))


def day_words(when: Expiry, zone: tzinfo = UTC) -> str:
    """Write a date as `2026-04-01`, an instant as `2026-04-01 12:30 UTC` in `zone`, its midnight as the day."""
    if not isinstance(when, datetime):
        return when if isinstance(when, str) else when.isoformat()
    moment = in_zone(when, zone)
    return moment.strftime("%Y-%m-%d") if moment.hour == moment.minute == 0 else moment.strftime("%Y-%m-%d %H:%M %Z")


def instant_text(moment: datetime) -> str:
    """Write an instant as ISO 8601 in UTC with Z, without a fraction of a second: what JSON and the logs hold."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def when_text(when: When | None) -> str | None:
    """Write a birth as JSON holds it: a date as `YYYY-MM-DD`, an instant in UTC with Z."""
    if when is None:
        return None
    return instant_text(when) if isinstance(when, datetime) else date.isoformat(when)


def short_path(path: str, home: str) -> str:
    """Shorten a path below the home folder as a shell writes it: `~/notes/memory.jsonl`."""
    return "~" + path[len(home) :] if home and path.startswith((home + "/", home + "\\")) else path


def plural(count: int, noun: str) -> str:
    """Count things: `1 line`, `3 entities`."""
    return f"{count} {noun_of(count, noun)}"


def noun_of(count: int, noun: str) -> str:
    """Give a noun as it stands behind a count."""
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("ty") else f"{noun}s"


def some_of(names: Iterable[str]) -> str:
    """Give the first of some names, and how many more there are: `a, b and 3 more`."""
    found = list(names)
    rest = len(found) - _SHOWN
    return ", ".join(found[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def head_of(text: str) -> str:
    """Give the first characters of a text, as many as tell which observation is meant."""
    return text if len(text) <= _HEAD else text[: _HEAD - 1] + "…"
