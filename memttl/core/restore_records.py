"""The differences that a restore makes into the events of the audit log: what it took out, and what it put in. Pure.

They have the shapes of a prune's removals, so that `undo` can undo a restore; so do those of a merge. An entity that
goes or comes as a whole gives an event of its line and one of each of its observations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from memttl.core.differences import Differences, EntityChange, Part
from memttl.core.model import Line
from memttl.core.places import Standing, standing, standing_among
from memttl.core.records import raw_fields

_NO_VERDICT = dict.fromkeys(("tier", "rule", "age_source", "created_at", "expires_at"))


class _Side(NamedTuple):
    """What is told of one version: the event's name, what stands where, and why."""

    word: str
    found: Standing
    run: str
    reason: str
    with_text: bool


def restore_events(
    before: bytes, after: bytes, found: Differences, run: str, *, backup: str, with_text: bool
) -> list[dict[str, Any]]:
    """Give the events of a restore of `after`, which is `backup`'s, in place of `before`."""
    gone, added = _moved(found, is_gone=True), _moved(found, is_gone=False)
    old = standing(before, _indexes(gone), _whole(gone, found.relations_gone, found.lines_gone))
    new = standing(after, _indexes(added), _whole(added, found.relations_added, found.lines_added))
    out = _Side("removed", old, run, f"the backup {backup} does not hold it", with_text)
    into = _Side("restored", new, run, f"from the backup {backup}", with_text)
    return [
        *_events(out, gone, found.relations_gone, found.lines_gone),
        *_events(into, added, found.relations_added, found.lines_added),
        *(_retyped(change, run, backup) for change in found.entities if change.is_retyped),
    ]


def merged_away_events(before: bytes, found: Differences, run: str, *, reason: str) -> list[dict[str, Any]]:
    """Give the events of what a stranger's version took out of `before` when it was merged; without texts.

    What it brought needs none: an undo leaves it where it is.
    """
    return _gone_events(partial(standing, before), found, run, reason, with_text=False)


def deletion_events(
    before: bytes | Sequence[Line], found: Differences, run: str, *, with_text: bool
) -> list[dict[str, Any]]:
    """Give the events of what a client of `memttl serve` deleted from `before`, a file or lines of it.

    Those are all of them where a whole line goes, else those of the entities that lose something.
    """
    stands = partial(standing, before) if isinstance(before, bytes) else partial(standing_among, before)
    return _gone_events(stands, found, run, "deleted by a client of memttl serve", with_text=with_text)


def _gone_events(
    stands: Callable[[dict[int, list[int]], set[int]], Standing],
    found: Differences,
    run: str,
    reason: str,
    *,
    with_text: bool,
) -> list[dict[str, Any]]:
    gone = _moved(found, is_gone=True)
    old = stands(_indexes(gone), _whole(gone, found.relations_gone, found.lines_gone))
    side = _Side("removed", old, run, reason, with_text)
    return [*_events(side, gone, found.relations_gone, found.lines_gone)]


class _Moved(NamedTuple):
    """What one entity loses or gets: the number of its line there, and whether the line goes or comes as a whole."""

    entity: str
    entity_type: str | None
    line: int
    parts: tuple[Part, ...]
    is_whole: bool


def _moved(found: Differences, *, is_gone: bool) -> list[_Moved]:
    sides = [
        _Moved(e.entity, e.type_before, e.line_before, e.gone, e.is_gone)
        if is_gone
        else _Moved(e.entity, e.type_after, e.line_after, e.added, e.is_new)
        for e in found.entities
    ]
    return [side for side in sides if side.parts or side.is_whole]


def _indexes(moved: Iterable[_Moved]) -> dict[int, list[int]]:
    return {m.line: [part.place for part in m.parts] for m in moved}


def _whole(moved: Iterable[_Moved], *lines: Iterable[Line]) -> set[int]:
    return {m.line for m in moved if m.is_whole} | {line.number for group in lines for line in group}


def _events(
    side: _Side, moved: Iterable[_Moved], relations: Iterable[Line], lines: Iterable[Line]
) -> Iterable[dict[str, Any]]:
    moved = list(moved)
    for m in moved:
        for part in m.parts:
            yield _of_observation(side, m, part)
    for m in moved:
        if m.is_whole:
            yield _of_line(side, "entity", m.line, m.entity)
    for line in relations:
        start = (line.record or {}).get("from")
        yield _of_line(side, "relation", line.number, start if isinstance(start, str) else None)
    for line in lines:
        yield _of_line(side, "line", line.number, None)


def _of_observation(side: _Side, moved: _Moved, part: Part) -> dict[str, Any]:
    element = side.found.elements[moved.line, part.place]
    return {
        "event": side.word,
        "run": side.run,
        "entity": moved.entity,
        "entity_type": moved.entity_type,
        "line": moved.line,
        "index": part.place,
        **raw_fields(element.raw, with_text=side.with_text),
        "place": element.place,
        **_NO_VERDICT,
        "reason": side.reason,
    }


def _of_line(side: _Side, kind: str, number: int, entity: str | None) -> dict[str, Any]:
    line = side.found.lines[number]
    named: Mapping[str, Any] = {} if entity is None else {"entity": entity}
    return {
        "event": f"{side.word}_{kind}",
        "run": side.run,
        **named,
        "line": number,
        # a damaged line may hold bytes that are no UTF-8
        **raw_fields(line.raw.decode("utf-8", "surrogateescape"), with_text=side.with_text),
        "place": line.place,
        "reason": side.reason,
    }


def _retyped(change: EntityChange, run: str, backup: str) -> dict[str, Any]:
    return {
        "event": "retyped",
        "run": run,
        "entity": change.entity,
        "line": change.line_after,
        "type_before": change.type_before,
        "type_after": change.type_after,
        "reason": f"from the backup {backup}",
    }
