"""Marks: where they stand, what their values mean, and what is prose or cannot be read."""

from __future__ import annotations

import time
from datetime import UTC, date
from zoneinfo import ZoneInfo

import pytest
from support import instant

from memttl.core.dates import DateReader
from memttl.core.durations import NEVER, Duration
from memttl.core.formats import compile_format
from memttl.core.marks import Tail, TailReader
from memttl.core.normal import normalise

TIERS = ("session", "operational", "permanent", "Ärger")
PLAIN = DateReader((), UTC)


def tail_of(text: str, dates: DateReader = PLAIN) -> Tail:
    return TailReader(TIERS, dates).read(normalise(text))


def kinds(text: str) -> list[str]:
    return [m.kind for m in tail_of(text).marks]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("expires 2026-04-01", "expires"),
        ("expires: 2026-04-01", "expires"),
        ("expires：2026-04-01", "expires"),
        ("EXPIRES  2026-04-01", "expires"),
        ("valid until 2026-04-01", "expires"),
        ("valid  until: 2026-04-01", "expires"),
        ("review by 2026-04-01", "review by"),
        ("review-by: 2026-04-01", "review by"),
        ("next review: 2026-04-01", "review by"),
        ("created 2026-04-01", "created"),
        ("learned: 2026-04-01", "created"),
        ("Noted 2026-04-01", "created"),
    ],
)
def test_words_of_dates(words: str, kind: str) -> None:
    (mark,) = tail_of(f"x [{words}]").marks
    assert (mark.kind, mark.date, mark.problem) == (kind, date(2026, 4, 1), "")


@pytest.mark.parametrize("words", ["ttl 30d", "ttl: 30d", "TTL : 30 days", "ttl 30", "ttl: P30D"])
def test_words_of_a_ttl(words: str) -> None:
    (mark,) = tail_of(f"x ({words})").marks
    assert mark.ttl == Duration(days=30)


@pytest.mark.parametrize("words", ["tier: session", "decay: SESSION", "tier：session"])
def test_words_of_a_tier(words: str) -> None:
    (mark,) = tail_of(f"x [{words}]").marks
    assert mark.tier == "session"


def test_a_tier_is_named_in_the_policys_spelling() -> None:
    (mark,) = tail_of("x [tier: ärger]").marks
    assert mark.tier == "Ärger"


@pytest.mark.parametrize("word", ["pin", "pinned", "keep", "PIN"])
def test_words_of_a_pin(word: str) -> None:
    assert kinds(f"x [{word}]") == ["pin"]


def test_never_is_a_value_of_expires_review_and_ttl() -> None:
    expires, review, ttl = tail_of("x [expires: never] [review by never] [ttl: never]").marks
    assert (expires.date, review.date, ttl.ttl) == ("never", "never", NEVER)


@pytest.mark.parametrize(
    "text",
    [
        "x [pin]",
        "x (pin)",
        "x[pin]",
        "x - pin",
        "x – pin",
        "x — pin",
        "x; pin",
        "x;pin",
        "x [ pin ]",
        "x [pin].",
        "x [pin] . ",
        "x [pin]\n",
        "x - pin.",
        "[pin]",
        "(pin)",
    ],
)
def test_places_of_a_mark(text: str) -> None:
    assert kinds(text) == ["pin"]


@pytest.mark.parametrize(
    "text",
    [
        "pin",
        "x pin",
        "x, pin",
        "x-pin",
        "x -pin",
        "x: pin",
        "x [pin] y",
        "[pin] x",
        "x {pin}",
        "x [pin)",
        "x pin]",
        "x [pin]..",
    ],
)
def test_other_places_are_prose(text: str) -> None:
    assert not kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "x [expires 2026-04-01] [pin]",
        "x [expires 2026-04-01][pin]",
        "x [expires 2026-04-01], (pin)",
        "x [expires 2026-04-01]; [pin].",
        "x [expires 2026-04-01; pin]",
        "x [expires 2026-04-01, pin]",
        "x (expires 2026-04-01)\u3000[pin]",
        "x (expires 2026-04-01)\u2028[pin]",
        "x - expires 2026-04-01 [pin]",
        "x - expires 2026-04-01; pin",
        "x - expires 2026-04-01, pin",
        "x; expires 2026-04-01 - pin",
        "x [expires 2026-04-01] (2026-01-01) [pin]",
    ],
)
def test_several_stand_in_a_row(text: str) -> None:
    assert kinds(text) == ["expires", "pin"]


@pytest.mark.parametrize(
    "text",
    [
        "x (refresh before expiration)",
        "x (review by the team)",
        "x (review by Anna)",
        "x [expires soon]",
        "x [ttl forever]",
        "x [tier session]",
        "x [decay heat]",
        "x [noted in the wiki]",
        "x [keep it]",
        "x [pin: 4]",
        "x (expires)",
        "x [expires:]",
        "x [tier: session; see wiki]",
        "x [see wiki; tier: session]",
        "x - tier: session; see wiki",
        "Presigned URLs expire in 24h",
        "x [expiry 2026-04-01]",
        "x [valid 2026-04-01]",
        "x [nexpires 2026-04-01]",
    ],
)
def test_prose(text: str) -> None:
    assert not kinds(text)


