"""The ledger against a naive model of it: what is new, gone and known over any sequence of looks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import fresh, looked
from strategies import AWKWARD, OTHERS, entity_lines
from support import NOW, entity

from memttl.core.digests import text_digest, text_key
from memttl.core.evidence import text_of
from memttl.core.known import Setting
from memttl.core.look import Comparison, look_at
from memttl.core.memory import read_lines
from memttl.core.model import UserSettings
from memttl.core.sightings import AT_LOOK, DAY_S
from memttl.files.ledger import Ledger

PINNED = UserSettings(pinned=True)
DAY = timedelta(days=1)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with fresh() as made:
        yield made


def compared(ledger: Ledger, data: bytes) -> Comparison:
    """What a look at `data` would find."""
    known = ledger.known_lines()
    return ledger.compare(look_at(data, known), known)


def dump(ledger: Ledger) -> list[str]:
    """All that is in the ledger, as SQL."""
    return list(ledger._connection.iterdump())


class Model:
    """The ledger as one would write it without a thought for speed: sets of (entity, text)."""

    def __init__(self) -> None:
        self.first: dict[tuple[str, str], int] = {}
        self.there: set[tuple[str, str]] = set()
        self.names: set[str] = set()

    def look(self, data: bytes, now: datetime) -> Comparison:
        """Record a look and say what it found."""
        found, names = self.read(data)
        new = {key for key in found if key not in self.first}
        result = Comparison(
            new=len(new),
            gone=len(self.there - found),
            known=len(found - new),
            then=len(self.there),
            entities=len(names),
            entities_gone=len(self.names - names),
            entities_then=len(self.names),
        )
        self.first |= dict.fromkeys(new, int(now.timestamp()))
        self.there, self.names = found, names
        return result

    @staticmethod
    def read(data: bytes) -> tuple[set[tuple[str, str]], set[str]]:
        """All texts of a file, and its entities' names."""
        texts, names = set(), set()
        for line in read_lines(data):
            if line.is_judged and line.record is not None:
                name = line.record["name"]
                names.add(name)
                texts |= {(name, t) for o in line.record["observations"] if (t := text_of(o)) is not None}
        return texts, names


# few names and few texts, so that they meet again; twice the same line, empty entities, objects, elements of no text
texts = st.one_of(st.sampled_from(["a", "b", "c", "d"]), st.sampled_from(AWKWARD))
elements = st.one_of(texts, texts, texts.map(lambda t: {"content": t}), st.sampled_from([None, 3, [], {"note": "x"}]))
plain_lines = st.builds(
    lambda name, found: entity(found, name=name), st.sampled_from("ABC"), st.lists(elements, max_size=4)
)
malformed = st.sampled_from([b'{"type":"enti', b"\xff", b"{}{}"])
lines = st.one_of(plain_lines, plain_lines, plain_lines, entity_lines(), st.sampled_from(OTHERS), malformed)
files = st.lists(lines, max_size=6)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[bytes, timedelta]]:
    """Files that follow upon each other: lines stay, go, come, come back, stand twice, change places."""
    pool = draw(st.lists(lines, min_size=1, max_size=8))
    found = []
    for _ in range(draw(st.integers(1, 6))):
        chosen = draw(st.lists(st.sampled_from(pool), max_size=8))
        later = draw(st.sampled_from([timedelta(0), timedelta(minutes=5), DAY, 40 * DAY]))
        found.append((b"\n".join(chosen), later))
    return found


@given(histories())
def test_counts_are_those_of_the_naive_model(history: list[tuple[bytes, timedelta]]) -> None:
    model, now = Model(), NOW
    with fresh() as ledger:
        for data, later in history:
            now += later
            assert looked(ledger, data, now) == model.look(data, now)


@given(histories())
def test_compare_gives_the_numbers_of_record_and_changes_nothing(history: list[tuple[bytes, timedelta]]) -> None:
    with fresh() as ledger:
        for data, _ in history:
            before = dump(ledger)
            found = compared(ledger, data)
            assert dump(ledger) == before
            assert looked(ledger, data) == found


@given(histories())
def test_first_sightings_are_those_of_the_naive_model(history: list[tuple[bytes, timedelta]]) -> None:
    model, now = Model(), NOW
    with fresh() as ledger:
        for data, later in history:
            now += later
            looked(ledger, data, now)
            model.look(data, now)
        for (name, text), first in model.first.items():
            assert ledger.sightings_of(name)[text_key(text)].first_seen == first


@given(histories())
def test_same_file_again_finds_nothing_and_writes_nothing(history: list[tuple[bytes, timedelta]]) -> None:
    with fresh() as ledger:
        for data, _ in history:
            looked(ledger, data)
            before, rows = dump(ledger), ledger._connection.total_changes
            found = looked(ledger, data)
            assert (found.new, found.gone, found.entities_gone) == (0, 0, 0)
            assert (dump(ledger), ledger._connection.total_changes) == (before, rows)


