"""Three-way merge of two lists of keys, order kept: what one side changed since the base, applied to the other side.

`merge.py` uses it for the lines of a file and for the observations of an entity. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def numbered(keys: Iterable[K]) -> list[tuple[K, int]]:
    """Make every key unique by counting: the same text twice is `(text, 0)` and `(text, 1)`."""
    seen: dict[K, int] = {}
    out = []
    for key in keys:
        seen[key] = seen.get(key, -1) + 1
        out.append((key, seen[key]))
    return out


def merge_keys(base: Collection[K], theirs: Sequence[K], live: Sequence[K]) -> list[K]:
    """Apply what `theirs` changed since `base` to `live`: its removals go, its additions come after their neighbour.

    All keys of one list are unique. The order is `live`'s; an addition stands behind the nearest key before it in
    `theirs` that is still there, and at the front where there is none.
    """
    known, have = set(base), set(live)
    gone = known - set(theirs)
    followers: dict[K | None, list[K]] = {}
    anchor: K | None = None
    for key in theirs:
        if key in have:
            anchor = key
        elif key not in known:
            followers.setdefault(anchor, []).append(key)
    out = list(followers.get(None, ()))
    for key in live:
        if key not in gone:
            out.append(key)
        out += followers.get(key, ())
    return out
