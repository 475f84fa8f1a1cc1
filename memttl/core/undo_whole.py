"""The undo of a run that changed the whole file, not single observations: three ways onto today's bytes. Pure.

A restore and a repair are undone so while their backups live: what stood before the run comes back, with types, fields,
spacing and damaged lines, and all that came since stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memttl.core.cut import raw_elements
from memttl.core.differences import Differences, EntityChange, Part, differences
from memttl.core.foreign import foreign_document, foreign_encoding
from memttl.core.inverse import Inverse, Key, Moved, MovedLine
from memttl.core.memory import line_spans
from memttl.core.merge import merge
from memttl.core.model import Line
from memttl.core.places import element_key
from memttl.core.undo_items import Item


def invert_whole(before: bytes, after: bytes, live: bytes) -> Inverse | None:
    """Give today's bytes (`live`) without what a run made of `before` when it wrote `after`.

    None where that cannot be: `before` was no lines of JSON, and something came since.
    """
    is_text = foreign_encoding(before) is None and foreign_document(before) is None
    if live != after and not is_text:
        return None
    data = merge(after, before, live)
    found = differences(live, data)
    back = [*_moved(found.entities, data, is_back=True)]
    out = [*_moved(found.entities, live, is_back=False)]
    lines_back = _lines(found, is_back=True)
    lines_out = _lines(found, is_back=False)
    keys: Counter[Key] = Counter()
    keys.update(("back", m.item.entity, m.item.key) for m in back)
    keys.update(("out", m.item.entity, m.item.key) for m in out)
    keys.update(("back line", line.kind, line.entity) for line in lines_back)
    keys.update(("out line", line.kind, line.entity) for line in lines_out)
    return Inverse(data, tuple(back), tuple(out), lines_back, lines_out, 0, keys)


def _moved(changes: Iterable[EntityChange], data: bytes, *, is_back: bool) -> Iterable[Moved]:
    """Give the observations that come back (found in the new bytes) or go (in the old ones)."""
    sides = [
        (change, change.line_after, change.type_after, change.added)
        if is_back
        else (change, change.line_before, change.type_before, change.gone)
        for change in changes
    ]
    numbers = {number for _, number, _, parts in sides if parts}
    raws = {n: raw_elements(data[start:end]) for n, start, end, _ in line_spans(data) if n in numbers}
    for change, number, kind, parts in sides:
        for part in parts:
            yield _one(change, number, kind, part, raws[number][part.place])


def _one(change: EntityChange, number: int, kind: str | None, part: Part, raw: str) -> Moved:
    item = Item(change.entity, kind, raw, element_key(raw), {}, number, part.place, None, pinned=False)
    return Moved(item, number, part.place)


def _lines(found: Differences, *, is_back: bool) -> tuple[MovedLine, ...]:
    entities = [
        MovedLine("entity", e.entity, e.line_after if is_back else e.line_before)
        for e in found.entities
        if (e.is_new if is_back else e.is_gone)
    ]
    relations = found.relations_added if is_back else found.relations_gone
    others = found.lines_added if is_back else found.lines_gone
    return (
        *entities,
        *(MovedLine("relation", _start(line), line.number) for line in relations),
        *(MovedLine("line", "", line.number) for line in others),
    )


def _start(line: Line) -> str:
    start = (line.record or {}).get("from")
    return start if isinstance(start, str) else ""
