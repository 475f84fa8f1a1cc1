"""How old the observations of a file are, counted by age: what `backfill` shows before and after. Pure."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from memttl.core.classify import KnownOf, judge_entity
from memttl.core.judge import Judge
from memttl.core.memory import read_lines
from memttl.core.model import When
from memttl.core.zones import in_zone

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


def ages_of(data: bytes, judge: Judge, known_of: KnownOf) -> Ages:
    """Count the judged observations of a file's bytes by the age of their birth at the judge's instant."""
    counted: Counter[str] = Counter()
    for line in read_lines(data):
        if line.is_judged:
            verdicts = judge_entity(line, judge, known_of)
            counted.update(_range_of(v.created_at, judge) for v in verdicts if v.age_source is not None)
    names = (_UNKNOWN, *(name for _, name in _RANGES), _OLDER)
    return tuple(AgeRange(name, counted[name]) for name in names)


def _range_of(born: When | None, judge: Judge) -> str:
    if born is None:
        return _UNKNOWN
    zone = judge.policy.zone
    day = in_zone(born, zone).date() if isinstance(born, datetime) else born
    days = (in_zone(judge.now, zone).date() - day).days
    return next((name for most, name in _RANGES if days <= most), _OLDER)
