"""What is meant by a forget, gathered from every place that holds it, and how much of it each place holds. Only reads.

`workflow/forget.py` shows it before it asks; `erasing.py` counts again under the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from memttl.core.forget_outcome import PlaceCount
from memttl.core.forget_rest import Kinds, rest_in_bytes, rest_in_lines, rest_in_log
from memttl.core.forgetting import Met, Targets, met_element, met_in, targets_of, without
from memttl.core.forgetting_copies import copy_without, parts_of
from memttl.core.forgetting_log import events_in, log_without, met_in_log
from memttl.core.known import Setting
from memttl.core.mentions import Mentions, mentions_of
from memttl.core.rules import compile_glob
from memttl.core.selection import Choice, match_names
from memttl.errors import LedgerDamaged, MemttlError, UnknownEntity
from memttl.files.erasing_places import Place, places_of, read_place
from memttl.files.ledger_open import ledger_errors, ledger_to_read
from memttl.files.snapshot import read_settled
from memttl.files.state import State

_MEND = "`memttl doctor --repair` mends such lines, then forget again"
_AS_FILES = ("memory", "copy", "leftover")
_LOGS = ("log", "old log")


class Count(NamedTuple):
    """How much each place loses, how often each holds it afterwards, as far as can be told, and what to warn of."""

    places: tuple[PlaceCount, ...]
    remaining: tuple[PlaceCount, ...]
    warnings: tuple[str, ...]
    certain: int = 0  # without what goes only because it cannot be searched
    broken: tuple[str, ...] = ()  # the damaged lines that hold it and stay, by place


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
    pins = {*whole, wanted, *_globs_of_none_but(whole, names - chosen, states)} if whole else set[str]()
    shown = tuple(dict.fromkeys((found.entity, found.text) for found in met))
    return Gathered(targets_of(met, whole, pins, mentions_of(choice, words)), shown)


def _globs_of_none_but(gone: frozenset[str], others: set[str], states: Sequence[State]) -> list[str]:
    """Give the entity pins by glob that match some of the names that go and none of the others: they tell of those."""
    pins = {pin for state in states for pin in _pins_at(state) if {"*", "?"} & set(pin) and pin.strip("*?")}
    globs = [(pin, compile_glob(pin)) for pin in sorted(pins)]
    return [pin for pin, g in globs if any(map(g.fullmatch, gone)) and not any(map(g.fullmatch, others))]


def _pins_at(state: State) -> set[str]:
    logs = (read_place(place.path) for place in places_of(state) if place.kind in _LOGS)
    pins = {pin for log in logs for event in events_in(log) if isinstance(pin := event.get("entity_pin"), str)}
    try:
        with ledger_to_read(state.ledger) as ledger, ledger_errors(state.ledger):
            return pins | set(ledger.entity_pins() if ledger is not None else ())
    except LedgerDamaged:
        return pins


def _met_at(
    place: Place, state: State, means: Callable[[str], bool], matches: Callable[[str], bool]
) -> tuple[set[str], list[Met]]:
    if place.kind == "ledger":
        return _met_in_ledger(state, means, matches)
    if place.kind in _AS_FILES:
        return _met_in_parts(parts_of(_bytes_at(place, state)), means, matches)
    if place.kind in _LOGS:
        return met_in_log(read_place(place.path), means, matches)
    return set(), []


def _met_in_parts(
    parts: list[bytes], means: Callable[[str], bool], matches: Callable[[str], bool]
) -> tuple[set[str], list[Met]]:
    names, met = set[str](), list[Met]()
    for part in parts:
        more, found = met_in(part, means, matches)
        names |= more
        met += found
    return names, met


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


class _Held(NamedTuple):
    """What one place loses, how often it holds it afterwards and in what, and its damaged lines that stay."""

    gone: Kinds = ()
    often: int = 0
    left: Kinds = ()
    broken: tuple[int, ...] = ()


def count(states: Sequence[State], targets: Targets, home: Path) -> Count:
    """Count what each place would lose, and where it would still stand; places are named as seen from `home`.

    Raises:
        MemttlError: a place cannot be read.
    """
    found, remaining, told, broken, certain = list[PlaceCount](), list[PlaceCount](), list[str](), list[str](), 0
    for state in states:
        for place in places_of(state):
            held, name = _held_at(place, state, targets, told), place.name(home)
            gone = sum(number for number, _ in held.gone)
            if gone:
                found.append(PlaceCount(name, gone, held.gone))
            if held.broken:
                broken.append(_lines_words(name, held.broken))
            if place.kind == "damaged":
                certain += held.often > 0
                continue
            if held.often:
                remaining.append(PlaceCount(name, held.often, held.left))
            certain += gone
    told += [f"{words} cannot be read and holds it, so it stays there: {_MEND}" for words in broken]
    return Count(tuple(found), tuple(remaining), tuple(told), certain, tuple(broken))


def _held_at(place: Place, state: State, targets: Targets, told: list[str]) -> _Held:
    """Give how much goes from a place, and how much of it is left there."""
    mentions = targets.mentions
    try:
        data = _read(place, state)
    except MemttlError as e:
        if place.kind in ("memory", "log", "ledger"):
            raise
        told.append(f"{e.message} Nobody can tell what it holds: remove it yourself if it must go.")
        return _Held()
    if place.kind in _AS_FILES:
        left = copy_without(data, targets) if place.kind != "memory" else without(data, targets)
        rest = left.data if place.kind != "leftover" else b""
        return _Held(left.kinds, mentions.count(rest), rest_in_lines(rest, mentions), left.broken)
    if place.kind in _LOGS:
        log = log_without(data, targets)
        gone = ((log.changed, "line"),) if log.changed else ()
        return _Held(gone, mentions.count(log.data), rest_in_log(log.data, mentions))
    if place.kind == "ledger":
        return _rows(state, targets)
    if place.kind == "journal":  # the rollback brings back what was deleted, or takes the journal away
        return _Held(((1, "journal of a killed run"),))
    gone = ((1, "damaged ledger, removed whole"),) if place.kind == "damaged" else ()
    return _Held(gone, mentions.count(data), rest_in_bytes(data, mentions))


def _read(place: Place, state: State) -> bytes:
    return _bytes_at(place, state) if place.kind == "memory" else read_place(place.path)


def _lines_words(name: str, lines: tuple[int, ...]) -> str:
    which = ", ".join(map(str, lines[:5])) + (" and more" if len(lines) > 5 else "")
    return f"line {which} of {name}"


def _rows(state: State, targets: Targets) -> _Held:
    try:
        with ledger_to_read(state.ledger) as ledger, ledger_errors(state.ledger):
            if ledger is None:
                return _Held()
            rows, rest = ledger.rows_meant(targets), ledger.rest_after(targets)
    except LedgerDamaged:
        return _Held(((1, "row"),))
    mentions = targets.mentions
    return _Held(((rows, "row"),) if rows else (), mentions.count(rest), rest_in_bytes(rest, mentions))


def remaining(states: Sequence[State], mentions: Mentions, home: Path) -> tuple[PlaceCount, ...]:
    """Search every byte of every place, once all is done, and give where it still stands, as seen from `home`."""
    found = []
    for state in states:
        for place in places_of(state):
            try:
                data = _read(place, state)
            except MemttlError:
                continue  # it was told of before
            often = mentions.count(data)
            if often:
                rest = rest_in_log if place.kind == "log" else rest_in_bytes
                rest = rest_in_lines if place.kind in _AS_FILES else rest
                found.append(PlaceCount(place.name(home), often, rest(data, mentions)))
    return tuple(found)


def refuse_nothing(choice: Choice, counted: Count) -> None:
    """Refuse a choice of which no place holds anything.

    Raises:
        UnknownEntity: where the words stand all the same, if they do.
    """
    if counted.certain:
        return
    whose = "any entity" if choice.entity in (None, "*") else repr(choice.entity)
    text = f"No observation of {whose} matches, in the memory file or in anything that memttl keeps; nothing was done."
    hint = f"TEXT is a part of the text, in any case{'' if whose == 'any entity' else '; --text means all entities'}."
    others = [f"{place.place} ({words})" for place in counted.remaining if (words := place.without_damaged)]
    if others:
        text = f"{text} It stands as part of something else in: {', '.join(others[:5])}."
        hint = "Name an entity to forget it whole, with its name and its relations."
    if counted.broken:
        text = f"{text} It stands in what cannot be read: damaged {', damaged '.join(counted.broken)}."
        hint = f"{_MEND}."
    raise UnknownEntity(text, hint=hint)
