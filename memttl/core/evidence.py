"""What one observation says of its own lifecycle: prefix, marks, fields, rule, own birth, before anything is decided.

`classify.py` reads it once for each observation and decides by it; `explain` shows `tried`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal, NamedTuple

from memttl.core.durations import BadDuration, Duration, parse_duration
from memttl.core.judge import Judge
from memttl.core.marks import Mark, Tail
from memttl.core.model import Birth, Expiry, Known, Tried
from memttl.core.normal import normalise
from memttl.core.rules import Rule, Subject

TEXT_FIELDS = ("content", "contents", "text", "observation", "value")
ENTITY_PINNED = "its entity was pinned"
NamedBy = Literal["set", "mark", "field", "rule", "default"]


class Evidence(NamedTuple):
    """All that one observation says. `ttl` is that of its `tier`; `own_ttl` one that a mark or field gives.

    `problem` names the first mark or field that cannot be read (then it is kept); `never_named` is true when a tier
    that never expires was named by anything but the default.
    """

    subject: Subject
    known: Known
    tier: str
    ttl: Duration
    named_by: NamedBy
    rule: Rule | None
    pinned: bool
    pin_reason: str
    problem: str
    expires: Expiry | None
    review_by: Expiry | None
    own_ttl: Duration | None
    never_named: bool
    birth: Birth | None
    tried: list[Tried]
    marks: tuple[Mark, ...]
    near_mark: str
    fields: tuple[LifeField, ...]

    @property
    def says_when(self) -> bool:
        """True when something besides its tier gives an expiry: the user, a mark or a field."""
        asked = self.known.settings
        given = (asked.expires, asked.review_by, asked.ttl, self.expires, self.review_by, self.own_ttl)
        return any(g is not None for g in given)


def text_of(observation: object) -> str | None:
    """Give the text that is judged: a string itself, or the first of an object's text fields that is one."""
    if isinstance(observation, str):
        return observation
    if isinstance(observation, dict):
        return next((observation[f] for f in TEXT_FIELDS if isinstance(observation.get(f), str)), None)
    return None


def read_evidence(
    observation: object, record: Mapping[str, Any], judge: Judge, known_of: Callable[[str, str], Known]
) -> Evidence | None:
    """Read one observation of the entity `record`; None where it holds no text to judge."""
    text = text_of(observation)
    if text is None:
        return None
    name, entity_type = record["name"], record.get("entityType")
    normal = normalise(text)
    head, tail = judge.heads.read(normal), judge.tails.read(normal)
    subject = Subject(head.prefixes, name, entity_type if isinstance(entity_type, str) else None, text)
    known, tried = known_of(name, text), list[Tried]()
    own = observation if isinstance(observation, dict) else None
    birth = judge.births.own(normal, own, head, tail, known, tried)
    fields = _read_fields((own, record) if own is not None else (record,), judge)
    rule = next((r for r in judge.policy.rules if not r.mismatch(subject)), None)
    names = _named_tiers(known, tail, fields, rule, judge)
    tier, named_by = names[0]
    tiers = judge.policy.tiers
    return Evidence(
        subject=subject,
        known=known,
        tier=tier,
        ttl=tiers[tier].ttl,
        named_by=named_by,
        rule=rule,
        pinned=known.settings.is_pinned or (bool(tail.marks) and any(m.kind == "pin" for m in tail.marks)),
        pin_reason=_pin_reason(known),
        problem=_lost_tier(known, judge) or _first_problem(tail, fields),
        expires=_latest(tail, "expires", judge),
        review_by=_latest(tail, "review by", judge),
        own_ttl=_own_ttl(tail, fields),
        never_named=len(names) > 1 and any(tiers[name].ttl.is_never for name, by in names if by != "default"),
        birth=birth,
        tried=tried,
        marks=tail.marks,
        near_mark=tail.near,
        fields=fields,
    )


