"""Birth: which source gives it, which dates are passed over, and what `explain` is told of them."""

from __future__ import annotations

from datetime import date

import pytest
from support import instant, seen, tried_on, verdict_of, when

from memttl.core.model import Known, UserSettings

LABELS = '[dates]\nlabels = ["Knowledge captured", "Stand"]\n'


def birth_of(observation: object, policy: str = "", **options: object) -> tuple[str | None, object]:
    verdict = verdict_of(observation, policy, **options)  # type: ignore[arg-type]
    return verdict.age_source, verdict.created_at


UNKNOWN = ("unknown", None)


def text(day: str) -> tuple[str, object]:
    return "text", when(day)


def test_what_the_user_set_goes_before_all() -> None:
    known = Known(instant("2026-03-01T00:00:00Z"), UserSettings(created=date(2026, 2, 2)))
    assert birth_of({"text": "2026-01-01: x", "created_at": "2026-01-02"}, known=known) == ("set", date(2026, 2, 2))


def test_the_objects_own_field_goes_before_the_text() -> None:
    assert birth_of({"text": "2026-01-01: x", "created_at": "2026-01-02"}) == ("object", date(2026, 1, 2))


def test_the_text_goes_before_the_ledger() -> None:
    assert birth_of("2026-01-01: x", known=seen("2026-03-01T00:00:00Z")) == text("2026-01-01")


def test_the_ledger_goes_last() -> None:
    assert birth_of("x", known=seen("2026-03-01T00:00:00Z")) == ("seen", instant("2026-03-01T00:00:00Z"))


def test_nothing_at_all_is_unknown() -> None:
    assert birth_of("x") == UNKNOWN


@pytest.mark.parametrize("field", ["created_at", "createdAt", "timestamp", "date"])
def test_time_fields_of_an_object(field: str) -> None:
    assert birth_of({"text": "x", field: "2026-01-02"}) == ("object", date(2026, 1, 2))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-02", "2026-01-02"),
        (" 2026-01-02T10:00:00Z ", "2026-01-02T10:00:00Z"),
        ("2026-01-02T10:00:00.123+02:00", "2026-01-02T08:00:00.123Z"),
        ("2026-01-02 10:00:00+00", "2026-01-02T10:00:00Z"),
        ("20260102T100000Z", "2026-01-02T10:00:00Z"),
        ("20260102", "2026-01-02"),
        ("2026-W01-5", "2026-01-02"),
        (1767225600, "2026-01-01T00:00:00Z"),
        (1767225600.5, "2026-01-01T00:00:00.5Z"),
        (1767225600000, "2026-01-01T00:00:00Z"),
    ],
)
def test_a_time_field_is_iso_seconds_or_milliseconds(value: object, expected: str) -> None:
    assert birth_of({"text": "x", "created_at": value}) == ("object", when(expected))


NO_BIRTHS: list[object] = [
    "",
    "yesterday",
    "2026-02-30",
    "2027-01-01",
    "1999-12-31",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
]
NO_BIRTHS += [0, 1, -1, 946598399, 4102444800, 253402300799000, 10**19, 10**60, 10**400, -(10**400), 1e300, -1e300]
NO_BIRTHS += ["2026-01-02T24:00", "20260102T2400", True, [], {}, ["2026-01-01"]]


@pytest.mark.parametrize("value", NO_BIRTHS, ids=lambda value: repr(value)[:24])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_an_unreadable_or_impossible_time_field_is_passed_over(value: object, zone: str) -> None:
    assert birth_of({"text": "x", "created_at": value}, f'timezone = "{zone}"') == UNKNOWN


def test_of_several_time_fields_the_first_good_one_counts() -> None:
    observation = {
        "text": "x",
        "date": "2026-01-03",
        "created_at": None,
        "createdAt": "soon",
        "timestamp": "2026-01-02",
    }
    assert birth_of(observation) == ("object", date(2026, 1, 2))


@pytest.mark.parametrize("mark", ["created 2026-01-05", "learned: 2026-01-05", "noted: 2026-01-05"])
def test_a_created_mark_goes_before_other_dates(mark: str) -> None:
    assert birth_of(f"2026-03-01: x (2026-04-01) [{mark}]") == text("2026-01-05")


def test_of_two_created_marks_the_later_counts() -> None:
    assert birth_of("x [created 2026-01-05; learned: 2026-02-05]") == text("2026-02-05")


def test_a_created_mark_after_now_is_passed_over() -> None:
    assert birth_of("2026-03-01: x [created 2027-01-05]") == text("2026-03-01")


def test_of_several_dates_the_latest_counts() -> None:
    assert birth_of("2026-01-05: [session] 2026-02-01: x (2026-03-01)") == text("2026-03-01")


def test_a_date_after_now_leaves_the_earlier_one() -> None:
    assert birth_of("2026-01-05: due (2026-12-24)") == text("2026-01-05")


