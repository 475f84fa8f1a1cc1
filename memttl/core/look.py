"""One look at a memory file: which lines are as they were at the last look, and what stands in the others. Pure.

`scan` and every applied `prune` take one; `files/ledger.py` holds it against the ledger. An unchanged line is known by
its digest and never parsed: a look that finds nothing new costs little more than reading the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from memttl.core.digests import line_digest, text_key
from memttl.core.evidence import text_of
from memttl.core.foreign import Census
from memttl.core.memory import BOM, line_spans, parse_line
from memttl.core.model import Line
from memttl.core.progress import Progress, no_progress, ticks_of

_RELATION = b'{"type":"relation",'  # no entity, whatever follows: not worth a digest


DaysOf = Callable[[Mapping[str, Any]], set[date]]


Days = Mapping[str, set[date]]  # the days that are written in each entity


class KnownLines(NamedTuple):
    """What a look starts from: the line digests of the last look (digest -> number of the entity's row in the ledger).

    `others` are the rows of entities that stood on several lines, which are read anew at each look.
    """

    by_digest: dict[bytes, int]
    others: frozenset[int] = frozenset()

    @property
    def are_none(self) -> bool:
        """True where there is nothing to compare a look with."""
        return not (self.by_digest or self.others)


NO_LINES = KnownLines({})


@dataclass(slots=True)
class Met:
    """An entity whose line is new or has changed: the digests of its lines, and the keys of its texts, joined."""

    lines: bytes = b""
    keys: bytes = b""


@dataclass(slots=True)
class Look:
    """What a look met. `unchanged` are ledger rows; `changed` entities by name; `left` rows whose line is not there.

    `days_of` is asked for the days that are written in a changed entity (`[age] inherit`), which `days` gathers.
    """

    left: dict[bytes, int]
    unchanged: set[int] = field(default_factory=set)
    changed: dict[str, Met] = field(default_factory=dict)
    census: Census = field(default_factory=Census)
    malformed: list[Line] = field(default_factory=list)
    too_deep: list[int] = field(default_factory=list)
    has_bom: bool = False
    days_of: DaysOf | None = None
    days: dict[str, set[date]] = field(default_factory=dict)

    def add(self, raw: bytes, number: int) -> None:
        """Look at one line, without its LF; `number` counts from 1."""
        digest = b""
        if not raw.startswith(_RELATION):
            digest = line_digest(raw)
            row = self.left.pop(digest, None)
            if row is not None:
                self.unchanged.add(row)
                self.census.server_lines += 1
                self.census.entities += 1
                return
        line = parse_line(raw, number)
        self.census.add(line)
        if line.kind == "malformed":
            self.malformed.append(line)
        if line.too_deep:
            self.too_deep.append(number)
        if line.is_judged and line.record is not None:
            met = self.changed.setdefault(line.record["name"], Met())
            met.lines += digest or line_digest(raw)
            met.keys += b"".join(keys_of(line.record["observations"]))
            if self.days_of is not None:
                self.days.setdefault(line.record["name"], set()).update(self.days_of(line.record))


def keys_of(observations: Iterable[object]) -> list[bytes]:
    """Give the keys of the texts that are judged, in order."""
    texts = [text_of(o) for o in observations]
    return [text_key(text) for text in texts if text is not None]


def note_days(look: Look, days: Days) -> None:
    """Note days that were written in entities a moment ago, by what was removed since."""
    for entity, written in days.items():
        look.days.setdefault(entity, set()).update(written)


def begin_look(known: KnownLines, days_of: DaysOf | None = None) -> Look:
    """Begin a look at a file of which the ledger knows these lines."""
    return Look(dict(known.by_digest), days_of=days_of)


def look_at(
    data: bytes, known: KnownLines = NO_LINES, days_of: DaysOf | None = None, *, progress: Progress = no_progress
) -> Look:
    """Look at a file's bytes."""
    look = begin_look(known, days_of)
    look.has_bom = data.startswith(BOM)
    for number, start, end, _ in line_spans(data, tick=ticks_of(progress, "comparing", len(data))):
        look.add(data[start:end], number)
    return look


class Comparison(NamedTuple):
    """A look held against the last recorded one. Texts count once an entity, however often they stand there.

    `known`: there now and in the ledger; `new`: not in the ledger; `gone`: there at the last look and not now. `then`
    and `entities_then` are what the last look found, `observations` and `entities` what this one did.
    """

    new: int = 0
    gone: int = 0
    known: int = 0
    then: int = 0
    entities: int = 0
    entities_gone: int = 0
    entities_then: int = 0

    @property
    def is_first(self) -> bool:
        """True for a look before which none had been recorded, or one that had found nothing."""
        return not (self.then or self.entities_then)

    @property
    def observations(self) -> int:
        """How many different texts are there now."""
        return self.new + self.known
