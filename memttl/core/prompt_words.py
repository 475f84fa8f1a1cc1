"""The texts of a policy in words that an assistant may read: nothing of them can end a code span, a line or a marker.

`policy_prompt.py` writes its section with them. A text that could is left out, and its rule counted instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from memttl.core.policy import PERMANENT_RULE, Policy, Tier
from memttl.core.proposal_words import KEPT_PATTERNS, OVER_PATTERNS, marked_pattern
from memttl.core.rules import Rule

_LONGEST = 40  # characters: a name, not a paragraph of orders
_MOST = 6
_CONDITIONS = {
    "entity": "in entities named",
    "entity_type": "in entities of type",
    "pattern": "with a text that matches",
}


def code(text: str) -> str:
    """Give a text of the policy as a code span; empty for one that must not stand in a prompt.

    Refused are control characters, line ends, backticks, what begins or ends a comment, and what is too long for a
    name: an assistant would read it as an instruction, or a reader of Markdown as something else than code.
    """
    is_safe = text.isprintable() and text == text.strip() and 0 < len(text) <= _LONGEST
    return f"`{text}`" if is_safe and not any(s in text for s in ("`", "<!--", "-->")) else ""


def codes(texts: Iterable[str], most: int = _MOST) -> list[str]:
    """Give the first of some texts as code spans, those that may stand in a prompt."""
    return [span for span in map(code, texts) if span][:most]


def tables_of(policy: Policy) -> list[dict[str, Any]]:
    """Give each rule of the policy as it was written, in the order in which they count."""
    given = policy.given.get("rules")
    if given is None:
        return [_table_of(rule) for rule in policy.rules]
    return [*given, _table_of(PERMANENT_RULE)]


def _table_of(rule: Rule) -> dict[str, Any]:
    return {"prefix": sorted(rule.prefixes), "tier": rule.tier}


def rule_words(table: dict[str, Any], prefixes: Sequence[str]) -> str:
    """Say when a rule fits, given its prefixes as they are to be written; empty where that cannot be said whole."""
    pattern = tuple(table.get("pattern") or ())
    if pattern and pattern == (marked_pattern(table.get("prefix") or ()),):
        return _any_of(prefixes, len(table["prefix"]))  # the pattern asks for the brackets that they are written with
    conditions = []
    if table.get("prefix"):
        conditions.append(_any_of(prefixes, len(table["prefix"])))
    told = _TOLD_PATTERNS.get(pattern, "")
    for key, words in _CONDITIONS.items():
        if table.get(key) and not (key == "pattern" and told):
            choices = _without_digits(table[key])
            spans = _any_of(choices, len(choices))
            if key == "entity_type" and table.get("entity"):
                words = "and of type"
            conditions.append(spans and f"{words} {spans}")
    return " ".join([*([told] if told else []), *conditions]) if all(conditions) else ""


# what `memttl init` writes as regular expressions, for people and assistants
_TOLD_PATTERNS = {
    KEPT_PATTERNS: (
        "open work, faults, causes, decisions, preferences and lessons, told by words such as `next`, `not yet`, "
        "`blocked`, `cause`, `decided` or `never`,"
    ),
    OVER_PATTERNS: "what begins with `Completed:`, `Done:` or `Worked on`",
}


def _without_digits(globs: Sequence[str]) -> list[str]:
    """Give globs with each ten that differ in a digit alone (`Sprint 0*` to `Sprint 9*`) as one, `Sprint <number>`."""
    tens = {g[:-2] for g in globs if g[-2:] == "0*" and all(f"{g[:-2]}{digit}*" in globs for digit in range(10))}
    is_of = re.compile(r"[0-9]\*")
    return list(dict.fromkeys(f"{g[:-2]}<number>" if is_of.fullmatch(g[-2:]) and g[:-2] in tens else g for g in globs))


def _any_of(choices: Iterable[str], count: int) -> str:
    """Say any one of several; some may be left out, since whoever uses one of the others is understood."""
    spans = codes(choices)
    if len(spans) < count:
        return f"{', '.join(spans)}, …" if spans else ""
    *most, last = spans
    return f"{', '.join(most)} or {last}" if most else last


def goes_after(tier: Tier) -> str:
    """Say how long the observations of a tier stay."""
    if tier.ttl.is_never:
        return "stays"
    held = f", but each entity keeps its latest {tier.keep_last}" if tier.keep_last else ""
    return f"goes after {tier.ttl}{held}"
