"""The head of an observation: bullets, a leading date, the policy's prefix, and a date behind it.

`evidence.py` asks for the prefix (rules match on it) and `birth.py` for the dates. What counts as a prefix is strict:
in 79 real files every looser reading removed things that people would keep (SPEC section 4, "Prefix").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from memttl.core.dates import DateReader, FoundDate
from memttl.core.normal import normalise


class Head(NamedTuple):
    """What stands at the start of a text: leading `dates`, and dates of `ranges`, which are no births.

    `prefixes` holds every prefix of the policy that counts there: two only where one goes on with a dash or colon
    ("todo" and "todo - urgent"); which of them names the tier is up to the order of the rules.
    """

    prefixes: frozenset[str]
    dates: tuple[FoundDate, ...]
    ranges: tuple[FoundDate, ...]


EMPTY_HEAD = Head(frozenset(), (), ())
_SPACE = re.compile(r"\s*")
_ASCII_SPACE = " \t\n\r\v\f\x1c\x1d\x1e\x1f"  # all that \s matches below U+0080
_BULLETS = re.compile(r"\s*(?:(?:[-*+•]|[0-9]{1,3}[.)])\s+(?:\[[ x]\]\s+)?)*")
_BEHIND_DATE = re.compile(r"\s*(?:[:：,]|[-–—](?=\s))?\s*")
# a colon, but not of std::string or of session://path
_COLON = r"\s*[:：](?![:：]|//)"
_DASH = r"\s+[-–—](?=\s)"
_END_OF_PREFIX = re.compile(rf"{_COLON}|{_DASH}|\s*$")
_BEFORE_DATE_IN_BRACKETS = re.compile(r"\s*(?:[:：,]\s*)?")
_CLOSING = {"[": "]", "(": ")"}


class HeadReader:
    """Reads the head of a normalised text, given one policy's prefixes and date formats."""

    def __init__(self, prefixes: Iterable[str], dates: DateReader) -> None:
        self._prefixes = tuple(sorted({normalise(p) for p in prefixes}))
        self._dates = dates
        self._quick = (*self._prefixes, *"0123456789[(-*+", *_ASCII_SPACE)

    def read(self, text: str) -> Head:
        """Read the head of `text` (normalised)."""
        if text[:1].isascii() and not self._dates.formats and not text.startswith(self._quick):
            return EMPTY_HEAD
        dates: list[FoundDate] = []
        ranges: list[FoundDate] = []
        at = self._skip_date(text, _end(_SPACE, text, 0), dates, ranges)
        if not dates and not ranges:
            at = self._skip_date(text, _end(_BULLETS, text, 0), dates, ranges)
        found = [] if ranges else self._prefixes_at(text, at)
        for _, end, inside in found:
            if inside:
                self._note(text, inside, dates, ranges)
            else:
                self._skip_date(text, end, dates, ranges)
        if not (found or dates or ranges):
            return EMPTY_HEAD
        return Head(frozenset(prefix for prefix, _, _ in found), tuple(dates), tuple(ranges))

    def _skip_date(self, text: str, at: int, dates: list[FoundDate], ranges: list[FoundDate]) -> int:
        """Note the leading date at `at`, if there is one; give where the text goes on."""
        found = self._dates.bracketed_at(text, at) or self._dates.bare_at(text, at)
        if found is None:
            return at
        self._note(text, found, dates, ranges)
        return _end(_BEHIND_DATE, text, found.end)

    def _note(self, text: str, found: FoundDate, dates: list[FoundDate], ranges: list[FoundDate]) -> None:
        (ranges if self._dates.is_range(text, found) else dates).append(found)

    def _prefixes_at(self, text: str, at: int) -> list[tuple[str, int, FoundDate | None]]:
        """Give (prefix, where the text goes on, the date that is part of it) of each prefix that counts at `at`."""
        closing = _CLOSING.get(text[at : at + 1])
        start = _end(_SPACE, text, at + 1) if closing else at
        found = []
        for prefix in self._prefixes:
            if not text.startswith(prefix, start):
                continue
            end = start + len(prefix)
            rest = self._close(text, end, closing) if closing else self._bare(text, end)
            if rest:
                found.append((prefix, *rest))
        return found

    def _close(self, text: str, end: int, closing: str) -> tuple[int, FoundDate | None] | None:
        """The rest of `[session]` or `[session 2026-01-05]`; not of a link, `[session](url)`."""
        inside = None
        after = _end(_SPACE, text, end)
        if text[after : after + 1] != closing:
            inside = self._dates.at(text, _end(_BEFORE_DATE_IN_BRACKETS, text, end))
            after = _end(_SPACE, text, inside.end) if inside and inside.start > end else -1
        if after < 0 or text[after : after + 1] != closing or text[after : after + 2] == "](":
            return None
        return _end(_SPACE, text, after + 1), inside

    def _bare(self, text: str, end: int) -> tuple[int, FoundDate | None] | None:
        """The rest of `session:`, `session - `, `session` alone, or `session 2026-01-05:`."""
        sign = _END_OF_PREFIX.match(text, end)
        if sign:
            return _end(_SPACE, text, sign.end()), None
        after = _end(_SPACE, text, end)
        if after == end:
            return None
        inside = self._dates.bracketed_at(text, after) or self._dates.at(text, after)
        if inside and (sign := _END_OF_PREFIX.match(text, inside.end)):
            return _end(_SPACE, text, sign.end()), inside
        return None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None  # all of these match the empty string
    return found.end()