def _pin_reason(known: Known) -> str:
    if known.settings.pinned:
        return "pinned by an undo" if known.settings.pinned_by_undo else "pinned"
    entity_pin = known.settings.entity_pin
    return f"{ENTITY_PINNED} ({entity_pin})" if entity_pin else "pinned in its text"


class LifeField(NamedTuple):
    """A `ttl` or `decay` field of an observation object or of its entity, read; `problem` says why it cannot be."""

    what: str
    ttl: Duration | None = None
    tier: str | None = None
    problem: str = ""


def _read_fields(sources: Iterable[Mapping[str, Any]], judge: Judge) -> tuple[LifeField, ...]:
    """Read the lifecycle fields, in the order in which they count."""
    found = []
    for source in sources:
        if "ttl" in source:
            found.append(_ttl_field(source["ttl"]))
        if "decay" in source:
            found.append(_decay_field(source["decay"], judge))
    return tuple(found)


def _ttl_field(value: object) -> LifeField:
    what = f"ttl field {_json(value)}"
    try:
        return LifeField(what, ttl=parse_duration(value))
    except BadDuration as e:
        return LifeField(what, problem=f"cannot be read ({e})")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _decay_field(value: object, judge: Judge) -> LifeField:
    tier = judge.tails.tier_named(value) if isinstance(value, str) else None
    return LifeField(f"decay field {_json(value)}", tier=tier, problem="" if tier else "names no tier of the policy")


def _named_tiers(
    known: Known, tail: Tail, fields: Iterable[LifeField], rule: Rule | None, judge: Judge
) -> list[tuple[str, NamedBy]]:
    """All tiers that something names, in the order in which they count; the default is the last."""
    names: list[tuple[str, NamedBy]] = []
    if known.settings.tier is not None and known.settings.tier in judge.policy.tiers:
        names.append((known.settings.tier, "set"))
    marks = [m.tier for m in tail.marks if m.kind == "tier" and m.tier]
    if marks:  # the same mark twice: the longer lifetime
        longest = max(marks, key=lambda t: judge.policy.tiers[t].ttl.approximate_hours())
        names.append((longest, "mark"))
    names += [(f.tier, "field") for f in fields if f.tier]
    if rule:
        names.append((rule.tier, "rule"))
    return [*names, (judge.policy.default_tier, "default")]


def _lost_tier(known: Known, judge: Judge) -> str:
    tier = known.settings.tier
    lost = tier is not None and tier not in judge.policy.tiers
    return f"set to the tier {tier}, which the policy no longer has" if lost else ""


def _first_problem(tail: Tail, fields: Sequence[LifeField]) -> str:
    """Name the first mark or field whose form is right and whose value cannot be read."""
    if not tail.marks and not fields:
        return ""
    marks = (f'"{m.text}": {m.problem}' for m in tail.marks if m.problem)
    return next(marks, None) or next((f"{f.what} {f.problem}" for f in fields if f.problem), "")


def _latest(tail: Tail, kind: str, judge: Judge) -> Expiry | None:
    """The same mark twice: the later date, and never is the latest of all."""
    if not tail.marks:
        return None
    values = [m.date for m in tail.marks if m.kind == kind]
    if "never" in values:
        return "never"
    return max((v for v in values if isinstance(v, date)), key=judge.births.end, default=None)


def _own_ttl(tail: Tail, fields: Sequence[LifeField]) -> Duration | None:
    """A `ttl` mark (the longest), else a `ttl` field unless a `tier` mark or a `decay` field stands above it."""
    if not tail.marks and not fields:
        return None
    marks = [m.ttl for m in tail.marks if m.kind == "ttl" and m.ttl is not None]
    if marks:
        return max(marks, key=Duration.approximate_hours)
    if any(m.kind == "tier" for m in tail.marks):
        return None
    return next((f.ttl for f in fields if f.ttl is not None or f.tier is not None), None)
