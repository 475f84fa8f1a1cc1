"""What the user set, as JSON holds it, and back."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import AWKWARD

from memttl.core.asked import asked_document, asked_of
from memttl.core.durations import NEVER, Duration, parse_duration
from memttl.core.known import Setting
from memttl.core.model import NOTHING_SET, UserSettings
from memttl.files.ledger_rows import setting_of, setting_row

moments = st.datetimes(datetime(1000, 1, 2), datetime(9998, 12, 30)).map(lambda d: d.replace(microsecond=0, tzinfo=UTC))
days = st.dates()
parts = st.integers(0, 10**9 - 1)
durations = st.builds(Duration, parts, parts, parts, st.just(False)).filter(lambda d: not d.is_zero)
names = st.one_of(st.sampled_from(AWKWARD), st.text(st.characters(), max_size=20))
settings = st.builds(
    UserSettings,
    pinned=st.booleans(),
    created=st.one_of(st.none(), days, moments),
    expires=st.one_of(st.none(), st.just("never"), days, moments),
    ttl=st.one_of(st.none(), st.just(NEVER), durations),
    tier=st.one_of(st.none(), names),
    review_by=st.one_of(st.none(), days, moments),
    entity_pin=st.just(""),
)


@given(settings)
def test_settings_come_back_from_json_as_they_were(asked: UserSettings) -> None:
    assert asked_of(json.loads(json.dumps(asked_document(asked)))) == asked


@given(names, names, st.booleans(), settings)
def test_row_of_the_ledger_gives_the_setting_back(name: str, text: str, kept: bool, asked: UserSettings) -> None:
    setting = Setting(name, "ab" * 32, text if kept else None, asked)
    assert setting_of(*setting_row(setting)) == setting


def test_nothing_set_is_the_empty_object() -> None:
    assert asked_document(NOTHING_SET) == {}
    assert asked_of({}) == NOTHING_SET


def test_day_stays_a_day_and_an_instant_an_instant() -> None:
    day, moment = date(2026, 6, 1), datetime(2026, 6, 1, tzinfo=UTC)
    found = asked_of(asked_document(UserSettings(created=day, expires=moment)))
    assert (type(found.created), type(found.expires)) == (date, datetime)


def test_instant_of_another_zone_is_kept_in_utc() -> None:
    moment = datetime(2026, 6, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert asked_document(UserSettings(created=moment)) == {"created_at": "2026-05-31T23:30:00Z"}


def test_months_stay_months() -> None:
    ttl = Duration(months=13, days=40, hours=30)
    assert asked_of(asked_document(UserSettings(ttl=ttl))).ttl == ttl


@pytest.mark.parametrize("text", ["999999999w", "999999999y 999999999mo", "P999999999W999999999D"])
def test_duration_that_could_not_be_read_again_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be meant"):
        parse_duration(text)


@given(st.from_regex(r"([0-9]{1,9}y)?([0-9]{1,9}mo)?([0-9]{1,9}w)?([0-9]{1,9}d)?([0-9]{1,9}h)?", fullmatch=True))
def test_every_duration_that_can_be_read_can_be_read_again(text: str) -> None:
    try:
        ttl = parse_duration(text)
    except ValueError:
        return
    assert parse_duration(str(ttl)) == ttl


def test_key_of_a_later_version_is_left_out() -> None:
    assert asked_of({"pinned": True, "mood": 3}) == UserSettings(pinned=True)


@pytest.mark.parametrize(
    "document",
    [{"created_at": 5}, {"created_at": "x"}, {"expires_at": "2026-02-30"}, {"expires_at": []}, {"ttl": "30m"},
     {"ttl": 0}, {"ttl": {}}, {"tier": 3}, {"created_at": "2026-13-01T00:00:00Z"}, {"review_by": "never"}],
    ids=str,
)  # fmt: skip
def test_value_that_cannot_be_read_is_an_error(document: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        asked_of(document)


@pytest.mark.parametrize("value", [1, "true", "yes", None])
def test_only_true_pins(value: object) -> None:
    assert not asked_of({"pinned": value}).pinned
