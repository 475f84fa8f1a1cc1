"""The entities of a memory file whose observations are judged, and what a person should know of its other lines.

`explain`, and what changes or lists settings, read the bytes with it; a prune counts besides and reads in `plan.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from memttl.core.foreign import Census
from memttl.core.memory import read_lines
from memttl.core.model import Line
from memttl.core.oddities import Oddities
from memttl.core.plan import refuse_foreign, refuse_unsound
from memttl.core.progress import Progress, no_progress, ticks_of


class Entities(NamedTuple):
    """The lines of the entities that are judged, in order; duplicates of a name included."""

    lines: tuple[Line, ...]
    odd: Oddities

    @property
    def names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(map(name_of, self.lines))


def read_entities(data: bytes, *, sound: bool, progress: Progress = no_progress) -> Entities:
    """Read the entities of a memory file. `sound`: a damaged line is refused, not passed over.

    Raises:
        Foreign: it is no file of the memory server.
        Malformed: a line is damaged (with `sound`).
    """
    odd, census, lines = Oddities(), Census(), []
    for line in read_lines(data, tick=ticks_of(progress, "reading", len(data))):
        census.add(line)
        odd.add(line)
        if line.is_judged:
            lines.append(line)
    if sound:
        refuse_unsound(data, census, odd.malformed)
    else:
        refuse_foreign(data, census, malformed=bool(odd.malformed))
    return Entities(tuple(lines), odd)


def name_of(line: Line) -> str:
    """Give the name of an entity that is judged."""
    assert line.record is not None
    return str(line.record["name"])
