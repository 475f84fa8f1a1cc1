"""What memttl knows of an observation besides the file: its first sighting, and what the user set. Pure.

`files/knowledge.py` makes one `Knower` a run from the ledger; `evidence.py` asks it for every observation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from memttl.core.digests import text_key
from memttl.core.model import NOTHING_KNOWN, NOTHING_SET, Known, UserSettings
from memttl.core.rules import compile_glob
from memttl.core.sightings import Sighting, Sightings, after_arrivals


class Setting(NamedTuple):
    """What the user set for one observation. `digest`: the text's SHA-256 in hex; `text`: None where it is not kept."""

    entity: str
    digest: str
    text: str | None
    asked: UserSettings

    @property
    def key(self) -> bytes:
        """The key of the text within its entity."""
        return key_of_digest(self.digest)


def key_of_digest(digest: str) -> bytes:
    """Give the key that a text's whole digest (hex) begins with."""
    return bytes.fromhex(digest[:16])


class EntityPins:
    """The entities that the user pinned, each by an exact name or a glob, what comes later included."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        self._globs = [(pattern, compile_glob(pattern)) for pattern in patterns]

    def pin_of(self, entity: str) -> str:
        """Give the first pattern that pins this entity, "" where none does."""
        return next((p for p, glob in self._globs if p == entity or glob.fullmatch(entity)), "")


Arrivals = Mapping[str, Mapping[bytes, datetime]]  # by entity and key: when `memttl serve` stored each text


class Knower:
    """Answers `known_of(entity, text)`; `sightings_of` gives one entity's sightings, and is asked when it changes.

    `arrivals` are those that it may lack.
    """

    def __init__(
        self,
        sightings_of: Callable[[str], Sightings],
        settings: Sequence[Setting],
        pins: Sequence[str],
        days_of: Callable[[str], frozenset[date]] | None = None,
        arrivals: Arrivals = {},  # noqa: B006  # never changed
    ) -> None:
        self._sightings_of, self._days_of = sightings_of, days_of
        self._days: frozenset[date] = frozenset()
        self._pins = EntityPins(pins)
        self._asked: dict[str, dict[bytes, UserSettings]] = {}
        self._entity: str | None = None
        self._arrived: dict[str, dict[bytes, int]] = {}
        self.put(settings, arrivals)
        self._sightings: Mapping[bytes, Sighting] = {}
        self._here: Mapping[bytes, UserSettings] = {}
        self._pin = ""
        self._plain: dict[tuple[int, int], Known] = {}  # most texts of a file share a few first sightings

    def put(self, settings: Iterable[Setting], arrivals: Arrivals = {}) -> None:  # noqa: B006  # never changed
        """Take over what was set since, for each observation in place of what was set before, and what arrived."""
        for setting in settings:
            self._asked.setdefault(setting.entity, {})[setting.key] = setting.asked
        for entity, found in arrivals.items():
            seconds = {key: int(at.timestamp()) for key, at in found.items()}
            self._arrived.setdefault(entity, {}).update(seconds)
        self._entity = None

    def beside(self, settings: Sequence[Setting], pins: Sequence[str], arrivals: Arrivals) -> Knower:
        """Give one for another thread, which knows the same sightings and days, and these settings and arrivals."""
        return Knower(self._sightings_of, settings, pins, self._days_of, arrivals)

    def look_anew(self, days_of: Callable[[str], frozenset[date]] | None) -> None:
        """Ask for the sightings anew, and for the days by what is given: they have changed."""
        self._entity, self._days_of = None, days_of

    def known_of(self, entity: str, text: str) -> Known:
        """Give what is known of one observation; `NOTHING_KNOWN` where nothing is."""
        if entity != self._entity:
            self._entity, self._sightings = entity, self._sightings_of(entity)
            if entity in self._arrived:
                self._sightings = after_arrivals(self._sightings, self._arrived[entity])
            self._here, self._pin = self._asked.get(entity, {}), self._pins.pin_of(entity)
            self._days = self._days_of(entity) if self._days_of else frozenset()
        if self._days:
            return self._known(text)._replace(entity_days=self._days)
        return self._known(text)

    def _known(self, text: str) -> Known:
        if not (self._sightings or self._here or self._pin):
            return NOTHING_KNOWN
        key = text_key(text)
        sighting = self._sightings.get(key)
        plain = self._seen(sighting) if sighting else NOTHING_KNOWN
        asked = self._here.get(key, NOTHING_SET)
        if self._pin:
            asked = asked._replace(entity_pin=self._pin)
        return plain if asked is NOTHING_SET else plain._replace(settings=asked)

    def _seen(self, sighting: Sighting) -> Known:
        first, flags = sighting.first_seen, sighting.flags
        known = self._plain.get((first, flags))
        if known is None:
            when = datetime.fromtimestamp(first, UTC)
            known = Known(when, backfilled=sighting.backfilled, arrived=sighting.arrived)
            self._plain[first, flags] = known
        return known
