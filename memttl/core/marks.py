"""Marks at the very end of an observation's text: `[expires 2026-04-01]`, `(review by …)`, ` - ttl 30d`, `[pin]`.

`evidence.py` asks for them; `birth.py` for the trailing date that may stand among them. One part of a bracket that is
no mark makes the whole bracket prose; a mark whose form is right and whose value cannot be read keeps its observation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from memttl.core.dates import EARLIEST_BIRTH, DateReader, FoundDate, day_of
from memttl.core.durations import BadDuration, Duration, parse_duration
from memttl.core.model import When
from memttl.core.normal import normalise

MarkKind = Literal["expires", "review by", "ttl", "tier", "created", "pin"]


class Mark(NamedTuple):
    """One mark: its kind, its text, and its value. `problem` says why a value cannot be read."""

    kind: MarkKind
    text: str
    date: When | Literal["never"] | None = None
    ttl: Duration | None = None
    tier: str | None = None
    problem: str = ""
    has_digit: bool = False  # its value begins with one


class Tail(NamedTuple):
    """The marks at the end of a text, in their order, and the trailing dates in brackets among them.

    `near` is a last bracket that begins with a mark's word and is prose all the same: `(review by Anna)`.
    """

    marks: tuple[Mark, ...]
    dates: tuple[FoundDate, ...]
    ranges: tuple[FoundDate, ...] = ()
    near: str = ""


EMPTY_TAIL = Tail((), ())
_KINDS: tuple[tuple[str, MarkKind], ...] = (
    (r"expires|valid\s+until", "expires"),
    (r"review[\s-]by|next\s+review", "review by"),
    (r"ttl", "ttl"),
    (r"tier|decay", "tier"),
    (r"created|learned|noted", "created"),
)
_MARK = re.compile(
    r"(?:(?P<pin>pinned|pin|keep)|(?P<word>"
    + "|".join(f"(?P<k{i}>{words})" for i, (words, _) in enumerate(_KINDS))
    + r")(?:\s*(?P<colon>[:：])\s*|\s+)(?P<value>\S.*))",
    re.DOTALL,
)
_WORD = re.compile(rf"(?:pinned|pin|keep|{'|'.join(words for words, _ in _KINDS)})\b")
_SEPARATOR = re.compile(r"[;,]")
# everything up to the last semicolon or spaced dash
_LAST_SEGMENT = re.compile(r".*(?:;|\s[-–—](?=\s))", re.DOTALL)
_OPENING = {")": "(", "]": "["}
_NEVER_ALLOWED = {"expires", "review by"}


class TailReader:
    """Reads the marks at the end of a normalised text, given one policy's tiers and date formats."""

    def __init__(self, tiers: Iterable[str], dates: DateReader) -> None:
        self._tiers = {normalise(name): name for name in tiers}
        self._dates = dates

    def read(self, text: str) -> Tail:
        """Read the tail of `text` (normalised), from the end, as long as marks and bracketed dates follow."""
        end = len(text.rstrip().removesuffix(".").rstrip())
        marks: list[Mark] = []
        dates: list[FoundDate] = []
        ranges: list[FoundDate] = []
        while end:
            found = self._bracket(text, end) if text[end - 1] in _OPENING else self._segment(text, end)
            if found is None:
                break
            start, item = found
            if isinstance(item, FoundDate):
                (ranges if self._is_one_of_many(text, item) else dates).append(item)
            else:
                marks += reversed(item)
            end = _before_separators(text, start)
        near = self._near(text, end) if end and text[end - 1] in _OPENING else ""
        if not (marks or dates or ranges or near):
            return EMPTY_TAIL
        return Tail(tuple(reversed(marks)), tuple(dates), tuple(ranges), near)

    def tier_named(self, name: str) -> str | None:
        """Give the policy's own spelling of a tier's name, compared after normalising; None for an unknown one."""
        return self._tiers.get(normalise(name))

    def _is_one_of_many(self, text: str, found: FoundDate) -> bool:
        return self._dates.is_range(text, found) or self._dates.is_end_of_range(text, found)

    def _bracket(self, text: str, end: int) -> tuple[int, FoundDate | list[Mark]] | None:
        """The bracket that closes at `end`: its start, and the date or the marks in it."""
        start = text.rfind(_OPENING[text[end - 1]], 0, end - 1)
        if start < 0:
            return None
        inner = text[start + 1 : end - 1].strip()
        if start and text[start - 1].isspace() and (found := self._dates.whole(inner)):
            return start, FoundDate(start, end, found.when, found.text)
        marks = self._list(inner)
        return (start, marks) if marks else None

    def _near(self, text: str, end: int) -> str:
        """The bracket that closes at `end` and is no mark, if a person may have meant one."""
        start = text.rfind(_OPENING[text[end - 1]], 0, end - 1)
        return text[start:end] if start >= 0 and _WORD.match(text, start + 1) else ""

    def _segment(self, text: str, end: int) -> tuple[int, list[Mark]] | None:
        """What stands behind the last spaced dash or semicolon."""
        found = _LAST_SEGMENT.match(text, 0, end)
        marks = self._list(text[found.end() : end].strip()) if found else None
        return (found.end() - 1, marks) if found and marks else None

    def _list(self, text: str) -> list[Mark] | None:
        """Read marks separated by semicolons or commas; None when one part is no mark, which makes all of it prose.

        But where a mark's value begins with a digit, or cannot be read behind its colon, the rest may be part of that
        value (`expires: December 31, 2026`): then the mark is there and cannot be read, which keeps.
        """
        if not _MARK.match(text):
            return None
        pieces = [0, *(m.end() for m in _SEPARATOR.finditer(text)), len(text) + 1]
        marks: list[Mark] = []
        i = 0
        while i < len(pieces) - 1:
            # the longest that can be read first: a comma inside a date of the policy's formats does not separate
            ends = range(min(i + 3, len(pieces) - 1), i, -1)
            read = [(j, self._mark(text[pieces[i] : pieces[j] - 1].strip())) for j in ends]
            good = [(j, mark) for j, mark in read if mark and not mark.problem]
            j, mark = good[0] if good else read[-1]
            if mark is not None:
                marks.append(mark)
            elif text[pieces[i] : pieces[j] - 1].strip():
                return self._beside_prose(text, marks)
            i = j
        return marks

    def _beside_prose(self, text: str, marks: list[Mark]) -> list[Mark] | None:
        damaged = next((m for m in marks if m.problem or m.has_digit), None)
        return [Mark(damaged.kind, text, problem="beside it stands what is no mark")] if damaged else None

    def _mark(self, text: str) -> Mark | None:
        """Read one mark. None for prose; a mark with a `problem` where the form is right and the value is not."""
        found = _MARK.fullmatch(text)
        if found is None:
            return None
        if found["pin"]:
            return Mark("pin", text)
        kind = next(kind for i, (_, kind) in enumerate(_KINDS) if found[f"k{i}"])
        value = found["value"].strip()
        has_digit = value[0] in "0123456789"
        mark = self._read_value(kind, text, value)._replace(has_digit=has_digit)
        form_is_right = found["colon"] is not None or has_digit
        if mark.problem or kind == "tier":
            return mark if form_is_right else None
        return mark

    def _read_value(self, kind: MarkKind, text: str, value: str) -> Mark:
        if kind == "ttl":
            try:
                return Mark(kind, text, ttl=parse_duration(value))
            except BadDuration as e:
                return Mark(kind, text, problem=str(e))
        if kind == "tier":
            tier = self.tier_named(value)
            return Mark(kind, text, tier=tier, problem="" if tier else f"the policy has no tier {value}")
        if value == "never" and kind in _NEVER_ALLOWED:
            return Mark(kind, text, date="never")
        found = self._dates.whole(value)
        if found is None or found.when is None:
            return Mark(kind, text, problem="the date cannot be read" if found is None else "there is no such date")
        if kind != "created" and day_of(found.when, self._dates.zone) < EARLIEST_BIRTH:
            return Mark(kind, text, problem="a date before 2000 is a zero value")
        return Mark(kind, text, date=found.when)


def _before_separators(text: str, end: int) -> int:
    """Step back over what may stand between two marks; no slices, so that a thousand marks cost one pass."""
    while end and (text[end - 1] in ";," or text[end - 1].isspace()):
        end -= 1
    return end