@given(histories())
def test_what_is_written_passes_its_own_check(history: list[tuple[bytes, timedelta]]) -> None:
    with fresh() as ledger:
        for data, later in history:
            looked(ledger, data, NOW + later)
            ledger.check()


def test_first_look_is_the_baseline(ledger: Ledger) -> None:
    assert ledger.baseline is None
    assert looked(ledger, entity(["x"])).is_first
    looked(ledger, entity(["x", "y"]), NOW + DAY)
    assert ledger.baseline == NOW


def test_first_look_at_an_empty_file_is_the_baseline_too(ledger: Ledger) -> None:
    looked(ledger, b"")
    assert ledger.baseline == NOW


def test_text_that_comes_back_is_known_and_counted_again(ledger: Ledger) -> None:
    for texts in (["x", "y"], ["x"], ["x", "y"]):
        looked(ledger, entity(texts))
    assert looked(ledger, entity(["x"])) == Comparison(0, 1, 1, then=2, entities=1, entities_then=1)


def test_empty_entity_is_counted(ledger: Ledger) -> None:
    looked(ledger, entity(["x"]))
    looked(ledger, entity(["x"]) + b"\n" + entity([], name="F"))
    assert looked(ledger, entity(["x"])).entities_then == 2


def test_renamed_entity_is_another_one(ledger: Ledger) -> None:
    looked(ledger, entity(["x"], name="A"))
    found = looked(ledger, entity(["x"], name="B"), NOW + DAY)
    assert (found.new, found.gone, found.entities_gone) == (1, 1, 1)
    assert ledger.sightings_of("A")[text_key("x")].last_day == NOW.timestamp() // DAY_S


def test_damaged_line_is_gone_and_as_old_as_it_was_once_it_is_mended(ledger: Ledger) -> None:
    line = entity(["x"])
    looked(ledger, line)
    looked(ledger, line[:-3], NOW + DAY)
    looked(ledger, line, NOW + 2 * DAY)
    assert ledger.sightings_of("E")[text_key("x")][:3] == (NOW.timestamp(), AT_LOOK, False)


@pytest.mark.parametrize(("days", "stays"), [(364, True), (365, True), (366, False)])
def test_text_not_seen_for_a_year_is_dropped(ledger: Ledger, days: int, stays: bool) -> None:
    looked(ledger, entity(["x", "y"]))
    looked(ledger, entity(["y"]), NOW)
    looked(ledger, entity(["y"]), NOW + days * DAY)
    assert (text_key("x") in ledger.sightings_of("E")) == stays
    assert text_key("y") in ledger.sightings_of("E")


def test_entity_not_seen_for_a_year_is_dropped_whole(ledger: Ledger) -> None:
    looked(ledger, entity(["x"]))
    looked(ledger, b"")
    looked(ledger, b"", NOW + 366 * DAY)
    assert ledger._connection.execute("SELECT count(*) FROM entity").fetchone() == (0,)


def test_text_with_settings_is_never_dropped(ledger: Ledger) -> None:
    ledger.put_setting(Setting("E", text_digest("x"), "x", PINNED))
    for data, now in ((entity(["x", "y"]), NOW), (b"", NOW), (b"", NOW + 800 * DAY), (b"", NOW + 1600 * DAY)):
        looked(ledger, data, now)
    assert list(ledger.sightings_of("E")) == [text_key("x")]


def test_text_that_comes_back_within_a_year_is_as_old_as_it_was(ledger: Ledger) -> None:
    for data, day in ((entity(["x"]), 0), (b"", 1), (b"", 300), (entity(["x"]), 360), (entity(["x"]), 900)):
        looked(ledger, data, NOW + day * DAY)
    assert ledger.sightings_of("E")[text_key("x")].first_seen == NOW.timestamp()


def test_text_that_comes_back_after_a_year_is_new(ledger: Ledger) -> None:
    for data, day in ((entity(["x"]), 0), (b"", 1), (b"", 370)):
        looked(ledger, data, NOW + day * DAY)
    assert looked(ledger, entity(["x"]), NOW + 371 * DAY).new == 1


def test_last_day_is_that_of_the_look_before(ledger: Ledger) -> None:
    looked(ledger, entity(["x"]))
    looked(ledger, entity(["x"]), NOW + 9 * DAY)  # nothing new, but another day
    looked(ledger, b"", NOW + 30 * DAY)
    assert ledger.sightings_of("E")[text_key("x")].last_day == (NOW + 9 * DAY).timestamp() // DAY_S
