"""Entities that a prune emptied, and their relations (`[prune] remove_empty_entities = true`). Called by `plan.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

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
    lines = list(read_lines(data))
    emptied = [e for e in lines if gone[e.number] and e.record and gone[e.number] == len(e.record["observations"])]
    going = Counter(_name(e) for e in emptied)
    last = set(going) - set(Counter(_name(line) for line in lines if line.kind == "entity") - going)
    # a line that nobody can read may be an entity of the same name, or a relation of it
    blocked = last if any(line.kind == "malformed" or line.too_deep for line in lines) else set()
    if approved is not None:
        blocked = blocked | _beyond(approved, emptied, last, lines)
    whole = [
        LineRemoval(e.number, "entity", _name(e), e.raw, f"entity {_name(e)}")
        for e in emptied
        if _name(e) not in blocked
    ]
    return tuple(sorted((*whole, *_relations_of(last - blocked, lines)), key=lambda r: r.line))


def _name(entity: Line) -> str:
    """The name of an entity line; the empty text for one without, which no relation's end can mean."""
    name = entity.record.get("name") if entity.record else None
    return name if isinstance(name, str) else ""


def _beyond(approved: Counter[bytes], emptied: Sequence[Line], last: set[str], lines: Sequence[Line]) -> set[str]:
    """The names of which a line would go that the shown plan did not name, or not as often."""
    relations = list(_relations_of(last, lines))
    found = Counter([*(e.raw for e in emptied), *(r.raw for r in relations)])
    names = {_name(e) for e in emptied if found[e.raw] > approved[e.raw]}
    for relation in relations:
        if found[relation.raw] > approved[relation.raw]:
            names |= last & _ends(lines[relation.line - 1])
    return names


def _relations_of(names: set[str], lines: Sequence[Line]) -> Iterator[LineRemoval]:
    for line in lines:
        ends = names & _ends(line)
        if ends:
            yield LineRemoval(line.number, "relation", min(ends), line.raw, _relation_label(line))


def _relation_label(line: Line) -> str:
    record = line.record or {}
    return f"relation {record.get('from')} -> {record.get('to')} ({record.get('relationType')})"


def _ends(line: Line) -> set[str]:
    if line.kind != "relation" or line.record is None:
        return set()
    return {end for end in (line.record.get("from"), line.record.get("to")) if isinstance(end, str)}
