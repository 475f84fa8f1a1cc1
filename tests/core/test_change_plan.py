"""Which observations a wish means, which settings they get, and what is said of it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import AWKWARD
from support import NOW, entity, instant, judge_of

from memttl.core.asked import asked_document, asked_of
from memttl.core.change_plan import merged, plan_changes
from memttl.core.changes import Before, Changes
from memttl.core.classify import KnownOf
from memttl.core.digests import text_digest
from memttl.core.durations import NEVER, Duration
from memttl.core.known import Knower, Setting
from memttl.core.model import UserSettings
from memttl.core.selection import Choice
from memttl.core.sightings import Sightings
from memttl.core.wish import Wish
from memttl.errors import Foreign, Malformed, UnknownEntity, UsageError

PINNED = UserSettings(pinned=True)
FILE = b"\n".join(
    [
        entity(["[session] 2026-05-30: one", "two [pin]", {"content": "three"}, 4, "two [pin]"], name="A"),
        entity(["One"], name="B"),
        entity([], name="empty"),
    ]
)


def setting(text: str | None, asked: UserSettings, *, name: str = "A", of: str = "") -> Setting:
    return Setting(name, text_digest(of or text or ""), text, asked)


def before_of(*settings: Setting, pins: tuple[str, ...] = ()) -> Before:
    known_of: KnownOf = Knower(lambda _: Sightings(), settings, pins).known_of
    return Before(settings, pins, known_of)


def planned(
    wish: Wish, *settings: Setting, pins: tuple[str, ...] = (), data: bytes = FILE, policy: str = ""
) -> Changes:
    return plan_changes(data, wish, before_of(*settings, pins=pins), judge_of(policy), NOW)


def texts(changes: Changes) -> list[tuple[str, str | None]]:
    return [(c.entity, c.text) for c in changes.observations]


def told(changes: Changes) -> str:
    return "\n".join(changes.warnings)


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        (Choice("A"), [("A", "[session] 2026-05-30: one"), ("A", "two [pin]"), ("A", "three")]),
        (Choice("*", "ONE"), [("A", "[session] 2026-05-30: one"), ("B", "One")]),
        (Choice("?", "One", exact=True), [("B", "One")]),
        (Choice("*", "^t", pattern=True), [("A", "two [pin]"), ("A", "three")]),
    ],
)
def test_it_chooses_as_explain_does_but_no_element_without_a_text(choice: Choice, found: object) -> None:
    assert texts(planned(Wish("pin", choice))) == found


def test_copies_of_a_text_are_one_setting() -> None:
    copies = entity(["x"], name="E") + b"\n" + entity(["x", {"text": "x"}], name="E")
    assert texts(planned(Wish("pin", Choice("E")), data=copies)) == [("E", "x")]


@pytest.mark.parametrize(
    "choice", [Choice("a"), Choice("A", "nowhere"), Choice("A", "4"), Choice("empty"), Choice("Z*")]
)
def test_none_that_matches_is_refused(choice: Choice) -> None:
    with pytest.raises(UnknownEntity, match="nothing was done"):
        planned(Wish("pin", choice))


def test_a_near_name_is_told() -> None:
    with pytest.raises(UnknownEntity, match='did you mean "empty"'):
        planned(Wish("pin", Choice("emty")))


def test_a_damaged_line_is_refused_before_a_name_is() -> None:
    with pytest.raises(Malformed):
        planned(Wish("pin", Choice("Z")), data=FILE + b"\n{")
    with pytest.raises(Foreign):
        planned(Wish("pin", Choice("Z")), data=b'{"role":"user"}')


def test_what_is_as_asked_already_is_counted_and_not_changed() -> None:
    changes = planned(Wish("pin", Choice("B")), setting("One", PINNED, name="B"))
    assert (changes.observations, changes.unchanged, changes.are_none) == ((), 1, True)


def test_what_was_set_stays_beside_what_is_given() -> None:
    was = setting("One", UserSettings(tier="session", created=date(2026, 1, 5)), name="B")
    (change,) = planned(Wish("set", Choice("B"), ttl="never"), was).observations
    assert change.before == was.asked
    assert change.after == was.asked._replace(ttl=NEVER)


def test_the_expiry_before_and_after_is_that_of_two_verdicts() -> None:
    (change,) = planned(Wish("pin", Choice("A", "one"))).observations
    assert change.was is not None
    assert change.will_be is not None
    assert change.was.expires_at == instant("2026-06-30T00:00:00Z")
    assert (change.will_be.expires_at, change.will_be.pinned) == (None, True)


def test_what_is_named_has_an_age_from_then_on() -> None:
    (change,) = planned(Wish("set", Choice("B"), ttl="10d")).observations
    assert change.will_be is not None
    assert change.will_be.expires_at == instant("2026-06-11T12:00:00Z")


def test_a_pin_that_makes_place_for_another_of_keep_last_is_told_truly() -> None:
    policy = '[tiers]\nsession = { ttl = "1d", keep_last = 1 }\n'
    data = entity(["[session] 2026-05-01: a", "[session] 2026-05-02: b"])
    (change,) = planned(Wish("pin", Choice("E", "b")), data=data, policy=policy).observations
    assert change.was is not None
    assert change.was.expires_at is None


def test_renew_sets_now_and_the_ttl_of_the_tier() -> None:
    (change,) = planned(Wish("renew", Choice("A", "one"))).observations
    assert change.after == UserSettings(expires=instant("2026-07-01T12:00:00Z"))


def test_renew_counts_months_on_the_wall_of_the_policys_zone() -> None:
    policy = 'timezone = "Europe/Berlin"\n'
    (change,) = planned(Wish("renew", Choice("B"), keep_for="6mo"), policy=policy).observations
    assert change.after.expires == instant("2026-12-01T13:00:00Z")  # 14:00 there, in winter


@pytest.mark.parametrize("keep_for", ["never", "9000y"])
def test_renewed_for_ever_is_never(keep_for: str) -> None:
    (change,) = planned(Wish("renew", Choice("B"), keep_for=keep_for)).observations
    assert change.after.expires == "never"


def test_renew_of_what_never_expires_names_it_and_does_nothing_for_any() -> None:
    with pytest.raises(UsageError) as refusal:
        planned(Wish("renew", Choice("A")))
    assert "2 observations are in a tier that never expires: 'A' (permanent): two [pin]" in refusal.value.message
    assert "--for" in refusal.value.hint


def test_renew_takes_the_longest_tier_of_the_copies() -> None:
    policy = '[[rules]]\nentity_type = ["a"]\ntier = "session"\n[[rules]]\nentity_type = ["b"]\ntier = "operational"\n'
    data = entity(["x"], kind="a") + b"\n" + entity(["x"], kind="b")
    (change,) = planned(Wish("renew", Choice("E")), data=data, policy=policy).observations
    assert change.after.expires == instant("2026-08-30T12:00:00Z")


def test_renew_goes_by_the_tier_that_was_set() -> None:
    was = setting("One", UserSettings(tier="session"), name="B")
    (change,) = planned(Wish("renew", Choice("B")), was).observations
    assert change.after.expires == instant("2026-07-01T12:00:00Z")


@pytest.mark.parametrize("policy", ["", '[review]\nwhen_due = "list"\n'])
def test_renew_moves_a_review_day_on_that_was_set_and_sets_no_expiry(policy: str) -> None:
    was = setting("One", UserSettings(review_by=date(2026, 5, 1)), name="B")
    (change,) = planned(Wish("renew", Choice("B"), keep_for="30d"), was, policy=policy).observations
    assert change.after == UserSettings(review_by=instant("2026-07-01T12:00:00Z"))
    assert change.will_be is not None
    assert (change.will_be.review_due, change.will_be.expired) == (False, False)


@pytest.mark.parametrize(("expires", "keep_for"), [(date(2026, 5, 1), "30d"), (None, "never")])
def test_renew_sets_an_expiry_where_that_decides_and_for_good(expires: date | None, keep_for: str) -> None:
    was = setting("One", UserSettings(expires=expires, review_by=date(2026, 5, 1)), name="B")
    (change,) = planned(Wish("renew", Choice("B"), keep_for=keep_for), was).observations
    assert change.after.review_by == date(2026, 5, 1)
    assert change.after.expires == ("never" if keep_for == "never" else instant("2026-07-01T12:00:00Z"))


def test_set_says_where_a_setting_of_before_still_decides() -> None:
    was = setting("One", UserSettings(expires="never"), name="B")
    assert "1 observation keeps the expiry that was set before" in told(
        planned(Wish("set", Choice("B"), ttl="3d"), was)
    )


def test_now_with_a_fraction_of_a_second_gives_whole_ones() -> None:
    judge = judge_of(now=NOW.replace(microsecond=700_000))
    (change,) = plan_changes(FILE, Wish("renew", Choice("A", "one")), before_of(), judge, NOW).observations
    assert change.after == asked_of(asked_document(change.after))


def test_unpin_says_what_stays_pinned_and_why() -> None:
    changes = planned(Wish("unpin", Choice("A")), setting("three", PINNED), pins=("B", "A*"))
    assert texts(changes) == [("A", "three")]
    assert "3 observations stay pinned: 'A': its entity was pinned (A*) (3)" in told(changes)
    changes = planned(Wish("unpin", Choice("A")), setting("two [pin]", PINNED))
    assert "1 observation stays pinned: 'A': pinned in its text" in told(changes)


def test_a_renewal_of_what_is_pinned_says_that_it_stays() -> None:
    assert "'B': pinned" in told(planned(Wish("renew", Choice("B"), keep_for="1d"), setting("One", PINNED, name="B")))


@pytest.mark.parametrize("wish", [Wish("unpin", Choice("A")), Wish("set", Choice("A"), clear=True)])
def test_what_is_gone_is_reached_by_what_only_takes_away(wish: Wish) -> None:
    asked = PINNED if wish.command == "unpin" else UserSettings(ttl=NEVER)
    changes = planned(wish, setting("no longer there", asked), setting(None, asked, of="secret"))
    gone = [c for c in changes.observations if not c.is_present]
    assert [(c.text, c.was, c.will_be) for c in gone] == [("no longer there", None, None), (None, None, None)]


def test_an_entity_that_is_gone_is_reached_by_its_name() -> None:
    changes = planned(Wish("unpin", Choice("Gone")), setting("x", PINNED, name="Gone"))
    assert texts(changes) == [("Gone", "x")]


@pytest.mark.parametrize(
    "wish",
    [Wish("pin", Choice("Gone")), Wish("renew", Choice("Gone")), Wish("set", Choice("Gone"), clear=True, ttl="1d")],
)
def test_what_is_gone_is_given_nothing_new(wish: Wish) -> None:
    with pytest.raises(UnknownEntity, match="No entity is named"):
        planned(wish, setting("x", UserSettings(True, ttl=NEVER), name="Gone"))


def test_what_is_gone_is_chosen_by_the_text_that_was_kept() -> None:
    gone = [setting("kept one", PINNED, name="Gone"), setting(None, PINNED, name="Gone", of="secret")]
    assert texts(planned(Wish("unpin", Choice("Gone", "KEPT")), *gone)) == [("Gone", "kept one")]
    assert texts(planned(Wish("unpin", Choice("Gone", "secret", exact=True)), *gone)) == [("Gone", None)]
    assert len(planned(Wish("unpin", Choice("Gone")), *gone).observations) == 2


def test_what_is_gone_and_has_no_pin_is_not_counted() -> None:
    changes = planned(Wish("unpin", Choice("A", "three")), setting("gone three", UserSettings(ttl=NEVER)))
    assert (changes.observations, changes.unchanged) == ((), 1)


def test_an_entity_pin_names_the_entities_of_today() -> None:
    (pin,) = planned(Wish("pin", entity_pins=("?",))).entity_pins
    assert (pin.pattern, pin.pinned, pin.entities) == ("?", True, ("A", "B"))


def test_an_entity_whose_name_is_a_glob_says_what_else_its_pin_holds() -> None:
    data = entity(["x"], name="T*") + b"\n" + entity(["y"], name="Tea")
    (pin,) = planned(Wish("pin", entity_pins=("T*",)), data=data).entity_pins
    assert pin.entities == ("T*", "Tea")


def test_an_entity_pin_that_would_pin_nothing_is_refused() -> None:
    with pytest.raises(UnknownEntity, match='did you mean "empty"'):
        planned(Wish("pin", entity_pins=("A", "Empty")))


def test_an_entity_pin_that_is_there_is_unchanged() -> None:
    changes = planned(Wish("pin", entity_pins=("A", "B", "A")), pins=("A",))
    assert [p.pattern for p in changes.entity_pins] == ["B"]
    assert changes.unchanged == 1


@pytest.mark.parametrize(
    ("wanted", "pins", "gone"),
    [
        ("A*", ("A*", "AB"), ["A*"]),  # the very glob, not what it matches
        ("*", ("A*", "Gone"), ["A*", "Gone"]),
        ("Gone", ("Gone",), ["Gone"]),
    ],
)
def test_an_entity_is_unpinned_by_the_name_or_glob_that_pinned_it(
    wanted: str, pins: tuple[str, ...], gone: list[str]
) -> None:
    changes = planned(Wish("unpin", entity_pins=(wanted,)), pins=pins)
    assert [(p.pattern, p.pinned) for p in changes.entity_pins] == [(name, False) for name in gone]


def test_an_entity_that_a_glob_pins_stays_so_when_its_name_is_unpinned() -> None:
    changes = planned(Wish("unpin", entity_pins=("B",)), pins=("?",))
    assert (changes.entity_pins, changes.unchanged) == ((), 1)
    assert "'B': its entity was pinned (?)" in told(changes)


def test_an_unknown_entity_is_not_unpinned() -> None:
    with pytest.raises(UnknownEntity, match='did you mean "empty"'):
        planned(Wish("unpin", entity_pins=("Empty",)), pins=("?",))


def test_what_was_set_meanwhile_stays() -> None:
    changes = planned(Wish("set", Choice("B"), ttl="3d"))
    now = before_of(setting("One", UserSettings(pinned=True, ttl=NEVER), name="B"))
    (change,) = merged(changes, FILE, now, judge_of(), NOW).observations
    assert change.before == UserSettings(pinned=True, ttl=NEVER)
    assert change.after == UserSettings(pinned=True, ttl=Duration(days=3))
    assert change.will_be is not None
    assert change.will_be.pinned


def test_what_was_set_so_meanwhile_is_not_set_again() -> None:
    changes = planned(Wish("pin", Choice("B")))
    assert merged(changes, FILE, before_of(setting("One", PINNED, name="B")), judge_of(), NOW).are_none
    pins = planned(Wish("pin", entity_pins=("B",)))
    assert merged(pins, FILE, before_of(pins=("B",)), judge_of(), NOW).are_none


def test_what_was_not_shown_as_a_change_is_none_under_the_lock() -> None:
    changes = planned(Wish("unpin", Choice("*")), setting("One", PINNED, name="B"))
    now = before_of(setting("One", PINNED, name="B"), setting("three", PINNED))
    assert texts(merged(changes, FILE, now, judge_of(), NOW)) == [("B", "One")]


@given(st.sampled_from(AWKWARD), st.sampled_from(AWKWARD), st.sampled_from([{"pinned": True}, {"ttl": "1 day"}]))
def test_any_name_and_text_can_be_chosen_exactly(name: str, text: str, asked: dict[str, Any]) -> None:
    data = entity([text, "other"], name=name)
    command: Any = "pin" if "pinned" in asked else "set"
    wish = Wish(command, Choice(name, text, exact=True), ttl=asked.get("ttl"))
    (change,) = planned(wish, data=data).observations
    assert (change.entity, change.text, asked_document(change.after)) == (name, text, asked)
