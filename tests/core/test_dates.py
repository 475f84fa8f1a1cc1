"""Dates: which spellings are read, at which places a date ends, and which dates are no births."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from support import NOW, instant, when

from memttl.core.dates import DateReader, day_of, no_birth_because
from memttl.core.formats import DIRECTIVES, BadFormat, compile_format
from memttl.core.normal import normalise

BERLIN = ZoneInfo("Europe/Berlin")
PLAIN = DateReader((), UTC)


def in_formats(*formats: str) -> DateReader:
    return DateReader([compile_format(f) for f in formats], UTC)


WHOLE = {
    "2026-01-05": "2026-01-05",
    "2026-01-05T14:30": "2026-01-05T14:30:00Z",
    "2026-01-05 14:30": "2026-01-05T14:30:00Z",
    "2026-01-05t14:30:15z": "2026-01-05T14:30:15Z",
    "2026-01-05T14:30:15.250Z": "2026-01-05T14:30:15.250Z",
    "2026-01-05T14:30:15,5Z": "2026-01-05T14:30:15.500Z",
    "2026-01-05T14:30:15.123456789Z": "2026-01-05T14:30:15.123456Z",
    "2026-01-05T14:30:00+02:00": "2026-01-05T12:30:00Z",
    "2026-01-05T14:30:00-0930": "2026-01-06T00:00:00Z",
    "2024-02-29": "2024-02-29",
    "0001-01-01": "0001-01-01",
    "9999-12-31T23:59Z": "9999-12-31T23:59:00Z",
}


@pytest.mark.parametrize("text", WHOLE)
def test_iso_is_read(text: str) -> None:
    found = PLAIN.whole(normalise(text))
    assert found is not None
    assert found.when == when(WHOLE[text])


@pytest.mark.parametrize(
    "text",
    ["2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "0000-01-01", "2026-01-05T25:00", "2026-01-05T24:00"],
)
def test_an_impossible_date_is_found_and_means_nothing(text: str) -> None:
    found = PLAIN.whole(normalise(text))
    assert found is not None
    assert found.when is None


@pytest.mark.parametrize(
    "text", ["", "2026", "2026-01", "26-01-05", "2026-1-5", "2026/01/05", "20260105", "２０２６-01-05"]
)
def test_anything_else_is_no_date(text: str) -> None:
    assert PLAIN.whole(normalise(text)) is None


def test_a_time_without_offset_is_in_the_policys_zone() -> None:
    found = DateReader((), BERLIN).whole("2026-07-01 14:30")
    assert found is not None
    assert found.when == instant("2026-07-01T12:30:00Z")


def test_a_written_date_is_taken_as_written() -> None:
    found = DateReader((), BERLIN).whole("2026-07-01")
    assert found is not None
    assert found.when == date(2026, 7, 1)


def test_a_time_that_summer_time_skips_is_read_as_before_it() -> None:
    found = DateReader((), BERLIN).whole("2026-03-29 02:30")
    assert found is not None
    assert found.when == instant("2026-03-29T01:30:00Z")


def test_a_time_that_comes_twice_is_the_first() -> None:
    found = DateReader((), BERLIN).whole("2026-10-25 02:30")
    assert found is not None
    assert found.when == instant("2026-10-25T00:30:00Z")


@pytest.mark.parametrize("text", ["0001-01-01 00:00", "9999-12-31 23:59-10:00"])
def test_an_instant_outside_the_calendar_means_nothing(text: str) -> None:
    found = DateReader((), ZoneInfo("Asia/Tokyo")).whole(text)
    assert found is not None
    assert found.when is None


@pytest.mark.parametrize("behind", ["", " x", ": x", "：x", ", x", "\tx", "\u00a0x"])
def test_a_bare_date_ends_at_space_colon_comma_or_end(behind: str) -> None:
    assert PLAIN.bare_at("2026-01-05" + behind, 0) is not None


@pytest.mark.parametrize("behind", ["x", "-fix.md", "/notes", ".md", ".1", "_a", "5", "tx", ")", "]", ";"])
def test_a_bare_date_does_not_end_inside_a_word_or_path(behind: str) -> None:
    assert PLAIN.bare_at("2026-01-05" + behind, 0) is None


def test_a_time_that_goes_on_leaves_the_date() -> None:
    found = PLAIN.bare_at("2026-01-05 14:30-15:30 standup", 0)
    assert found is not None
    assert (found.when, found.end) == (date(2026, 1, 5), 10)


@pytest.mark.parametrize(
    "text", ["[2026-01-05]", "(2026-01-05)", "[2026-01-05] x", "[2026-01-05]: x", "(2026-01-05), x"]
)
def test_a_date_in_brackets_is_read(text: str) -> None:
    assert PLAIN.bracketed_at(text, 0) is not None


@pytest.mark.parametrize(
    "text",
    ["[2026-01-05)", "[2026-01-05", "[ 2026-01-05]", "[2026-01-05](notes.md)", "(2026-01-05)/a.md", "[2026-01-05].md"],
)
def test_a_link_or_a_path_is_no_date_in_brackets(text: str) -> None:
    assert PLAIN.bracketed_at(text, 0) is None


WORDS_OF_RANGES = [
    " to ",
    " and ",
    " - ",
    " – ",
    " — ",
    "-",
    "–",
    "/",
    ", ",
    " and (",
    " until ",
    " or ",
    " -- ",
    " & ",
    ", and ",
]


@pytest.mark.parametrize("word", WORDS_OF_RANGES)
def test_a_date_with_another_behind_it_is_a_range(word: str) -> None:
    text = f"2026-01-05{word}2026-03-01"
    found = PLAIN.at(text, 0)
    assert found is not None
    assert PLAIN.is_range(text, found)


@pytest.mark.parametrize("word", [" ", ": ", " on ", " tomorrow ", " to the ", " android "])
def test_other_words_make_no_range(word: str) -> None:
    text = f"2026-01-05{word}2026-03-01"
    found = PLAIN.at(text, 0)
    assert found is not None
    assert not PLAIN.is_range(text, found)


FORMATTED = [
    ("%d/%m/%Y", "05/01/2026", "2026-01-05"),
    ("%d/%m/%Y", "5/1/2026", "2026-01-05"),
    ("%d.%m.%y", "05.01.26", "2026-01-05"),
    ("%B %Y", "February 2024", "2024-02-29"),
    ("%b %d, %Y", "Jan 05, 2026", "2026-01-05"),
    ("%A, %d %B %Y", "Monday, 5 January 2026", "2026-01-05"),
    ("%d/%m/%Y %H:%M", "05/01/2026 14:30", "2026-01-05T14:30:00Z"),
    ("%d/%m/%Y %I:%M %p", "05/01/2026 02:30 PM", "2026-01-05T14:30:00Z"),
    ("%d/%m/%Y %H:%M %z", "05/01/2026 14:30 Z", "2026-01-05T14:30:00Z"),
    ("%d/%m/%Y %H:%M %z", "05/01/2026 14:30 +0200", "2026-01-05T12:30:00Z"),
    ("%Y %j", "2024 366", "2024-12-31"),
    ("%Y年%m月%d日", "2026年1月5日", "2026-01-05"),
    ("%d %B  %Y", "5 January \u00a0 2026", "2026-01-05"),
    ("Maß %d.%m.%Y", "MASS 05.01.2026", "2026-01-05"),
    ("de\u0301c %d %m %Y", "DÉC 05 01 2026", "2026-01-05"),
    ("100%% %Y-%B", "100% 2026-January", "2026-01-31"),
]


@pytest.mark.parametrize(("form", "text", "expected"), FORMATTED)
def test_a_format_of_the_policy_is_read(form: str, text: str, expected: str) -> None:
    found = in_formats(form).whole(normalise(text))
    assert found is not None
    assert found.when == when(expected)


@pytest.mark.parametrize(
    ("form", "text"), [("%d/%m/%Y", "31/02/2026"), ("%Y %j", "2025 366"), ("%d/%m/%Y", "05/00/2026")]
)
def test_an_impossible_date_in_a_format_means_nothing(form: str, text: str) -> None:
    found = in_formats(form).whole(normalise(text))
    assert found is not None
    assert found.when is None


@pytest.mark.parametrize(
    "form", ["%Q", "%-d %m %Y", "%", "%d", "%d %m", "%Y", "", "%d %d %m %Y", "%x", "%c", "%Z %m %Y"]
)
def test_a_format_that_cannot_be_used_is_refused(form: str) -> None:
    with pytest.raises(BadFormat):
        compile_format(form)


@pytest.mark.parametrize("directive", sorted(set(DIRECTIVES) - {"Y", "B", "%"}))
def test_every_allowed_directive_reads_what_strftime_writes(directive: str) -> None:
    form = f"%Y %B %{directive}"
    text = datetime(2026, 1, 5, 14, 30, tzinfo=UTC).strftime(form)
    found = in_formats(form).whole(normalise(text))
    assert found is not None
    assert found.when is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2026-06-02", "after now"),
        ("2026-06-01T12:00:01Z", "after now"),
        ("9999-12-31T23:59:00Z", "after now"),
        ("1999-12-31", "before 2000"),
        ("1970-01-01T00:00:00Z", "before 2000"),
        ("0001-01-01T00:00:00Z", "before 2000"),
        ("2000-01-01", ""),
        ("2026-06-01", ""),
        ("2026-06-01T12:00:00Z", ""),
    ],
)
@pytest.mark.parametrize("zone", [UTC, BERLIN, ZoneInfo("America/New_York")])
def test_what_is_no_birth(text: str, reason: str, zone: ZoneInfo) -> None:
    assert no_birth_because(when(text), NOW, zone).startswith(reason)
    assert bool(no_birth_because(when(text), NOW, zone)) == bool(reason)


def test_today_is_the_policys_today() -> None:
    late = datetime(2026, 6, 1, 23, 30, tzinfo=UTC)  # already the 2nd in Berlin
    assert not no_birth_because(date(2026, 6, 2), late, BERLIN)
    assert no_birth_because(date(2026, 6, 2), late, UTC)


@pytest.mark.parametrize("moment", [datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)])
@pytest.mark.parametrize("zone", [BERLIN, ZoneInfo("America/New_York")])
def test_the_ends_of_the_calendar_have_a_day_in_every_zone(moment: datetime, zone: ZoneInfo) -> None:
    assert day_of(moment, zone) == moment.date()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Session", "session"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("cafe\u0301", "café"),
        ("İ", "i̇"),
        ("ﬁ", "fi"),
    ],
)
def test_normalise_folds_case_and_composes(text: str, expected: str) -> None:
    assert normalise(text) == expected


def test_normalise_of_a_long_text_is_that_of_its_parts() -> None:
    assert normalise("Ünïcödé e\u0301 Straße " * 200) == normalise("Ünïcödé e\u0301 Straße ") * 200
