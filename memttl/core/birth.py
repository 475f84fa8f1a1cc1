"""Birth: how old an observation is, and how that is known (SPEC section 3).

`evidence.py` asks for each observation; the first source that gives a birth wins, and what was passed over is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from memttl.core.dates import DateReader, FoundDate, day_of, no_birth_because
from memttl.core.durations import end_of_day
from memttl.core.head import EMPTY_HEAD, Head
from memttl.core.marks import EMPTY_TAIL, Tail
from memttl.core.model import Birth, Known, Tried, When
from memttl.core.normal import normalise

TIME_FIELDS = ("created_at", "createdAt", "timestamp", "date")
ENTITY_TIME_FIELDS = ("createdAt", "created_at")
_GOES_ON = re.compile(r"[-/\\\w]|\.\w")  # behind a date that is part of a path or a version: 2026-01-05.md
_MILLISECONDS_FROM = 100_000_000_000  # as seconds that is the year 5138, as milliseconds 1973


class BirthReader:
    """Finds births by one policy: its date labels and time zone, and the instant that is now."""

    def __init__(self, dates: DateReader, labels: Iterable[str], now: datetime) -> None:
        self._dates = dates
        self._now = now
        words = "|".join(re.escape(normalise(label)) for label in labels)
        self._label = re.compile(rf"(?<!\w)(?:{words})\s*[:：]\s*") if words else None

    def of_object(self, fields: Mapping[str, Any], names: Sequence[str], tried: list[Tried]) -> When | None:
        """Give the birth in the first of the fields `names` that holds one: ISO 8601, unix seconds or milliseconds."""
        for name in names:
            if fields.get(name) is None:
                continue
            when = self._read_field(fields[name])
            problem = no_birth_because(when, self._now, self._dates.zone)
            note = problem.replace("there is no such date", "cannot be read") or "birth"
            tried.append(Tried("field", f"{name}: {fields[name]}", not problem, note))
            if not problem:
                return when
        return None

    def _read_field(self, value: object) -> When | None:
        if isinstance(value, str):
            return self._dates.field(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
        except (OverflowError, ValueError, OSError):
            return None

    def of_text(self, text: str, head: Head, tail: Tail, tried: list[Tried]) -> When | None:
        """Give the birth written in a normalised text: a `created` mark first, else the latest readable date."""
        if self._label is None and head is EMPTY_HEAD and tail is EMPTY_TAIL:
            return None
        marked = [m.date for m in tail.marks if m.kind == "created" and isinstance(m.date, date)]
        for when in sorted(marked, key=self.end, reverse=True):
            if self._note(str(when), when, "created mark", tried):
                return when
        found = [*((d, "leading date") for d in head.dates), *((d, "trailing date") for d in tail.dates)]
        found += [(d, "labelled date") for d in self._labelled(text, tried)]
        for date_in_range in (*head.ranges, *tail.ranges):
            note = "one of a range or list of days, so no birth"
            tried.append(Tried("date", date_in_range.text, matched=False, note=note))
        good = [d.when for d, place in found if self._note(d.text, d.when, place, tried) and d.when is not None]
        return max(good, key=self.end, default=None)

    def _labelled(self, text: str, tried: list[Tried]) -> list[FoundDate]:
        found = []
        for label in self._label.finditer(text) if self._label else ():
            day = self._dates.at(text, label.end())
            if day is None or _GOES_ON.match(text, day.end):
                continue
            if self._dates.is_range(text, day):
                tried.append(Tried("date", day.text, matched=False, note="one of a range of days, so no birth"))
            else:
                found.append(day)
        return found

    def _note(self, text: str, when: When | None, place: str, tried: list[Tried]) -> bool:
        problem = no_birth_because(when, self._now, self._dates.zone)
        tried.append(Tried("date", text, not problem, f"{place}: {problem}" if problem else place))
        return not problem

    def end(self, when: When) -> datetime:
        """Give the instant from which a TTL counts: of a date, the end of its day. For comparing births."""
        if isinstance(when, datetime):
            return when
        return end_of_day(when, self._dates.zone) or datetime.max.replace(tzinfo=UTC)

    def own(
        self, text: str, fields: Mapping[str, Any] | None, head: Head, tail: Tail, known: Known, tried: list[Tried]
    ) -> Birth | None:
        """Give the birth that the observation itself has (sources `set`, `object`, `text`), or None."""
        if known.settings.created is not None:
            return Birth(known.settings.created, "set")
        if fields is not None and (when := self.of_object(fields, TIME_FIELDS, tried)) is not None:
            return Birth(when, "object")
        when = self.of_text(text, head, tail, tried)
        return Birth(when, "text") if when is not None else None

    def only_date(self, births: Iterable[Birth | None], earlier_days: frozenset[date] = frozenset()) -> When | None:
        """Give the one day on which the dated observations of an entity agree (source `inherited`), or None.

        `earlier_days` were written in it at earlier looks: what a prune removes must not change how old the rest is.
        """
        dated = _written(births)
        days = self._days(dated) | earlier_days
        if len(days) != 1:
            return None
        return max(dated, key=self.end, default=next(iter(days)))

    def days_of(self, births: Iterable[Birth | None]) -> set[date]:
        """Give the days that are written in an entity's observations: what its undated ones may inherit."""
        return self._days(_written(births))

    def _days(self, dated: Iterable[When]) -> set[date]:
        return {day_of(when, self._dates.zone) for when in dated}


def _written(births: Iterable[Birth | None]) -> list[When]:
    return [b.when for b in births if b and b.source in ("object", "text") and b.when is not None]
