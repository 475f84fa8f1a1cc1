"""What is meant by a forget, gathered from every place that holds it, and how much of it each place holds. Only reads.

`workflow/forget.py` shows it before it asks; `erasing.py` counts again under the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memttl.core.forget_outcome import PlaceCount
from memttl.core.forgetting import Met, Targets, met_element, met_in, targets_of, without
from memttl.core.forgetting_log import log_without, met_in_log
from memttl.core.known import Setting
from memttl.core.mentions import Mentions, mentions_of
from memttl.core.rules import compile_glob
from memttl.core.selection import Choice, match_names
from memttl.errors import LedgerDamaged, MemttlError, UnknownEntity
from memttl.files.erasing_places import Place, places_of, read_place
from memttl.files.ledger_open import ledger_errors, ledger_to_read
from memttl.files.snapshot import read_settled
from memttl.files.state import State

_AS_FILES = ("memory", "copy", "leftover")
_LOGS = ("log", "old log")


class Count(NamedTuple):
    """How much each place loses, how often each holds it afterwards, as far as can be told, and what to warn of."""

    places: tuple[PlaceCount, ...]
    remaining: tuple[PlaceCount, ...]
    warnings: tuple[str, ...]
    certain: int = 0  # without what goes only because it cannot be searched


class Gathered(NamedTuple):
    """What is meant: the targets, and each observation once, as (entity, text)."""

    targets: Targets
    observations: tuple[tuple[str, str], ...]


def gather(states: Sequence[State], choice: Choice) -> Gathered:
    """Find what a choice means in memory files, ledgers, audit logs, backups and whatever a killed run left.

    Raises:
        UnknownEntity: no place knows such an entity.
        MemttlError: a place cannot be read.
    """
    wanted = choice.entity if choice.entity is not None else "*"
    glob, matches = compile_glob(wanted), choice.matcher()
    names, met = set[str](), list[Met]()

    def means(name: str) -> bool:
        return name == wanted or glob.fullmatch(name) is not None

    for state in states:
        for place in places_of(state):
            more, found = _met_at(place, state, means, matches)
            names |= more
            met += found
    chosen = match_names(wanted, frozenset(names)) if wanted != "*" or not names else frozenset(names)
    met = [found for found in met if found.entity in chosen]
    whole = chosen if choice.text is None else frozenset[str]()
    words = tuple(sorted(chosen)) if choice.text is None else ()
    pins = {*whole, wanted} if whole else set[str]()
    shown = tuple(dict.fromkeys((found.entity, found.text) for found in met))
    return Gathered(targets_of(met, whole, pins, mentions_of(choice, words)), shown)


def _met_at(
    place: Place, state: State, means: Callable[[str], bool], matches: Callable[[str], bool]
) -> tuple[set[str], list[Met]]:
    if place.kind == "ledger":
        return _met_in_ledger(state, means, matches)
    if place.kind in _AS_FILES:
        return met_in(_bytes_at(place, state), means, matches)
    if place.kind in _LOGS:
        return met_in_log(read_place(place.path), means, matches)
    return set(), []


def _bytes_at(place: Place, state: State) -> bytes:
    """Read a file that is one of lines; a compressed backup that is damaged holds nothing that could be told."""
    if place.kind == "memory":
        return read_settled(state.memory, lambda _: (None, False))[0].data
    try:
        return read_place(place.path)
    except MemttlError:
        return b""


def _met_in_ledger(
    state: State, means: Callable[[str], bool], matches: Callable[[str], bool]
) -> tuple[set[str], list[Met]]:
    try:
        with ledger_to_read(state.ledger) as ledger, ledger_errors(state.ledger):
            if ledger is None:
                return set(), []
            settings, names = ledger.settings(), ledger.names()
            pins = {pin for pin in ledger.entity_pins() if not {"*", "?"} & set(pin)}
    except LedgerDamaged:
        return set(), []
    return names | pins, [_of_setting(s) for s in settings if means(s.entity) and s.text and matches(s.text)]


def _of_setting(setting: Setting) -> Met:
    import json

    assert setting.text is not None
    return met_element(setting.entity, json.dumps(setting.text), setting.text)


def count(states: Sequence[State], targets: Targets) -> Count:
    """Count what each place would lose, and where it would still stand.

    Raises:
        MemttlError: a place cannot be read.
    """
    found, remaining, told, certain = list[PlaceCount](), list[PlaceCount](), list[str](), 0
    for state in states:
        for place in places_of(state):
            gone, left = _count_at(place, state, targets, told)
            if gone:
                found.append(place.counted(state, gone))
            if place.kind == "damaged":
                certain += left > 0
            elif left:
                remaining.append(PlaceCount(place.name(state), left))
            certain += gone if place.kind != "damaged" else 0
    return Count(tuple(found), tuple(remaining), tuple(told), certain)


def _count_at(place: Place, state: State, targets: Targets, told: list[str]) -> tuple[int, int]:
    """Give how much goes from a place, and how often what is left of it still holds it."""
    mentions = targets.mentions
    try:
        data = _read(place, state)
    except MemttlError as e:
        if place.kind in ("memory", "log", "ledger"):
            raise
        told.append(f"{e.message} Nobody can tell what it holds: remove it yourself if it must go.")
        return 0, 0
    if place.kind in _AS_FILES:
        left = without(data, targets, drop_broken=place.kind != "memory")
        if left.broken:
            told.append(_broken_words(place, state, left.broken))
        return left.gone, 0 if place.kind == "leftover" else mentions.count(left.data)
    if place.kind in _LOGS:
        log = log_without(data, targets)
        return log.changed, mentions.count(log.data)
    if place.kind == "ledger":
        return _rows(state, targets), 0
    if place.kind == "damaged":
        return 1, mentions.count(data)
    if place.kind == "journal":  # the rollback brings back what was deleted, or takes the journal away
        return 1, 0
    return 0, mentions.count(data)


def _read(place: Place, state: State) -> bytes:
    return _bytes_at(place, state) if place.kind == "memory" else read_place(place.path)


def _broken_words(place: Place, state: State, lines: tuple[int, ...]) -> str:
    which = ", ".join(map(str, lines[:5])) + (" and more" if len(lines) > 5 else "")
    return (
        f"line {which} of {place.name(state)} cannot be read and holds it, so it stays there: "
        "`memttl doctor --repair` mends such lines, then forget again"
    )


def _rows(state: State, targets: Targets) -> int:
    try:
        with ledger_to_read(state.ledger) as ledger, ledger_errors(state.ledger):
            return ledger.rows_meant(targets) if ledger is not None else 0
    except LedgerDamaged:
        return 1


def remaining(states: Sequence[State], mentions: Mentions) -> tuple[PlaceCount, ...]:
    """Search every byte of every place, once all is done, and give where it still stands."""
    found = []
    for state in states:
        for place in places_of(state):
            try:
                often = mentions.count(_read(place, state))
            except MemttlError:
                continue  # it was told of before
            if often:
                found.append(PlaceCount(place.name(state), often))
    return tuple(found)


def refuse_nothing(choice: Choice, counted: Count) -> None:
    """Refuse a choice of which no place holds anything.

    Raises:
        UnknownEntity: where the words stand all the same, if they do.
    """
    if counted.certain:
        return
    where = ", ".join(place.place for place in counted.remaining[:5])
    also = f" It stands as part of something else in: {where}." if where else ""
    raise UnknownEntity(
        f"No observation of {choice.entity or '*'!r} matches, in the memory file or in anything that memttl keeps; "
        f"nothing was done.{also}",
        hint="'*' means every entity; TEXT is a part of the text, in any case.",
    )
