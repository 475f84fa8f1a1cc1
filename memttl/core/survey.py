"""One pass over a memory file into a `Report`: what it holds and weighs, what is to be looked at, what goes when. Pure.

The pass is that of `plan.py`, so that a report counts as a prune does; this module looks on and gathers.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from memttl.core.ages import AgeTally
from memttl.core.arranging import groups_of, months_of
from memttl.core.classify import KnownOf
from memttl.core.judge import Judge
from memttl.core.listing import ListedAs, Window, is_undated, listed_as, window_of
from memttl.core.memory import entity_heads
from memttl.core.model import Birth, Line, Verdict
from memttl.core.plan import Plan, make_plan
from memttl.core.progress import Progress, no_progress
from memttl.core.report import Damaged, Heavy, Listed, OneDate, Query, Report, Share, Weights
from memttl.core.selection import Filters, make_filters
from memttl.core.tokens import (
    Weight,
    tokens_of,
    weight_of_entity_frame,
    weight_of_graph_frame,
    weight_of_observation,
    weight_of_relation,
)
from memttl.errors import UnknownEntity

_CONTINUED = bytes(range(0x80, 0xC0))  # UTF-8 bytes that do not begin a character


def survey(
    data: bytes,
    judge: Judge,
    query: Query,
    *,
    known_of: KnownOf | None = None,
    vanished: str = "",
    progress: Progress = no_progress,
) -> Report:
    """Report on the memory file whose bytes are `data`; damaged lines are passed over and named.

    `known_of` is the ledger's knowledge; `vanished` a sentence that would refuse a prune.

    Raises:
        UnknownEntity: an exact name or type that no entity has.
        UsageError: a tier that the policy does not have; a window that cannot be read.
        Foreign: it is no file of the memory server.
    """
    window = window_of(query.within, query.expire_before, judge.policy, judge.now)
    try:
        filters = _filters(data, judge, query)
    except UnknownEntity:
        make_plan(data, judge, keep_malformed=True)  # a file of another tool is told as such
        raise
    watcher = _Watcher(judge, query, window, filters)
    plan = make_plan(
        data, judge, keep_malformed=True, known_of=known_of, vanished=vanished, watch=watcher.add, progress=progress
    )
    return watcher.report(data, plan)


def _filters(data: bytes, judge: Judge, query: Query) -> Filters:
    tiers = list(judge.policy.tiers)
    return make_filters(query.entities, query.types, query.tiers, heads=lambda: entity_heads(data), known_tiers=tiers)


class _Sum:
    """What one tier, type or entity holds so far."""

    __slots__ = ("cents", "characters", "due", "expired", "observations", "review_due", "unknown_age")

    def __init__(self) -> None:
        self.observations = self.expired = self.due = self.review_due = self.unknown_age = 0
        self.characters = self.cents = 0

    def add(self, verdict: Verdict, why: ListedAs, characters: int, cents: int) -> None:
        self.observations += 1
        self.expired += why == "expired"
        self.due += why == "due"
        self.review_due += verdict.review_due
        self.unknown_age += verdict.age_source == "unknown"
        self.characters += characters
        self.cents += cents

    def share(self, name: str) -> Share:
        numbers = (self.observations, self.expired, self.due, self.review_due, self.unknown_age, self.characters)
        return Share(name, *numbers, tokens_of(self.cents))


class _Watcher:
    """Looks at each judged line of one pass, and adds up."""

    def __init__(self, judge: Judge, query: Query, window: Window, filters: Filters) -> None:
        self.judge, self.query, self.window, self.filters = judge, query, window, filters
        self.is_narrowed = filters != Filters() or bool(query.sources)
        self.sources = frozenset(query.sources)
        self.cents = self.freed = self.known_age = self.seen_age = self.backfilled_age = 0
        self.tiers: dict[str, _Sum] = {}
        self.types: dict[str, _Sum] = {}
        self.entities: dict[tuple[str, str | None], _Sum] = {}  # by name and type
        self.listed: list[Listed] = []
        self.expiries: Counter[tuple[datetime, str, bool]] = Counter()
        self.ages = AgeTally(judge.now, judge.policy.zone)
        self.one_dated: list[OneDate] = []
        self.damaged: list[Damaged] = []

    def add(self, line: Line, verdicts: list[Verdict]) -> None:
        """Look at one line and the verdicts on it."""
        if line.kind == "malformed":
            self.damaged.append(Damaged(line.number, line.column, line.problem))
        elif line.kind == "relation" and line.record is not None:
            self.cents += weight_of_relation(line.record).cents
        elif line.kind == "entity" and line.record is not None:
            self._add_entity(line.record, verdicts)

    def _add_entity(self, record: dict[str, Any], verdicts: list[Verdict]) -> None:
        """Add one entity; the server sends it also where it lacks a name or a list, and memttl judges none of it."""
        entity = self._entity(record.get("name"), record.get("entityType"))
        frame = weight_of_entity_frame(record)
        self._weigh(entity, frame)
        for verdict in verdicts:
            self._add(verdict, entity)
        observations = record.get("observations")
        for element in observations if not verdicts and isinstance(observations, list) else ():
            self._weigh(entity, weight_of_observation(element))
        self._note_one_date(verdicts)

    def _entity(self, name: object, kind: object) -> _Sum:
        key = name if isinstance(name, str) else "", kind if isinstance(kind, str) else None
        return self.entities.setdefault(key, _Sum())

    def _weigh(self, entity: _Sum, weight: Weight) -> None:
        self.cents += weight.cents
        entity.characters += weight.characters
        entity.cents += weight.cents

    def _add(self, verdict: Verdict, entity: _Sum) -> None:
        characters, cents = weight_of_observation(verdict.element if verdict.tier else verdict.observation)
        why = listed_as(verdict, self.window)
        self.cents += cents
        self.known_age += verdict.created_at is not None
        self.seen_age += verdict.age_source == "seen"
        self.backfilled_age += verdict.backfilled
        for total in (self._tier(verdict), self._type(verdict), entity):
            total.add(verdict, why, characters, cents)
        if verdict.expired:
            self.freed += cents
        if self._passes(verdict):
            self._list(verdict, why, characters, cents)

    def _tier(self, verdict: Verdict) -> _Sum:
        return self.tiers.setdefault(verdict.tier or "", _Sum())

    def _type(self, verdict: Verdict) -> _Sum:
        return self.types.setdefault(verdict.entity_type or "", _Sum())

    def _passes(self, verdict: Verdict) -> bool:
        if not self.is_narrowed:
            return True
        return self.filters.match(verdict) and (not self.sources or verdict.age_source in self.sources)

    def _list(self, verdict: Verdict, why: ListedAs, characters: int, cents: int) -> None:
        """Note what is charted and listed."""
        if verdict.age_source is not None:
            self.ages.add(verdict.created_at)
        if verdict.expires_at is not None:
            self.expiries[verdict.expires_at, verdict.tier or "", verdict.expired] += 1
        if not why and self.query.undated and is_undated(verdict):
            why = "undated"
        if why == "expired" or (why and not self.query.expired_only):
            self.listed.append(Listed(verdict, why, characters, cents))

    def _note_one_date(self, verdicts: list[Verdict]) -> None:
        judged = [v for v in verdicts if v.age_source is not None]
        undated = [v for v in judged if is_undated(v)]
        if not undated or len(undated) == len(judged) or not any(self._passes(v) for v in undated):
            return
        only = self.judge.births.only_date(Birth(v.created_at, v.age_source or "unknown") for v in judged)
        if only is not None:
            self.one_dated.append(OneDate(judged[0].entity, judged[0].entity_type, only, len(undated)))

    def report(self, data: bytes, plan: Plan) -> Report:
        """Give all that was added up."""
        query, judge = self.query, self.judge
        self.one_dated.sort(key=lambda one: -one.undated)
        return Report(
            counts=plan.counts,
            known_age=self.known_age,
            seen_age=self.seen_age,
            backfilled_age=self.backfilled_age,
            weights=Weights(len(data), _characters(data), self._tokens(plan), tokens_of(self.freed)),
            window=self.window,
            groups=groups_of(self.listed, query.sort, query.group_by, judge),
            is_grouped=query.group_by is not None,
            tiers=tuple(self.tiers[name].share(name) for name in (*judge.policy.tiers, "") if name in self.tiers),
            types=_by_weight(self.types),
            months=months_of(self.expiries, judge),
            ages=self.ages.ages(),
            heaviest=self._heaviest(),
            one_dated=tuple(self.one_dated[: query.top]),
            one_dated_count=len(self.one_dated),
            damaged=tuple(self.damaged),
            refusals=plan.refusals,
            warnings=plan.warnings,
        )

    def _tokens(self, plan: Plan) -> int:
        has_entities, has_relations = bool(plan.counts.entities), bool(plan.counts.relations)
        return tokens_of(
            self.cents + weight_of_graph_frame(has_entities=has_entities, has_relations=has_relations).cents
        )

    def _heaviest(self) -> tuple[Heavy, ...]:
        named = [(key, total) for key, total in self.entities.items() if self.filters.match_entity(*key)]
        named.sort(key=lambda item: -item[1].cents)
        return tuple(
            Heavy(name, kind, e.observations, e.expired, e.characters, tokens_of(e.cents))
            for (name, kind), e in named[: self.query.top]
        )


def _by_weight(types: dict[str, _Sum]) -> tuple[Share, ...]:
    return tuple(types[name].share(name) for name in sorted(types, key=lambda name: (-types[name].cents, name)))


def _characters(data: bytes) -> int:
    return len(data.translate(None, _CONTINUED))
