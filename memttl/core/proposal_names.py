"""Entity names that say of themselves that they are passing: numbered sprints, session notes with a date. Pure.

`proposal.py` asks for the globs; one that meets another name of this file besides is given up for the exact names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memttl.core.habits import TypeCount
from memttl.core.normal import normalise
from memttl.core.rules import glob

# words stand alone, between spaces, hyphens and underscores: no "sessions table", no "obsession"
_ALONE = r"(?<![^\W_]){}(?![^\W_])"
_PASSING = re.compile(
    _ALONE.format(r"(?:sessions?|sesi[oó]n|sess[aã]o|sitzung|sprints?|stand-?ups?|iterations?|scratch|temp|tmp)")
)
_SPRINT = re.compile(r"(sprint|iteration)([\s_#-]*#?)[0-9]{1,3}(?![^\W_])")
_DATE = re.compile(
    r"(?<![0-9])20[0-9]{2}(?:-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01]))"
    r"(?![0-9])"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE_IN_WORDS = re.compile(
    rf"(?<![^\W_0-9])(?:{_MONTH}[\s_-]*[0-9]{{1,2}}|[0-9]{{1,2}}[\s_-]*{_MONTH})[\s_,-]*20[0-9]{{2}}(?![0-9])"
)
# entity types whose observations stay, whatever their name is
_STANDING = re.compile(
    r"person|people|user|contact|family|friend|pet\b|prefer|guideline|rule|convention|decision|adr|bug|issue|defect|"
    r"incident|to.?do|task|reminder|goal|project|component|service|feature|module|database|library|tool|api|system|"
    r"concept|compan|organi[sz]|place|location|recipe|health|medic|therap|account|credential|secret|config|"
    r"architect|requirement|policy|standard|lesson|knowledge|fact|reference|document|campaign|dnd|rpg|game|character|training"
)
# entity types that are about passing things: candidates for a rule that somebody has looked at
_PASSING_TYPE = re.compile(
    _ALONE.format(r"(?:sessions?|session_?notes?|sprints?|stand-?ups?|iterations?|scratch|status|logs?|meetings?)")
)
_MOST_NAMES = 25


class Family(NamedTuple):
    """Entities that are passing by their names: what they are, their globs and types, and the names met so far."""

    title: str
    entity: tuple[str, ...]
    entity_type: tuple[str, ...]
    names: tuple[str, ...]


def families_of(entities: Sequence[tuple[str, str]]) -> tuple[Family, ...]:
    """Group the passing ones of these entities (name, type); each rule holds for the types met, and no other."""
    entities = [e for e in entities if is_plain(e[0]) and is_plain(e[1])]
    sprints = [e for e in entities if _is_sprint(e)]
    notes = [e for e in entities if _is_dated_note(e) and not _is_sprint(e)]
    return tuple(
        _family(title, members, globs, entities)
        for title, members, globs in (
            ("numbered sprints", sprints, dict.fromkeys(g for e in sprints for g in _sprint_globs(e[0]))),
            ("session notes with a date in their name", notes, dict.fromkeys(_note_glob(e) for e in notes)),
        )
        if members
    )


def is_plain(text: str) -> bool:
    """Say whether a name can stand in a rule: not empty, no lone surrogate or control character, and no glob."""
    return bool(text.strip()) and text.isprintable() and not set(text) & set("*?")  # a type "*" would be every type


def is_standing(kind: str) -> bool:
    """Say whether what stands in entities of a type is expected to stay true."""
    return _STANDING.search(normalise(kind)) is not None


def passing_types(types: Iterable[TypeCount]) -> tuple[tuple[str, int], ...]:
    """Give the types that somebody might want a rule for, with their observations."""
    return tuple(
        (t.name, t.observations)
        for t in types
        if is_plain(t.name) and _PASSING_TYPE.search(normalise(t.name)) and not is_standing(t.name)
    )


def _is_sprint(entity: tuple[str, str]) -> bool:
    return bool(entity[1]) and not is_standing(entity[1]) and _SPRINT.match(normalise(entity[0])) is not None


def _is_dated_note(entity: tuple[str, str]) -> bool:
    name, kind = normalise(entity[0]), normalise(entity[1])
    if not kind or is_standing(kind):
        return False
    dated = _DATE.search(name) or _DATE_IN_WORDS.search(name)
    return dated is not None and (_PASSING.search(name) is not None or _PASSING.search(kind) is not None)


def _sprint_globs(name: str) -> Iterator[str]:
    """Give a glob a digit, since `*` would meet "Sprint planning", too."""
    found = _SPRINT.match(normalise(name))
    assert found is not None
    start = name[: found.end(2)]
    return (f"{start}{digit}*" for digit in range(10))


def _note_glob(entity: tuple[str, str]) -> str:
    """Give a glob for a name's kind, its date left open: `Session 20??-??-??*`; the name itself where it has none."""
    name = entity[0]
    found = _DATE.search(name)
    # a glob is matched in normal form, but what is taken over here must keep its places
    word = _PASSING.search(name.casefold()) if len(name.casefold()) == len(name) else None
    if found is None:
        return name
    shape = re.sub("[0-9]", "?", found[0].removeprefix("20"))
    tail = "" if found.end() == len(name) else "*"
    if word is None:
        return f"{'*' if found.start() else ''}20{shape}{tail}"
    if word.start() < found.start():
        return f"{'*' if word.start() else ''}{name[word.start() : found.start()]}20{shape}{tail}"
    between = name[found.end() : word.end()] if word.start() - found.end() <= 3 else f"*{word[0]}"
    return f"{'*' if found.start() else ''}20{shape}{between}{'' if word.end() == len(name) else '*'}"


def _family(title: str, members: list[tuple[str, str]], globs: Iterable[str], all_: list[tuple[str, str]]) -> Family:
    kinds = tuple(dict.fromkeys(kind for _, kind in members))
    types = [glob(kind) for kind in kinds]
    of_types = [e for e in all_ if any(t.fullmatch(normalise(e[1])) for t in types)]
    passing = set(members)
    others = {normalise(name) for name, kind in of_types if (name, kind) not in passing}
    names = tuple(dict.fromkeys(name for name, _ in members))
    safe = [text for text in globs if not any(map(glob(text).fullmatch, others))]
    compiled = [glob(text) for text in safe]
    exact = [n for n in names if not any(c in n for c in "*?") and not any(g.fullmatch(normalise(n)) for g in compiled)]
    return Family(title, (*safe, *exact[:_MOST_NAMES]), kinds, names)
