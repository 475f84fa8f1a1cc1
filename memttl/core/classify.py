"""One observation and the policy into a verdict: tier, birth, expiry, and the reason.

`plan.py` judges whole entities with it. THE LINE THAT DECIDES stands in `_verdict`: `expired = expires_at <= now`.
What gives the expiry is decided above it, in `_decide`, first that applies (SPEC section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

from memttl.core.birth import ENTITY_TIME_FIELDS
from memttl.core.dates import day_of
from memttl.core.durations import Duration, end_of_day, expires_after
from memttl.core.evidence import Evidence, read_evidence
from memttl.core.judge import Judge, make_judge
from memttl.core.model import NOTHING_KNOWN, Action, Birth, Expiry, Known, Line, Verdict, When
from memttl.core.policy import Policy
from memttl.core.wording import birth_words, day_words

KnownOf = Callable[[str, str], Known]


class Decision(NamedTuple):
    """What decides an observation's expiry, and the sentence about it. `by_ttl`: a TTL counted from the birth."""

    expires_at: datetime | None
    reason: str
    by_ttl: bool = False
    stretchable: bool = False
    review_due: bool = False
    waits_for_age: bool = False


def judge_entity(line: Line, judge: Judge, known_of: KnownOf | None = None) -> list[Verdict]:
    """Judge each observation of one entity line; `known_of(entity, text)` says what the ledger knows.

    Gives one verdict an element of the list, in order, elements that are left unjudged included.
    """
    return [verdict for verdict, _ in explain_entity(line, judge, known_of)]


def explain_entity(line: Line, judge: Judge, known_of: KnownOf | None = None) -> list[tuple[Verdict, Evidence | None]]:
    """Judge one entity line and give with each verdict the evidence that it rests on (None where unjudged)."""
    assert line.record is not None
    known = known_of or (lambda _entity, _text: NOTHING_KNOWN)
    evidence = [read_evidence(o, line.record, judge, known) for o in line.record["observations"]]
    inherited = None
    if judge.policy.inherit:
        earlier = frozenset[date]().union(*(e.known.entity_days for e in evidence if e))
        inherited = judge.births.only_date((e.birth for e in evidence if e), earlier)
    judged: list[tuple[Verdict, Evidence | None]] = [
        (_verdict(e, _birth(e, line.record, judge, inherited), judge, line, i), e) if e else (_unjudged(line, i), None)
        for i, e in enumerate(evidence)
    ]
    return _hold_last(judged, judge)


def day_reader(policy: Policy, now: datetime) -> Callable[[Mapping[str, Any]], set[date]] | None:
    """Give what reads the days that are written in an entity's record, for the ledger to remember.

    None where the policy does not say `[age] inherit`.
    """
    if not policy.inherit:
        return None
    judge = make_judge(policy, now)

    def days_of(record: Mapping[str, Any]) -> set[date]:
        found = (read_evidence(o, record, judge, lambda _entity, _text: NOTHING_KNOWN) for o in record["observations"])
        return judge.births.days_of(e.birth for e in found if e)

    return days_of


def days_removed(removals: Iterable[Verdict], policy: Policy) -> dict[str, set[date]]:
    """Give the days that were written in what a prune removes, by entity; none where nothing inherits."""
    days: dict[str, set[date]] = {}
    for v in removals if policy.inherit else ():
        if v.age_source in ("object", "text") and v.created_at is not None:
            days.setdefault(v.entity, set()).add(day_of(v.created_at, policy.zone))
    return days


def _birth(e: Evidence, record: Mapping[str, Any], judge: Judge, inherited: When | None) -> Birth:
    """The first source that gives a birth, in the order of SPEC section 3."""
    is_set = e.birth is not None and e.birth.source == "set"
    if e.known.arrived and e.known.first_seen is not None and not is_set:
        return Birth(e.known.first_seen, "set", arrived=True)
    if e.birth is not None:
        return e.birth
    if inherited is not None:
        return Birth(inherited, "inherited")
    if judge.policy.entity_created_at:
        when = judge.births.of_object(record, ENTITY_TIME_FIELDS, e.tried)
        if when is not None:
            return Birth(when, "entity")
    if e.known.first_seen is not None:
        return Birth(e.known.first_seen, "seen", e.known.backfilled)
    return Birth(None, "unknown")


def _verdict(e: Evidence, birth: Birth, judge: Judge, line: Line, index: int) -> Verdict:
    assert line.record is not None
    decision = _with_grace(_decide(e, birth, judge), e, birth, judge)
    # THE LINE THAT DECIDES whether an observation goes:
    expired = decision.expires_at is not None and decision.expires_at <= judge.now
    return Verdict(
        entity=e.subject.entity,
        entity_type=e.subject.entity_type,
        line=line.number,
        index=index,
        observation=e.subject.text,
        tier=e.tier,
        rule=e.rule.label if e.rule and e.named_by == "rule" else None,
        age_source=birth.source,
        created_at=birth.when,
        expires_at=decision.expires_at,
        expired=expired,
        review_due=decision.review_due,
        pinned=e.pinned,
        action="prune" if expired else "review" if decision.review_due else "keep",
        reason=decision.reason,
        warning=e.problem if e.problem in decision.reason else "",
        by_ttl=decision.by_ttl,
        by_type_alone=bool(e.named_by == "rule" and e.rule and e.rule.is_by_type_alone and decision.by_ttl),
        element=line.record["observations"][index],
        near_mark=e.near_mark,
        waits_for_age=decision.waits_for_age,
        backfilled=birth.backfilled,
        arrived=birth.arrived,
        by_default=e.named_by == "default" and not (e.pinned or e.problem or e.says_when),
    )


