"""The bytes of an archive with what runs removed put into it or taken out again: a memory file of the server's format.

`archive_update.py` decides what comes and goes. Pure; every byte of what else stands in the archive stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from memttl.core.cut import check_cut, cut_line, raw_elements
from memttl.core.digests import as_bytes
from memttl.core.js_json import as_json
from memttl.core.memory import BOM, line_spans, parse_line
from memttl.core.model import Line
from memttl.core.places import element_key, line_key
from memttl.core.spans import top_level_items

Kind = Literal["observation", "relation", "entity"]


class Place(NamedTuple):
    """What an archive holds once: an observation of an entity, a relation, or an entity's line (`key` is "")."""

    kind: Kind
    entity: str
    entity_type: str
    key: str


class Entry(NamedTuple):
    """One thing that a run removed: an observation's JSON as it stood, or a relation's line as the server writes it."""

    place: Place
    raw: str
    raw_digest: str


def entries_of(events: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Give what the `removed…` events of a run took out, in their order; they must hold their `raw`."""
    out = []
    for event in events:
        if event.get("event") == "removed":
            entity, kind = str(event["entity"]), event.get("entity_type")
            place = Place("observation", entity, kind if isinstance(kind, str) else "", element_key(event["raw"]))
            out.append(Entry(place, event["raw"], event["raw_digest"]))
        elif event.get("event") == "removed_relation":
            line = parse_line(as_bytes(event["raw"]), 1)
            place = Place("relation", "", "", line_key(line))
            out.append(Entry(place, _relation(line.record or {}), event["raw_digest"]))
    return out


def put_in(data: bytes, entries: Sequence[Entry]) -> tuple[bytes, list[Place]]:
    """Give the archive with what it does not hold yet, and the places of that; an entity stands there once.

    Observations go to the end of their entity, new entities behind the last one, relations to the end.
    """
    lines = _Lines(data)
    made: list[Place] = []
    for (name, kind), found in _by_entity(entries).items():
        at = lines.entities.get((name, kind))
        known = {key for i in at or () for key in lines.keys(i)}
        fresh = _first_of_each(e for e in found if e.place.key not in known)
        if at is None:
            made.append(Place("entity", name, kind, ""))
            lines.add_entity(name, kind, list(fresh.values()))
        elif fresh:
            lines.texts[at[0]] = _with_more(lines.texts[at[0]], list(fresh.values()))
        made += fresh
    for place, raw in _first_of_each(e for e in entries if e.place.kind == "relation").items():
        if place.key not in lines.relations:
            lines.texts.append(raw)
            made.append(place)
    return lines.joined(), made


def take_from(data: bytes, places: Collection[Place]) -> tuple[bytes, list[Place]]:
    """Give the archive without what `places` names, and what of that was there.

    The line of an entity goes where `places` names it and this takes its last observation.
    """
    lines, gone = _Lines(data), list[Place]()
    whole: set[int] = set()
    for (name, kind), at in lines.entities.items():
        wanted = {p.key for p in places if p.kind == "observation" and (p.entity, p.entity_type) == (name, kind)}
        for i in at if wanted else ():
            keys = lines.keys(i)
            indexes = [n for n, key in enumerate(keys) if key in wanted and key not in keys[:n]]
            wanted -= set(keys)
            gone += [Place("observation", name, kind, keys[n]) for n in indexes]
            cut = cut_line(lines.texts[i], indexes)
            check_cut(lines.texts[i], cut, indexes)
            lines.texts[i] = cut
            line_place = Place("entity", name, kind, "")
            if indexes and len(indexes) == len(keys) and line_place in places:
                whole.add(i)
                gone.append(line_place)
    for key, i in lines.relations.items():
        if (place := Place("relation", "", "", key)) in places:
            whole.add(i)
            gone.append(place)
    lines.texts = [text for i, text in enumerate(lines.texts) if i not in whole]
    return lines.joined(), gone


class _Lines:
    """An archive's lines, with the places of its entities (by name and type) and relations (by key)."""

    def __init__(self, data: bytes) -> None:
        self.head = BOM if data.startswith(BOM) else b""
        self.ends = data.endswith(b"\n")
        texts = [data[start:end] for _, start, end, _ in line_spans(data)]
        self.texts = [] if not any(text.strip() for text in texts) else texts
        self.entities: dict[tuple[str, str], list[int]] = {}
        self.relations: dict[str, int] = {}
        self.last_entity = -1
        for i, text in enumerate(self.texts):
            self._note(i, parse_line(text, i + 1))

    def _note(self, i: int, line: Line) -> None:
        if line.kind == "entity":
            self.last_entity = i
        if line.is_judged and line.record is not None:
            kind = line.record.get("entityType")
            self.entities.setdefault((line.record["name"], kind if isinstance(kind, str) else ""), []).append(i)
        elif line.kind == "relation" and line.record is not None:
            self.relations.setdefault(line_key(line), i)

    def keys(self, i: int) -> list[str]:
        return [element_key(raw) for raw in raw_elements(self.texts[i])]

    def add_entity(self, name: str, kind: str, raws: Sequence[bytes]) -> None:
        head = f'{{"type":"entity","name":{as_json(name)},"entityType":{as_json(kind)},"observations":['
        self.last_entity = self.last_entity + 1 if self.last_entity >= 0 else self._end_of_heads()
        self.texts.insert(self.last_entity, head.encode() + b",".join(raws) + b"]}")

    def _end_of_heads(self) -> int:
        """Where there is no entity yet: before the first relation."""
        return min(self.relations.values(), default=len(self.texts))

    def joined(self) -> bytes:
        return self.head + b"\n".join(self.texts) + (b"\n" if self.ends else b"")


def _by_entity(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Entry]]:
    out: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if entry.place.kind == "observation":
            out.setdefault((entry.place.entity, entry.place.entity_type), []).append(entry)
    return out


def _first_of_each(entries: Iterable[Entry]) -> dict[Place, bytes]:
    out: dict[Place, bytes] = {}
    for entry in entries:
        out.setdefault(entry.place, as_bytes(entry.raw))
    return out


def _with_more(line: bytes, raws: Sequence[bytes]) -> bytes:
    """Give an entity's line with more observations at the end of its list."""
    start, end = next((start, end) for key, start, end in top_level_items(line) if key == "observations")
    comma = b"," if raw_elements(line) else b""
    bracket = line.rindex(b"]", start, end)
    return line[:bracket] + comma + b",".join(raws) + line[bracket:]


def _relation(record: Mapping[str, Any]) -> str:
    ends = ",".join(f'"{key}":{as_json(record.get(key))}' for key in ("from", "to", "relationType"))
    return f'{{"type":"relation",{ends}}}'
