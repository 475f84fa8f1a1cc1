"""What a memory file holds into a `Proposal`: the rules, labels and date formats that a first policy may have. Pure.

`workflow/init.py` asks; `proposal_text.py` writes the policy. In force is only what is evidently passing: marked
prefixes, and of numbered sprints and session notes with a date in their name the texts that say that they are done,
or are lines of a log. On real files half of what rules by entity type alone removed was still true: those are comments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from memttl.core.habits import FormUse, Habits, LabelUse, Uses
from memttl.core.normal import normalise
from memttl.core.proposal_names import Family, families_of, is_plain, passing_types
from memttl.core.proposal_words import DATED, WORDS

_BUILT_IN = ("session", "operational")
# labels that say when their own text was written; "Created:" and "Completed:" tell of other things as often
_LABELS = (
    "knowledge captured", "captured", "captured on", "recorded", "recorded on", "noted on", "logged",
    "logged on", "learned on", "remembered", "remembered on", "memory created", "note created",
    "note date", "entry date", "session date", "observed", "observed on",
)  # fmt: skip
# words before a date that are prefixes, or marks of their own
_READ_ANYWAY = {*WORDS, "permanent", "expires", "valid until", "review by", "review-by", "created", "noted", "learned"}


class PrefixRule(NamedTuple):
    """Prefixes of one tier, with how many texts begin so.

    `marked_only`: only in brackets or with a date, since bare ones, in the entities `bare_in`, may be no notes.
    """

    tier: str
    prefixes: tuple[str, ...]
    uses: int
    marked_only: bool = False
    bare_in: tuple[str, ...] = ()


class DateChoice(NamedTuple):
    """A label or a format with how often it was met; `why_not` is empty where it is proposed."""

    text: str
    uses: int
    why_not: str = ""


class Proposal(NamedTuple):
    """What a policy for one file would say besides the built-in one.

    `prefixes` and `families` are rules in force, in this order; `unsure` are prefixes that are only named in a comment,
    with how many texts begin so; `types` are the entity types for rules that stand as comments. `has_rules` is false
    where nothing but the built-in rules is proposed.
    """

    prefixes: tuple[PrefixRule, ...]
    families: tuple[Family, ...] = ()
    unsure: tuple[tuple[str, int], ...] = ()
    types: tuple[tuple[str, int], ...] = ()
    labels: tuple[DateChoice, ...] = ()
    formats: tuple[DateChoice, ...] = ()

    @property
    def has_rules(self) -> bool:
        """True where the built-in rules alone would not do."""
        built_in = all(rule.prefixes == (rule.tier,) and not rule.marked_only for rule in self.prefixes)
        return bool(self.families) or not built_in

    @property
    def is_built_in(self) -> bool:
        """True where the file gives reason for nothing but the built-in policy."""
        return not (self.has_rules or any(not c.why_not for c in (*self.labels, *self.formats)))


NOTHING_PROPOSED = Proposal(tuple(PrefixRule(word, (word,), 0) for word in _BUILT_IN))


def propose(habits: Habits) -> Proposal:
    """Propose a policy for what was met in a file."""
    families = families_of(habits.names)
    passing = {name for family in families for name in family.names}
    prefixes, unsure = _prefixes(habits, lambda entity: entity[0] in passing or _is_session_like(entity))
    uses = [use for use in habits.labels if is_plain(use.label) and normalise(use.label) not in _READ_ANYWAY]
    labels = tuple(DateChoice(use.label, use.uses, _why_no_label(use)) for use in uses)
    behind_labels = {form for use in uses if not _why_no_label(use) for form in use.formats}
    return Proposal(
        prefixes=tuple(prefixes),
        families=families,
        unsure=tuple(unsure),
        types=passing_types(habits.types),
        labels=labels,
        formats=tuple(_format(use, behind_labels) for use in habits.forms if use.format is not None),
    )


_SESSION_LIKE = re.compile(r"(?<![^\W_])(?:sessions?|sprints?|stand-?ups?|sesi[oó]n|sess[aã]o)(?![^\W_])")


def _is_session_like(entity: tuple[str, str]) -> bool:
    """Say whether an entity's type is one of notes: there a bare `Session: …` is one, too."""
    return _SESSION_LIKE.search(normalise(entity[1])) is not None


def _prefixes(
    habits: Habits, is_passing: Callable[[tuple[str, str]], bool]
) -> tuple[list[PrefixRule], list[tuple[str, int]]]:
    rules, unsure = list[PrefixRule](), list[tuple[str, int]]()
    for tier in _BUILT_IN:
        plain, marked, doubtful = Counter[str](), Counter[str](), dict[str, None]()
        for word in (w for w, named in WORDS.items() if named == tier):
            uses = habits.prefixes.get(normalise(word), Uses())
            met = uses.bracketed + uses.dated + uses.bare
            strange = [name for name, kind in uses.bare_in if not is_passing((name, kind))]
            if word not in _BUILT_IN and not uses.bracketed + (uses.dated if word in DATED else 0):
                unsure += [(word, met)] if met else []
            elif strange or (uses.dated and word not in DATED):
                marked[word] = met
                doubtful |= dict.fromkeys(strange)
            else:
                plain[word] = met
        rules += [PrefixRule(tier, tuple(plain), plain.total())] if plain else []
        if marked:
            rules.append(PrefixRule(tier, tuple(marked), marked.total(), marked_only=True, bare_in=tuple(doubtful)))
    return rules, unsure


def _why_no_label(use: LabelUse) -> str:
    if use.later:
        return "dates to come stand behind it: a plan, not the day of writing"
    if normalise(use.label) not in _LABELS:
        return "it may tell of an event, not of the day on which this was written"
    if not use.is_readable:
        return "its dates can be read in more than one way"
    if use.heads < use.uses and " " not in use.label.removesuffix(" on"):  # "Song recorded: 2025-03-01"
        return "it stands within sentences, too"
    return "" if use.births == use.uses else "some of its dates are older than the memory server"


def _format(use: FormUse, behind_labels: set[str]) -> DateChoice:
    return DateChoice(use.format or use.name, use.uses, _why_no_format(use, is_behind=use.format in behind_labels))


def _why_no_format(use: FormUse, *, is_behind: bool) -> str:
    if not use.format:
        return "it names no day" if use.name == "January 2026" else "memttl reads English names of months only"
    if use.is_ambiguous:
        return "day and month could be the other way round: only you know"
    if not (use.placed or is_behind):
        return "none stands at the start, or in brackets at the end"
    return "" if use.births == use.placed else "some of them are no days of writing"
