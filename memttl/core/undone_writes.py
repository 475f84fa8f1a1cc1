"""Which of a process's last writes another program has undone, by saving a version that it had read before. Pure.

`files/vigil.py` keeps the writes and asks. The memory server reads, changes and saves the whole file: what it saves
late lacks all that came between. Somebody who takes out one thing leaves what was written later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memttl.core.graph import Graph, Row

Things = frozenset[tuple[str, ...]]  # an entity, a text of one, or a relation


class Write(NamedTuple):
    """One write: the bytes before and after, what came in by it, and what went out."""

    before: bytes
    after: bytes
    gained: Things
    lost: Things


def write_of(before: Graph, after: Graph) -> Write:
    """Give what a write has done."""
    one, other = before.rows, after.rows
    start, least = 0, min(len(one), len(other))
    while start < least and one[start] is other[start]:  # as nearly all are: a write changes few lines
        start += 1
    end = 0
    while end < least - start and one[-1 - end] is other[-1 - end]:
        end += 1
    went, came = things_in(one[start : len(one) - end]), things_in(other[start : len(other) - end])
    return Write(before.data, after.data, came - went, went - came)


def things_in(rows: Iterable[Row]) -> Things:
    """Give what stands in these rows."""
    found = set[tuple[str, ...]]()
    for row in rows:
        if row.entity is not None:
            found.add(("entity", row.entity.name))
            found.update(("text", row.entity.name, text) for text in row.entity.texts if text is not None)
        elif row.relation is not None:
            found.add(("relation", *row.relation))
    return frozenset(found)


def first_undone(writes: Sequence[Write], live: Graph) -> Write | None:
    """Give the earliest of the last writes, oldest first, of which nothing is left in the file as it is now."""
    if not writes or writes[-1].after == live.data:
        return None
    names = {thing[1] for write in writes for thing in (*write.gained, *write.lost) if thing[0] != "relation"}
    there = things_in(row for row in live.rows if row.relation or (row.entity and row.entity.name in names))
    found = None
    for write in reversed(writes):
        if not _is_undone(write, there):
            break
        found = write
    return found


def _is_undone(write: Write, there: Things) -> bool:
    return not (write.gained & there) and write.lost <= there
