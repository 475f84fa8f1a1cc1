"""The verdict: which of pin, setting, mark, field, rule and default decides, in which order."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from support import NOW, entity, instant, judge_of, seen, tried_on, verdict_of, verdicts_of

from memttl.core.durations import NEVER, Duration
from memttl.core.model import Known, UserSettings

FIRST_SEEN = instant("2026-01-01T00:00:00Z")


def known(**settings: Any) -> Known:
    return Known(FIRST_SEEN, UserSettings(**settings))


SET_EXPIRY = {"expires": date(2026, 5, 1)}
SET_REVIEW = {"review_by": date(2026, 5, 20)}
SET_TTL = {"ttl": Duration(days=200)}
SET_TIER = {"tier": "operational"}
UNREADABLE = "[expires 2026-02-30]"
# what decides, then everything below it: each row's expiry is told by its first part alone
LADDER: list[tuple[str, str, dict[str, Any], dict[str, Any], str | None]] = [
    ("set pin", UNREADABLE, {"pinned": True, **SET_EXPIRY}, {}, None),
    ("pin mark", "[pin]", {**SET_EXPIRY, **SET_TTL, **SET_TIER}, {}, None),
    ("set expiry", UNREADABLE, {**SET_EXPIRY, **SET_REVIEW, **SET_TTL, **SET_TIER}, {}, "2026-05-02T00:00:00Z"),
    ("set review", UNREADABLE, {**SET_REVIEW, **SET_TTL, **SET_TIER}, {}, "2026-05-21T00:00:00Z"),
    ("set TTL", UNREADABLE, {**SET_TTL, **SET_TIER}, {}, "2026-07-20T00:00:00Z"),
    ("set tier", UNREADABLE, SET_TIER, {}, "2026-04-01T00:00:00Z"),
    ("unreadable mark", f"{UNREADABLE} [expires 2026-03-01] [ttl 3d]", {}, {}, None),
    ("unreadable field", "[expires 2026-03-01]", {}, {"ttl": "forever"}, None),
    ("expires mark", "[expires 2026-03-01] [review by 2026-03-10] [ttl 3d]", {}, {"ttl": 5}, "2026-03-02T00:00:00Z"),
    ("review mark", "[review by 2026-03-10] [ttl 3d] [tier: operational]", {}, {"ttl": 5}, "2026-03-11T00:00:00Z"),
    ("ttl mark", "[ttl 3d] [tier: operational]", {}, {"ttl": 5}, "2026-01-04T00:00:00Z"),
    ("tier mark", "[tier: operational]", {}, {"ttl": 5, "decay": "session"}, "2026-04-01T00:00:00Z"),
    ("ttl field", "", {}, {"ttl": 5, "decay": "operational"}, "2026-01-06T00:00:00Z"),
    ("decay field", "", {}, {"decay": "operational"}, "2026-04-01T00:00:00Z"),
    ("rule", "", {}, {}, "2026-01-31T00:00:00Z"),
]


@pytest.mark.parametrize(
    ("tail", "settings", "fields", "expiry"), [row[1:] for row in LADDER], ids=[row[0] for row in LADDER]
)
def test_the_first_that_applies_decides(
    tail: str, settings: dict[str, Any], fields: dict[str, Any], expiry: str | None
) -> None:
    verdict = verdict_of(f"[session] x {tail}", known=known(**settings), **fields)
    assert verdict.expires_at == (instant(expiry) if expiry else None)


def test_the_default_tier_decides_last() -> None:
    assert verdict_of("x", known=known()).expires_at is None
    assert verdict_of("x", 'default_tier = "session"', known=known()).expires_at == instant("2026-01-31T00:00:00Z")


@pytest.mark.parametrize(
    ("observation", "fields", "expiry"),
    [
        ({"text": "x", "ttl": 5, "decay": "operational"}, {"ttl": 7}, "2026-01-06T00:00:00Z"),
        ({"text": "x", "decay": "operational"}, {"ttl": 7}, "2026-04-01T00:00:00Z"),
        ({"text": "x", "decay": "permanent"}, {"ttl": 7, "decay": "session"}, None),
        ({"text": "x"}, {"ttl": 7, "decay": "operational"}, "2026-01-08T00:00:00Z"),
        ({"text": "x [tier: session]", "ttl": 5}, {"ttl": 7}, "2026-01-31T00:00:00Z"),
        ({"text": "x [ttl 3d]", "ttl": 5}, {}, "2026-01-04T00:00:00Z"),
    ],
)
def test_the_objects_fields_go_before_the_entitys(
    observation: object, fields: dict[str, Any], expiry: str | None
) -> None:
    assert verdict_of(observation, known=known(), **fields).expires_at == (instant(expiry) if expiry else None)


@pytest.mark.parametrize("field", ["content", "contents", "text", "observation", "value"])
def test_an_object_is_judged_by_its_text(field: str) -> None:
    verdict = verdict_of({"n": 1, field: "[session] x"})
    assert (verdict.tier, verdict.observation) == ("session", "[session] x")


def test_of_several_texts_the_first_that_is_one_counts() -> None:
    assert verdict_of({"value": "a", "text": "b", "content": 3}).observation == "b"


@pytest.mark.parametrize(
    "element", [None, 3, 1.5, True, [], ["[session] 2026-01-01: x"], {}, {"text": 3}, {"note": "x"}]
)
def test_what_holds_no_text_is_kept_unjudged(element: object) -> None:
    verdict = verdict_of(element, ttl=1, decay="session")
    assert (verdict.tier, verdict.age_source, verdict.expired, verdict.observation) == (None, None, False, element)
    assert verdict.reason


@pytest.mark.parametrize(
    "value", [0, -1, "", "0", "-1", "30m", "forever", "1.5d", 0.95, 30.0, None, True, [], {}, 10**400]
)
def test_an_unreadable_ttl_field_keeps_with_a_warning(value: object) -> None:
    verdict = verdict_of("[session] x", known=known(), ttl=value)
    assert verdict.expires_at is None
    assert verdict.warning


@pytest.mark.parametrize("value", ["", "nosuch", 0.95, 3, None, True, [], {}])
def test_an_unreadable_decay_field_keeps_with_a_warning(value: object) -> None:
    verdict = verdict_of({"text": "[session] x", "decay": value}, known=known())
    assert verdict.expires_at is None
    assert verdict.warning


@pytest.mark.parametrize(("value", "days"), [(5, 5), ("5", 5), ("5d", 5), ("P5D", 5), ("1w", 7), ("2 weeks", 14)])
def test_a_ttl_field_is_days_or_a_duration(value: object, days: int) -> None:
    assert verdict_of("x", known=known(), ttl=value).expires_at == instant(f"2026-01-{1 + days:02}T00:00:00Z")


def test_a_ttl_field_of_never_keeps() -> None:
    assert verdict_of("[session] x", known=known(), ttl="never").expires_at is None


def test_a_set_tier_that_the_policy_has_lost_keeps_with_a_warning() -> None:
    verdict = verdict_of("[session] x", known=known(tier="sprint"))
    assert verdict.expires_at is None
    assert "sprint" in verdict.warning


def test_the_same_mark_twice_means_the_later_or_longer() -> None:
    assert verdict_of("x [expires 2026-03-01] [expires 2026-04-01]").expires_at == instant("2026-04-02T00:00:00Z")
    assert verdict_of("x [expires: never] [expires 2026-04-01]").expires_at is None
    assert verdict_of("x [ttl 30d; ttl 1mo; ttl 29d]", known=known()).expires_at == instant("2026-02-01T00:00:00Z")
    assert verdict_of("x [tier: session] [tier: permanent]", known=known()).expires_at is None


@pytest.mark.parametrize(
    ("observation", "settings", "fields", "tier", "rule"),
    [
        ("[session] x [expires 2026-03-01]", {}, {}, "session", "session"),
        ("[session] x [ttl 3d]", {}, {"decay": "operational"}, "operational", None),
        ("[session] x [tier: permanent]", {}, {"decay": "operational"}, "permanent", None),
        ("[session] x [tier: permanent]", {"tier": "operational"}, {}, "operational", None),
        ("[session] x [tier: nosuch]", {}, {}, "session", "session"),
        ("x [pin]", {}, {}, "permanent", None),
    ],
)
def test_the_tier_shown_is_the_first_named(
    observation: str, settings: dict[str, Any], fields: dict[str, Any], tier: str, rule: str | None
) -> None:
    verdict = verdict_of(observation, known=known(**settings), **fields)
    assert (verdict.tier, verdict.rule) == (tier, rule)


OVER = "x (review by 2026-05-01)"
LIST = '[review]\nwhen_due = "list"\n'


@pytest.mark.parametrize(
    ("observation", "policy", "settings"),
    [
        (f"[permanent] {OVER}", "", {}),
        (f"{OVER} [tier: permanent]", "", {}),
        (OVER, "", {"tier": "permanent"}),
        (f"[session] {OVER} [tier: permanent]", "", {}),
        (f"[permanent] {OVER} [tier: session]", "", {}),
        (OVER, LIST, {}),
        (f"[session] 2026-01-01: {OVER}", LIST, {}),
        (f"2026-01-01: {OVER} [ttl 3d]", LIST, {}),
        ("[permanent] x", "", SET_REVIEW),
        ("x", "", {"tier": "permanent", **SET_REVIEW}),
        ("[session] 2026-01-01: x [expires 2026-03-01]", LIST, SET_REVIEW),
    ],
)
def test_a_review_day_that_is_over_is_only_listed(observation: str, policy: str, settings: dict[str, Any]) -> None:
    verdict = verdict_of(observation, policy, known=known(**settings))
    assert (verdict.expires_at, verdict.review_due, verdict.action) == (None, True, "review")


def test_a_review_day_to_come_is_not_due() -> None:
    assert not verdict_of("[permanent] x (review by 2026-06-01)").review_due
    assert verdict_of("x (review by 2026-06-01)").expires_at == instant("2026-06-02T00:00:00Z")


def test_a_review_day_that_is_set_counts_before_a_written_one() -> None:
    day = date(2026, 6, 1)
    verdict = verdict_of(f"[permanent] {OVER}", known=known(review_by=day))
    assert (verdict.review_due, verdict.reason) == (
        False, "set to be reviewed by 2026-06-01; listed for review only",
    )  # fmt: skip
    assert verdict_of(OVER, known=known(review_by=day)).reason == "set to be reviewed by 2026-06-01"


@pytest.mark.parametrize(("settings", "by_default"), [({}, True), (SET_EXPIRY, False), (SET_REVIEW, False)])
def test_what_the_user_dated_is_not_judged_by_the_default_alone(settings: dict[str, Any], by_default: bool) -> None:
    assert verdict_of("x", known=known(**settings)).by_default is by_default


def test_a_review_day_of_never_keeps() -> None:
    assert verdict_of("[session] 2026-01-01: x [review by never]").expires_at is None


KEEP_LAST = '[tiers]\nlog = { ttl = "30d", keep_last = 2 }\n[[rules]]\nprefix = ["log"]\ntier = "log"\n'


def expired_of(observations: list[object], policy: str = KEEP_LAST, **settings: Any) -> list[int]:
    verdicts = verdicts_of(entity(observations), judge_of(policy), known(**settings) if settings else None)
    return [v.index for v in verdicts if v.expired]


def test_the_last_births_of_a_tier_stay() -> None:
    assert expired_of(["log: 2026-03-01 a", "log: 2026-01-01 b", "log: 2026-02-01 c", "log: 2025-12-01 d"]) == [1, 3]


def test_of_equal_births_the_later_in_the_list_is_newer() -> None:
    assert expired_of(["log: 2026-01-01 a", "log: 2026-01-01 b", "log: 2026-01-01 c"]) == [0]


def test_unknown_ages_pins_dates_and_other_tiers_take_no_place() -> None:
    others = ["log: a", "log: 2026-05-30 b [pin]", "log: 2026-05-30 c [expires 2027-01-01]", "2026-05-30: d"]
    others += ["log: 2026-05-30 e [review by 2027-01-01]", "log: 2026-05-30 f [ttl 0]", "log: 2026-05-30 g [ttl never]"]
    assert expired_of([*others, "log: 2026-01-01 x", "log: 2026-01-02 y", "log: 2026-01-03 z"]) == [7]


def test_keep_last_does_not_hold_against_dates() -> None:
    assert expired_of(["log: 2026-03-01 a [expires 2026-04-01]", "log: 2026-03-01 b [review by 2026-04-01]"]) == [0, 1]
    assert expired_of(["log: 2026-03-01 a"], **SET_EXPIRY) == [0]


def test_one_that_is_held_has_no_expiry_and_says_why() -> None:
    verdict = verdict_of("log: 2026-01-01 a", KEEP_LAST)
    assert (verdict.expires_at, verdict.expired, verdict.action) == (None, False, "keep")
    assert "one of the last 2" in verdict.reason


BASELINE = instant("2026-01-01T00:00:00Z")
NEWCOMER = seen("2026-05-30T00:00:00Z")
GRACED = instant("2026-06-06T00:00:00Z")


@pytest.mark.parametrize(
    ("observation", "policy", "fields"),
    [
        ("[session] 2026-01-05: x", "", {}),
        ({"text": "[session] x", "created_at": "2026-01-05"}, "", {}),
        ("[session] x", "[age]\nentity_created_at = true", {"createdAt": "2026-01-05"}),
        ("x (review by 2026-01-05)", "", {}),
        ("2026-01-05: x [ttl 3d]", "", {}),
        ("2026-01-05: x", "", {"ttl": 3}),
    ],
)
def test_grace_holds_a_newcomer(observation: object, policy: str, fields: dict[str, Any]) -> None:
    verdict = verdict_of(observation, policy, baseline=BASELINE, known=NEWCOMER, **fields)
    assert verdict.expires_at == GRACED
    assert "newcomer" in verdict.reason


def test_grace_holds_an_inherited_date() -> None:
    verdict = verdict_of(
        "[session] x", "[age]\ninherit = true", siblings=["2026-01-05: y"], baseline=BASELINE, known=NEWCOMER
    )
    assert (verdict.age_source, verdict.expires_at) == ("inherited", GRACED)


@pytest.mark.parametrize(
    ("observation", "baseline", "of_ledger"),
    [
        ("[session] 2026-01-05: x", None, NEWCOMER),
        ("[session] 2026-01-05: x", NEWCOMER.first_seen, NEWCOMER),
        ("[session] 2026-01-05: x", NOW, NEWCOMER),
        ("x [expires 2026-01-05]", BASELINE, NEWCOMER),
        ("[session] x", BASELINE, seen("2026-04-01T00:00:00Z")),
        ("[session] x", BASELINE, Known(NEWCOMER.first_seen, UserSettings(created=date(2026, 1, 5)))),
        ("2026-01-05: x", BASELINE, Known(NEWCOMER.first_seen, UserSettings(ttl=Duration(days=3)))),
        ("2026-01-05: x", BASELINE, Known(NEWCOMER.first_seen, UserSettings(tier="session"))),
        ("x", BASELINE, Known(NEWCOMER.first_seen, UserSettings(**SET_EXPIRY))),
        ("x", BASELINE, Known(NEWCOMER.first_seen, UserSettings(**SET_REVIEW))),
    ],
)
def test_grace_holds_nobody_else(observation: str, baseline: datetime | None, of_ledger: Known) -> None:
    assert verdict_of(observation, baseline=baseline, known=of_ledger).expired


def test_grace_never_shortens() -> None:
    verdict = verdict_of("[session] 2026-05-30: x", baseline=BASELINE, known=NEWCOMER)
    assert verdict.expires_at == instant("2026-06-30T00:00:00Z")


def test_grace_of_never_holds_for_ever() -> None:
    verdict = verdict_of("[session] 2026-01-05: x", '[age]\ngrace = "never"', baseline=BASELINE, known=NEWCOMER)
    assert verdict.expires_at is None


def test_an_unknown_age_stays_in_any_tier() -> None:
    verdict = verdict_of("[session] x [ttl 1h]")
    assert (verdict.age_source, verdict.expires_at) == ("unknown", None)


def test_expired_means_that_the_instant_has_come() -> None:
    assert verdict_of("x [expires 2026-05-31]", now=instant("2026-06-01T00:00:00Z")).expired
    assert not verdict_of("x [expires 2026-05-31]", now=instant("2026-05-31T23:59:59Z")).expired
    assert verdict_of("x [expires 2026-06-01 12:00]").expired


@pytest.mark.parametrize("settings", [{"ttl": NEVER}, {"expires": "never"}, {"tier": "permanent"}])
def test_what_the_user_set_to_never_keeps(settings: dict[str, Any]) -> None:
    assert verdict_of("[session] 2026-01-01: x [expires 2026-02-01]", known=known(**settings)).expires_at is None


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize(
    "mark", ["expires 9999-12-31T23:59:59Z", "review by 9999-12-31T23:59:59Z", "expires 9999-12-31"]
)
def test_the_calendars_last_day_is_told_in_every_zone(mark: str, zone: str) -> None:
    assert "9999-12-31" in verdict_of(f"x [{mark}]", f'timezone = "{zone}"').reason


def test_explain_is_told_settings_dates_marks_fields_and_rules_in_order() -> None:
    kinds = [tried.kind for tried in tried_on({"text": "2026-01-01: x [ttl 3d]", "date": "soon"}, ttl=0)]
    assert kinds == ["field", "date", "mark", "field", "rule", "rule", "rule", "default"]


def test_arrival_goes_before_every_date_but_one_that_was_set() -> None:
    came = Known(NOW, arrived=True)
    verdict = verdict_of("[session] 2020-01-01: dated", "[age]\ninherit = true", known=came)
    assert (verdict.age_source, verdict.created_at, verdict.arrived, verdict.expired) == ("set", NOW, True, False)
    assert verdict.reason == "session notes keep 30 days; arrived 2026-06-01 12:00 UTC"
    asked = UserSettings(created=date(2020, 1, 1))
    verdict = verdict_of("[session] dated", known=came._replace(settings=asked))
    assert (verdict.created_at, verdict.arrived) == (date(2020, 1, 1), False)
    assert verdict.reason == "session notes keep 30 days; created 2020-01-01 (set)"
