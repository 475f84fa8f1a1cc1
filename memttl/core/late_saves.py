"""Whether a version that another program has saved rests on the one of before our write, by what is in it. Pure.

`files/after_write.py` asks where the time alone does not tell. The memory server reads, changes and saves the whole
file: what it had read before our write lacks all of it. But somebody may also have seen our write and taken it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from memttl.core.graph import Graph

_Thing = tuple[str, ...]  # an entity, a text of one, or a relation


def is_late_save(before: Graph, live: Graph, after: Graph) -> bool:
    """Say whether `live` shows of itself that it was made from `before` and not from `after`, which we have written.

    One edit of the memory server that takes back what we added adds nothing, and what it puts back stands last.
    """
    old, now, ours = things_in(before), things_in(live), things_in(after)
    gained, lost = set(ours) - set(old), set(old) - set(ours)
    if gained & set(now) or not lost <= set(now) or not (gained or lost):
        return False
    if lost:
        return all(_stands_where_it_stood(thing, old, now, lost) for thing in lost if not _goes_with(thing, lost))
    return bool(set(now) - set(old) - set(ours))


def things_in(graph: Graph) -> list[_Thing]:
    """Give what stands in a graph, in order."""
    found: list[_Thing] = []
    for row in graph.rows:
        if row.entity is not None:
            found.append(("entity", row.entity.name))
            found.extend(("text", row.entity.name, text) for text in row.entity.texts if text is not None)
        elif row.relation is not None:
            found.append(("relation", *row.relation))
    return found


def _stands_where_it_stood(thing: _Thing, old: Sequence[_Thing], now: Sequence[_Thing], lost: set[_Thing]) -> bool:
    """Say whether something that we had left comes after it, as before: what is added anew is put at the end."""
    peers = _peers(thing, old)
    behind = {peer for peer in peers[peers.index(thing) + 1 :] if peer not in lost}
    today = _peers(thing, now)
    return bool(behind & set(today[today.index(thing) + 1 :]))


def _peers(thing: _Thing, things: Sequence[_Thing]) -> list[_Thing]:
    return [t for t in things if t[0] == thing[0] and (t[0] != "text" or t[1] == thing[1])]


def _goes_with(thing: _Thing, lost: set[_Thing]) -> bool:
    """Say whether it went because its entity did."""
    return thing[0] == "text" and ("entity", thing[1]) in lost
