"""The bytes of a memory file, or of a copy of one, into the bytes without what is to be forgotten. Pure.

`files/erasing.py` gathers what is meant from every place with `met_in`, and cuts it out of each with `without`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from memttl.core.cut import check_cut, cut_line, raw_elements
from memttl.core.digests import text_digest
from memttl.core.evidence import text_of
from memttl.core.forget_rest import DAMAGED, Kinds
from memttl.core.memory import BOM, line_spans, parse_line, read_lines, shallow_record
from memttl.core.mentions import Mentions
from memttl.core.model import Line
from memttl.core.places import element_key, name_of

_UNREAD = ("malformed", "other")  # nobody can tell which observation such a line tells of
MeansEntity = Callable[[str], bool]


class Met(NamedTuple):
    """One observation that is meant: its entity, its text for people, its key, and the digest of its judged text."""

    entity: str
    text: str
    key: str
    digest: str


class Targets(NamedTuple):
    """What is to be forgotten: whole entities by name, or observations by entity and key.

    `digests` are those of the same observations' texts, by entity; `pins` the names and globs that go from the entity
    pins. `mentions` finds it in bytes that cannot be parsed.
    """

    names: frozenset[str]
    keys: Mapping[str, frozenset[str]]
    digests: Mapping[str, frozenset[str]]
    pins: frozenset[str]
    mentions: Mentions


class Without(NamedTuple):
    """What is left of some bytes: how many observations, whole, damaged and other lines went, and which bad ones stay.

    `broken` are the numbers of the lines that cannot be parsed, hold it, and were kept.
    """

    data: bytes
    observations: int = 0
    entities: int = 0
    relations: int = 0
    damaged: int = 0
    others: int = 0
    broken: tuple[int, ...] = ()

    @property
    def lines(self) -> int:
        """How many whole lines went."""
        return self.entities + self.relations + self.damaged + self.others

    @property
    def gone(self) -> int:
        """How many things went."""
        return self.observations + self.lines

    def plus(self, other: Without) -> Without:
        """Add the counts of another piece of the same file; the bytes stay these."""
        return Without(
            self.data,
            self.observations + other.observations,
            self.entities + other.entities,
            self.relations + other.relations,
            self.damaged + other.damaged,
            self.others + other.others,
            broken=self.broken + other.broken,
        )

    @property
    def kinds(self) -> Kinds:
        """How many of which kind."""
        nouns = ("entity", "observation", "relation", DAMAGED, "other line")
        counts = (self.entities, self.observations, self.relations, self.damaged, self.others)
        return tuple((count, noun) for count, noun in zip(counts, nouns, strict=True) if count)


def entity_name(line: Line) -> str | None:
    """Give the name of any entity's line, also of one whose observations cannot be judged."""
    if line.kind != "entity":
        return None
    record = line.record if line.record is not None else shallow_record(line.raw)
    name = record.get("name")
    return name if isinstance(name, str) else None


def met_in(data: bytes, means: MeansEntity, matches: Callable[[str], bool]) -> tuple[set[str], list[Met]]:
    """Give the names of all entities of a file, and the observations that are meant."""
    names, met = set[str](), list[Met]()
    for line in read_lines(data):
        name = entity_name(line)
        if name is None:
            continue
        names.add(name)
        if line.is_judged and line.record is not None and means(name):
            found = [i for i, o in enumerate(line.record["observations"]) if is_meant(o, matches)]
            raws = raw_elements(line.raw) if found else []
            met += [met_element(name, raws[i], line.record["observations"][i]) for i in found]
    return names, met


def met_element(entity: str, raw: str, value: object) -> Met:
    """Give one observation as what is to be forgotten."""
    text = text_of(value)
    return Met(
        entity,
        raw if text is None or not isinstance(value, str) else text,
        element_key(raw),
        text_digest(raw if text is None else text),
    )


def is_meant(element: object, matches: Callable[[str], bool]) -> bool:
    """Say whether an observation, or anything inside of one that is no string, matches the text."""
    return any(map(matches, _texts(element)))


def _texts(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, Mapping):
            waiting += [*found, *found.values()]
        elif isinstance(found, list):
            waiting += found
        else:
            yield json.dumps(found)


def targets_of(met: Iterable[Met], names: Iterable[str], pins: Iterable[str], mentions: Mentions) -> Targets:
    """Bring together what was met; `names` are the entities that go whole."""
    keys: dict[str, set[str]] = {}
    digests: dict[str, set[str]] = {}
    for found in met:
        keys.setdefault(found.entity, set()).add(found.key)
        digests.setdefault(found.entity, set()).add(found.digest)
    return Targets(
        frozenset(names),
        {entity: frozenset(found) for entity, found in keys.items()},
        {entity: frozenset(found) for entity, found in digests.items()},
        frozenset(pins),
        mentions,
    )


def without(data: bytes, targets: Targets, *, drop_broken: bool = False) -> Without:
    """Cut what is meant out of a memory file; every other byte stays.

    `drop_broken`: a line that holds it and is no entity or relation, or cannot be parsed, goes whole, which no memory
    file but a copy may lose.
    """
    pieces = [BOM] if data.startswith(BOM) else []
    observations, whole, broken = 0, Counter[str](), list[int]()
    for number, start, end, after in line_spans(data):
        line = parse_line(data[start:end], number)
        if line.kind in _UNREAD and targets.mentions.is_in_broken(line.raw):
            if drop_broken:
                whole[line.kind] += 1
                continue
            broken += [number] if line.kind == "malformed" else []
        if _goes_whole(line, targets.names):
            observations += len((line.record or {}).get("observations", ())) if line.is_judged else 0
            whole[line.kind] += 1
            continue
        gone = _indexes(line, targets)
        observations += len(gone)
        pieces += _cut(line.raw, gone), data[end:after]
    out = b"".join(pieces)
    if whole and out.endswith(b"\n") and not data.endswith(b"\n"):  # the last line went; the file had no last newline
        out = out[:-1].removesuffix(b"\r")
    lines = (whole["entity"], whole["relation"], whole["malformed"], whole["other"])
    return Without(out, observations, *lines, tuple(broken))


def _goes_whole(line: Line, names: frozenset[str]) -> bool:
    """Say whether a line is an entity that is to be forgotten, or a relation that names one."""
    if not names:
        return False
    if line.kind == "relation":
        record: Mapping[str, Any] = line.record if line.record is not None else shallow_record(line.raw)
        return any(isinstance(end, str) and end in names for end in (record.get("from"), record.get("to")))
    return entity_name(line) in names


def _indexes(line: Line, targets: Targets) -> list[int]:
    keys = targets.keys.get(name_of(line) or "", frozenset()) if line.is_judged else frozenset()
    if not keys:
        return []
    return [i for i, raw in enumerate(raw_elements(line.raw)) if element_key(raw) in keys]


def _cut(line: bytes, gone: list[int]) -> bytes:
    if not gone:
        return line
    cut = cut_line(line, gone)
    check_cut(line, cut, gone)
    return cut
