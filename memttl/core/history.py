"""Births from old versions of the memory file: which of today's observations each version was the first to hold.

`memttl backfill` lets it meet the versions that `files/githistory.py` and `files/old_copy.py` read. Nothing here knows
where they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from memttl.core.clock import EARLIEST
from memttl.core.digests import text_key
from memttl.core.evidence import text_of
from memttl.core.memory import BOM, parse_line, read_lines
from memttl.core.model import LineKind
from memttl.core.progress import Progress, no_progress, ticks_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)

Wanted = Mapping[str, Mapping[str, bytes]]  # entity -> text -> its key in the ledger
Observation = tuple[str, bytes]  # entity and key, as the ledger knows it


class Version(NamedTuple):
    """The memory file at one instant. `label` tells people where it is from: a commit's short hash, a file's path.

    `before` holds the bytes of the versions right before it (of each parent); nothing for a root or an old copy.
    """

    when: datetime
    label: str
    data: bytes
    before: tuple[bytes, ...] = ()


class FoundBirth(NamedTuple):
    """The date of the version that first held an observation, and that version's label."""

    when: datetime
    label: str


class NotTaken(NamedTuple):
    """A version whose date cannot be a birth, how many of today's observations it would have dated, and why not."""

    label: str
    when: datetime
    observations: int
    why: str


class _Read(NamedTuple):
    kind: LineKind
    held: frozenset[Observation]


def wanted_of(data: bytes, *, progress: Progress = no_progress) -> dict[str, dict[str, bytes]]:
    """Give the judged observations of today's file: entity -> text -> key. Entities of one name are united."""
    wanted: dict[str, dict[str, bytes]] = {}
    for line in read_lines(data, tick=ticks_of(progress, "reading", len(data))):
        if line.is_judged and line.record is not None:
            texts = wanted.setdefault(line.record["name"], {})
            found = map(text_of, line.record["observations"])
            texts.update((text, text_key(text)) for text in found if text is not None)
    return wanted


def instant_of(seconds: int, *, microseconds: int = 0) -> datetime:
    """Give the instant of unix time; the first or last one that there is where it lies outside of all calendars."""
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=microseconds)
    except OverflowError:  # a commit may bear any number; neither end is ever taken as a birth
        return _LAST if seconds > 0 else _FIRST


class BirthFinder:
    """Meets versions, parents before children, and keeps the earliest date of one that introduced an observation.

    A version introduces what it holds and none of those before it holds. `births` holds what was found; `not_taken`
    the versions dated before November 2024 or after `now`: what they introduce waits for the next version that holds it
    and is dated well; `unreadable` the labels of those without one good line.
    """

    def __init__(self, wanted: Wanted, now: datetime) -> None:
        self.births: dict[Observation, FoundBirth] = {}
        self.not_taken: list[NotTaken] = []
        self.unreadable: list[str] = []
        self._now = now
        self._waiting: set[Observation] = set()
        self._wanted = {name: {text: (name, key) for text, key in texts.items()} for name, texts in wanted.items()}
        # the lines of the version met last: the next one shares nearly all of them, and only the others are parsed
        self._lines: dict[bytes, _Read] = {}

    def meet(self, version: Version) -> None:
        """Take one version into account."""
        lines = _lines_of(version.data)
        before = set[bytes]().union(*map(_lines_of, version.before))
        self._lines = {raw: self._lines.get(raw) or self._read(raw) for raw in lines | before}
        if {self._lines[raw].kind for raw in lines} in ({"malformed"}, {"malformed", "blank"}):
            self.unreadable.append(version.label)
        introduced = self._held(lines - before)
        if introduced:  # most versions change a line or two, and many of them none that matters
            introduced -= self._held(before)
        why = self._objection(version.when)
        if why and introduced:
            self.not_taken.append(NotTaken(version.label, version.when, len(introduced), why))
            self._waiting |= introduced
        elif not why:
            held_since = self._waiting & self._held(lines) if self._waiting else set[Observation]()
            self._waiting -= held_since
            self._date(introduced | held_since, version)

    def _read(self, raw: bytes) -> _Read:
        line = parse_line(raw, 1)
        texts = self._wanted.get(line.record["name"]) if line.is_judged and line.record is not None else None
        if not texts or line.record is None:
            return _Read(line.kind, frozenset())
        found = map(text_of, line.record["observations"])
        return _Read(line.kind, frozenset(texts[text] for text in found if text in texts))

    def _held(self, lines: Iterable[bytes]) -> set[Observation]:
        return set[Observation]().union(*(self._lines[raw].held for raw in lines))

    def _date(self, observations: set[Observation], version: Version) -> None:
        birth = FoundBirth(version.when, version.label)
        for observation in observations:
            known = self.births.get(observation)
            if known is None or birth.when < known.when:
                self.births[observation] = birth

    def _objection(self, when: datetime) -> str:
        if when < EARLIEST:
            return "before November 2024, when there was no memory server"
        return "after now" if when > self._now else ""


def _lines_of(data: bytes) -> set[bytes]:
    return set(data.removeprefix(BOM).split(b"\n"))  # LF only, as in `line_spans`
