"""A graph and what is known of it into what reads of `memttl serve` give: without what has expired, and with metadata.

`files/viewing.py` makes one whenever the file or what is known of it changes; lines that are the same keep their
verdicts and their pieces of JSON. Hidden or not is told anew at each read, by the instant that is now.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from memttl.core.classify import KnownOf
from memttl.core.graph import Entity, Graph, Relation, Row
from memttl.core.judge import Judge
from memttl.core.lives import NO_CHANGE, UNJUDGED, Changed, Judged, Life, life_json, lives_of
from memttl.core.needle import Needle, needle_of
from memttl.core.serving_json import Piece, Pieces, joined, piece_of, quoted, values

# a NUL stands between the lowered texts; half of a pair of surrogates may be found in a whole one
_NOT_IN_LOWERED = re.compile("[\0\ud800-\udfff]")

_FEW = 8  # rows that may be kept for nothing: each may be most of the file


class Reading(NamedTuple):
    """What a client asks a read for. `before`: only what expires before that instant, or at it."""

    exclude_expired: bool = True
    before: datetime | None = None


class Shown:
    """One entity as it is shown: the observations that are, each with its life."""

    def __init__(self, entity: Entity, observations: Sequence[tuple[str, Life]]) -> None:
        self.name = entity.name
        self.texts = (entity.name, entity.entity_type, *(text for text, _ in observations))
        self.lives = tuple(life for _, life in observations)

    @cached_property
    def piece(self) -> Piece:
        """It as JSON."""
        name, kind, *observations = self.texts
        return piece_of({"name": name, "entityType": kind, "observations": observations})

    @cached_property
    def metadata(self) -> bytes:
        """What is told of its observations, as JSON."""
        return b'{"name":' + quoted(self.name) + b',"observations":' + values(map(life_json, self.lives)) + b"}"

    @cached_property
    def lowered(self) -> str:
        """Name, type and texts in lower case, a NUL between them."""
        return "\0".join([text.lower() for text in self.texts])


class Entry:
    """One entity of the graph with the life of each of its texts, and how it is shown from `since` up to `until`.

    Those are unix seconds: the instants at which the last of its texts to expire so far did, and the next one will.
    """

    def __init__(self, row: Row, entity: Entity, lives: tuple[Life, ...]) -> None:
        self.row, self.entity, self.lives = row, entity, lives
        self.since, self.until = math.inf, -math.inf
        self.current: Shown = self.all

    @property
    def judged(self) -> Judged:
        """Its line, and the life of each element of its list."""
        return Judged(self.row.line, self.lives)

    @cached_property
    def all(self) -> Shown:
        """All of it, expired or not."""
        return self.shown(lambda _: True)

    def shown_at(self, now_s: float) -> Shown:
        """Give it without what has expired by then, and remember it."""
        expiring = {life.expires_at.timestamp() for life in self.lives if life.expires_at is not None}
        self.since = max((at for at in expiring if at <= now_s), default=-math.inf)
        self.until = min((at for at in expiring if at > now_s), default=math.inf)
        self.current = self.shown(lambda life: life.expires_at is None or life.expires_at.timestamp() > now_s)
        return self.current

    def shown(self, fits: Callable[[Life], bool]) -> Shown:
        """Give it with those of its texts whose lives fit."""
        pairs = [
            (text, life)
            for text, life in zip(self.entity.texts, self.lives, strict=True)
            if text is not None and fits(life)
        ]
        return Shown(self.entity, pairs)


class Answer(NamedTuple):
    """What a read shows. `metadata` is a JSON list parallel to its entities and observations, empty where not asked."""

    pieces: Pieces
    metadata: bytes = b""


class Link(NamedTuple):
    """One relation of the graph."""

    row: Row
    start: str
    end: str
    piece: Piece


class Made(NamedTuple):
    """What was made of each row, by its id."""

    entries: dict[int, Entry]
    links: dict[int, Link]


class View:
    """A graph, judged: its entities and relations in order, each with what was made of its line.

    `made` holds that by the id of the row, which it holds too, so that no other row has it.
    """

    def __init__(self, graph: Graph, entries: Sequence[Entry], relations: Sequence[Link], made: Made) -> None:
        self.graph, self.entries, self.relations, self.made = graph, entries, relations, made
        self._whole: tuple[object, Answer] | None = None

    def read(self, reading: Reading, now: datetime, *, metadata: bool = False) -> Answer:
        """Give the whole graph; of one that is asked for a date, the entities with something, and their relations."""
        found = _shown(self.entries, reading, now)
        if reading.before is not None:
            return self._with_relations(found, metadata=metadata)
        key = (metadata, found)
        if self._whole is None or self._whole[0] != key:
            self._whole = key, _answer(found, [link.piece for link in self.relations], metadata=metadata)
        return self._whole[1]

    def search(self, query: str, reading: Reading, now: datetime, *, metadata: bool = False) -> Answer:
        """Give the entities whose name, type or a text that is shown holds the query, with their relations."""
        found = _matching(_shown(self.entries, reading, now), needle_of(query))
        return self._with_relations(found, metadata=metadata)

    def open(self, names: Iterable[str], reading: Reading, now: datetime, *, metadata: bool = False) -> Answer:
        """Give the entities of these names, with their relations."""
        wanted = set(names)
        entries = [entry for entry in self.entries if entry.entity.name in wanted]
        return self._with_relations(_shown(entries, reading, now), metadata=metadata)

    def expired(self, now: datetime) -> tuple[int, int]:
        """Say how many observations have expired by then, and of how many."""
        lives = [life for entry in self.entries for life in entry.lives]
        return sum(life.expires_at is not None and life.expires_at <= now for life in lives), len(lives)

    def _with_relations(self, found: list[Shown], *, metadata: bool) -> Answer:
        """Either end is enough, so that what an entity is joined to can be discovered."""
        names = {shown.name for shown in found}
        relations = [link.piece for link in self.relations if link.start in names or link.end in names]
        return _answer(found, relations, metadata=metadata)


def view_of(
    graph: Graph, judge: Judge, known_of: KnownOf | None, *, before: View | None = None, changed: Changed = NO_CHANGE
) -> View:
    """Judge a graph; `known_of` is None where nothing can be known, and then nothing is judged.

    What `before` has too is not judged again, but for what more is known of by now.
    """
    made = _made_before(before, graph)
    olds: dict[str, Entry] = {}

    def entry_of(row: Row, entity: Entity) -> Entry:
        if before is not None and not olds:
            olds.update((entry.entity.name, entry) for entry in before.entries)
        if known_of is None or not row.line.is_judged:
            lives = (UNJUDGED,) * len(entity.texts)
        else:
            old = olds.get(entity.name)
            judged, more = (old.judged if old else None), changed.get(entity.name, ())
            lives = lives_of(row.line, judge, known_of, judged, more)
        made.entries[id(row)] = entry = Entry(row, entity, lives)
        return entry

    def link_of(row: Row, relation: Relation) -> Link:
        made.links[id(row)] = link = Link(row, relation.start, relation.end, _relation_piece(relation))
        return link

    if changed and before is not None:
        for entry in before.entries:
            if entry.entity.name in changed:
                made.entries.pop(id(entry.row), None)
    entries, links = made
    return View(
        graph,
        [entries.get(id(row)) or entry_of(row, row.entity) for row in graph.rows if row.entity is not None],
        [links.get(id(row)) or link_of(row, row.relation) for row in graph.rows if row.relation is not None],
        made,
    )


def _made_before(before: View | None, graph: Graph) -> Made:
    """Give what was made before, to be added to: most of it is there again, and what is not goes now and then."""
    if before is None:
        return Made({}, {})
    made = before.made
    if len(made.entries) + len(made.links) <= len(graph.rows) + _FEW:
        return made
    return Made({id(e.row): e for e in before.entries}, {id(link.row): link for link in before.relations})


def _relation_piece(relation: Relation) -> Piece:
    return piece_of({"from": relation.start, "to": relation.end, "relationType": relation.relation_type})


def _shown(entries: Iterable[Entry], reading: Reading, now: datetime) -> list[Shown]:
    if reading.before is not None:
        found = [entry.shown(lambda life: _fits(life, reading, now)) for entry in entries]
        return [shown for shown in found if shown.lives]
    if not reading.exclude_expired:
        return [entry.all for entry in entries]
    now_s = now.timestamp()
    return [entry.current if entry.since <= now_s < entry.until else entry.shown_at(now_s) for entry in entries]


def _fits(life: Life, reading: Reading, now: datetime) -> bool:
    """Say so for a reading that asks for what expires before a date."""
    at = life.expires_at
    if at is None or reading.before is None or at > reading.before:
        return False
    return not (reading.exclude_expired and at <= now)


def _matching(found: list[Shown], needle: Needle) -> list[Shown]:
    if _NOT_IN_LOWERED.search(needle.lowered):
        return [shown for shown in found if any(map(needle.is_in, shown.texts))]
    return [shown for shown in found if needle.lowered in shown.lowered]


def _answer(found: list[Shown], relations: Sequence[Piece], *, metadata: bool) -> Answer:
    pieces = joined([shown.piece for shown in found], relations)
    return Answer(pieces, values(shown.metadata for shown in found) if metadata else b"")
