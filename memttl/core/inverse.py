"""Today's bytes, and what an undo puts back and takes out, into new bytes; all else is as it was. Pure.

`undo.py` makes the value of it that is shown and logged. What came back meanwhile is not put back twice, and of equal
ones only as many are taken out as were put in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from memttl.core.cut import check_cut, cut_line, raw_elements
from memttl.core.insert import entity_line, insert_elements
from memttl.core.memory import BOM, parse_line
from memttl.core.places import element_key, line_key, name_of
from memttl.core.slots import Slots
from memttl.core.undo_items import Item, LineItem, Moves

K = TypeVar("K")
T = TypeVar("T")
Key = tuple[str, ...]  # the direction, whose it is, and which


class Moved(NamedTuple):
    """One observation that moves: to `line` and `index` of the new bytes, or away from those of the old."""

    item: Item
    line: int
    index: int  # type: ignore[assignment]  # tuple.index is of no use here


class MovedLine(NamedTuple):
    """One whole line that moves; `line` as in `Moved`. `kind` and `entity` say what it is."""

    kind: str
    entity: str
    line: int


class Inverse(NamedTuple):
    """The new bytes, what moved, and how many observations and lines need not be put back: they are there again."""

    data: bytes
    back: tuple[Moved, ...]
    out: tuple[Moved, ...]
    lines_back: tuple[MovedLine, ...]
    lines_out: tuple[MovedLine, ...]
    there: int
    keys: Counter[Key]


@dataclass(slots=True, eq=False)
class _Row:
    """One line: `number` in the old bytes, 0 for a new one. `got` are items with their indexes in it."""

    raw: bytes
    number: int
    name: str | None
    key: str
    got: list[tuple[Item, int]] = field(default_factory=list)
    moved: LineItem | None = None
    elements: list[str] | None = None

    def keys(self) -> list[str]:
        if self.elements is None:
            self.elements = [element_key(raw) for raw in raw_elements(self.raw)]
        return self.elements


def invert(data: bytes, back: Moves, out: Moves, approved: Mapping[Key, int] | None = None) -> Inverse:
    """Take `out` out of a memory file's bytes and put `back` into them; `approved` is the most that moves, by key."""
    return _Inverter(data, approved).run(back, out)


