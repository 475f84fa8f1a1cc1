"""The words of a search: whether a text holds them as the memory server would say, and at which places.

`search.py` asks the first, `report/search.py` the second, to show it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SURROGATE = re.compile("[\ud800-\udfff]")


class Needle(NamedTuple):
    """A query in lower case. Python and JavaScript lower alike, letters newer than this Python's Unicode left aside."""

    lowered: str

    def is_in(self, text: str | None) -> bool:
        """Say whether a text holds it, in any case; None, for no text, holds nothing but an empty query."""
        if text is None:
            return not self.lowered
        lowered = text.lower()
        return self.lowered in lowered or (bool(_SURROGATE.search(self.lowered)) and self._is_in_units(lowered))

    def _is_in_units(self, lowered: str) -> bool:
        """Compare UTF-16 as JavaScript does, where half of an emoji is found in the whole."""
        units, wanted, at = _units(lowered), _units(self.lowered), 0
        while (at := units.find(wanted, at)) >= 0:
            if at % 2 == 0:
                return True
            at += 1
        return False

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield (start, end) in `text` of each place where it stands; none where that cannot be told for certain."""
        if not self.lowered:
            return
        lowered = text.lower()
        # İ becomes two characters, so a place in the lowered text may lie further on than in the text itself
        owners = range(len(text)) if len(lowered) == len(text) else [i for i, c in enumerate(text) for _ in c.lower()]
        if len(owners) != len(lowered):
            return
        at, shown = lowered.find(self.lowered), 0
        while at >= 0:
            end = at + len(self.lowered)
            start, after = max(owners[at], shown), owners[end - 1] + 1
            if start < after:
                yield start, after
            shown, at = after, lowered.find(self.lowered, end)


def needle_of(query: str) -> Needle:
    """Give the needle of a query as the user wrote it."""
    return Needle(query.lower())


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
