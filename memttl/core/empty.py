"""Entities that a prune emptied, and their relations (`[prune] remove_empty_entities = true`). Called by `plan.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from memttl.core.memory import read_lines
from memttl.core.model import Line, LineRemoval, Verdict


def lines_left_empty(
    data: bytes, removals: Iterable[Verdict], approved: Counter[bytes] | None
) -> tuple[LineRemoval, ...]:
    """Give the lines that go whole: entities emptied by `removals`, and relations of a name that no line keeps.

    An entity that was empty before stays. With `approved` (the raw lines of a shown plan), an entity goes only where it
    and all of its relations were in it: a relation that a stranger added meanwhile must not be left dangling.
    """
    gone = Counter(v.line for v in removals)
    if not gone:
        return ()
    entities = [line for line in read_lines(data) if line.is_judged]
    emptied = [e for e in entities if gone[e.number] and gone[e.number] == len(_record(e)["observations"])]
    names = {_record(e)["name"] for e in emptied}
    kept = Counter(_record(e)["name"] for e in entities) - Counter(_record(e)["name"] for e in emptied)
    relations = list(_relations_of({n for n in names if not kept[n]}, data))
    lines = [LineRemoval(e.number, "entity", _record(e)["name"], e.raw) for e in emptied]
    if approved is not None:
        blocked = {r.entity for r in (*relations, *lines) if not approved[r.raw]}
        lines = [r for r in lines if r.entity not in blocked]
        relations = [r for r in relations if r.entity not in blocked and approved[r.raw]]
    return tuple(sorted((*lines, *relations), key=lambda r: r.line))


def _record(line: Line) -> dict[str, Any]:
    assert line.record is not None
    return line.record


def _relations_of(names: set[object], data: bytes) -> Iterator[LineRemoval]:
    for line in read_lines(data):
        if line.kind != "relation" or line.record is None:
            continue
        for end in ("from", "to"):
            name = line.record.get(end)
            if isinstance(name, str) and name in names:
                yield LineRemoval(line.number, "relation", name, line.raw)
                break
