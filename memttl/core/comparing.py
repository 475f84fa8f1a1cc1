"""Entities as the ledger has them and as a look makes them, counted: what is new, gone and known. Pure.

`files/ledger.py` brings the rows; only entities that a look found changed, new or gone are compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memttl.core.digests import LINE_BYTES
from memttl.core.look import Comparison
from memttl.core.sightings import Sightings, present


class Row(NamedTuple):
    """One entity's row; `id` is None for one that is new, `lines` empty for one that the last look lacked."""

    id: int | None
    lines: bytes
    sightings: Sightings


class Change(NamedTuple):
    """One entity that a look found changed, new or gone."""

    name: bytes
    old: Row
    new: Row


def tally(changes: Iterable[Change], then: int, entities_then: int) -> Comparison:
    """Count what the changes make of a last look that found `then` texts in `entities_then` entities."""
    known, entities = then, entities_then
    new = gone = entities_gone = 0
    for change in changes:
        before, after = present(change.old.sightings), present(change.new.sightings)
        old_here = sum(key in change.old.sightings for key in after)
        known += old_here - len(before)
        new += len(after) - old_here
        gone += len(before - after)
        was_there, is_there = bool(change.old.lines), bool(change.new.lines)
        entities += is_there - was_there
        entities_gone += was_there and not is_there
    return Comparison(new, gone, known, then, entities, entities_gone, entities_then)


def in_order(lines: bytes) -> bytes:
    """Give the digests of one entity's lines in an order that does not depend on how they stand in the file."""
    if len(lines) <= LINE_BYTES:
        return lines
    return b"".join(sorted(lines[i : i + LINE_BYTES] for i in range(0, len(lines), LINE_BYTES)))
