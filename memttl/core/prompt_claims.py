"""What a prompt may claim of a policy: each prefix, date form and example is judged by that policy before it is told.

`policy_prompt.py` asks. The dates in it are fixed, so that a prompt changes with its policy and not with the day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from memttl.core.classify import judge_entity
from memttl.core.dates import day_of
from memttl.core.judge import make_judge
from memttl.core.memory import parse_line
from memttl.core.model import Verdict
from memttl.core.normal import normalise
from memttl.core.policy import Policy
from memttl.core.prompt_words import code, tables_of
from memttl.core.rules import Rule
from memttl.core.wording import day_words

TODAY = "2026-03-31"  # its day cannot be taken for a month
EXPIRES = "2026-12-31"
_MOMENT = datetime(2026, 3, 31, 14, 30, tzinfo=UTC)
_NOW = _MOMENT + timedelta(days=1)  # later than that day in every time zone
# name and type of an entity about which the rules say nothing, if one of these will do
_ENTITIES = (("Example", "example"), ("Zeta", "zeta"), ("9", "9"))
_FACTS = ("tried Redis for the queue", "staging runs on port 8080", "Anna leads the billing team")


class Example(NamedTuple):
    """An observation, what the policy makes of it (`expires_at` None: it stays), and that in words."""

    observation: str
    tier: str
    expires_at: datetime | None
    words: str


class Claims:
    """Tries what one policy makes of prefixes, dates, marks and whole observations."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._judge = make_judge(policy, _NOW)
        self._entity = next((e for e in _ENTITIES if not self._is_named(e)), _ENTITIES[0])

    def _is_named(self, entity: tuple[str, str]) -> bool:
        names = [(rule.entity, entity[0]) for rule in self._policy.rules]
        names += [(rule.entity_type, entity[1]) for rule in self._policy.rules]
        return any(glob.fullmatch(normalise(name)) for globs, name in names for glob in globs)

    def _verdict(self, observation: str) -> Verdict:
        name, kind = self._entity
        record = {"type": "entity", "name": name, "entityType": kind, "observations": [observation]}
        return judge_entity(parse_line(json.dumps(record).encode(), 1), self._judge)[0]

    def prefixes(self, rule: Rule, table: dict[str, Any]) -> list[str]:
        """Give the prefixes of a rule, each as `[session]`, those that are read so in front of a date."""
        return [f"[{prefix}]" for prefix in table.get("prefix") or () if self._is_read(prefix, rule)]

    def _is_read(self, prefix: str, rule: Rule) -> bool:
        head = self._judge.heads.read(normalise(f"[{prefix}] {TODAY}: {_FACTS[0]}"))
        return normalise(prefix) in head.prefixes & rule.prefixes and len(head.dates) == 1

    def date_forms(self) -> Iterator[str]:
        """Give that day in each of the policy's own formats, if it is read as a birth."""
        for form in self._policy.formats:
            text = re.sub(r"%(.)", lambda found: _MOMENT.strftime(found[0]), form.strptime)
            if self._is_birth(f"{text}: {_FACTS[0]}"):
                yield text

    def labelled_dates(self) -> Iterator[str]:
        """Give each of the policy's labels with a date behind it."""
        return (f"{label}: {TODAY}" for label in self._policy.labels if self._is_birth(f"x {label}: {TODAY}"))

    def _is_birth(self, observation: str) -> bool:
        verdict = self._verdict(observation)
        if verdict.age_source != "text" or verdict.created_at is None:
            return False
        return day_of(verdict.created_at, self._policy.zone) == date.fromisoformat(TODAY)

    def has_mark(self, tier: str) -> bool:
        """Say whether a `tier` mark can name this tier, in a prompt."""
        return bool(code(tier)) and self._verdict(f"{_FACTS[0]} [tier: {tier}]").tier == tier

    def tier_for_mark(self) -> str:
        """Give a tier to show a `tier` mark with, one that expires if there is one; empty where no mark names any."""
        tiers = sorted(self._policy.tiers.values(), key=lambda tier: tier.ttl.is_never)
        return next((tier.name for tier in tiers if self.has_mark(tier.name)), "")

    def examples(self) -> tuple[Example, ...]:
        """Give three observations: one that a prefix lets expire, one with a last day, one without either."""
        dated = [f"{TODAY}: {_FACTS[1]} [expires {EXPIRES}]", f"{TODAY}: {_FACTS[2]}"]
        return tuple(map(self._example, [self._short_lived(), *dated]))

    def _short_lived(self) -> str:
        """An observation that expires by its tier, named by a prefix if one does so, else by a mark."""
        rules = zip(self._policy.rules, tables_of(self._policy), strict=True)
        prefixes = [prefix for rule, table in rules for prefix in self.prefixes(rule, table)]
        texts = [f"{prefix} {TODAY}: {_FACTS[0]}" for prefix in prefixes if code(prefix)]
        texts += [f"{TODAY}: {_FACTS[0]} [tier: {tier}]" for tier in self._policy.tiers if self.has_mark(tier)]
        return next((t for t in texts if self._verdict(t).expires_at), f"{TODAY}: {_FACTS[0]} [ttl 30d]")

    def _example(self, observation: str) -> Example:
        verdict = self._verdict(observation)
        tier = verdict.tier or ""
        named = code(tier)
        return Example(observation, tier, verdict.expires_at, ", ".join(filter(None, [named, self._fate(verdict)])))

    def _fate(self, verdict: Verdict) -> str:
        if verdict.expires_at is None:
            return "stays"
        last = day_of(verdict.expires_at, self._policy.zone) - timedelta(days=1)
        until = day_words(verdict.expires_at, self._policy.zone)
        return f"last day {last}" if len(until) == 10 else f"until {until}"
