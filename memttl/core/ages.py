"""How old the observations of a file are, counted by age: for `backfill` (before and after) and `report`. Pure."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, tzinfo
from typing import NamedTuple

from memttl.core.classify import KnownOf, judge_entity
from memttl.core.dates import day_of
from memttl.core.judge import Judge
from memttl.core.memory import read_lines
from memttl.core.model import When
from memttl.core.progress import Progress, no_progress, ticks_of

# up to how many whole days, and what it is called
_RANGES = (
    (6, "0 to 6 days"),
    (29, "7 to 29 days"),
    (89, "30 to 89 days"),
    (179, "90 to 179 days"),
    (364, "180 to 364 days"),
)
_OLDER = "365 days and more"
_UNKNOWN = "unknown"


class AgeRange(NamedTuple):
    """One row of the histogram: what it is called, and how many observations are of that age."""

    age: str
    observations: int


Ages = tuple[AgeRange, ...]


class AgeTally:
    """Counts births by age at one instant, as days of one time zone."""

    def __init__(self, now: datetime, zone: tzinfo) -> None:
        self._today, self._zone = day_of(now, zone), zone
        self._births: Counter[When | None] = Counter()  # most were first seen at the same few instants

    def add(self, born: When | None) -> None:
        """Count one judged observation."""
        self._births[born] += 1

    def ages(self) -> Ages:
        """Give the histogram."""
        counted: Counter[str] = Counter()
        for born, count in self._births.items():
            counted[self._range_of(born)] += count
        names = (_UNKNOWN, *(name for _, name in _RANGES), _OLDER)
        return tuple(AgeRange(name, counted[name]) for name in names)

    def _range_of(self, born: When | None) -> str:
        if born is None:
            return _UNKNOWN
        days = (self._today - day_of(born, self._zone)).days
        return next((name for most, name in _RANGES if days <= most), _OLDER)


def ages_of(data: bytes, judge: Judge, known_of: KnownOf, *, progress: Progress = no_progress) -> Ages:
    """Count the judged observations of a file's bytes by the age of their birth at the judge's instant."""
    tally = AgeTally(judge.now, judge.policy.zone)
    for line in read_lines(data, tick=ticks_of(progress, "telling ages", len(data))):
        if line.is_judged:
            for verdict in judge_entity(line, judge, known_of):
                if verdict.age_source is not None:
                    tally.add(verdict.created_at)
    return tally.ages()
