"""What a client says of the life of observations, item by item, and the file's bytes into changes of settings. Pure.

`server/lifecycle.py` makes the items; the changes are those of `change_plan.py`, and recorded as such.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Literal, NamedTuple

from memttl.core.change_plan import from_now, plan_patches, renewal
from memttl.core.change_warnings import hidden
from memttl.core.changes import Before, Changes, PinChange
from memttl.core.classify import judge_entity
from memttl.core.digests import text_digest
from memttl.core.durations import Duration
from memttl.core.entities import Entities, name_of, read_entities
from memttl.core.entity_pins import pins_of, unpins_of
from memttl.core.judge import Judge
from memttl.core.model import NOTHING_SET, UserSettings, Verdict
from memttl.core.near import near
from memttl.core.oddities import plan_warnings
from memttl.core.selection import is_glob, text_matcher
from memttl.core.wish import Patch
from memttl.core.wording import head_of
from memttl.errors import UnknownEntity, UsageError


class Planning(NamedTuple):
    """What is planned by: what was set before, the judge, and the instant at which it would be recorded."""

    before: Before
    judge: Judge
    stamp: datetime


_Copies = Mapping[str, Sequence[Verdict]]  # by text


class Item(NamedTuple):
    """What is said of one observation by its whole `text`, of all that hold a `part`, or of the entity (neither).

    `renew` keeps it from now on: for so long, or ("tier") for as long as its own TTL or its tier lasts.
    """

    entity: str
    patch: Patch
    text: str | None = None
    part: str | None = None
    renew: Duration | Literal["tier"] | None = None

    @property
    def is_whole(self) -> bool:
        """True where the entity itself is meant."""
        return self.text is None and self.part is None


class ItemPlan(NamedTuple):
    """The changes, how many observations each item means (an entity counts as none), and whether a line is damaged."""

    changes: Changes
    matched: tuple[int, ...]
    is_damaged: bool


def plan_items(data: bytes, items: Sequence[Item], planning: Planning) -> ItemPlan:
    """Plan what the items change; of several that mean one observation, the later ones count more.

    Raises:
        Foreign: it is no file of the memory server.
        UnknownEntity: an item means nothing.
        UsageError: an item cannot be done.
    """
    entities = read_entities(data, sound=False)
    copies = {name: _copies(entities, name, planning) for name in dict.fromkeys(item.entity for item in items)}
    patches, asked = dict[tuple[str, str], Patch](), planning.before.asked
    pins: dict[str, bool] = {}
    matched = []
    for item in items:
        if item.entity not in entities.names:
            raise _unknown(item.entity, entities)
        if item.is_whole:
            pins[item.entity] = bool(item.patch.pinned)
        texts = [] if item.is_whole else _meant(item, copies[item.entity])
        matched.append(len(texts))
        for text in texts:
            key = item.entity, text
            so_far = patches.get(key, Patch())
            was = so_far.on(asked.get((item.entity, text_digest(text)), NOTHING_SET))
            patches[key] = _both(so_far, _patch(item, text, copies[item.entity][text], was, planning.judge))
    found = _pins(pins, entities, planning.before.entity_pins)
    before = planning.before._replace(entity_pins=_after(planning.before.entity_pins, found))
    changes = plan_patches(data, patches, before, planning.judge, planning.stamp, sound=False)
    changed = tuple(pin for pin in found if pin.pinned != (pin.pattern in planning.before.entity_pins))
    expired = [c.will_be for c in changes.observations if c.will_be is not None and c.will_be.expired]
    whole = changes._replace(
        entity_pins=changed,
        unchanged=changes.unchanged + len(found) - len(changed),
        warnings=(*plan_warnings(data, planning.judge.policy, entities.odd), *changes.warnings, *hidden(expired)),
    )
    return ItemPlan(whole, tuple(matched), bool(entities.odd.malformed))


def _copies(entities: Entities, name: str, planning: Planning) -> _Copies:
    found: dict[str, list[Verdict]] = {}
    for line in entities.lines:
        for verdict in judge_entity(line, planning.judge, planning.before.known_of) if name_of(line) == name else ():
            if verdict.tier is not None:
                found.setdefault(verdict.observation, []).append(verdict)
    return found


def _unknown(name: str, entities: Entities) -> UnknownEntity:
    no_glob = " A glob is not taken here, so that nothing is met by chance." if is_glob(name) else ""
    return UnknownEntity(
        f"No entity is named {name!r}{near(name, sorted(entities.names))}; nothing was done.",
        hint=f"Give the exact name, as read_graph does.{no_glob}",
    )


def _meant(item: Item, copies: _Copies) -> list[str]:
    if item.text is not None:
        texts = [item.text] if item.text in copies else []
    else:
        matches = text_matcher(item.part)
        texts = [text for text in copies if matches(text)]
    if not texts:
        what = f"with the text {head_of(item.text)!r}" if item.text is not None else f"that holds {item.part!r}"
        raise UnknownEntity(
            f"{item.entity!r} has no observation {what}; nothing was done.",
            hint="observation is the whole text, contains a part of it, in any case.",
        )
    return texts


def _patch(item: Item, text: str, copies: Sequence[Verdict], was: UserSettings, judge: Judge) -> Patch:
    """Give the patch for one text, for which this `was` set; what is said last counts."""
    patch = from_now(item.patch, judge)
    patch = patch._replace(instead=patch.says_how_long)
    if item.patch.clear:
        was = NOTHING_SET
    if item.renew is None:
        return patch
    keep_for = _as_before(item, text, copies, was, judge) if item.renew == "tier" else item.renew
    return _both(patch, renewal(keep_for, judge, was))


def _as_before(item: Item, text: str, copies: Sequence[Verdict], was: UserSettings, judge: Judge) -> Duration:
    """Give how long it is to be kept anew: its own TTL, else its tier's, else as long as it had from birth to expiry.

    Raises:
        UsageError: nothing says how long.
    """
    if was.ttl is not None and not (item.patch.tier or was.ttl.is_never):
        return was.ttl
    tiers = [item.patch.tier] if item.patch.tier else [v.tier for v in copies if v.tier is not None]
    keep_for = max((judge.policy.tiers[tier].ttl for tier in tiers), key=Duration.approximate_hours)
    if not keep_for.is_never:
        return keep_for
    spans = [] if item.patch.tier else [span for v in copies if (span := _span(v, was, judge)) is not None]
    if not spans:
        raise UsageError(
            f"{head_of(text)!r} of {item.entity!r} is in a tier that never expires, and nothing else says how long to "
            "keep it; nothing was done.",
            hint="Give renew a duration, such as 90d.",
        )
    return max(spans, key=Duration.approximate_hours)


def _span(verdict: Verdict, was: UserSettings, judge: Judge) -> Duration | None:
    """Give the time from birth to expiry, in whole hours; None where either is unknown."""
    until = verdict.expires_at
    if isinstance(was.expires, date):
        until = judge.births.end(was.expires)  # also of what is pinned
    if until is None or verdict.created_at is None or was.expires == "never":
        return None
    hours = math.ceil((until - judge.births.end(verdict.created_at)) / timedelta(hours=1))
    return Duration(days=hours // 24, hours=hours % 24) if hours > 0 else None


def _both(first: Patch, then: Patch) -> Patch:
    """Give one patch that does what both do, one after the other."""
    base = Patch(pinned=first.pinned) if then.clear else first
    given: dict[str, Any] = {name: value for name, value in then._asdict().items() if value is not None}
    return base._replace(
        **{
            **dict.fromkeys(then.displaced),
            **given,
            "clear": first.clear or then.clear,
            "instead": first.instead or then.instead,
        }
    )


def _pins(pins: Mapping[str, bool], entities: Entities, stored: Sequence[str]) -> list[PinChange]:
    for name in pins:
        if is_glob(name) and name not in stored:
            raise UsageError(
                f"The name {name!r} holds * or ?, by which a pin would mean other entities, too; nothing was done.",
                hint="Pin its observations instead.",
            )
    return [
        pin
        for name, pinned in pins.items()
        for pin in (pins_of([name], entities.names) if pinned else unpins_of([name], entities.names, stored))
    ]


def _after(stored: Sequence[str], pins: Sequence[PinChange]) -> list[str]:
    gone = {pin.pattern for pin in pins if not pin.pinned}
    return [*(pattern for pattern in stored if pattern not in gone), *(pin.pattern for pin in pins if pin.pinned)]
