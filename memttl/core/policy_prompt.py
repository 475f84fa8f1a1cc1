"""A policy into a short section of Markdown that teaches an assistant to write observations that it understands. Pure.

`memttl policy prompt` prints it. What it claims of a prefix, a date form or an example was judged by that policy first
(`prompt_claims.py`), and no text of a policy stands in it that could end a code span or a line (`prompt_words.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memttl.core.policy import Policy
from memttl.core.prompt_claims import EXPIRES, TODAY, Claims, Example
from memttl.core.prompt_words import code, codes, goes_after, rule_words, tables_of
from memttl.core.tokens import tokens_of, weight_of_text
from memttl.core.wording import plural

_MOST_RULES = 12
_MOST_TIERS = 6


class Prompt(NamedTuple):
    """The section, the examples in it with what becomes of them, and what it costs to read, in estimated tokens."""

    text: str
    examples: tuple[Example, ...]
    tokens: int


class Told(NamedTuple):
    """A policy, and its prompt."""

    policy: Policy
    prompt: Prompt


def make_prompt(policy: Policy) -> Prompt:
    """Write the section for one policy; the same for the same policy, whatever the day."""
    claims = Claims(policy)
    examples = claims.examples()
    lines = [
        "## Writing to the memory server",
        "",
        "memttl later removes observations by what their text says. When you add one:",
        "",
        f"- One fact each, today's date first (`{TODAY}: …`) or right behind a prefix. Ask the system for the date, "
        f"never guess it.{_dates(claims)}",
        "- How long it stays (the first that fits counts):",
        *(f"  - {line}" for line in _rules(policy, claims)),
        f"- At its very end {_marks(policy, claims)}. Marks count more than all of the above.",
        f"- Without a date, {_undated(policy)}.",
        "- Never write secrets. No fields besides the text, no header lines: use the memory tools, not the file. Where "
        "the tools take `ttl`, `decay`, `expires`, `review_by` or `pin`, use these in place of marks.",
        "",
        "Examples:",
        "",
        *(f"- `{e.observation}`: {e.words}" for e in examples),
    ]
    text = "\n".join(lines) + "\n"
    return Prompt(text, examples, tokens_of(weight_of_text(text).cents))


def _dates(claims: Claims) -> str:
    """The policy's own date forms and labels, as they would be written."""
    forms = ", ".join(codes(claims.date_forms(), 3))
    labels = ", ".join(codes(claims.labelled_dates(), 3))
    read = f" Also read: {forms}." if forms else ""
    return read + (f" Anywhere in the text: {labels}." if labels else "")


def _rules(policy: Policy, claims: Claims) -> Iterator[str]:
    """Each rule in words, in the order in which they count, and the default tier."""
    hidden, shown = 0, dict[str, None]()
    for rule, table in zip(policy.rules, tables_of(policy), strict=True):
        words = rule_words(table, claims.prefixes(rule, table)) if len(shown) < _MOST_RULES else ""
        tier = policy.tiers[rule.tier]
        named = "" if f"`[{tier.name}]`" in words else f"{code(tier.name) or 'a tier'}, "
        if words:
            shown[f"{words}: {named}{goes_after(tier)}"] = None  # the prefix permanent may be told twice
        hidden += not words
    yield from shown
    if hidden:
        yield f"({plural(hidden, 'further rule')} cannot be told here; your user sees all with `memttl policy show`)"
    default = policy.tiers[policy.default_tier]
    yield f"anything else: {code(default.name) or 'a tier'}, {goes_after(default)}"


def _marks(policy: Policy, claims: Claims) -> str:
    due = "goes then unless renewed" if policy.when_due == "expire" else "is listed then"
    marks = [
        f"`[expires {EXPIRES}]` (last day)",
        f"`[review by {EXPIRES}]` ({due})",
        "`[ttl 30d]`",
        *_tier_marks(policy, claims),
    ]
    return f"may stand {', '.join(marks)} or `[pin]` (stays)"


def _tier_marks(policy: Policy, claims: Claims) -> list[str]:
    """The tiers that no rule and no default names, with how long they last; else one tier for an example."""
    named = {policy.default_tier, *(rule.tier for rule in policy.rules)}
    others = [tier for tier in policy.tiers.values() if tier.name not in named and claims.has_mark(tier.name)]
    if others:
        marks = [f"`[tier: {tier.name}]` ({goes_after(tier)})" for tier in others[:_MOST_TIERS]]
        return marks + (["…"] if len(others) > _MOST_TIERS else [])
    example = claims.tier_for_mark()
    return [f"`[tier: {example}]`"] if example else []


def _undated(policy: Policy) -> str:
    if policy.inherit:
        return "it is as old as the only date in its entity, else as old as memttl's first look at it"
    return "it is as old as memttl's first look at it"
