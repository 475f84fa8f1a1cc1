"""What the options of set, pin, unpin and renew mean: a patch on what was set, or a sentence that says no."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from support import NOW, instant

from memttl.core.durations import NEVER, Duration
from memttl.core.model import NOTHING_SET, UserSettings
from memttl.core.policy_load import load_policy
from memttl.core.selection import Choice
from memttl.core.wish import Patch, Wish, check_wish, patch_of, read_patch
from memttl.errors import UsageError

ALL = UserSettings(True, date(2026, 1, 5), "never", Duration(days=3), "session")
E = Choice("E")


def read(policy: str = "", **options: Any) -> Patch:
    return read_patch(Wish("set", E, **options), load_policy(policy), NOW)


def refused(**options: Any) -> str:
    with pytest.raises(UsageError) as told:
        read(**options)
    return told.value.message


def test_what_is_not_given_stays_as_it_was() -> None:
    assert Patch(ttl=NEVER).on(ALL) == ALL._replace(ttl=NEVER)
    assert Patch().on(ALL) == ALL


def test_clear_takes_all_but_the_pin() -> None:
    assert Patch(clear=True).on(ALL) == UserSettings(pinned=True)


def test_clear_comes_before_what_is_given_with_it() -> None:
    assert Patch(clear=True, tier="session").on(ALL) == UserSettings(pinned=True, tier="session")


def test_unpin_takes_the_pin_alone() -> None:
    assert Patch(pinned=False).on(ALL) == ALL._replace(pinned=False)
    assert Patch(pinned=False).on(UserSettings(pinned=True)) == NOTHING_SET


@pytest.mark.parametrize(
    ("patch", "takes_away"),
    [
        (Patch(), False),
        (Patch(clear=True), True),
        (Patch(pinned=False), True),
        (Patch(pinned=True), False),
        (Patch(clear=True, ttl=NEVER), False),
    ],
)
def test_only_clear_and_unpin_take_away_alone(patch: Patch, takes_away: bool) -> None:
    assert patch.only_takes_away is takes_away


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-07-01", date(2026, 7, 1)),
        ("never", "never"),
        (" Never ", "never"),
        ("2026-07-01T10:00:00.75Z", instant("2026-07-01T10:00:00Z")),
        ("2026-07-01 10:00", instant("2026-07-01T08:00:00Z")),
        ("01/07/2026", date(2026, 7, 1)),
        ("July 2026", date(2026, 7, 31)),
        ("2020-01-01", date(2020, 1, 1)),
    ],
)
def test_an_expiry_is_read_in_the_policys_formats_and_zone(text: str, when: object) -> None:
    policy = 'timezone = "Europe/Berlin"\n[dates]\nformats = ["%d/%m/%Y", "%B %Y"]\n'
    assert read(policy, expires=text).expires == when


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "01/07/2026", "0001-01-01T00:00:00+14:00"])
def test_an_expiry_that_cannot_be_read_is_refused(text: str) -> None:
    assert f"--expires {text!r} cannot be read" in refused(expires=text)


def test_a_review_day_is_read_as_an_expiry_is() -> None:
    assert read(review_by="2026-07-01").review_by == date(2026, 7, 1)
    assert read(review_by="2026-07-01T10:00:00.75Z").review_by == instant("2026-07-01T10:00:00Z")


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "never"])
def test_a_review_day_that_is_none_is_refused(text: str) -> None:
    assert f"--review-by {text!r} cannot be read" in refused(review_by=text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-06-02", "after now"),
        ("2026-06-01T12:00:01Z", "after now"),
        ("1999-12-31", "before 2000"),
        ("2026-02-30", "cannot be read"),
        ("never", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_birth_that_can_be_none_is_refused(text: str, why: str) -> None:
    assert why in refused(created=text)


def test_a_birth_may_be_today_and_this_very_instant() -> None:
    assert read(created="2026-06-01").created == date(2026, 6, 1)
    assert read(created="2026-06-01T12:00:00Z").created == NOW


@pytest.mark.parametrize(("text", "ttl"), [("never", NEVER), ("6mo", Duration(months=6)), ("3", Duration(days=3))])
def test_a_ttl_is_read_as_everywhere(text: str, ttl: Duration) -> None:
    assert read(ttl=text).ttl == ttl


@pytest.mark.parametrize("text", ["0d", "-1d", "5m", "", "soon"])
def test_a_ttl_that_cannot_be_read_is_refused(text: str) -> None:
    assert f"--ttl {text!r} cannot be read" in refused(ttl=text)


def test_an_unknown_tier_is_refused_with_a_near_one() -> None:
    assert 'did you mean "session"?' in refused(tier="sesion")


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish("pin"), "Nothing says which observations `memttl pin` means"),
        (Wish("set", ttl="3d"), "Nothing says which observations `memttl set` means"),
        (Wish("set", E), "Nothing is given to set"),
        (Wish("pin", E, ("F",)), "--entity names whole entities"),
        (Wish("unpin", Choice(None, "x"), ("F",)), "--entity names whole entities"),
    ],
)
def test_a_wish_that_names_nothing_is_refused(wish: Wish, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_wish(wish)


@pytest.mark.parametrize(
    "wish", [Wish("pin", E), Wish("unpin", entity_pins=("E",)), Wish("renew", E), Wish("set", E, ttl="1d")]
)
def test_a_wish_that_names_something_passes(wish: Wish) -> None:
    check_wish(wish)


@pytest.mark.parametrize("two", [("ttl", "expires"), ("expires", "review_by"), ("ttl", "review_by")])
def test_two_words_of_a_client_for_the_end_are_refused(two: tuple[str, str]) -> None:
    names = {name: f"observations[1].{name}" for name in two}
    with pytest.raises(UsageError, match=rf"observations\[1\].{two[0]} and observations\[1\].{two[1]} both say"):
        patch_of(load_policy(""), NOW, **{name: GIVEN[name] for name in two}, names=names)


def test_space_around_a_tier_is_no_part_of_its_name() -> None:
    assert patch_of(load_policy(""), NOW, decay=" session ").tier == "session"


GIVEN: dict[str, object] = {
    "ttl": 90,
    "decay": "Session",
    "expires": "2026-08-01",
    "review_by": "2026-07-01T10:00:00Z",
    "created": "2026-01-05",
    "pin": True,
}


def test_what_a_client_gives_is_read_as_the_options_are() -> None:
    review_by, created = instant("2026-07-01T10:00:00Z"), date(2026, 1, 5)
    given: Any = {name: value for name, value in GIVEN.items() if name not in ("ttl", "review_by")}
    assert patch_of(load_policy(""), NOW, **given) == Patch(True, created, date(2026, 8, 1), tier="session")
    assert patch_of(load_policy(""), NOW, ttl=90) == Patch(ttl=Duration(days=90))
    assert patch_of(load_policy(""), NOW, review_by=GIVEN["review_by"]) == Patch(review_by=review_by)
    assert patch_of(load_policy(""), NOW) == Patch()
    assert patch_of(load_policy(""), NOW, pin=False) == Patch(pinned=False)


@pytest.mark.parametrize(
    ("ttl", "read_as"),
    [
        (1, Duration(days=1)),
        (30.0, Duration(days=30)),
        (0.5, Duration(hours=12)),
        (1.1, Duration(days=1, hours=3)),
        (5 / 24, Duration(hours=5)),
        (1e-9, Duration(hours=1)),
        ("6mo", Duration(months=6)),
        ("45", Duration(days=45)),
        ("never", NEVER),
        ("0.5", Duration(hours=12)),
    ],
)
def test_a_clients_ttl_is_a_number_of_days_or_a_duration(ttl: object, read_as: Duration) -> None:
    assert patch_of(load_policy(""), NOW, ttl=ttl).ttl == read_as


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        *(("ttl", n, "cannot be read") for n in (0, -1, -0.5, 10**400, 1e300, 1e12 + 0.5, float("nan"), float("inf"))),
        ("ttl", True, "is true or false, not a number of days"),
        ("ttl", [3], "is a list, not a number of days"),
        ("ttl", "soon", "'soon' cannot be read"),
        ("ttl", "9" * 1000, "a text of 1000 characters"),
        ("decay", "sesion", "knows no tier 'sesion' (did you mean \"session\"?)"),
        ("decay", 3, "is a number, not the name of a tier"),
        ("expires", 20260801, "is a number, not a date"),
        ("expires", "soon", "'soon' cannot be read"),
        ("review_by", "never", "'never' cannot be read"),
        ("created", "2026-06-02", "after now"),
        ("pin", "yes", "is a text, not true or false"),
        ("pin", {}, "is an object, not true or false"),
    ],
)
def test_what_a_client_may_not_give_is_refused_by_the_name_that_it_used(
    argument: str, value: object, words: str
) -> None:
    for names in ({}, {argument: "observations[2].x"}):
        with pytest.raises(UsageError) as told:
            patch_of(load_policy(""), NOW, names=names, **{argument: value})
        assert told.value.message.startswith(f"{names.get(argument, argument)} ")
        assert words in told.value.message


def test_an_unknown_tier_of_a_client_is_told_with_all_that_there_are() -> None:
    with pytest.raises(UsageError) as told:
        patch_of(load_policy('[tiers]\nscratch = "7d"\n'), NOW, decay="x")
    assert "session, operational, permanent, scratch" in told.value.hint
