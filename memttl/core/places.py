"""Where observations and lines stand in a file: their neighbours, so that they can be put back at their place. Pure.

`records.py` writes a place into each event of the audit log, and `put_back.py` finds it again in another version.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memttl.core.cut import raw_elements
from memttl.core.digests import as_bytes
from memttl.core.memory import line_spans, parse_line
from memttl.core.model import Line

Spot = tuple[int, int]  # line (from 1) and index (from 0) of an observation


class Element(NamedTuple):
    """One observation as it stands: its JSON, and its place as the audit log holds it."""

    raw: str
    place: dict[str, Any]


class WholeLine(NamedTuple):
    """One line as it stands, and its place as the audit log holds it."""

    raw: bytes
    place: dict[str, Any]


class Standing(NamedTuple):
    """What is about to leave a file, or has come into it, each with its place among what stays."""

    elements: Mapping[Spot, Element]
    lines: Mapping[int, WholeLine]


def standing(data: bytes, indexes: Mapping[int, Collection[int]], lines: Collection[int] = ()) -> Standing:
    """Give raw JSON and place of the observations at `indexes` (by line) and of the whole `lines` of a file.

    A place names what stays before and after it (`previous`, `next`: keys, None at the end of the list), how many stay
    before it (`slot`), which of several entities of one name it is in (`copy`, from 0) and how many equal ones stay in
    entities of that name (`left`).
    """
    named = [name_of(parse_line(data[start:end], n)) for n, start, end, _ in line_spans(data) if n in indexes]
    return _standing(_met(data, named, all_of_them=bool(lines)), named, indexes, lines)


def standing_among(
    found: Sequence[Line], indexes: Mapping[int, Collection[int]], lines: Collection[int] = ()
) -> Standing:
    """Give the same where lines are parsed already: all of them, or without whole `lines` those of the entities."""
    return _standing(found, [name_of(line) for line in found if line.number in indexes], indexes, lines)


def _met(data: bytes, named: Iterable[str | None], *, all_of_them: bool) -> Iterator[Line]:
    needles = [name.encode("utf-8", "surrogatepass") for name in set(named) if name is not None]
    for number, start, end, _ in line_spans(data):
        raw = data[start:end]
        # without a backslash a line holds a name as it is: most need not be parsed
        if all_of_them or b"\\" in raw or any(needle in raw for needle in needles):
            yield parse_line(raw, number)


def _standing(
    found: Iterable[Line],
    named: Iterable[str | None],
    indexes: Mapping[int, Collection[int]],
    lines: Collection[int],
) -> Standing:
    own: dict[str, list[tuple[int, bytes]]] = {name: [] for name in named if name is not None}
    keys, raws = list[str](), dict[int, bytes]()
    for line in found:
        name = name_of(line)
        if name in own:
            own[name].append((line.number, line.raw))
        if lines:
            keys.append(line_key(line))
        if line.number in lines:
            raws[line.number] = line.raw
    elements: dict[Spot, Element] = {}
    for copies in own.values():
        elements |= _of_entity(copies, indexes)
    return Standing(elements, _of_lines(raws, keys) if lines else {})


def name_of(line: Line) -> str | None:
    """Give the name of an entity whose observations can be judged; None for any other line."""
    return line.record["name"] if line.is_judged and line.record is not None else None


def element_key(raw: str | bytes) -> str:
    """Give the key of an observation: equal for the same JSON value, however the server has written it since."""
    return _short(json.dumps(json.loads(raw, parse_float=_number, parse_int=_integer), sort_keys=True))


def line_key(line: Line) -> str:
    """Give the key of a line: of an entity its name, of a relation its ends and type, of another its bytes."""
    name = name_of(line)
    if name is not None:
        return _short(f"entity {name}")
    if line.kind == "relation" and line.record is not None:
        ends = [line.record.get(key) for key in ("from", "to", "relationType")]
        return _short(f"relation {json.dumps(ends, sort_keys=True)}")
    return hashlib.sha256(line.raw.strip()).hexdigest()[:16]


def _number(text: str) -> float | int:
    number = float(text)  # JavaScript writes 1.0 as 1
    return int(number) if number.is_integer() else number


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) < 1000 else f"number {digits}"  # Python refuses to read integers of 4,301 digits


def _short(text: str) -> str:
    return hashlib.sha256(as_bytes(text)).hexdigest()[:16]


def _of_entity(lines: Sequence[tuple[int, bytes]], indexes: Mapping[int, Collection[int]]) -> dict[Spot, Element]:
    """Give the elements that are asked for of all entities of one name."""
    raws = {number: raw_elements(raw) for number, raw in lines}
    keys = {number: list(map(element_key, found)) for number, found in raws.items()}
    gone = {number: set(indexes.get(number, ())) for number, _ in lines}
    stay = Counter(key for n, found in keys.items() for i, key in enumerate(found) if i not in gone[n])
    out = {}
    for copy, (number, _) in enumerate(lines):
        for index, place in _neighbours(keys[number], gone[number]).items():
            more = {"copy": copy, "left": stay[keys[number][index]]}  # zero, as nearly always, needs no word
            out[number, index] = Element(raws[number][index], place | {k: v for k, v in more.items() if v})
    return out


def _neighbours(keys: Sequence[str], gone: Collection[int]) -> dict[int, dict[str, Any]]:
    """Give what stays around each of the elements at the indexes `gone`."""
    out: dict[int, dict[str, Any]] = {}
    before, waiting, slot = None, list[int](), 0
    for index, key in enumerate(keys):
        if index in gone:
            out[index] = {"slot": slot, "previous": before, "next": None}
            waiting.append(index)
            continue
        for i in waiting:
            out[i]["next"] = key
        before, waiting, slot = key, [], slot + 1
    return out


def _of_lines(raws: Mapping[int, bytes], keys: Sequence[str]) -> dict[int, WholeLine]:
    """Give the lines that go, by their numbers; `keys` are those of all lines."""
    gone = {number - 1 for number in raws}
    places = _neighbours(keys, gone)
    stay = Counter(key for at, key in enumerate(keys) if at not in gone)
    left = {number: {"left": stay[keys[number - 1]]} for number in raws if stay[keys[number - 1]]}
    return {number: WholeLine(raw, places[number - 1] | left.get(number, {})) for number, raw in raws.items()}
