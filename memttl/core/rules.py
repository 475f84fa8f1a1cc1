"""Rules: which of the policy's rows of judgement names the tier of an observation. First match wins.

`evidence.py` asks for the first match; `explain` asks the same objects why the rows before it did not match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from memttl.core.normal import normalise


class Subject(NamedTuple):
    """What rules look at: the prefixes found at the head, the entity's name and type, and the text as written."""

    prefixes: frozenset[str]
    entity: str
    entity_type: str | None
    text: str


class Rule(NamedTuple):
    """One row of judgement, compiled. `label` is its name, else `rules[1]` by its place (from 0)."""

    label: str
    tier: str
    prefixes: frozenset[str] = frozenset()
    entity: tuple[re.Pattern[str], ...] = ()
    entity_type: tuple[re.Pattern[str], ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()

    @property
    def is_by_type_alone(self) -> bool:
        """True when nothing but the entity's type makes it match."""
        return bool(self.entity_type) and not (self.prefixes or self.entity or self.patterns)

    def mismatch(self, subject: Subject) -> str:
        """Say which condition does not hold; empty when all hold and the rule matches."""
        if self.prefixes and self.prefixes.isdisjoint(subject.prefixes):
            return "no such prefix"
        if self.entity_type and not _any_glob(self.entity_type, subject.entity_type):
            return "another entity type"
        if self.entity and not _any_glob(self.entity, subject.entity):
            return "another entity"
        if self.patterns and not any(p.search(subject.text) for p in self.patterns):
            return "the pattern is not found"
        return ""


def compile_rule(
    label: str,
    tier: str,
    *,
    prefix: Iterable[str] = (),
    entity: Iterable[str] = (),
    entity_type: Iterable[str] = (),
    pattern: Iterable[str] = (),
) -> Rule:
    """Compile a rule's conditions: prefixes, globs (`*` and `?`, case-insensitive) and regular expressions."""
    return Rule(
        label,
        tier,
        frozenset(normalise(p) for p in prefix),
        tuple(glob(g) for g in entity),
        tuple(glob(g) for g in entity_type),
        tuple(re.compile(p) for p in pattern),
    )


def glob(text: str) -> re.Pattern[str]:
    """Compile a glob with `*` and `?`; it is matched against a normalised name."""
    return compile_glob(normalise(text))


def compile_glob(text: str) -> re.Pattern[str]:
    """Compile a glob as it is written, to be matched against whole names."""
    first, *rest = ("".join("." if c == "?" else re.escape(c) for c in piece) for piece in text.split("*"))
    if not rest:
        return re.compile(first, re.DOTALL)
    # atomic: each piece is taken where it is first found, so that many stars do not multiply
    between = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
    return re.compile(f"{first}{between}.*{rest[-1]}", re.DOTALL)


def _any_glob(globs: tuple[re.Pattern[str], ...], name: str | None) -> bool:
    return name is not None and any(g.fullmatch(normalise(name)) for g in globs)