def test_a_date_and_an_instant_compare_by_the_days_end() -> None:
    assert birth_of("2026-01-05: x (2026-01-05T10:00:00Z)") == text("2026-01-05")


@pytest.mark.parametrize(
    "observation",
    [
        "2026-12-24: plan",
        "2026-02-30: x",
        "1970-01-01: x",
        "0001-01-01: x",
        "9999-12-31: x",
        "2026-01-05 to 2026-02-01: x",
        "2026-01-05, 2026-02-01: x",
        "freeze 2026-01-05 to (2026-02-01)",
        "see docs/2026-01-05-x.md",
        "[2026-01-05](notes.md) says so",
        "see [notes](2026-01-05)",
        "https://example.org/2026-01-05",
        "server 2026.1.26",
        "2026.01.05: x",
        "x on 2026-01-05",
        "x 2026-01-05",
    ],
)
def test_no_birth_in_the_text(observation: str) -> None:
    assert birth_of(observation) == UNKNOWN


@pytest.mark.parametrize(
    "observation",
    [
        "Knowledge captured: 2026-01-05",
        "knowledge CAPTURED : 2026-01-05.",
        "x. Knowledge captured：2026-01-05, by Y",
        "x (Knowledge captured: 2026-01-05)",
        "Stand:2026-01-05 x",
    ],
)
def test_a_labelled_date_anywhere_is_a_birth(observation: str) -> None:
    assert birth_of(observation, LABELS) == text("2026-01-05")


@pytest.mark.parametrize(
    "observation",
    [
        "Knowledge captured 2026-01-05",
        "Knowledge captured: on 2026-01-05",
        "Bestand: 2026-01-05",
        "Knowledge captured: 2026-01-05.md",
        "Knowledge captured: 2026-01-05/a",
        "Knowledge captured: 2026-01-05-a",
        "Knowledge captured: 2026-01-05\\a",
        "Knowledge captured: 2026-01-05 to 2026-02-01",
        "Knowledge captured: 2026-02-30",
    ],
)
def test_what_only_looks_like_a_labelled_date(observation: str) -> None:
    assert birth_of(observation, LABELS) == UNKNOWN


def test_a_label_is_no_regular_expression() -> None:
    assert birth_of("a.b (x): 2026-01-05", '[dates]\nlabels = ["a.b (x)"]') == text("2026-01-05")
    assert birth_of("aXb (x): 2026-01-05", '[dates]\nlabels = ["a.b (x)"]') == UNKNOWN


INHERIT = "[age]\ninherit = true\n"


def test_the_entitys_only_date_is_inherited() -> None:
    assert birth_of("x", INHERIT, siblings=["2026-01-05: y", "z"]) == ("inherited", date(2026, 1, 5))


def test_one_day_twice_is_one_date() -> None:
    siblings = ["2026-01-05: y", {"text": "z", "created_at": "2026-01-05"}]
    assert birth_of("x", INHERIT, siblings=siblings) == ("inherited", date(2026, 1, 5))


def test_of_two_dates_none_is_inherited() -> None:
    assert birth_of("x", INHERIT, siblings=["2026-01-05: y", "2026-02-05: z"]) == UNKNOWN


def test_nothing_is_inherited_unless_the_policy_says_so() -> None:
    assert birth_of("x", siblings=["2026-01-05: y"]) == UNKNOWN


ENTITY = "[age]\nentity_created_at = true\n"


@pytest.mark.parametrize("field", ["createdAt", "created_at"])
def test_the_entitys_own_date_counts_where_the_policy_says_so(field: str) -> None:
    assert birth_of("x", ENTITY, **{field: "2026-01-05"}) == ("entity", date(2026, 1, 5))
    assert birth_of("x", **{field: "2026-01-05"}) == UNKNOWN


def test_the_inherited_date_goes_before_the_entitys() -> None:
    policy = "[age]\nentity_created_at = true\ninherit = true\n"
    assert birth_of("x", policy, siblings=["2026-01-05: y"], createdAt="2025-01-01") == ("inherited", date(2026, 1, 5))


def test_the_entitys_date_goes_before_the_ledger() -> None:
    assert birth_of("x", ENTITY, known=seen("2026-03-01T00:00:00Z"), createdAt="2025-01-01")[0] == "entity"


@pytest.mark.parametrize(
    ("observation", "note"),
    [
        ("2026-12-24: plan", "leading date: after now: a plan, not a birth"),
        ("2026-02-30: x", "leading date: there is no such date"),
        ("1970-01-01: x", "leading date: before 2000: a zero value, not a day"),
        ("x (2026-01-05)", "trailing date"),
        ("2026-01-05 to 2026-02-01: x", "one of a range or list of days, so no birth"),
        ({"text": "x", "date": "soon"}, "cannot be read"),
    ],
)
def test_explain_is_told_of_every_date(observation: object, note: str) -> None:
    assert note in [tried.note for tried in tried_on(observation)]
