"""A memory file's bytes into what `review` goes through, one text after the other, with what stands around each. Pure.

The workflow makes one deck a review; `report/review.py` shows its items, and what `explain` would tell of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from memttl.core.classify import KnownOf, explain_entity, judge_entity
from memttl.core.entities import Entities, name_of, read_entities
from memttl.core.explain import tried_of
from memttl.core.judge import Judge
from memttl.core.listing import ListedAs, Window, listed_as
from memttl.core.model import Known, Line, Tried, Verdict
from memttl.core.oddities import plan_warnings
from memttl.core.progress import Progress, no_progress, size_of, ticking, ticks_of
from memttl.core.selection import Filters

Key = tuple[str, str]  # an entity's name and a text: copies of a text in one entity share their settings


class Item(NamedTuple):
    """One text to look at. `copies` are the verdicts that are listed, in order; `unlisted` counts further copies."""

    listed_as: ListedAs
    copies: tuple[Verdict, ...]
    unlisted: int = 0

    @property
    def verdict(self) -> Verdict:
        """The verdict on the copy that is due first."""
        return self.copies[0]

    @property
    def key(self) -> Key:
        """Entity and text."""
        return self.verdict.entity, self.verdict.observation


class Around(NamedTuple):
    """An entity: its lines, all verdicts on them, what the ledger knew of each text, and how often each is there."""

    lines: tuple[Line, ...]
    verdicts: tuple[Verdict, ...]
    known: Mapping[str, Known]
    copies: Mapping[str, int]


class Deck(NamedTuple):
    """All that is to be looked at, in order; `entities` are those in which it stands, by name."""

    items: tuple[Item, ...]
    entities: Mapping[str, Around]
    judge: Judge
    warnings: tuple[str, ...] = ()

    def known(self, key: Key) -> Known:
        """Give what was known of a text when the deck was made."""
        return self.entities[key[0]].known[key[1]]

    def explained(self, item: Item) -> list[tuple[Verdict, tuple[Tried, ...]]]:
        """Give each verdict in the entity of an item, with all that was tried on it."""
        around = self.entities[item.verdict.entity]
        pairs = [
            pair for line in around.lines for pair in explain_entity(line, self.judge, lambda _, t: around.known[t])
        ]
        return [(v, tried_of(v, e, self.judge) if e else ()) for v, e in pairs]


def make_deck(
    data: bytes,
    judge: Judge,
    window: Window,
    *,
    known_of: KnownOf,
    filters: Callable[[], Filters] | None = None,
    progress: Progress = no_progress,
) -> Deck:
    """List what has expired, is due within `window` or is due for review, each group by expiry, then as in the file.

    `filters` gives what narrows it, once the file is known to be sound.

    Raises:
        Foreign, Malformed: the file is refused as a prune refuses it.
        UsageError: as `filters`.
    """
    entities = read_entities(data, sound=True, progress=progress)
    narrow = filters() if filters else None
    listed: dict[Key, list[tuple[ListedAs, Verdict]]] = {}
    for line in ticking(entities.lines, ticks_of(progress, "judging", size_of(entities.lines))):
        for verdict in judge_entity(line, judge, known_of):
            kind = listed_as(verdict, window)
            if kind and (narrow is None or narrow.match(verdict)):
                listed.setdefault((verdict.entity, verdict.observation), []).append((kind, verdict))
    progress("listing", 0, None)
    around = _around(entities, {entity for entity, _ in listed}, judge, known_of)
    items = sorted((_item(found, around[key[0]]) for key, found in listed.items()), key=lambda i: _order(i.verdict))
    return Deck(tuple(items), around, judge, plan_warnings(data, judge.policy, entities.odd))


def _around(entities: Entities, names: set[str], judge: Judge, known_of: KnownOf) -> dict[str, Around]:
    lines: dict[str, list[Line]] = {}
    for line in entities.lines:
        if name_of(line) in names:
            lines.setdefault(name_of(line), []).append(line)
    return {name: _entity(found, judge, known_of) for name, found in lines.items()}


def _entity(lines: list[Line], judge: Judge, known_of: KnownOf) -> Around:
    known: dict[str, Known] = {}

    def noted(entity: str, text: str) -> Known:
        known[text] = known_of(entity, text)
        return known[text]

    verdicts = tuple(v for line in lines for v in judge_entity(line, judge, noted))
    copies = Counter(v.observation for v in verdicts if v.tier is not None)
    return Around(tuple(lines), verdicts, known, copies)


def _item(found: list[tuple[ListedAs, Verdict]], around: Around) -> Item:
    found.sort(key=lambda pair: _order(pair[1]))
    copies = around.copies[found[0][1].observation]
    return Item(found[0][0], tuple(v for _, v in found), copies - len(found))


def _order(verdict: Verdict) -> tuple[object, ...]:
    """What has expired comes before what is due, and what is only due for review has no expiry: it comes last."""
    return verdict.expires_at is None, verdict.expires_at, verdict.line, verdict.index
