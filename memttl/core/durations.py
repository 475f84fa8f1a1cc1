"""Durations: "90d", "6mo", "P90D", "2 weeks", 45, "never" into a calendar duration and back into words.

Read by the policy (tiers, grace, ages of backups), by `ttl` marks and by `ttl` fields; `expires_after` turns a birth
and a TTL into the instant of expiry.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple, TypeVar

D = TypeVar("D", date, datetime)


class Duration(NamedTuple):
    """A calendar duration: `months` move the wall time, `days` and `hours` are elapsed time; or never."""

    months: int = 0
    days: int = 0
    hours: int = 0
    is_never: bool = False

    @property
    def is_zero(self) -> bool:
        """True for a duration of nothing (allowed for grace only)."""
        return not (self.months or self.days or self.hours or self.is_never)

    def approximate_hours(self) -> float:
        """Its rough length in hours, to say which of two is longer (a month counts as 30.44 days)."""
        return float("inf") if self.is_never else self.months * 30.44 * 24 + self.days * 24 + self.hours

    def __str__(self) -> str:
        if self.is_never:
            return "never"
        years, months = divmod(self.months, 12)
        parts = [(years, "year"), (months, "month"), (self.days, "day"), (self.hours, "hour")]
        words = [f"{n} {unit}{'s' if n != 1 else ''}" for n, unit in parts if n]
        return " ".join(words) or "0 days"

    @property
    def short(self) -> str:
        """The same as one writes it in a policy: `1y6mo`, `30d`, `never`."""
        if self.is_never:
            return "never"
        years, months = divmod(self.months, 12)
        parts = [(years, "y"), (months, "mo"), (self.days, "d"), (self.hours, "h")]
        return "".join(f"{n}{unit}" for n, unit in parts if n) or "0d"


NEVER = Duration(is_never=True)


class BadDuration(ValueError):
    """A duration that cannot be read; its text says why, for a sentence that begins with the value."""


# unit words -> (months, days, hours) of one of it
_UNITS = {
    "year": (12, 0, 0),
    "month": (1, 0, 0),
    "week": (0, 7, 0),
    "day": (0, 1, 0),
    "hour": (0, 0, 1),
}
_SHORT = {"y": "year", "yr": "year", "mo": "month", "mon": "month", "w": "week", "wk": "week", "d": "day", "h": "hour"}
_SHORT["hr"] = "hour"
_ALLOWED = "use 30d, 12h, 2w, 6mo, 1y, 1y6mo, P90D, words (90 days), an integer (days), or never"
# 9 digits: a longer number is a slip of the keyboard, and int() on thousands of digits is slow
_PIECE = re.compile(r"([0-9]{1,9})\s*([a-z]+)(?:\s*(?:,|and\b)?\s*)")
_ISO = re.compile(r"p(?:([0-9]{1,9})y)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})w)?(?:([0-9]{1,9})d)?(?:t([0-9]{1,9})h)?")


def parse_duration(value: object, *, zero_allowed: bool = False) -> Duration:
    """Read a duration. An integer, also as text, counts days.

    Raises:
        BadDuration: what is wrong with it, and what is allowed.
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if text == "never":
            return NEVER
        found = _parse_text(text)
    elif isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 10**9:  # as in text; and no float holds a number of 400 digits
            raise BadDuration(f"so many days cannot be meant; {_ALLOWED}")
        found = Duration(days=value)
    else:
        raise BadDuration(_ALLOWED)
    if found.months < 0 or found.days < 0 or found.hours < 0:
        raise BadDuration(f"a duration must not be negative; {_ALLOWED}")
    if max(found.months // 12, found.days, found.hours) >= 10**9:  # it could not be read again as it is written
        raise BadDuration(f"so much time cannot be meant; {_ALLOWED}")
    if found.is_zero and not zero_allowed:
        raise BadDuration(f"a duration must be longer than nothing; {_ALLOWED}")
    return found


def _parse_text(text: str) -> Duration:
    if re.fullmatch(r"-?[0-9]{1,9}", text):
        return Duration(days=int(text))
    if text.startswith("-"):
        raise BadDuration(f"a duration must not be negative; {_ALLOWED}")
    iso = _ISO.fullmatch(text)
    if iso and any(iso.groups()):
        years, months, weeks, days, hours = (int(g or 0) for g in iso.groups())
        return Duration(months=12 * years + months, days=7 * weeks + days, hours=hours)
    return _parse_pieces(text)


def _parse_pieces(text: str) -> Duration:
    position, months, days, hours, seen = 0, 0, 0, 0, set[str]()
    while position < len(text) and (piece := _PIECE.match(text, position)):
        position = piece.end()
        unit = _unit_of(piece[2])
        if unit in seen:
            raise BadDuration(f"it names {unit}s twice; {_ALLOWED}")
        seen.add(unit)
        m, d, h = _UNITS[unit]
        n = int(piece[1])
        months, days, hours = months + n * m, days + n * d, hours + n * h
    if not seen or position < len(text):
        raise BadDuration(_ALLOWED)
    return Duration(months=months, days=days, hours=hours)


def _unit_of(word: str) -> str:
    unit = _SHORT.get(word) or word.removesuffix("s")
    if unit in _UNITS:
        return unit
    if word == "m":
        raise BadDuration("does m mean minutes or months? Write mo for months; minutes are too short to be a TTL")
    if word in {"min", "mins", "minute", "minutes", "s", "sec", "secs", "second", "seconds"}:
        raise BadDuration(f"an hour is the shortest unit; {_ALLOWED}")
    raise BadDuration(f'"{word}" is no unit; {_ALLOWED}')


def expires_after(birth: date | datetime, ttl: Duration, zone: tzinfo) -> datetime | None:
    """Give the instant (UTC) at which something born at `birth` has outlived `ttl`; None for never.

    A birth that is a date keeps for n whole days after that day, and hours count from the end of the day. A birth
    with a time expires exactly `ttl` later; months are added to the wall time of `zone` (SPEC section 4, "Days").
    What lies past the calendar's end, the year 9999, is never.
    """
    if ttl.is_never:
        return None
    try:
        if isinstance(birth, datetime):
            wall = _add_months(birth.astimezone(zone), ttl.months) if ttl.months else birth
            return wall.astimezone(UTC) + timedelta(days=ttl.days, hours=ttl.hours)
        last_day = _add_months(birth, ttl.months) if ttl.months else birth
        end = end_of_day(last_day + timedelta(days=ttl.days), zone)
        return end and end + timedelta(hours=ttl.hours)
    except (OverflowError, ValueError):  # past the year 9999: as good as never
        return None


def before(moment: datetime, duration: Duration, zone: tzinfo) -> datetime | None:
    """Give the instant (UTC) that lies `duration` before another; None before the calendar's begin, and for never."""
    if duration.is_never:
        return None
    try:
        wall = _add_months(moment.astimezone(zone), -duration.months) if duration.months else moment
        return wall.astimezone(UTC) - timedelta(days=duration.days, hours=duration.hours)
    except (OverflowError, ValueError):
        return None


def end_of_day(day: date, zone: tzinfo) -> datetime | None:
    """Give the midnight (UTC) that ends `day` in `zone`; None past the calendar's end."""
    try:
        midnight = datetime.combine(day + timedelta(days=1), time(), zone)
        return midnight.astimezone(UTC)
    except OverflowError:
        return None


def _add_months(start: D, months: int) -> D:
    # imported here: most TTLs are days, and start-up is what people feel
    from dateutil.relativedelta import relativedelta

    return start + relativedelta(months=months)
