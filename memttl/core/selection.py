"""Choosing entities and observations by name, glob, text, type and tier, for filters and for `explain`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from memttl.core.model import Verdict
from memttl.core.near import near
from memttl.core.normal import normalise
from memttl.core.rules import compile_glob, glob
from memttl.errors import UnknownEntity, UsageError


class Filters(NamedTuple):
    """What a prune is narrowed to; an empty one lets everything pass. All that are given must hold."""

    entities: frozenset[str] | None = None
    types: tuple[re.Pattern[str], ...] = ()
    tiers: frozenset[str] = frozenset()

    def match(self, verdict: Verdict) -> bool:
        """Say whether the filters let this verdict pass."""
        if self.tiers and verdict.tier not in self.tiers:
            return False
        return self.match_entity(verdict.entity, verdict.entity_type)

    def match_entity(self, name: str, entity_type: str | None) -> bool:
        """Say whether the filters that name entities let one pass."""
        return (self.entities is None or name in self.entities) and self.match_type(entity_type)

    def match_type(self, entity_type: str | None) -> bool:
        """Say whether they let an entity of this type pass, whatever its name and its tiers."""
        kind = normalise(entity_type) if self.types and entity_type is not None else None
        return not self.types or (kind is not None and any(t.fullmatch(kind) for t in self.types))


class Choice(NamedTuple):
    """Which observations are meant: ENTITY an exact name, else a glob; TEXT a substring, `exact`, or a `pattern`."""

    entity: str | None = None
    text: str | None = None
    exact: bool = False
    pattern: bool = False

    def matcher(self) -> Callable[[str], bool]:
        """Give a test for an observation's text.

        Raises:
            UsageError: the regular expression cannot be compiled.
        """
        return text_matcher(self.text, exact=self.exact, pattern=self.pattern)


def make_filters(
    entities: Sequence[str],
    types: Sequence[str],
    tiers: Sequence[str],
    *,
    heads: Callable[[], Iterable[tuple[str, str | None]]],
    known_tiers: list[str],
) -> Filters:
    """Make filters from what the user named; `heads` gives the file's entities as (name, type).

    A glob that matches nothing is a filter like any other; an exact word that matches nothing is a slip.

    Raises:
        UnknownEntity: an exact name or type that no entity has.
        UsageError: a tier that the policy does not have.
    """
    all_heads = list(heads()) if entities or types else []  # of a large file they cost a pass over its lines
    for tier in tiers:
        refuse_unknown_tier(tier, known_tiers)
    all_types = sorted({kind for _, kind in all_heads if kind is not None})
    for kind in types:
        if not is_glob(kind) and not any(glob(kind).fullmatch(normalise(t)) for t in all_types):
            raise UnknownEntity(
                f"No entity is of type {kind!r}{near(kind, all_types)}; nothing was done.",
                hint="Types compare in any case; a glob such as 'status*' matches several.",
            )
    chosen = None
    if entities:
        all_names = frozenset(name for name, _ in all_heads)
        chosen = frozenset().union(*(match_names(e, all_names, glob_may_miss=True) for e in entities))
    return Filters(chosen, tuple(glob(t) for t in types), frozenset(tiers))


def refuse_unknown_tier(tier: str, known_tiers: list[str]) -> None:
    """Refuse a tier that the policy does not have.

    Raises:
        UsageError: it names a near one, and all that there are.
    """
    if tier not in known_tiers:
        raise UsageError(
            f"The policy has no tier {tier!r}{near(tier, known_tiers)}; nothing was done.",
            hint=f"Its tiers are: {', '.join(known_tiers)}.",
        )


def is_glob(text: str) -> bool:
    """Say whether a name may mean several."""
    return "*" in text or "?" in text


def match_names(wanted: str, names: frozenset[str], *, glob_may_miss: bool = False) -> frozenset[str]:
    """Give the names that `wanted` means: the exact one, else those that it matches as a glob (case as written).

    Raises:
        UnknownEntity: none; the message names near ones.
    """
    if wanted in names:
        return frozenset({wanted})
    pattern = compile_glob(wanted)
    found = frozenset(n for n in names if pattern.fullmatch(n))
    if found or (glob_may_miss and is_glob(wanted)):
        return found
    hint = near(wanted, sorted(names))
    raise UnknownEntity(
        f"No entity is named {wanted!r}{hint}; nothing was done.",
        hint="Names compare with case; a glob such as 'Sprint *' matches several.",
    )


def text_matcher(text: str | None, *, exact: bool = False, pattern: bool = False) -> Callable[[str], bool]:
    """Give a test for an observation's text: case-insensitive substring, the whole text, or a regular expression.

    Raises:
        UsageError: the regular expression cannot be compiled.
    """
    if text is None and (exact or pattern):
        option = "--exact" if exact else "--pattern"
        raise UsageError(f"{option} says how TEXT is meant, and no TEXT is given; nothing was done.")
    if text is None:
        return lambda _: True
    if exact:
        return lambda candidate: candidate == text
    if pattern:
        try:
            compiled = re.compile(text)
        except (re.error, OverflowError, RecursionError) as e:
            raise UsageError(f"--pattern {text!r} is no regular expression: {e}.") from None
        return lambda candidate: compiled.search(candidate) is not None
    folded = normalise(text)
    return lambda candidate: folded in normalise(candidate)
