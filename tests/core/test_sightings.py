"""The sightings of one entity: packed and back, and how looks and namings change them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memttl.core.sightings import (
    AT_LOOK,
    DAY_S,
    BadRow,
    Sighting,
    Sightings,
    after_arrivals,
    after_look,
    after_naming,
    oldest_gone,
    pack,
    present,
    unpack,
    without_old,
)

KEYS = [bytes([i]) * 8 for i in range(6)]
DAY_1 = 20_000
keys = st.sampled_from(KEYS)
some_sightings = st.dictionaries(
    st.binary(min_size=8, max_size=8),
    st.builds(Sighting, st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1), st.booleans(), st.booleans()),
    max_size=8,
)
looks = st.tuples(st.just("look"), st.frozensets(keys))
births = st.one_of(st.none(), st.integers(0, 2**32 - 1))
namings = st.tuples(st.just("naming"), st.dictionaries(keys, births, max_size=3))
histories = st.lists(st.tuples(st.one_of(looks, namings), st.integers(0, 3 * DAY_S)), max_size=12)


def played(history: list[tuple[tuple[str, object], int]]) -> list[tuple[int, Sightings]]:
    """The sightings after each event of a history, with its instant."""
    found: Sightings = {}
    now, last_day, states = DAY_1 * DAY_S, DAY_1, []
    for (kind, what), later_s in history:
        now += later_s
        if kind == "look":
            found, last_day = after_look(found, what, now, last_day), now // DAY_S
        else:
            found = after_naming(found, what, now)
        states.append((now, found))
    return states


@given(some_sightings)
def test_unpack_gives_what_was_packed(sightings: Sightings) -> None:
    assert unpack(pack(sightings)) == sightings


A, NOON = KEYS[0], DAY_1 * DAY_S


def test_arrival_gives_its_second_to_what_is_new_and_to_what_was_here_before() -> None:
    assert after_arrivals({}, {A: NOON}) == {A: Sighting(NOON, DAY_1, arrived=True)}
    seen = Sighting(5, 3, backfilled=True)
    assert after_arrivals({A: seen}, {A: NOON}) == {A: Sighting(NOON, DAY_1, arrived=True)}


def test_old_line_that_is_read_again_moves_nothing() -> None:
    for later in (Sighting(NOON + 9, DAY_1), Sighting(NOON + 9, AT_LOOK, arrived=True)):
        assert after_arrivals({A: later}, {A: NOON}) == {A: later}


def test_neither_look_nor_backfill_moves_an_arrival() -> None:
    came = after_arrivals({}, {A: NOON})
    assert after_look(came, [A], NOON + 50, DAY_1)[A] == Sighting(NOON, AT_LOOK, arrived=True)
    assert after_naming(came, {A: 7}, NOON + 50) == came


def test_each_text_takes_fifteen_bytes() -> None:
    assert len(pack({key: Sighting(1) for key in KEYS})) == 15 * len(KEYS)


@pytest.mark.parametrize("size", [1, 14, 16])
def test_bytes_that_are_no_whole_rows_are_refused(size: int) -> None:
    with pytest.raises(BadRow):
        unpack(bytes(size))


def test_instants_past_the_format_are_kept_at_its_ends() -> None:
    assert unpack(pack({KEYS[0]: Sighting(-5, 70_000), KEYS[1]: Sighting(2**40)})) == {
        KEYS[0]: Sighting(0, 2**16 - 1),
        KEYS[1]: Sighting(2**32 - 1),
    }


@given(histories)
def test_first_sighting_never_moves_later(history: list) -> None:
    states = played(history)
    for (_, before), (_, after) in pairwise(states):
        assert all(after[key].first_seen <= seen.first_seen for key, seen in before.items())


@given(histories)
def test_nothing_known_is_forgotten(history: list) -> None:
    states = played(history)
    for (_, before), (_, after) in pairwise(states):
        assert before.keys() <= after.keys()


@given(histories, st.frozensets(keys))
def test_what_a_look_found_is_what_is_present(history: list, found: frozenset[bytes]) -> None:
    before = played(history)[-1][1] if history else {}
    assert present(after_look(before, found, 2**31, 2**15)) == found


@given(histories)
def test_without_earlier_births_nothing_is_older_than_its_first_event(history: list) -> None:
    plain = [((kind, what if kind == "look" else dict.fromkeys(what)), s) for (kind, what), s in history]
    met: dict[bytes, int] = {}
    for ((_, what), _), (now, state) in zip(plain, played(plain), strict=True):
        for key in what:
            met.setdefault(key, now)
        assert {key: seen.first_seen for key, seen in state.items()} == met


@given(histories)
def test_the_same_look_again_changes_nothing(history: list) -> None:
    for now, state in played(history):
        day = now // DAY_S
        looked = after_look(state, present(state), now, day)
        assert after_look(looked, present(looked), now, day) == looked


def test_what_goes_was_last_seen_on_the_day_of_the_look_before() -> None:
    gone = after_look({KEYS[0]: Sighting(1)}, [], DAY_1 * DAY_S, DAY_1 - 40)
    assert gone == {KEYS[0]: Sighting(1, DAY_1 - 40)}


def test_text_that_comes_back_is_as_old_as_it_was() -> None:
    old = {KEYS[0]: Sighting(1, DAY_1 - 40, backfilled=True)}
    assert after_look(old, [KEYS[0]], DAY_1 * DAY_S, DAY_1) == {KEYS[0]: Sighting(1, AT_LOOK, backfilled=True)}


def test_naming_is_no_look_at_the_others() -> None:
    old = {KEYS[0]: Sighting(1)}
    assert after_naming(old, {KEYS[1]: None}, DAY_1 * DAY_S)[KEYS[0]] == Sighting(1)


@pytest.mark.parametrize(
    ("birth", "found"), [(99, Sighting(99, AT_LOOK, True)), (100, Sighting(100)), (101, Sighting(100))]
)
def test_birth_only_ever_moves_earlier(birth: int, found: Sighting) -> None:
    assert after_naming({KEYS[0]: Sighting(100)}, {KEYS[0]: birth}, 5000) == {KEYS[0]: found}


@pytest.mark.parametrize(("last_day", "stays"), [(99, False), (100, True), (AT_LOOK, True)])
def test_what_was_not_seen_for_long_is_left_out(last_day: int, stays: bool) -> None:
    assert bool(without_old({KEYS[0]: Sighting(1, last_day)}, 100, [])) == stays


def test_what_has_settings_is_never_left_out() -> None:
    old = {KEYS[0]: Sighting(1, 1), KEYS[1]: Sighting(1, 1)}
    assert without_old(old, 100, [KEYS[1]]) == {KEYS[1]: Sighting(1, 1)}


def test_oldest_gone_is_the_earliest_last_day() -> None:
    assert oldest_gone({KEYS[0]: Sighting(1, 7), KEYS[1]: Sighting(1, 5), KEYS[2]: Sighting(1)}) == 5
    assert oldest_gone({KEYS[2]: Sighting(1)}) is None
