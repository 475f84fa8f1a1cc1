"""How often something runs: what is read, and what each scheduler can do exactly."""

from __future__ import annotations

import pytest

from memttl.core.durations import BadDuration
from memttl.core.schedule import Every, Kind, Times, Wish, parse_every, times_of
from memttl.errors import UsageError


@pytest.mark.parametrize(
    ("text", "every", "words"),
    [
        ("15min", Every(15), "15 minutes"),
        ("1 minute", Every(1), "minute"),
        ("90 mins", Every(90), "90 minutes"),
        ("1h", Every(60), "hour"),
        ("hourly", Every(60), "hour"),
        ("P1D", Every(1440), "day"),
        ("Daily", Every(1440), "day"),
        ("7d", Every(10080), "week"),
        ("weekly", Every(10080), "week"),
        ("1mo", Every(months=1), "month"),
        ("1y", Every(months=12), "12 months"),
    ],
)
def test_how_often_is_read_and_said(text: str, every: Every, words: str) -> None:
    assert parse_every(text) == every
    assert str(every) == words


@pytest.mark.parametrize("text", ["", "15", "15m", "0min", "0d", "never", "-1h", "1mo2d", "often", "min", "1.5h"])
def test_what_is_no_time_between_runs_is_refused(text: str) -> None:
    with pytest.raises(BadDuration):
        parse_every(text)


@pytest.mark.parametrize("kind", ["systemd", "cron", "launchd", "windows"])
@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("15min", Times("minute", 15)),
        ("6h", Times("hour", 6)),
        ("24h", Times("day", 1)),
        ("1w", Times("week", 1)),
        ("3mo", Times("month", 3)),
    ],
)
def test_every_scheduler_can_do_what_comes_round_evenly(kind: Kind, text: str, times: Times) -> None:
    assert times_of(kind, parse_every(text)) == times


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("systemd", "45min"),
        ("cron", "5h"),
        ("cron", "2d"),
        ("systemd", "5mo"),
        ("launchd", "3d"),
        ("launchd", "2w"),
        ("windows", "400d"),
        ("windows", "36h"),
    ],
)
def test_what_a_scheduler_cannot_do_exactly_is_refused_with_what_it_can(kind: Kind, text: str) -> None:
    with pytest.raises(UsageError) as refused:
        times_of(kind, parse_every(text))
    assert "daily" in refused.value.hint or "days" in refused.value.hint


@pytest.mark.parametrize(
    ("kind", "text", "times"),
    [
        ("launchd", "45min", Times("minute", 45)),
        ("windows", "90min", Times("minute", 90)),
        ("windows", "3d", Times("day", 3)),
        ("windows", "2w", Times("day", 14)),
    ],
)
def test_what_only_some_can_do(kind: Kind, text: str, times: Times) -> None:
    assert times_of(kind, parse_every(text)) == times


def test_prune_runs_daily_and_scan_every_quarter_of_an_hour_unless_told() -> None:
    assert Wish("cron").cadence == Every(1440)
    assert Wish("cron", "scan").cadence == Every(15)
    assert Wish("cron", "scan", Every(60)).cadence == Every(60)
