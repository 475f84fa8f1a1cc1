"""One pass over a memory file into `Habits`: what its owner and assistants write, counted. Pure.

`workflow/init.py` takes the pass; `proposal.py` proposes a policy from it, and `memttl init` shows it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from memttl.core.clock import EARLIEST
from memttl.core.dates import DateReader, day_of
from memttl.core.evidence import text_of
from memttl.core.formats import compile_format
from memttl.core.head import HeadReader
from memttl.core.marks import TailReader
from memttl.core.memory import read_lines
from memttl.core.model import When
from memttl.core.normal import normalise
from memttl.core.policy import Policy
from memttl.core.progress import Progress, no_progress, ticks_of
from memttl.core.written_dates import FORMS, Written, dates_in

# `Label:` or `[x]` at the head of a text, as people see it; rules match more strictly
_HEAD = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:[\[(]\s*([^\W\d_][^\[\]()\n]{0,30}?)\s*[\])]|([^\W\d_][^:：\n]{0,30}?)\s*[:：](?!\S))"
)
_MOST_HEADS = 100_000


class TypeCount(NamedTuple):
    """How many entities and observations there are of one entity type ("" for none)."""

    name: str
    entities: int
    observations: int


class Uses(NamedTuple):
    """How one prefix is used: in brackets, with a date and no brackets, and in neither way (`bare`).

    `bare_in` names the entities of the bare ones with their types, each once.
    """

    bracketed: int = 0
    dated: int = 0
    bare: int = 0
    bare_in: tuple[tuple[str, str], ...] = ()


class LabelUse(NamedTuple):
    """How often a label stands before a date.

    `heads`: as the head of its text. `readable`: the date is in ISO 8601, or `formats` name the forms that would read
    the rest. `births`: the day lies between the server's first release and now. `elsewhere`: the label's words stand
    before a colon without such a date behind it.
    """

    label: str
    uses: int
    heads: int
    births: int
    later: int
    formats: tuple[str, ...]
    is_readable: bool


class FormUse(NamedTuple):
    """How often dates are written in one form, and at places where a policy's `formats` would read them (`placed`).

    `births` of those lie between the server's first release and now.
    """

    name: str
    format: str | None
    is_ambiguous: bool
    uses: int
    placed: int
    births: int


class Habits(NamedTuple):
    """What a memory file holds. `names` are its entities with their types, in order; `prefixes` those of `words`."""

    names: tuple[tuple[str, str], ...]
    observations: int
    dated: int
    types: tuple[TypeCount, ...]
    heads: tuple[tuple[str, int], ...]
    prefixes: Mapping[str, Uses]
    labels: tuple[LabelUse, ...]
    forms: tuple[FormUse, ...]


@dataclass(slots=True)
class _Tally:
    names: dict[tuple[str, str], None] = field(default_factory=dict)
    observations: int = 0
    dated: int = 0
    types: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    heads: Counter[str] = field(default_factory=Counter)
    uses: dict[str, Uses] = field(default_factory=dict)
    bare_in: dict[str, dict[tuple[str, str], None]] = field(default_factory=dict)
    labelled: dict[str, list[tuple[Written, When | None]]] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    forms: dict[str, list[When | None]] = field(default_factory=dict)
    placed: dict[str, list[When | None]] = field(default_factory=dict)


def habits_of(data: bytes, words: Iterable[str], now: datetime, *, progress: Progress = no_progress) -> Habits:
    """Look at the memory file whose bytes are `data`: which of the prefixes `words` it uses, and all else.

    Lines that cannot be judged are passed over.
    """
    reader, tally = _Reader(words, now), _Tally()
    for line in read_lines(data, tick=ticks_of(progress, "looking at what is written", len(data))):
        if not line.is_judged or line.record is None:
            continue
        kind = line.record.get("entityType")
        entity = (line.record["name"], kind if isinstance(kind, str) else "")
        tally.names[entity] = None
        tally.types[entity[1]] += 1
        for element in line.record["observations"]:
            text = text_of(element)
            tally.observations += 1
            tally.held[entity[1]] += 1
            if text is not None:
                reader.add(text, entity, tally)
    return _habits(tally, now)


class _Reader:
    def __init__(self, words: Iterable[str], now: datetime) -> None:
        self._words, self._zone = tuple(words), now.tzinfo
        assert self._zone is not None
        self._heads = HeadReader(self._words, DateReader((), self._zone))
        self._by_form: dict[str, tuple[DateReader, HeadReader, TailReader]] = {}

    def add(self, text: str, entity: tuple[str, str], tally: _Tally) -> None:
        """Note what one observation says."""
        normal = normalise(text)
        self._note_prefix(normal, entity, tally)
        found = _HEAD.match(text)
        if found:
            head = f"[{found[1]}]" if found[1] else f"{found[2]}:"
            if head in tally.heads or len(tally.heads) < _MOST_HEADS:
                tally.heads[head] += 1
        dates = list(dates_in(text))
        tally.dated += bool(dates)
        for written in dates:
            self._note_date(normal, written, tally)

    def _note_prefix(self, normal: str, entity: tuple[str, str], tally: _Tally) -> None:
        head = self._heads.read(normal)
        for prefix in head.prefixes:
            old = tally.uses.get(prefix, Uses())
            if re.search(rf"[\[(]\s*{re.escape(prefix)}", normal[:80]):
                new = old._replace(bracketed=old.bracketed + 1)
            elif head.dates:
                new = old._replace(dated=old.dated + 1)
            else:
                new = old._replace(bare=old.bare + 1)
                tally.bare_in.setdefault(prefix, {})[entity] = None
            tally.uses[prefix] = new

    def _note_date(self, normal: str, written: Written, tally: _Tally) -> None:
        form = written.form
        when = self._read(written)
        tally.forms.setdefault(form.name, []).append(when)
        if written.label:
            key = normalise(written.label)
            tally.spelled.setdefault(key, written.label)
            tally.labelled.setdefault(key, []).append((written, when))
        if form.format and self._is_placed(normal, form.format, written):
            tally.placed.setdefault(form.name, []).append(when)

    def _readers(self, form: str) -> tuple[DateReader, HeadReader, TailReader]:
        if form not in self._by_form:
            assert self._zone is not None
            dates = DateReader((compile_format(form),) if form else (), self._zone)
            self._by_form[form] = dates, HeadReader(self._words, dates), TailReader(Policy().tiers, dates)
        return self._by_form[form]

    def _read(self, written: Written) -> When | None:
        if written.form.format == "":
            return None
        found = self._readers(written.form.format or "")[0].whole(normalise(written.text))
        return found.when if found else None

    def _is_placed(self, normal: str, form: str, written: Written) -> bool:
        """Say whether the policy would read this date as a birth if it named the form: at the head, at the end."""
        _, heads, tails = self._readers(form)
        wanted = normalise(written.text)
        return any(d.text == wanted for d in (*heads.read(normal).dates, *tails.read(normal).dates))


def _habits(tally: _Tally, now: datetime) -> Habits:
    types = (TypeCount(name, count, tally.held[name]) for name, count in tally.types.items())
    return Habits(
        names=tuple(tally.names),
        observations=tally.observations,
        dated=tally.dated,
        types=tuple(sorted(types, key=lambda t: (-t.observations, t.name))),
        heads=tuple(sorted(tally.heads.items(), key=lambda item: (-item[1], item[0]))),
        prefixes={p: uses._replace(bare_in=tuple(tally.bare_in.get(p, ()))) for p, uses in tally.uses.items()},
        labels=_labels(tally, now),
        forms=_forms(tally, now),
    )


def _labels(tally: _Tally, now: datetime) -> tuple[LabelUse, ...]:
    found = []
    for key, uses in tally.labelled.items():
        forms = {w.form.format for w, _ in uses}
        found.append(
            LabelUse(
                tally.spelled[key],
                len(uses),
                sum(w.begins_text for w, _ in uses),
                sum(is_birth(when, now) for _, when in uses),
                sum(_is_later(when, now) for _, when in uses),
                tuple(sorted(f for f in forms if f)),
                is_readable="" not in forms and not any(w.form.is_ambiguous for w, _ in uses),
            )
        )
    return tuple(sorted(found, key=lambda use: (-use.uses, use.label)))


def _forms(tally: _Tally, now: datetime) -> tuple[FormUse, ...]:
    found = []
    for form in FORMS:
        if form.name in tally.forms:
            placed = tally.placed.get(form.name, [])
            births = sum(is_birth(when, now) for when in placed)
            count = len(tally.forms[form.name])
            found.append(FormUse(form.name, form.format, form.is_ambiguous, count, len(placed), births))
    return tuple(found)


def is_birth(when: When | None, now: datetime) -> bool:
    """Say whether something may have been written on that day: no such server existed before November 2024."""
    return when is not None and _day_of(EARLIEST, now) <= _day_of(when, now) <= now.date()


def _is_later(when: When | None, now: datetime) -> bool:
    return when is not None and _day_of(when, now) > now.date()


def _day_of(when: When, now: datetime) -> date:
    assert now.tzinfo is not None
    return day_of(when, now.tzinfo)
