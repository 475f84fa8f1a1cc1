"""Two versions of a memory file into what the second lacks and what it has more: entities, observations, other lines.

`backups diff` shows it, `backups restore` asks by it and logs it. Equal things are counted as copies; lines that are
neither a relation nor an entity with a name and a list are told apart by their bytes. Pure, and linear in the bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memttl.core.cut import raw_elements
from memttl.core.memory import line_spans, parse_line
from memttl.core.model import Line
from memttl.core.places import element_key, line_key, name_of


class Part(NamedTuple):
    """One observation that only one version has; `place` is its index from 0, `value` its JSON value."""

    place: int
    value: Any


class EntityChange(NamedTuple):
    """What differs in one entity: the numbers of its line before and after (0: it is not there), its types, and parts.

    One that is gone or new as a whole has all its observations in `gone` or `added`.
    """

    entity: str
    line_before: int
    line_after: int
    type_before: str | None
    type_after: str | None
    gone: tuple[Part, ...] = ()
    added: tuple[Part, ...] = ()

    @property
    def is_gone(self) -> bool:
        """True for an entity that only the first version has."""
        return not self.line_after

    @property
    def is_new(self) -> bool:
        """True for an entity that only the second version has."""
        return not self.line_before

    @property
    def is_retyped(self) -> bool:
        """True for an entity that both have, with another type."""
        return not (self.is_gone or self.is_new) and self.type_before != self.type_after


class Differences(NamedTuple):
    """What the second version lacks (`gone`) and has more (`added`); entities in the order of the first.

    `relations_*` and `lines_*` are whole lines, the latter of any other kind, damaged ones included. `rewritten` counts
    lines that say the same in other bytes (spaces, escapes, further fields, the order of observations); `are_equal`:
    the versions are the same byte for byte.
    """

    entities: tuple[EntityChange, ...] = ()
    relations_gone: tuple[Line, ...] = ()
    relations_added: tuple[Line, ...] = ()
    lines_gone: tuple[Line, ...] = ()
    lines_added: tuple[Line, ...] = ()
    rewritten: int = 0
    are_equal: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many of each are gone and added, in the order in which they are told."""
        return {
            "entities_added": sum(e.is_new for e in self.entities),
            "entities_gone": sum(e.is_gone for e in self.entities),
            "entities_retyped": sum(e.is_retyped for e in self.entities),
            "observations_added": sum(len(e.added) for e in self.entities),
            "observations_gone": sum(len(e.gone) for e in self.entities),
            "relations_added": len(self.relations_added),
            "relations_gone": len(self.relations_gone),
            "damaged_lines_added": sum(line.kind == "malformed" for line in self.lines_added),
            "damaged_lines_gone": sum(line.kind == "malformed" for line in self.lines_gone),
            "other_lines_added": sum(line.kind != "malformed" for line in self.lines_added),
            "other_lines_gone": sum(line.kind != "malformed" for line in self.lines_gone),
            "lines_rewritten": self.rewritten,
        }

    @property
    def are_none(self) -> bool:
        """True where nothing is gone, added or retyped, though bytes may differ."""
        return not (self.entities or self.relations_gone or self.relations_added or self.lines_gone or self.lines_added)


def differences(before: bytes, after: bytes) -> Differences:
    """Compare two versions of a memory file, each damaged or not."""
    if before == after:
        return Differences(are_equal=True)
    old, new = _only_in_one(before, after)
    entities: list[EntityChange] = []
    lines: dict[str, list[Line]] = {side + kind: [] for side in ("gone ", "added ") for kind in ("relation", "line")}
    rewritten = 0
    for one, other in _pairs(old, new):
        line = one or other
        assert line is not None
        if name_of(line) is not None:
            change = _entity_change(one, other)
            rewritten += change is None
            entities += [change] if change is not None else []
        elif one is not None and other is not None:
            rewritten += 1
        else:
            kind = "relation" if line.kind == "relation" else "line"
            lines[("added " if one is None else "gone ") + kind].append(line)
    return Differences(
        tuple(entities),
        relations_gone=tuple(lines["gone relation"]),
        relations_added=tuple(lines["added relation"]),
        lines_gone=tuple(lines["gone line"]),
        lines_added=tuple(lines["added line"]),
        rewritten=rewritten,
    )


def _only_in_one(before: bytes, after: bytes) -> tuple[list[Line], list[Line]]:
    """Give the lines of both versions without those that stand in both byte for byte, and without blank ones."""
    raws = [[(n, data[start:end]) for n, start, end, _ in line_spans(data)] for data in (before, after)]
    counts = [Counter(raw for _, raw in lines) for lines in raws]
    both = counts[0] & counts[1]
    return _without(raws[0], both), _without(raws[1], both)


def _without(raws: Iterable[tuple[int, bytes]], both: Mapping[bytes, int]) -> list[Line]:
    left = Counter(both)
    found = []
    for number, raw in raws:
        if left[raw] > 0:
            left[raw] -= 1
            continue
        line = parse_line(raw, number)
        if line.kind != "blank":
            found.append(line)
    return found


def _pairs(old: Sequence[Line], new: Sequence[Line]) -> list[tuple[Line | None, Line | None]]:
    """Pair what is the same thing in both, the first copy with the first; what has no partner stands alone."""
    waiting: dict[str, list[Line]] = {}
    for line in reversed(new):
        waiting.setdefault(line_key(line), []).append(line)
    pairs: list[tuple[Line | None, Line | None]] = []
    for line in old:
        partners = waiting.get(line_key(line))
        pairs.append((line, partners.pop() if partners else None))
    alone = {line.number for lines in waiting.values() for line in lines}
    return [*pairs, *((None, line) for line in new if line.number in alone)]


def _entity_change(one: Line | None, other: Line | None) -> EntityChange | None:
    """Compare two lines of one entity; None where they say the same in other bytes."""
    old, new = _parts_of(one), _parts_of(other)
    change = EntityChange(
        name_of(one or other) or "",  # type: ignore[arg-type]  # one of them is there
        one.number if one else 0,
        other.number if other else 0,
        _type_of(one),
        _type_of(other),
        _lacking(old, new),
        _lacking(new, old),
    )
    says_more = change.gone or change.added or change.is_gone or change.is_new or change.is_retyped
    return change if says_more else None


def _type_of(line: Line | None) -> str | None:
    kind = line.record.get("entityType") if line is not None and line.record is not None else None
    return kind if isinstance(kind, str) else None


def _parts_of(line: Line | None) -> list[tuple[Any, Part]]:
    """Give each observation with what it is compared by: a text itself, of another value its key."""
    if line is None or line.record is None:
        return []
    values = line.record["observations"]
    if all(isinstance(value, str) for value in values):
        return [(value, Part(place, value)) for place, value in enumerate(values)]
    keys = map(element_key, raw_elements(line.raw))  # by its JSON: no key of a text is a value, and no double rounds it
    return [
        (value if isinstance(value, str) else (key,), Part(place, value))
        for place, (value, key) in enumerate(zip(values, keys, strict=True))
    ]


def _lacking(parts: Sequence[tuple[Any, Part]], others: Sequence[tuple[Any, Part]]) -> tuple[Part, ...]:
    """Give the parts of one side that the other lacks; of equal ones the later."""
    left = Counter(key for key, _ in others)
    found = []
    for key, part in parts:
        if left[key] > 0:
            left[key] -= 1
        else:
            found.append(part)
    return tuple(found)