def _decide(e: Evidence, birth: Birth, judge: Judge) -> Decision:
    """Which one decides, first that applies: pin, what the user set, what cannot be read, marks, fields, the tier."""
    asked = e.known.settings
    if e.pinned:
        return Decision(None, e.pin_reason)
    if asked.expires is not None:
        return _on_date(asked.expires, "set to expire:" if asked.expires == "never" else "set to expire", judge)
    if asked.review_by is not None:
        return _on_review(asked.review_by, "set to be reviewed by", e, judge, settable=False)
    if asked.ttl is not None:
        return _after_ttl(asked.ttl, f"set to keep {asked.ttl}", birth, judge, settable=False)
    if e.named_by == "set":
        decision = _after_ttl(e.ttl, f"set to {_keeps(e.tier, e.ttl)}", birth, judge, settable=False)
        return decision._replace(review_due=e.ttl.is_never and _is_over(e.review_by, judge))
    if e.problem:
        return Decision(None, f"{e.problem}, so it stays")
    if e.expires is not None:
        return _on_date(e.expires, "expires", judge)
    if e.review_by is not None:
        return _on_review(e.review_by, "review by", e, judge)
    if e.own_ttl is not None:
        return _after_ttl(e.own_ttl, f"its own TTL is {e.own_ttl}", birth, judge)
    return _after_ttl(e.ttl, _keeps(e.tier, e.ttl), birth, judge)


def _keeps(tier: str | None, ttl: Duration) -> str:
    return f"{tier} notes never expire" if ttl.is_never else f"{tier} notes keep {ttl}"


def _instant(when: Expiry, judge: Judge) -> datetime | None:
    if when == "never":
        return None
    return when if isinstance(when, datetime) else end_of_day(when, judge.policy.zone)


def _is_over(when: Expiry | None, judge: Judge) -> bool:
    instant = _instant(when, judge) if when is not None else None
    return instant is not None and instant <= judge.now


def _on_date(when: Expiry, words: str, judge: Judge) -> Decision:
    return Decision(_instant(when, judge), f"{words} {day_words(when, judge.policy.zone)}{_over_words(when, judge)}")


def _over_words(when: Expiry, judge: Judge) -> str:
    if not _is_over(when, judge):
        return ""
    return "; that instant has passed" if isinstance(when, datetime) else "; that day has passed"


def _on_review(when: Expiry, words: str, e: Evidence, judge: Judge, *, settable: bool = True) -> Decision:
    over = _is_over(when, judge)
    words = f"{words} {day_words(when, judge.policy.zone)}{_over_words(when, judge)}"
    if judge.policy.when_due == "list" or e.never_named:
        return Decision(None, f"{words}; listed for review only", review_due=over)
    return Decision(_instant(when, judge), words, stretchable=settable)


def _after_ttl(ttl: Duration, words: str, birth: Birth, judge: Judge, *, settable: bool = True) -> Decision:
    if ttl.is_never:
        return Decision(None, words)
    if birth.when is None:
        return Decision(None, f"{words}; its age is unknown until memttl has met it, so it stays", waits_for_age=True)
    expires_at = expires_after(birth.when, ttl, judge.policy.zone)
    stretchable = settable and birth.source in ("object", "text", "inherited", "entity")
    return Decision(
        expires_at, f"{words}; {birth_words(birth, judge.policy.zone)}", by_ttl=True, stretchable=stretchable
    )


def _with_grace(decision: Decision, e: Evidence, birth: Birth, judge: Judge) -> Decision:
    """A newcomer stays for `[age] grace` from its first sighting, whatever date a language model wrote into it."""
    if judge.baseline is None or not decision.stretchable or decision.expires_at is None:
        return decision
    first_seen = e.known.first_seen or judge.now
    grace = judge.policy.grace
    if first_seen <= judge.baseline or grace.is_zero:
        return decision
    until = expires_after(first_seen, grace, judge.policy.zone)
    if until is not None and until <= decision.expires_at:
        return decision
    is_over = until is not None and until <= judge.now
    words = f"its {grace} of grace as a newcomer are over" if is_over else f"a newcomer stays {grace} whatever its date"
    return decision._replace(expires_at=until, reason=f"{decision.reason}; {words}")


def _hold_last(judged: list[tuple[Verdict, Evidence | None]], judge: Judge) -> list[tuple[Verdict, Evidence | None]]:
    """`keep_last`: of this entity's observations in a tier, the N latest births stay past their TTL."""
    held: dict[int, int] = {}
    for tier in judge.policy.tiers.values():
        if not tier.keep_last:
            continue
        places = [
            (judge.births.end(v.created_at), v.index)
            for v, _ in judged
            if v.tier == tier.name and v.by_ttl and v.created_at is not None
        ]
        held |= {index: tier.keep_last for _, index in sorted(places, reverse=True)[: tier.keep_last]}
    if not held:
        return judged
    return [(_held(v, held[v.index]) if v.index in held else v, e) for v, e in judged]


def _held(verdict: Verdict, keep_last: int) -> Verdict:
    reason = f"{verdict.reason}; one of the last {keep_last} of its tier in this entity, so it stays"
    action: Action = "review" if verdict.review_due else "keep"
    return verdict._replace(expires_at=None, expired=False, action=action, reason=reason)


def _unjudged(line: Line, index: int) -> Verdict:
    """An element that is neither text nor an object with a text: kept."""
    assert line.record is not None
    record = line.record
    entity_type = record.get("entityType")
    return Verdict(
        entity=record["name"],
        entity_type=entity_type if isinstance(entity_type, str) else None,
        line=line.number,
        index=index,
        observation=record["observations"][index],
        tier=None,
        rule=None,
        age_source=None,
        created_at=None,
        expires_at=None,
        expired=False,
        review_due=False,
        pinned=False,
        action="keep",
        reason="no text to judge: kept as it is",
    )
