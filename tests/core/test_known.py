"""What is known of an observation: its sighting, what the user set, and the pins of its entity, put together."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from strategies import texts

from memttl.core.digests import as_bytes, text_digest, text_key, text_of_bytes
from memttl.core.known import EntityPins, Knower, Setting, key_of_digest
from memttl.core.model import NOTHING_KNOWN, Known, UserSettings
from memttl.core.sightings import Sighting, Sightings

PINNED = UserSettings(pinned=True)
MAY = datetime(2026, 5, 1, tzinfo=UTC)


def knower(
    seen: dict[str, Sightings] | None = None, settings: tuple[Setting, ...] = (), pins: tuple[str, ...] = ()
) -> Knower:
    return Knower(lambda name: (seen or {}).get(name, {}), settings, pins)


def setting(entity: str, text: str, asked: UserSettings = PINNED) -> Setting:
    return Setting(entity, text_digest(text), text, asked)


def test_nothing_is_known_of_what_was_never_seen() -> None:
    assert knower().known_of("A", "x") is NOTHING_KNOWN


def test_first_sighting_is_an_instant() -> None:
    seen = {"A": {text_key("x"): Sighting(int(MAY.timestamp()), backfilled=True)}}
    assert knower(seen).known_of("A", "x") == Known(MAY, backfilled=True)


def test_same_text_of_another_entity_is_another_observation() -> None:
    seen = {"A": {text_key("x"): Sighting(5)}}
    known = knower(seen, (setting("A", "x"),))
    assert known.known_of("B", "x") == NOTHING_KNOWN
    assert known.known_of("a", "x") == NOTHING_KNOWN


def test_setting_of_one_text_says_nothing_of_its_neighbour() -> None:
    known = knower(settings=(setting("A", "x"),))
    assert known.known_of("A", "x").settings == PINNED
    assert known.known_of("A", "x ") == NOTHING_KNOWN


def test_setting_and_sighting_are_both_told() -> None:
    known = knower({"A": {text_key("x"): Sighting(0)}}, (setting("A", "x"),))
    assert known.known_of("A", "x") == Known(datetime.fromtimestamp(0, UTC), PINNED)


@pytest.mark.parametrize(
    ("pattern", "name", "pins"),
    [("A", "A", True), ("A", "B", False), ("Proj*", "Project X", True), ("[x]", "[x]", True), ("*", "", True),
     ("?", "AB", False)],
)  # fmt: skip
def test_entity_is_pinned_by_name_or_glob(pattern: str, name: str, pins: bool) -> None:
    assert EntityPins([pattern]).pin_of(name) == (pattern if pins else "")


def test_pinned_entity_pins_what_was_never_seen() -> None:
    known = knower(pins=("P*",)).known_of("Project", "new")
    assert known.settings.entity_pin == "P*"
    assert known.settings.is_pinned


def test_entities_in_turn_are_not_mixed_up() -> None:
    seen = {"A": {text_key("x"): Sighting(1)}, "B": {text_key("x"): Sighting(2)}}
    known = knower(seen, (setting("B", "x"),))
    found = [known.known_of(name, "x").first_seen for name in "ABAB"]
    assert [f.timestamp() for f in found if f] == [1, 2, 1, 2]
    assert [known.known_of(name, "x").settings.pinned for name in "ABAB"] == [False, True, False, True]


@given(texts)
def test_key_is_the_head_of_the_digest(text: str) -> None:
    assert key_of_digest(text_digest(text)) == text_key(text)


@given(texts)
def test_bytes_of_a_text_give_it_back(text: str) -> None:
    assert text_of_bytes(as_bytes(text)) == text
