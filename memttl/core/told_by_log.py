"""What the audit log's events tell of settings, pins, arrivals and the baseline: what a ledger must not lose. Pure.

`files/rebuild.py` makes a lost ledger from it, and `kept_lines.py` reads a damaged log with it, line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from memttl.core.asked import asked_of
from memttl.core.known import Setting, key_of_digest

# all that a setting may raise which cannot be read
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


class Logged(NamedTuple):
    """What some lines of the log set, the last word on each: settings, what was cleared included, and entity pins.

    `arrivals` are the texts that `memttl serve` stored, by entity and key, each with the last time at which it did.
    """

    settings: tuple[Setting, ...] = ()
    entity_pins: dict[str, bool] = {}  # noqa: RUF012  # never changed
    arrivals: dict[str, dict[bytes, datetime]] = {}  # noqa: RUF012  # never changed

    @property
    def is_nothing(self) -> bool:
        """True where they set nothing and tell of no arrival."""
        return not (self.settings or self.entity_pins or self.arrivals)


def logged_in(events: Iterable[Mapping[str, Any]]) -> Logged:
    """Give what these events set; raises one of UNREADABLE where one cannot be read."""
    settings: dict[tuple[str, str], Setting] = {}
    pins: dict[str, bool] = {}
    arrivals: dict[str, dict[bytes, datetime]] = {}
    for event in events:
        if event.get("event") == "arrived":
            at = _instant(event["at"])
            arrivals.setdefault(str(event["entity"]), {}).update((key_of_digest(d), at) for d in event["digests"])
        if event.get("event") != "set":
            continue
        if "entity_pin" in event:
            pins[event["entity_pin"]] = event["settings"].get("pinned") is True
        else:
            setting = setting_told(event)
            settings[setting.entity, setting.digest] = setting
    return Logged(tuple(settings.values()), pins, arrivals)


def setting_told(event: Mapping[str, Any]) -> Setting:
    """Give what one event sets for one observation; raises one of UNREADABLE where it cannot be read."""
    text = json.loads(event["raw"]) if "raw" in event else None
    bytes.fromhex(event["digest"])
    return Setting(str(event["entity"]), event["digest"], text, asked_of(event["settings"]))


def baseline_told(events: Iterable[Mapping[str, Any]]) -> datetime | None:
    """Give when memttl first knew the file: by a line of its own, or by the first run, which needs none.

    Raises one of UNREADABLE where an instant cannot be read.
    """
    baselines, begins = list[datetime](), list[datetime]()
    for event in events:
        if event.get("event") == "baseline":
            baselines.append(_instant(event["baseline"]))
        elif event.get("event") == "begin" or (event.get("event") == "summary" and "time" in event):
            stamps = (event["time"], event.get("now", event["time"]))  # as a sighting: now, but never after the clock
            begins.append(min(map(_instant, stamps)))
    return min((*baselines, *begins[:1]), default=None)


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no offset")
    return found
