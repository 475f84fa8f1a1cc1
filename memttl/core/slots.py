"""The place that an observation or line had, found again in a list that has changed since. Pure.

`inverse.py` asks for every element and line that is put back; `places.py` wrote the places down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Slots:
    """Positions in one list of keys. A place whose neighbours are gone is at the end."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self._where: dict[str, list[int]] | None = None

    def find(self, place: Mapping[str, Any], group: Mapping[str, int] = {}, index: int = 0) -> int:
        """Give the position (0 to the list's length) before which what had this place is put in.

        Between its old neighbours where they stand together, nearest to where it was; else behind the one before it,
        else before the one after it. The beginning of the list is a neighbour that always stands. What stood at the
        same place (`group`: indexes by key) with a lower `index`, and is there again, stays before it.
        """
        at = self._find(place)
        while at < len(self._keys) and group.get(self._keys[at], index) < index:
            at += 1
        return at

    def _find(self, place: Mapping[str, Any]) -> int:
        end = len(self._keys)
        slot = _number(place.get("slot"), end)
        if "previous" not in place:  # a log line without neighbours
            return slot
        before, after = place.get("previous"), place.get("next")
        if self._fits(slot, before, after):
            return slot
        behind = [0] if before is None else [at + 1 for at in self._positions(before)]
        ahead = [end] if after is None else self._positions(after)
        both = set(behind) & set(ahead)
        for found in (both, behind if before is not None else (), ahead if after is not None else (), behind):
            if found:
                return min(found, key=lambda at: (abs(at - slot), at))
        return end

    def _fits(self, slot: int, before: str | None, after: str | None) -> bool:
        keys = self._keys
        previous = keys[slot - 1] if slot else None
        following = keys[slot] if slot < len(keys) else None
        return previous == before and following == after

    def _positions(self, key: str) -> list[int]:
        if self._where is None:
            self._where = {}
            for at, found in enumerate(self._keys):
                self._where.setdefault(found, []).append(at)
        return self._where.get(key, [])


def _number(value: object, end: int) -> int:
    return min(max(value, 0), end) if isinstance(value, int) else end
