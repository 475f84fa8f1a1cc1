"""When is now, for the ledger: a clock that runs behind is refused, and no stamp lies after the clock or goes back."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NOW

from memttl.core.clock import check_clock, stamp_of
from memttl.errors import ClockBehind

instants = st.integers(-(10**6), 10**6).map(lambda minutes: NOW + timedelta(minutes=minutes))


@pytest.mark.parametrize("behind", [timedelta(days=-9), timedelta(0), timedelta(hours=23), timedelta(days=1)])
def test_clock_up_to_a_day_behind_will_do(behind: timedelta) -> None:
    check_clock(NOW - behind, NOW)


@pytest.mark.parametrize("behind", [timedelta(days=1, seconds=1), timedelta(days=20_000)])
def test_clock_more_than_a_day_behind_is_refused(behind: timedelta) -> None:
    with pytest.raises(ClockBehind, match="2026-06-01T12:00:00Z") as refused:
        check_clock(NOW - behind, NOW)
    assert refused.value.exit_code == 75


def test_without_a_stamp_any_clock_will_do() -> None:
    check_clock(datetime.min.replace(tzinfo=NOW.tzinfo), None)


@given(instants, instants)
def test_first_stamp_is_never_after_now_nor_after_the_clock(now: datetime, clock: datetime) -> None:
    assert stamp_of(now, clock, None) == min(now, clock)


@given(instants, instants, instants)
def test_stamp_never_goes_back(now: datetime, clock: datetime, newest: datetime) -> None:
    assert stamp_of(now, clock, newest) >= newest


@given(instants, instants, instants)
def test_stamp_is_after_the_clock_only_where_the_ledger_is(now: datetime, clock: datetime, newest: datetime) -> None:
    assert stamp_of(now, clock, newest) <= max(clock, newest)
