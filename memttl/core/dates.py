"""Dates in text, at strict places only: ISO 8601, and the formats that the policy adds. No fuzzy parsing.

`DateReader` reads one date at one position of a normalised text; `head.py`, `marks.py` and `birth.py` say where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import NamedTuple, Protocol

from memttl.core.model import When
from memttl.core.normal import normalise
from memttl.core.zones import in_zone

EARLIEST_BIRTH = date(2000, 1, 1)  # before it stands a zero value (1970-01-01, 0001-01-01), not a day


class FoundDate(NamedTuple):
    """A date in a text: its (start, end), and what it means; `when` is None for an impossible one (2026-02-30)."""

    start: int
    end: int
    when: When | None
    text: str


# offsets reach from -12:00 to +14:00; a wider one is the end of a time range (14:30-15:30)
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?:z|[+-](?:0[0-9]|1[0-4]):?[0-9]{2})?)?(?![0-9])"
)
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_BETWEEN = r"\b(?:to|and|or|until|till|through)\b|-{1,3}|[–—/,&→]"
# behind a date, these and another date make a range or a list of days, and neither is a birth
_RANGE = re.compile(rf"\s*(?:,\s*(?:and|or)\b|{_BETWEEN})\s*[\[(]?(?:to\b\s*)?")
_RANGE_BEFORE = re.compile(rf"(?:{_BETWEEN})\s*$")
_MIDNIGHT_24 = re.compile(r"[t ]24", re.IGNORECASE)
_END_OF_BARE = re.compile(r"\s|[:：,]|$")
# behind a bracketed date: a link, [2026-01-05](url), or a path that goes on
_LINK_OR_PATH = re.compile(r"[(/\\]|[-._]\w")


class DateFormat(Protocol):
    """What a date format of the policy can do (`formats.py` compiles them)."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches a text in this format, in normalised text."""

    def read(self, text: str) -> date | datetime | None:
        """Read a text that the pattern matched; None for an impossible date."""


class DateReader:
    """Reads one date at one position of a normalised text, in the formats of one policy and in its time zone."""

    def __init__(self, formats: Sequence[DateFormat], zone: tzinfo) -> None:
        self.formats = formats
        self.zone = zone

    def at(self, text: str, position: int) -> FoundDate | None:
        """Read the date that begins at `position`; None where none of the formats fits."""
        found = _ISO.match(text, position)
        if found:
            return FoundDate(position, found.end(), self._iso(found[0]), found[0])
        return self._in_formats(text, position) if self.formats else None

    def bare_at(self, text: str, position: int) -> FoundDate | None:
        """Read a date that ends at white space, a colon, a comma or the end: prose, paths and versions do not."""
        found = self.at(text, position)
        if found and not _END_OF_BARE.match(text, found.end):
            day = _ISO_DAY.match(text, position)  # "2026-01-05 14:30x": the date ends at white space
            found = FoundDate(position, day.end(), self._iso(day[0]), day[0]) if day else None
            if found and not _END_OF_BARE.match(text, found.end):
                return None
        return found

    def bracketed_at(self, text: str, position: int) -> FoundDate | None:
        """Read `[2026-01-05]` or `(2026-01-05)`, not of a link or path; the span includes the brackets."""
        closing = {"[": "]", "(": ")"}.get(text[position : position + 1])
        found = self.at(text, position + 1) if closing else None
        if found and text[found.end : found.end + 1] == closing and not _LINK_OR_PATH.match(text, found.end + 1):
            return FoundDate(position, found.end + 1, found.when, found.text)
        return None

    def whole(self, text: str) -> FoundDate | None:
        """Read a text that is nothing but a date."""
        found = self.at(text, 0)
        if found is None or found.end != len(text):
            found = self._in_formats(text, 0)
        return found if found and found.end == len(text) else None

    def field(self, text: str) -> When | None:
        """Read a field that holds nothing but a time, in any form of ISO 8601 that Python knows (20260601T100000Z)."""
        found = self.whole(normalise(text.strip()))
        if found:
            return found.when
        try:
            return date.fromisoformat(text.strip())
        except ValueError:
            return self._moment(text.strip())

    def is_range(self, text: str, found: FoundDate) -> bool:
        """Say whether another date follows behind to, -, –, /, a comma or "and": a range, or a list of days."""
        between = _RANGE.match(text, found.end)
        return between is not None and self.at(text, between.end()) is not None

    def is_end_of_range(self, text: str, found: FoundDate) -> bool:
        """Say whether another date and such a word stand right before this one."""
        between = _RANGE_BEFORE.search(text[max(0, found.start - 40) : found.start].rstrip("[( \t"))
        if between is None:
            return False
        before = text[max(0, found.start - 40) : found.start].rstrip("[( \t")[: between.start()].rstrip(" \t)]")
        return any((d := self.at(before, i)) and d.end == len(before) for i in range(len(before)))

    def _iso(self, text: str) -> When | None:
        try:
            return date.fromisoformat(text) if len(text) == 10 else self._moment(text)
        except ValueError:
            return None

    def _moment(self, text: str) -> datetime | None:
        if _MIDNIGHT_24.search(text):  # Python reads it from 3.14 on: one plan on every machine
            return None
        try:
            return self.placed(datetime.fromisoformat(text.upper().replace(",", ".")))
        except ValueError:
            return None

    def _in_formats(self, text: str, position: int) -> FoundDate | None:
        for form in self.formats:
            found = form.pattern.match(text, position)
            if found:
                when = form.read(found[0])
                return FoundDate(
                    position, found.end(), self.placed(when) if isinstance(when, datetime) else when, found[0]
                )
        return None

    def placed(self, moment: datetime) -> datetime | None:
        """Give the instant in UTC; a moment without an offset is in the policy's time zone."""
        try:
            return (moment if moment.tzinfo else moment.replace(tzinfo=self.zone)).astimezone(UTC)
        except (OverflowError, ValueError):
            return None


def day_of(when: When, zone: tzinfo) -> date:
    """Give the calendar day of a date or, in `zone`, of an instant."""
    return in_zone(when, zone).date() if isinstance(when, datetime) else when


def no_birth_because(when: When | None, now: datetime, zone: tzinfo) -> str:
    """Say why a date is no birth (impossible, a zero value, after now); empty when it may be one."""
    if when is None:
        return "there is no such date"
    day = day_of(when, zone)
    if day < EARLIEST_BIRTH:
        return "before 2000: a zero value, not a day"
    if when > now if isinstance(when, datetime) else day > day_of(now, zone):
        return "after now: a plan, not a birth"
    return ""


def read_instant(text: str, dates: DateReader) -> datetime | None:
    """Read a day, as its 00:00, or an instant that the user gave; None where it cannot be read."""
    when = dates.field(text)
    if when is None or isinstance(when, datetime):
        return when
    try:
        return datetime.combine(when, time(), dates.zone).astimezone(UTC)
    except OverflowError:  # the first or last day of all time, seen from another zone
        return None
