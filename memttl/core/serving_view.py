"""A graph and the verdicts on it into what reads of `memttl serve` give: without what has expired, and with metadata.

`workflow/serving.py` makes one whenever the file or what is known of it changes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from memttl.core.classify import KnownOf, judge_entity
from memttl.core.graph import Graph, Relation, Row
from memttl.core.judge import Judge
from memttl.core.model import Verdict


class Shown(NamedTuple):
    """One entity as it is shown: the texts, and for each of them the verdict (None where nothing was judged)."""

    name: str
    entity_type: str
    texts: tuple[str, ...]
    verdicts: tuple[Verdict | None, ...]


class Reading(NamedTuple):
    """What a client asks a read for. `before`: only what expires before that instant."""

    exclude_expired: bool = True
    before: datetime | None = None

    def shows(self, verdict: Verdict | None, now: datetime) -> bool:
        """Say whether an observation is shown."""
        at = verdict.expires_at if verdict else None
        if self.exclude_expired and at is not None and at <= now:
            return False
        return self.before is None or (at is not None and at < self.before)


class View(NamedTuple):
    """A graph, judged: the verdicts of each entity row, by the place of its row."""

    graph: Graph
    verdicts: dict[int, tuple[Verdict | None, ...]]

    def entities(self, reading: Reading, now: datetime) -> list[Shown]:
        """Give the entities with what is shown of them."""
        return [self._shown(at, reading, now) for at, _ in self.graph.entities]

    def _shown(self, at: int, reading: Reading, now: datetime) -> Shown:
        entity = self.graph.rows[at].entity
        assert entity is not None
        verdicts = self.verdicts.get(at, (None,) * len(entity.texts))
        pairs = [
            (text, v)
            for text, v in zip(entity.texts, verdicts, strict=True)
            if text is not None and reading.shows(v, now)
        ]
        return Shown(entity.name, entity.entity_type, tuple(t for t, _ in pairs), tuple(v for _, v in pairs))

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations."""
        return self.graph.relations


def view_of(graph: Graph, judge: Judge, known_of: KnownOf) -> View:
    """Judge a graph."""
    return View(graph, {at: _judged(graph.rows[at], judge, known_of) for at, _ in graph.entities})


def _judged(row: Row, judge: Judge, known_of: KnownOf) -> tuple[Verdict | None, ...]:
    if not row.line.is_judged:
        return (None,) * len(row.entity.texts if row.entity else ())
    return tuple(v if v.tier is not None else None for v in judge_entity(row.line, judge, known_of))


Match = Callable[[Shown], bool]


def document(entities: list[Shown], relations: list[Relation]) -> dict[str, Any]:
    """Give them as the memory server does."""
    return {
        "entities": [{"name": e.name, "entityType": e.entity_type, "observations": list(e.texts)} for e in entities],
        "relations": [{"from": r.start, "to": r.end, "relationType": r.relation_type} for r in relations],
    }