class _Inverter:
    def __init__(self, data: bytes, approved: Mapping[Key, int] | None) -> None:
        self._head = BOM if data.startswith(BOM) else b""
        body = data[len(self._head) :]
        self._has_line_end = body.endswith(b"\n")
        lines = body.removesuffix(b"\n").split(b"\n") if body else []
        self.rows = [_row(raw, number) for number, raw in enumerate(lines, start=1)]
        self._approved = Counter(approved) if approved is not None else None
        self.keys: Counter[Key] = Counter()
        self.there = 0
        self._after_entities: int | None = None

    def run(self, back: Moves, out: Moves) -> Inverse:
        taken = self._take_out(out.observations)
        lines_out = self._take_lines_out(out.lines)
        self._put_lines_back(back.lines)
        self._put_back(back.observations)
        text = b"\n".join(row.raw for row in self.rows)
        new = self._head + text + (b"\n" if self.rows and self._has_line_end else b"")
        numbered = list(enumerate(self.rows, start=1))
        moved = [Moved(item, number, index) for number, row in numbered for item, index in row.got]
        lines = [MovedLine(r.moved.kind, r.moved.entity, n) for n, r in numbered if r.moved is not None]
        return Inverse(new, tuple(moved), taken, tuple(lines), lines_out, self.there, self.keys)

    def _grant(self, key: Key, wanted: int) -> int:
        """Give how many of these may move: no more than was approved."""
        if self._approved is not None:
            wanted = min(wanted, self._approved[key])
        if wanted > 0:
            self.keys[key] += wanted
        return max(0, wanted)

    def _by_name(self) -> dict[str, list[_Row]]:
        found: dict[str, list[_Row]] = {}
        for row in self.rows:
            if row.name is not None:
                found.setdefault(row.name, []).append(row)
        return found

    def _take_out(self, items: Sequence[Item]) -> tuple[Moved, ...]:
        taken: list[Moved] = []
        rows_of = self._by_name() if items else {}
        spots_of: dict[tuple[str, str], list[tuple[_Row, int]]] = {}
        for name in {item.entity for item in items}:
            for row in rows_of.get(name, []):
                for index, found in enumerate(row.keys()):
                    spots_of.setdefault((name, found), []).append((row, index))
        raws = {row.number: raw_elements(row.raw) for spots in rows_of.values() for row in spots if row.elements}
        for (name, key), group in _grouped(items, lambda i: (i.entity, i.key)).items():
            rows, spots = rows_of.get(name, []), spots_of.get((name, key), [])
            wanted = min(len(group), len(spots) - _left(group[0].place))
            for item in group[: self._grant(("out", name, key), wanted)]:
                row, index = min(spots, key=lambda spot: _distance(spot, item, rows))
                spots.remove((row, index))
                taken.append(Moved(item._replace(raw=raws[row.number][index]), row.number, index))
        for number, moved in _grouped(taken, lambda m: m.line).items():
            row = self.rows[number - 1]
            gone = [m.index for m in moved]
            cut = cut_line(row.raw, gone)
            check_cut(row.raw, cut, gone)
            row.raw, row.elements = cut, None
        return tuple(sorted(taken, key=lambda m: (m.line, m.index)))

    def _take_lines_out(self, items: Sequence[LineItem]) -> tuple[MovedLine, ...]:
        gone: list[MovedLine] = []
        stays: set[str] = set()
        rows_of = _grouped(self.rows, lambda row: row.key) if items else {}
        entities_first = sorted(items, key=lambda item: item.kind != "entity")
        for (kind, key), group in _grouped(entities_first, lambda i: (i.kind, i.key)).items():
            entity, rows = group[0].entity, rows_of.get(key, [])
            if kind != "entity" and entity in stays:
                continue  # somebody has added to the entity since, so it stays, and so do its relations
            free = [row for row in rows if row.name is None or not row.keys()]
            wanted = min(len(group), len(rows) - _left(group[0].place))
            granted = self._grant((f"out {kind}", entity, key), min(wanted, len(free)))
            if kind == "entity" and granted < wanted:
                stays.add(entity)
            own = {_emptied(item) for item in group if item.raw}
            nearest = sorted(free, key=lambda row: (row.raw not in own, abs(row.number - group[0].line)))
            gone += [MovedLine(kind, entity, row.number) for row in nearest[:granted]]
        numbers = {moved.line for moved in gone}
        self.rows = [row for row in self.rows if row.number not in numbers]
        return tuple(sorted(gone, key=lambda m: m.line))

    def _put_lines_back(self, items: Sequence[LineItem]) -> None:
        count = Counter(row.key for row in self.rows)
        new: list[LineItem] = []
        for key, group in _grouped(items, lambda i: i.key).items():
            missing = len(group) - max(0, count[key] - _left(group[0].place))
            self.there += min(len(group), len(group) - missing)
            new += group[: self._grant(("back line", group[0].entity, key), missing)]
        slots = Slots([row.key for row in self.rows])
        placed = sorted(((slots.find(item.place), item.line, item) for item in new), key=lambda p: p[:2])
        for done, (position, _, item) in enumerate(placed):
            row = _row(_emptied(item), 0)
            row.moved = item
            self.rows.insert(position + done, row)

    def _put_back(self, items: Sequence[Item]) -> None:
        rows_of = self._by_name() if items else {}
        for name, group in _grouped(items, lambda i: i.entity).items():
            rows = rows_of.get(name, [])
            wanted = self._missing(name, group, rows)
            if wanted and not rows:
                rows = [self._new_row(name, wanted[0].entity_type)]
            for copy, own in _grouped(wanted, lambda i: min(_copy(i.place), len(rows) - 1)).items():  # noqa: B023
                _insert(rows[copy], own)

    def _missing(self, name: str, items: Sequence[Item], rows: Sequence[_Row]) -> list[Item]:
        """Give the items that are not there again, in the order in which they stood."""
        present = Counter(key for row in rows for key in row.keys())  # noqa: SIM118
        found: list[Item] = []
        for key, group in _grouped(items, lambda i: i.key).items():
            missing = len(group) - max(0, present[key] - _left(group[0].place))
            self.there += len(group) - max(0, missing)
            found += group[: self._grant(("back", name, key), missing)]
        return sorted(found, key=lambda i: (i.line, i.index))

    def _new_row(self, name: str, entity_type: str | None) -> _Row:
        """Make an entity anew that is gone: behind the last one, as the server orders its file."""
        if self._after_entities is None:
            ends = (n for n, row in enumerate(self.rows, start=1) if row.name is not None)
            self._after_entities = max(ends, default=len(self.rows))
        at = self._after_entities
        end = b"\r" if self.rows and self.rows[at - 1].raw.endswith(b"\r") else b""
        row = _row(entity_line(name, entity_type, ()) + end, 0)
        row.moved = LineItem("entity", name, row.raw, row.key, {}, 0)
        self.rows.insert(at, row)
        self._after_entities += 1
        return row


def _row(raw: bytes, number: int) -> _Row:
    line = parse_line(raw, number)
    return _Row(raw, number, name_of(line), line_key(line))


def _emptied(item: LineItem) -> bytes:
    """Give the line as it is put back: an entity without its observations, which come back one by one."""
    if item.kind != "entity" or not parse_line(item.raw, 1).is_judged:
        return item.raw
    return cut_line(item.raw, range(len(raw_elements(item.raw))))


def _insert(row: _Row, items: Sequence[Item]) -> None:
    slots = Slots(row.keys())
    placed = sorted(((slots.find(i.place, i.group, i.index), i.line, i.index, i) for i in items), key=lambda p: p[:3])
    row.raw, indexes = insert_elements(row.raw, [(position, item.raw) for position, _, _, item in placed])
    row.got += [(item, index) for (*_, item), index in zip(placed, indexes, strict=True)]
    row.elements = None


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _distance(spot: tuple[_Row, int], item: Item, rows: Sequence[_Row]) -> tuple[bool, int]:
    row, index = spot
    return rows.index(row) != min(_copy(item.place), len(rows) - 1), abs(index - item.index)


def _left(place: Mapping[str, Any]) -> int:
    return _count(place.get("left"))


def _copy(place: Mapping[str, Any]) -> int:
    return _count(place.get("copy"))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
