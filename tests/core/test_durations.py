"""Durations: what is read, what is refused and why, and when something born at a time has outlived one."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from support import instant, when

from memttl.core.durations import NEVER, BadDuration, Duration, end_of_day, expires_after, parse_duration

BERLIN = ZoneInfo("Europe/Berlin")
READ = {
    "30d": Duration(days=30),
    "30 d": Duration(days=30),
    " 30D ": Duration(days=30),
    "12h": Duration(hours=12),
    "2w": Duration(days=14),
    "6mo": Duration(months=6),
    "1y": Duration(months=12),
    "1y6mo": Duration(months=18),
    "1y 6mo 3d": Duration(months=18, days=3),
    "90 days": Duration(days=90),
    "1 day": Duration(days=1),
    "2 weeks": Duration(days=14),
    "1 year, 6 months": Duration(months=18),
    "1 year and 6 months": Duration(months=18),
    "P90D": Duration(days=90),
    "P1Y6M": Duration(months=18),
    "P2W": Duration(days=14),
    "PT12H": Duration(hours=12),
    "P1DT12H": Duration(days=1, hours=12),
    "45": Duration(days=45),
    "never": NEVER,
    "NEVER": NEVER,
}


@pytest.mark.parametrize("text", READ)
def test_is_read(text: str) -> None:
    assert parse_duration(text) == READ[text]


def test_an_integer_counts_days() -> None:
    assert parse_duration(45) == Duration(days=45)


@pytest.mark.parametrize(
    "value",
    ["", " ", "d", "x", "30x", "30d!", "1.5d", "d30", "P", "PT", "P1H", "30dd", "1e3", "٣٠d", "1234567890d", "forever"],
)
def test_anything_else_is_refused_with_what_is_allowed(value: str) -> None:
    with pytest.raises(BadDuration, match="use 30d, 12h"):
        parse_duration(value)


@pytest.mark.parametrize("value", [True, False, None, 30.0, 0.95, float("inf"), [], {}, ["30d"], date(2026, 1, 1)])
def test_other_kinds_of_value_are_refused(value: object) -> None:
    with pytest.raises(BadDuration):
        parse_duration(value)


@pytest.mark.parametrize("value", [0, "0", "0d", "P0D", "0 days", "-0"])
def test_nothing_is_no_duration(value: object) -> None:
    with pytest.raises(BadDuration, match="longer than nothing"):
        parse_duration(value)


@pytest.mark.parametrize("value", [0, "0", "0d"])
def test_grace_may_be_nothing(value: object) -> None:
    assert parse_duration(value, zero_allowed=True).is_zero


@pytest.mark.parametrize("value", [-1, "-1", "-30d", "-P3D"])
def test_a_negative_one_is_refused(value: object) -> None:
    with pytest.raises(BadDuration, match="negative"):
        parse_duration(value, zero_allowed=True)


@pytest.mark.parametrize("value", ["30m", "1 m", "1y6m"])
def test_m_alone_asks_minutes_or_months(value: str) -> None:
    with pytest.raises(BadDuration, match="minutes or months"):
        parse_duration(value)


@pytest.mark.parametrize("value", ["30min", "10 minutes", "5s", "5 seconds"])
def test_minutes_and_seconds_are_too_short(value: str) -> None:
    with pytest.raises(BadDuration, match="an hour is the shortest unit"):
        parse_duration(value)


def test_one_unit_twice_is_refused() -> None:
    with pytest.raises(BadDuration, match="days twice"):
        parse_duration("1d 2 days")


@pytest.mark.parametrize("value", [10**9, -(10**9), 10**400])
def test_a_number_that_cannot_be_meant_is_refused(value: int) -> None:
    with pytest.raises(BadDuration, match="cannot be meant"):
        parse_duration(value)


@pytest.mark.parametrize("text", ["30d", "12h", "6mo", "1y6mo", "1y 6mo 3d 5h", "never"])
def test_its_own_words_read_back(text: str) -> None:
    duration = parse_duration(text)
    assert parse_duration(str(duration)) == duration


def test_the_longer_of_two_is_known() -> None:
    texts = ["23h", "1d", "30d", "1mo", "31d", "1y", "366d", "never"]
    hours = [parse_duration(text).approximate_hours() for text in texts]
    assert hours == sorted(hours)


# birth, TTL -> expiry, in UTC
UTC_CASES = [
    ("2026-01-01", "30d", "2026-02-01T00:00:00Z"),  # the last day is 2026-01-31
    ("2026-01-01", "12h", "2026-01-02T12:00:00Z"),  # hours count from the end of the day
    ("2026-01-31", "1mo", "2026-03-01T00:00:00Z"),
    ("2024-02-29", "1y", "2025-03-01T00:00:00Z"),
    ("2024-01-31", "1mo", "2024-03-01T00:00:00Z"),
    ("2026-12-31", "1d", "2027-01-02T00:00:00Z"),
    ("2026-01-01T10:00:00Z", "30d", "2026-01-31T10:00:00Z"),
    ("2026-01-31T10:00:00Z", "1mo", "2026-02-28T10:00:00Z"),
    ("2024-02-29T10:00:00Z", "1y", "2025-02-28T10:00:00Z"),
    ("2026-01-31T10:00:00Z", "1mo1d", "2026-03-01T10:00:00Z"),
]


@pytest.mark.parametrize(("birth", "ttl", "expiry"), UTC_CASES)
def test_expiry_in_utc(birth: str, ttl: str, expiry: str) -> None:
    assert expires_after(when(birth), parse_duration(ttl), UTC) == instant(expiry)


BERLIN_CASES = [
    ("2026-05-01", "30d", "2026-05-31T22:00:00Z"),  # midnight is the policy's
    ("2026-03-01", "30d", "2026-03-31T22:00:00Z"),  # summer time begins in between
    ("2026-03-28T12:00:00Z", "1d", "2026-03-29T12:00:00Z"),  # days are elapsed time
    ("2026-03-15T12:00:00Z", "1mo", "2026-04-15T11:00:00Z"),  # months move the wall time
    ("2026-02-28T01:30:00Z", "1mo", "2026-03-28T01:30:00Z"),
    ("2026-01-29T01:30:00Z", "2mo", "2026-03-29T01:30:00Z"),  # 02:30 is skipped on that day: read as before the gap
]


@pytest.mark.parametrize(("birth", "ttl", "expiry"), BERLIN_CASES)
def test_expiry_across_summer_time(birth: str, ttl: str, expiry: str) -> None:
    assert expires_after(when(birth), parse_duration(ttl), BERLIN) == instant(expiry)


def test_a_day_ends_even_where_its_midnight_is_skipped() -> None:
    # Cairo's clocks go from 00:00 to 01:00 on 2026-04-24: the 23rd ends at that instant
    assert end_of_day(date(2026, 4, 23), ZoneInfo("Africa/Cairo")) == instant("2026-04-23T22:00:00Z")


@pytest.mark.parametrize("birth", [date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)])
@pytest.mark.parametrize("ttl", [NEVER, Duration(days=10**9 - 1), Duration(months=10**6), Duration(hours=10**9)])
def test_never_and_past_the_calendar_are_both_never(birth: date, ttl: Duration) -> None:
    assert expires_after(birth, ttl, BERLIN) is None


def test_the_last_day_of_the_calendar_never_ends() -> None:
    assert end_of_day(date(9999, 12, 31), UTC) is None


def test_the_first_day_of_the_calendar_ends() -> None:
    assert end_of_day(date(1, 1, 1), ZoneInfo("Asia/Tokyo")) is not None
