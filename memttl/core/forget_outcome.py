"""What a forget came to, as a value: the workflow makes it, `report/forget.py` renders it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.forget_rest import DAMAGED, Kinds
from memttl.core.wording import plural


class PlaceCount(NamedTuple):
    """One file, and how much goes from it, or how often it is still in it; `kinds` say of what how many."""

    place: str
    number: int
    kinds: Kinds

    @property
    def words(self) -> str:
        """Of what how many: `1 entity, 2 relations`."""
        return _words(self.kinds)

    @property
    def without_damaged(self) -> str:
        """The same without damaged lines; "" where there is nothing else."""
        return _words(tuple(kind for kind in self.kinds if kind[1] != DAMAGED))


def _words(kinds: Kinds) -> str:
    return ", ".join(plural(count, noun) for count, noun in kinds)


class ForgetOutcome(NamedTuple):
    """What was forgotten, or would be. `file` is the path as named; `run` its name in the audit log, None unless done.

    `entities` go whole; `observations` are (entity, text) of all that goes. `applied`: the memory file was written.
    `declined`: one of its questions was answered no. `remaining` are the files that still hold it.
    """

    file: str
    now: datetime
    entities: tuple[str, ...] = ()
    observations: tuple[tuple[str, str], ...] = ()
    places: tuple[PlaceCount, ...] = ()
    remaining: tuple[PlaceCount, ...] = ()
    dry_run: bool = False
    applied: bool = False
    run: str | None = None
    declined: bool = False
    warnings: tuple[str, ...] = ()
