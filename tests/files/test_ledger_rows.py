"""What else the ledger keeps: named texts, settings, pins; each row is proven before it is believed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import fresh, looked
from strategies import AWKWARD
from support import NOW, entity

from memttl.core.digests import text_digest, text_key
from memttl.core.known import Setting
from memttl.core.model import NOTHING_SET, UserSettings
from memttl.core.sightings import DAY_S, BadRow
from memttl.files.ledger import Ledger
from memttl.files.ledger_days import add_days

PINNED = UserSettings(pinned=True)
DAY = timedelta(days=1)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with fresh() as made:
        yield made


def dump(ledger: Ledger) -> list[str]:
    """All that is in the ledger, as SQL."""
    return list(ledger._connection.iterdump())


def test_naming_gives_a_birth_and_no_look(ledger: Ledger) -> None:
    moved = ledger.name({"E": {text_key("x"): NOW - DAY, text_key("y"): None}}, NOW)
    assert (moved, ledger.baseline, ledger.newest) == (1, None, NOW)
    assert ledger.sightings_of("E")[text_key("x")][:3] == ((NOW - DAY).timestamp(), NOW.timestamp() // DAY_S, True)


def test_named_text_is_known_to_the_next_look(ledger: Ledger) -> None:
    looked(ledger, entity(["x"]))
    ledger.name({"E": {text_key("y"): None}}, NOW)
    found = looked(ledger, entity(["x", "y"]))
    assert (found.new, found.known, found.gone) == (0, 2, 0)
    assert looked(ledger, entity(["x", "y"])).then == 2


def test_rebuilt_baseline_is_the_newest_stamp_too(ledger: Ledger) -> None:
    ledger.put_baseline(NOW)
    assert ledger.newest == NOW


def test_setting_takes_the_place_of_the_one_before(ledger: Ledger) -> None:
    for asked in (PINNED, UserSettings(tier="session")):
        ledger.put_setting(Setting("E", text_digest("x"), "x", asked))
    assert [s.asked.tier for s in ledger.settings()] == ["session"]


def test_nothing_set_removes_the_setting(ledger: Ledger) -> None:
    for asked in (PINNED, NOTHING_SET):
        ledger.put_setting(Setting("E", text_digest("x"), "x", asked))
    assert ledger.settings() == []


@given(st.lists(st.sampled_from([*AWKWARD, "A", "P*"])))
def test_pins_of_entities_come_back(patterns: list[str]) -> None:
    with fresh() as ledger:
        for pattern in patterns:
            ledger.put_entity_pin(pattern, pinned=True)
        assert sorted(ledger.entity_pins()) == sorted(set(patterns))
        for pattern in patterns:
            ledger.put_entity_pin(pattern, pinned=False)
        assert ledger.entity_pins() == []


def test_error_inside_a_transaction_writes_nothing(ledger: Ledger) -> None:
    before = dump(ledger)
    with suppress(KeyboardInterrupt), ledger.transaction(write=True):
        ledger.put_baseline(NOW)
        raise KeyboardInterrupt
    assert dump(ledger) == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entity SET sightings = substr(sightings, 2)",
        "UPDATE entity SET sightings = x''",
        "UPDATE entity SET sightings = 5",
        "UPDATE entity SET sightings = zeroblob(19)",
        "UPDATE entity SET name = x'41'",
        "UPDATE entity SET name = 'E'",
        "UPDATE entity SET lines = x'00'",
        "UPDATE entity SET lines = 7",
        "UPDATE setting SET asked = '{}'",
        "UPDATE setting SET asked = 'x'",
        "UPDATE setting SET asked = '[]'",
        "UPDATE setting SET asked = replace(asked, 'pinned', 'pinnee')",
        "UPDATE setting SET asked = 5",
        "UPDATE setting SET digest = replace(digest, substr(digest, 1, 1), 'g')",
        "UPDATE setting SET entity = x'41'",
        "UPDATE setting SET entity = x'ff'",
        "UPDATE setting SET text = x'ff'",
        "UPDATE entity_pin SET pattern = x'41'",
        "UPDATE entity_pin SET pattern = 'P'",
        "UPDATE entity_days SET days = zeroblob(8)",
        "UPDATE entity_days SET name = x'41'",
        "UPDATE meta SET value = 'x'",
        "UPDATE meta SET value = 4611686018427387904",
        "UPDATE meta SET value = -1 WHERE key = 'baseline'",
        "UPDATE meta SET value = 1.5 WHERE key = 'newest'",
    ],
)
def test_row_that_is_not_what_was_written_is_found(ledger: Ledger, damage: str) -> None:
    looked(ledger, entity(["x"]))
    ledger.put_setting(Setting("E", text_digest("x"), "x", PINNED))
    ledger.put_entity_pin("P*", pinned=True)
    add_days(ledger._connection, "E", [NOW.date()])
    ledger.check()
    ledger._connection.execute(damage)
    with pytest.raises((BadRow, sqlite3.Error)):
        ledger.check()


def test_instants_come_back_in_utc(ledger: Ledger) -> None:
    ledger.put_baseline(NOW)
    assert ledger.baseline == NOW
    assert ledger.baseline.tzinfo is UTC
