"""Three-way merge of memory files: what a stranger changed since the snapshot, onto another version of the file.

`files/recover.py` calls it with the snapshot, the version that was found displaced, and the live file. Pure, and it
works on raw lines: one that only one side touched keeps that side's bytes. Where the sides contradict, more stays.
"""

from __future__ import annotations

import json
from typing import Any

from memttl.core.cut import observation_spans
from memttl.core.insert import into_empty
from memttl.core.memory import BOM, line_spans, parse_line
from memttl.core.model import Line
from memttl.core.sequences import merge_keys, numbered

Key = tuple[tuple[Any, ...], int]  # what the line is about, and how many of it stood before
Rows = dict[Key, Line]


def merge(base: bytes, theirs: bytes, live: bytes) -> bytes:
    """Give `live` with everything that `theirs` added, changed or removed since `base`.

    An observation that either side added stays; one that either side removed goes. An entity that one side removed
    while the other added to it stays, with what was added. Blank lines are `live`'s.
    """
    if theirs in (base, live):
        return live
    if live == base:
        return theirs
    old, other, ours = _rows(base), _rows(theirs), _rows(live, with_blanks=True)
    still = _outlived(old, other, ours)
    keys = merge_keys([key for key in old if key not in still], list(other), list(ours))
    text = b"\n".join(_merged_line(key, old, other, ours) for key in keys)
    head = BOM if live.startswith(BOM) else b""
    return head + text + (b"\n" if text and live.endswith(b"\n") else b"")


def is_whole(data: bytes, base: bytes) -> bool:
    """Say whether a displaced version may be merged: not empty, and no broken line that the base does not hold too."""
    if not data.strip():
        return False
    broken = {line.raw for line in _rows(base).values() if line.kind == "malformed"}
    return all(line.kind != "malformed" or line.raw in broken for line in _rows(data).values())


def _rows(data: bytes, *, with_blanks: bool = False) -> dict[Key, Line]:
    lines = [parse_line(data[start:end], number) for number, start, end, _ in line_spans(data)]
    lines = [line for line in lines if with_blanks or line.kind != "blank"]
    return dict(zip(numbered(_identity(line) for line in lines), lines, strict=True))


def _identity(line: Line) -> tuple[Any, ...]:
    """What makes two lines the same thing in two versions: an entity's name, a relation's ends, else the bytes."""
    record = line.record
    if line.is_judged and record is not None:
        return "entity", record["name"]
    if line.kind == "relation" and record is not None:
        return "relation", *(_canonical(record.get(key)) for key in ("from", "to", "relationType"))
    return "line", line.raw.strip()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _outlived(old: Rows, other: Rows, ours: Rows) -> set[Key]:
    """Give the entities that one side removed while the other added to them, and the relations of those that return."""
    removed = [key for key in old if (key in ours) != (key in other)]
    grown = {key for key in removed if _grew(old[key], ours.get(key) or other[key])}
    names = {_canonical(key[0][1]) for key in grown if key not in ours}
    ends = {key for key in removed if key not in ours and key[0][0] == "relation" and names & set(key[0][1:3])}
    return grown | ends


def _grew(before: Line, after: Line) -> bool:
    return before.is_judged and after.is_judged and not _observations(after).keys() <= _observations(before).keys()


def _merged_line(key: Key, old: Rows, other: Rows, ours: Rows) -> bytes:
    base, theirs, live = old.get(key), other.get(key), ours.get(key)
    if base is not None and live is not None and theirs is not None:
        if live.raw == base.raw:
            return theirs.raw
        if theirs.raw in (live.raw, base.raw):
            return live.raw
    frame = _frame(base, theirs, live)
    if not frame.is_judged or (base is None and (theirs is None or live is None)):
        return frame.raw
    found = [_observations(side) if side else {} for side in (base, theirs, live)]
    pool = found[1] | found[2]
    return _with_observations(frame.raw, [pool[k] for k in merge_keys(found[0], list(found[1]), list(found[2]))])


def _frame(base: Line | None, theirs: Line | None, live: Line | None) -> Line:
    """Give the line whose other fields stand: the stranger's, if only that side changed them."""
    if live is None or theirs is None:
        only = live or theirs
        assert only is not None
        return only
    if base is not None and theirs.is_judged and _fields(live) == _fields(base):
        return theirs
    return live


def _fields(line: Line) -> str:
    return _canonical({k: v for k, v in (line.record or {}).items() if k != "observations"})


def _observations(line: Line) -> dict[tuple[str, int], bytes]:
    """Give the raw bytes of each observation by its value and how often that value stood before it."""
    assert line.record is not None
    keys = numbered(_canonical(value) for value in line.record["observations"])
    spans = observation_spans(line.raw)
    return {key: line.raw[start:end] for key, (start, end) in zip(keys, spans, strict=True)}


def _with_observations(raw: bytes, wanted: list[bytes]) -> bytes:
    """Give the line with other observations; between them stands what stood between its first two."""
    spans = observation_spans(raw)
    if [raw[start:end] for start, end in spans] == wanted:
        return raw
    comma = raw[spans[0][1] : spans[1][0]] if len(spans) > 1 else b","
    if not spans:
        return into_empty(raw, comma.join(wanted))
    return raw[: spans[0][0]] + comma.join(wanted) + raw[spans[-1][1] :]
