"""The bytes of a memory file and a query into what the memory server's `search_nodes` would find, expiry minded.

Called by the `search` workflow. It follows release 2026.8.31 of the server (2026.7.4 searches alike), but where that
one gives up, at an entity without a list of texts or without a name, this goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, cast, get_args

from memttl.core.classify import KnownOf, judge_entity
from memttl.core.evidence import text_of
from memttl.core.foreign import Census
from memttl.core.judge import Judge
from memttl.core.memory import read_lines, shallow_record
from memttl.core.model import Line, Verdict
from memttl.core.near import refuse_unknown_word
from memttl.core.needle import Needle, needle_of
from memttl.core.oddities import Oddities, plan_warnings
from memttl.core.plan import refuse_foreign
from memttl.core.progress import Progress, no_progress, size_of, ticking, ticks_of
from memttl.core.selection import Filters, make_filters

Expired = Literal["exclude", "include", "only"]


class Query(NamedTuple):
    """What is searched for. `expire_before`: only what will have expired at that instant; `types` may be globs."""

    text: str
    expired: Expired = "exclude"
    expire_before: datetime | None = None
    types: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()

    @property
    def is_of_observations(self) -> bool:
        """True where an entity of which no observation is left is none of the result."""
        return self.expired == "only" or self.expire_before is not None or bool(self.tiers)

    @property
    def is_narrowed(self) -> bool:
        """True where something besides the text says what is meant."""
        return self.is_of_observations or bool(self.types)


class FoundEntity(NamedTuple):
    """An entity of the result; its name or type is None where the file has none.

    `observations` are the JSON values of those that are shown; `verdicts` are theirs, one each, and none where memttl
    does not judge the entity.
    """

    name: str | None
    entity_type: str | None
    observations: tuple[Any, ...]
    verdicts: tuple[Verdict, ...] = ()


class FoundRelation(NamedTuple):
    """A relation of the result, its values as the file has them, None where one is missing."""

    start: Any
    end: Any
    relation_type: Any


class Found(NamedTuple):
    """What was found, in the order of the file. `left_out`: how many observations match but have expired."""

    entities: tuple[FoundEntity, ...]
    relations: tuple[FoundRelation, ...]
    left_out: int = 0
    warnings: tuple[str, ...] = ()
    is_damaged: bool = False

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts on all observations that are shown."""
        return [verdict for entity in self.entities for verdict in entity.verdicts]


class SearchOutcome(NamedTuple):
    """What a search of one memory file found; `file` is the path as named."""

    file: str
    now: datetime
    query: Query
    found: Found
    warnings: tuple[str, ...] = ()


def read_expired(word: str) -> Expired:
    """Read the value of `--expired`.

    Raises:
        UsageError: it is none of the three.
    """
    refuse_unknown_word("--expired", word, get_args(Expired))
    return cast(Expired, word)


def search_file(
    data: bytes,
    query: Query,
    judge: Judge,
    *,
    known_of: KnownOf | None = None,
    progress: Progress = no_progress,
) -> Found:
    """Search the bytes of a memory file; its damaged lines are passed over.

    Raises:
        UnknownEntity: no entity is of a type that the query names.
        UsageError: the policy has no tier that the query names.
        Foreign: it is no file of the memory server.
    """
    entities, relations, odd = _read(data, progress)
    filters = make_filters(
        (), query.types, query.tiers, heads=lambda: map(_head, entities), known_tiers=list(judge.policy.tiers)
    )
    search = _Search(query, needle_of(query.text), filters, judge, known_of)
    results = [search.entity(line) for line in ticking(entities, ticks_of(progress, "searching", size_of(entities)))]
    found = tuple(entity for entity, _ in results if entity is not None)
    odd.unreadable = [v for entity in found for v in entity.verdicts if v.warning]
    names = {entity.name for entity in found if entity.name is not None}
    return Found(
        entities=found,
        relations=tuple(r for r in relations if _is_name(r.start, names) or _is_name(r.end, names)),
        left_out=sum(count for _, count in results),
        warnings=plan_warnings(data, judge.policy, odd),
        is_damaged=bool(odd.malformed),
    )


def _is_name(end: Any, names: set[str]) -> bool:
    return isinstance(end, str) and end in names


def _head(line: Line) -> tuple[str, str | None]:
    record = _record_of(line)
    return str(record.get("name")), _text(record.get("entityType"))


def _read(data: bytes, progress: Progress) -> tuple[list[Line], list[FoundRelation], Oddities]:
    odd, census = Oddities(), Census()
    entities, relations = list[Line](), list[FoundRelation]()
    for line in read_lines(data, tick=ticks_of(progress, "reading", len(data))):
        census.add(line)
        odd.add(line)
        if line.kind == "entity":
            entities.append(line)
        elif line.kind == "relation":
            record = _record_of(line)
            relations.append(FoundRelation(record.get("from"), record.get("to"), record.get("relationType")))
    refuse_foreign(data, census, malformed=bool(odd.malformed))
    return entities, relations, odd


def _record_of(line: Line) -> dict[str, Any]:
    return line.record if line.record is not None else shallow_record(line.raw)


class _Search(NamedTuple):
    query: Query
    needle: Needle
    filters: Filters
    judge: Judge
    known_of: KnownOf | None

    def entity(self, line: Line) -> tuple[FoundEntity | None, int]:
        """Give what is found of one entity, None for nothing, and how many of its matches were left out as expired."""
        record = _record_of(line)
        name, kind = _text(record.get("name")), _text(record.get("entityType"))
        if not self.filters.match_type(kind):
            return None, 0
        is_head = self.needle.is_in(name) or self.needle.is_in(kind)
        observations = _list(record.get("observations"))
        hits = [is_head or self.needle.is_in(text_of(o)) for o in observations]
        # judging costs most: what cannot be in the result is not judged
        if not (is_head or any(hits)):
            return None, 0
        if not line.is_judged:
            return (None if self.query.is_of_observations else FoundEntity(name, kind, tuple(observations))), 0
        verdicts = [v for v in judge_entity(line, self.judge, self.known_of) if self._fits(v)]
        shown = tuple(v for v in verdicts if self._shows(v))
        left_out = 0 if self.query.expired != "exclude" else sum(v.expired and hits[v.index] for v in verdicts)
        is_found = (is_head and not self.query.is_of_observations) or any(hits[v.index] for v in shown)
        if not is_found:
            return None, left_out
        return FoundEntity(name, kind, tuple(observations[v.index] for v in shown), shown), left_out

    def _fits(self, verdict: Verdict) -> bool:
        before = self.query.expire_before
        if before is not None and (verdict.expires_at is None or verdict.expires_at > before):
            return False
        return self.filters.match(verdict)

    def _shows(self, verdict: Verdict) -> bool:
        return self.query.expired == "include" or verdict.expired == (self.query.expired == "only")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
