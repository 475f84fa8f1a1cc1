"""The undo of a run that changed the whole file, not single observations: three ways onto today's bytes. Pure.

A restore and a repair are undone so while their backups live: what stood before the run comes back, with types, fields,
spacing and damaged lines, and all that came since stays.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from memttl.core.cut import raw_elements
from memttl.core.differences import Differences, EntityChange, Part, differences
from memttl.core.foreign import foreign_document, foreign_encoding
from memttl.core.inverse import Inverse, Key, Moved, MovedLine
from memttl.core.memory import BOM, line_spans
from memttl.core.merge import merge
from memttl.core.model import Line
from memttl.core.past_runs import Event, PastRun
from memttl.core.places import element_key
from memttl.core.repair import plan_repair, undo_repair
from memttl.core.undo_items import Item


def is_whole(run: PastRun) -> bool:
    """Say whether a run changed the file as a whole: a restore, a repair, and an undo of one of these."""
    return bool(run.applied) and (run.command in ("restore", "repair") or run.begin.get("whole") is True)


def undone_whole(run: PastRun, before: bytes | None, after: bytes | None, live: bytes) -> bytes | None:
    """Give today's bytes (`live`) without what a run made of the bytes `before` when it wrote `after`.

    None where that cannot be: a backup is gone or was changed since, or `before` was no lines of JSON and something
    came since.
    """
    if before is None or _digest(before) != run.end.get("file_digest", run.begin.get("file_digest")):
        return None
    written = run.end.get("new_digest", run.begin.get("new_digest"))
    if _digest(live) == written:
        return before
    if run.command == "repair":
        return undo_repair(before, live) if _digest(plan_repair(before).data) == written else None
    if after is None or _digest(after) != written or foreign_encoding(before) or foreign_document(before):
        return None
    merged = merge(after, before, live).removeprefix(BOM)
    return BOM + merged if before.startswith(BOM) else merged


def was_forgotten_since(run: PastRun, before: bytes | None, events: Iterable[Event]) -> bool:
    """Say whether a run's backup (`before`, None where it is gone) was written anew by a forget after that run."""
    if before is None or _digest(before) == run.end.get("file_digest", run.begin.get("file_digest")):
        return False
    has_ended = False
    for event in events:
        has_ended = has_ended or (event.get("event") == "end" and event.get("run") == run.run)
        if has_ended and event.get("event") == "forgotten":
            return True
    return False


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def whole_inverse(live: bytes, data: bytes) -> Inverse:
    """Give what moves when `data` takes the place of today's bytes."""
    found = differences(live, data)
    back = tuple(_moved(found.entities, data, is_back=True))
    out = tuple(_moved(found.entities, live, is_back=False))
    lines_back, lines_out = _lines(found, is_back=True), _lines(found, is_back=False)
    keys: Counter[Key] = Counter()
    for word, moved, lines in (("back", back, lines_back), ("out", out, lines_out)):
        keys.update((word, m.item.entity, m.item.key) for m in moved)
        keys.update((f"{word} line", line.kind, line.entity) for line in lines)
    return Inverse(data, back, out, lines_back, lines_out, 0, keys)


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