@pytest.mark.parametrize(
    "words",
    [
        "expires 2026-02-30",
        "expires 2026",
        "expires 3 days after launch",
        "expires: TBD",
        "expires 2026-04-01 (UTC)",
        "expires 1970-01-01",
        "expires 0001-01-01T00:00:00Z",
        "expires 2026-04-01T24:00",
        "valid until 9999-99-99",
        "review by 2026-02-30",
        "review-by: Anna",
        "ttl 30m",
        "ttl: forever",
        "ttl: 0",
        "ttl: -1",
        "ttl 0d",
        "ttl 1.5d",
        "tier: nosuch",
        "tier: 3",
        "decay: 0.95",
        "decay 0.95",
        "created 2026-02-30",
        "learned: yesterday",
    ],
)
def test_right_form_and_unreadable_value_is_a_problem(words: str) -> None:
    (mark,) = tail_of(f"x [{words}]").marks
    assert mark.problem


def test_the_last_instant_of_the_calendar_is_read_in_every_zone() -> None:
    (mark,) = tail_of("x [expires 9999-12-31T23:30:00Z]", DateReader((), ZoneInfo("Europe/Berlin"))).marks
    assert mark.date == instant("9999-12-31T23:30:00Z")


@pytest.mark.parametrize(
    "text", ["x [expires March 3, 2026; pin]", "x [pin, expires March 3, 2026]", "x [expires 3/3/2026]"]
)
def test_formats_of_the_policy_are_read_in_marks(text: str) -> None:
    dates = DateReader((compile_format("%B %d, %Y"), compile_format("%d/%m/%Y")), UTC)
    assert date(2026, 3, 3) in [m.date for m in tail_of(text, dates).marks]


def test_a_comma_inside_a_duration_does_not_separate() -> None:
    (mark,) = tail_of("x [ttl: 1 year, 6 months]").marks
    assert mark.ttl == Duration(months=18)


@pytest.mark.parametrize("text", ["x (2026-04-01)", "x [2026-04-01]", "x (2026-04-01) [pin]", "x [pin] (2026-04-01)."])
def test_a_trailing_date_in_brackets_is_read(text: str) -> None:
    assert [d.when for d in tail_of(text).dates] == [date(2026, 4, 1)]


@pytest.mark.parametrize(
    "text", ["x 2026-04-01", "x(2026-04-01)", "[notes](2026-04-01)", "x (on 2026-04-01)", "x (2026-04-01) y"]
)
def test_other_trailing_dates_are_not(text: str) -> None:
    assert not tail_of(text).dates


@pytest.mark.parametrize(
    "text",
    [
        "x 2026-01-05 to (2026-04-01)",
        "x (2026-01-05), (2026-04-01)",
        "x [2026-01-05, 2026-04-01]",
        "x 2026-01-05 – (2026-04-01)",
    ],
)
def test_a_trailing_range_or_list_of_days_is_none(text: str) -> None:
    assert not tail_of(text).dates


def test_two_trailing_dates_without_a_word_between_are_both_read() -> None:
    assert len(tail_of("x (2026-01-05) (2026-04-01)").dates) == 2


@pytest.mark.parametrize("piece", ["; pin", " [pin]", "[pin;", "[", "(", "]", ")", ";", " - ", ", ", "- "])
def test_a_megabyte_of_marks_or_brackets_takes_one_pass(piece: str) -> None:
    text = "x" + piece * (1_000_000 // len(piece))
    start = time.process_time()
    tail_of(text)
    assert time.process_time() - start < 5  # about 2 s; a slice of the text a mark took 20


@pytest.mark.parametrize(
    "text",
    [
        "x [expires: December 31, 2026]",
        "x [expires 2026-12-31, 23:59]",
        "x [ttl: 1 year, maybe more]",
        "x (review by: Anna, Bob)",
        "x - expires: December 31, 2026",
        "x [expires 2027-04-01; see wiki]",
    ],
)
def test_a_value_that_goes_on_behind_a_comma_is_unreadable_and_not_prose(text: str) -> None:
    assert [bool(mark.problem) for mark in tail_of(text).marks] == [True]


@pytest.mark.parametrize("text", ["x [pin;]", "x [pin,]"])
def test_a_stray_separator_does_not_undo_a_mark(text: str) -> None:
    assert [mark.kind for mark in tail_of(text).marks] == ["pin"]


@pytest.mark.parametrize("text", ["x [ttl forever]", "x (review by Anna)", "x [pin until Friday]"])
def test_a_bracket_that_looks_like_a_mark_is_told(text: str) -> None:
    assert tail_of(text).near == text[2:].lower()
