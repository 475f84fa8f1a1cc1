"""What a report lists, in order and under headings; and what expires when, by month. Pure; called by `survey.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from memttl.core.judge import Judge
from memttl.core.listing import LISTED_AS
from memttl.core.report import Group, Listed, Month
from memttl.core.zones import in_zone

MONTHS = 12  # on the chart, from this one on
EXPIRED, LATER, NEVER = "expired", "later", "never"
Expiries = Mapping[tuple[datetime, str, bool], int]  # (expiry, tier, has it come) -> how many


def groups_of(listed: Iterable[Listed], sort: str, group_by: str | None, judge: Judge) -> tuple[Group, ...]:
    """Give what is listed, sorted, in groups: by why it is listed, or as `group_by` says. None of them is empty."""
    key = _SORTS[sort]
    found: dict[str, list[Listed]] = {}
    for item in sorted(listed, key=lambda item: (*key(item, judge), item.verdict.line, item.verdict.index)):
        found.setdefault(_name(item, group_by, judge), []).append(item)
    return tuple(Group(name, tuple(found[name])) for name in sorted(found, key=_order(group_by, judge)))


_SORTS: dict[str, Callable[[Listed, Judge], tuple[Any, ...]]] = {
    "expiry": lambda item, _: _last_if_none(item.verdict.expires_at),
    "age": lambda item, judge: _last_if_none(
        judge.births.end(item.verdict.created_at) if item.verdict.created_at is not None else None
    ),
    "size": lambda item, _: (-item.characters,),
    "entity": lambda item, _: (item.verdict.entity,),
}


def _last_if_none(moment: datetime | None) -> tuple[Any, ...]:
    return (True,) if moment is None else (False, moment)


def _name(item: Listed, group_by: str | None, judge: Judge) -> str:
    verdict = item.verdict
    if group_by is None:
        return item.listed_as
    if group_by == "month":
        return NEVER if verdict.expires_at is None else _month(verdict.expires_at, judge)
    names = {"tier": verdict.tier, "type": verdict.entity_type, "entity": verdict.entity}
    return names[group_by] or ""


def _order(group_by: str | None, judge: Judge) -> Callable[[str], tuple[bool, Any]]:
    """Give the key that puts the groups' names in order; the policy's for tiers, what never expires last."""
    words = list(LISTED_AS) if group_by is None else list(judge.policy.tiers) if group_by == "tier" else []
    places: dict[str, Any] = {word: place for place, word in enumerate(words)}
    return lambda name: (name == NEVER and group_by == "month", places.get(name, len(words)) if words else name)


def _month(moment: datetime, judge: Judge) -> str:
    return in_zone(moment, judge.policy.zone).date().isoformat()[:7]  # not %Y, which does not pad the year 999


def months_of(expiries: Expiries, judge: Judge) -> tuple[Month, ...]:
    """Give what expires when: what has expired, each of the next months up to the last that has any, and the rest."""
    first = in_zone(judge.now, judge.policy.zone)
    names = [_after(first.year, first.month, places) for places in range(MONTHS)]
    counted: dict[str, Counter[str]] = {name: Counter() for name in (EXPIRED, *names, LATER)}
    for (moment, tier, is_expired), count in expiries.items():
        name = EXPIRED if is_expired else _month(moment, judge)
        counted[name if name in counted else LATER][tier] += count
    used = [place for place, name in enumerate(names) if counted[name]]
    shown = [*([EXPIRED] if counted[EXPIRED] else []), *names[: max(used, default=-1) + 1]]
    return tuple(
        Month(name, _in_order(counted[name], judge)) for name in [*shown, *([LATER] if counted[LATER] else [])]
    )


def _after(year: int, month: int, places: int) -> str:
    return f"{year + (month - 1 + places) // 12:04}-{(month - 1 + places) % 12 + 1:02}"


def _in_order(tiers: Counter[str], judge: Judge) -> dict[str, int]:
    return {name: tiers[name] for name in (*judge.policy.tiers, "") if tiers[name]}
