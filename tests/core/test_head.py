"""The head of a text: bullets, leading dates and prefixes, strict as SPEC says under "Prefix"."""

from __future__ import annotations

from datetime import UTC, date

import pytest

from memttl.core.dates import DateReader
from memttl.core.formats import compile_format
from memttl.core.head import Head, HeadReader
from memttl.core.normal import normalise

PLAIN = DateReader((), UTC)
# reads nothing that stands below, and switches the quick way past plain text off
SLOW = DateReader((compile_format("%Y##%m##%d"),), UTC)


def head_of(text: str, *prefixes: str, dates: DateReader = PLAIN) -> Head:
    return HeadReader(prefixes or ("session", "permanent"), dates).read(normalise(text))


IS_PREFIX = [
    "Session: x",
    "session : x",
    "SESSION：x",
    "Session\u00a0: x",
    "session:x",
    "Session - x",
    "Session – x",
    "Session — x",
    "session",
    "session ",
    "  session: x",
    "\u3000session: x",
    "[session] x",
    "(session) x",
    "[ session ] x",
    "[session]x",
    "[session]",
    "[session]: x",
    "- session: x",
    "* [session] x",
    "+ session: x",
    "• session: x",
    "1. session: x",
    "12) session: x",
    "- [ ] session: x",
    "- [x] [session] x",
    "- [X] session: x",
    "- - session: x",
    "2026-01-05: session: x",
    "2026-01-05 session: x",
    "[2026-01-05] session: x",
    "(2026-01-05) - [session] x",
    "2026-01-05 14:30 session: x",
    "2026-01-05 - session: x",
    "2026-01-05, session: x",
    "- 2026-01-05: session: x",
    "- [x] [2026-01-05] session: x",
    "2026-02-30: session: x",
    "Session 2026-01-05: x",
    "Session 2026-01-05 - x",
    "Session 2026-01-05",
    "Session [2026-01-05]: x",
    "Session (2026-01-05)",
    "[session 2026-01-05] x",
    "[session: 2026-01-05] x",
    "(session, 2026-01-05) x",
    "[session 2026-01-05T14:30:00Z] x",
]
IS_PROSE = [
    "Session management: cookies",
    "Session 2025-10-21 Example 1: x",
    "sessions: x",
    "session, then x",
    "session; x",
    "session.",
    "session-based: x",
    "session -x",
    "session- x",
    "session -",
    "session/x: y",
    "session::start is x",
    "session://path",
    "session = 3",
    "session (old): x",
    "session\u0301: x",
    "a session: x",
    "the [session] x",
    "> session: x",
    "#session: x",
    '"session": x',
    "[session] (x)".replace(" ", ""),
    "[session](https://example.org) x",
    "[session) x",
    "[session x] y",
    "[my session] x",
    "[[session]] x",
    "session\u200b: x",
    "[session 2026-01-05 x] y",
    "[session2026-01-05] x",
    "[session - 2026-01-05] x",
    "Session2026-01-05: x",
    "2026-01-05.session: x",
    "2026-01-05 to 2026-02-01: session: x",
    "1 session: x",
    "1000. session: x",
    "-session: x",
    "",
    "[",
    "[]",
    "(",
    "- ",
    "1.",
]


@pytest.mark.parametrize("text", IS_PREFIX)
def test_is_a_prefix(text: str) -> None:
    assert head_of(text).prefixes == {"session"}


@pytest.mark.parametrize("text", IS_PROSE)
def test_is_prose(text: str) -> None:
    assert not head_of(text).prefixes


@pytest.mark.parametrize("text", [*IS_PREFIX, *IS_PROSE, "\x1csession: x", "\x1f[2026-01-05] x", "\x0b2026-01-05: x"])
def test_the_quick_way_past_plain_text_sees_the_same(text: str) -> None:
    assert head_of(text) == head_of(text, dates=SLOW)


@pytest.mark.parametrize("prefix", ["c++", "a.b", "what?", "^x$", "a|b", "x*", "a(b", "\\d", "{2}", "a-b", "$", "1.2"])
def test_a_prefix_is_no_regular_expression(prefix: str) -> None:
    assert head_of(f"{prefix}: text", prefix).prefixes == {prefix}
    assert head_of(f"[{prefix}] text", prefix).prefixes == {prefix}
    assert not head_of("ab: text", prefix).prefixes


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("straße", "STRASSE: x"),
        ("STRASSE", "straße: x"),
        ("İş", "i̇ş: x"),
        ("café", "CAFE\u0301: x"),
        ("cafe\u0301", "Café: x"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ: x"),
        ("セッション", "セッション：x"),
        ("جلسة", "جلسة: x"),
        ("session notes", "Session Notes: x"),
        ("🧪", "🧪: x"),
    ],
)
def test_prefixes_compare_after_composing_and_folding_case(prefix: str, text: str) -> None:
    assert head_of(text, prefix).prefixes == {normalise(prefix)}


def test_of_two_prefixes_the_one_that_ends_counts() -> None:
    assert head_of("Session notes: x", "session", "session notes").prefixes == {"session notes"}
    assert head_of("Session: notes", "session", "session notes").prefixes == {"session"}


def test_two_prefixes_count_where_one_goes_on_with_a_dash() -> None:
    assert head_of("todo - urgent: x", "todo", "todo - urgent").prefixes == {"todo", "todo - urgent"}


LEADING = [
    "2026-01-05: x",
    "2026-01-05 x",
    "[2026-01-05] x",
    "(2026-01-05) x",
    "2026-01-05 - x",
    "2026-01-05 — x",
    "2026-01-05",
    "- 2026-01-05: x",
    "- [x] (2026-01-05) x",
    "3. 2026-01-05: x",
    "Session: 2026-01-05 x",
    "[session] 2026-01-05 x",
    "[session] [2026-01-05] x",
    "Session - 2026-01-05 - x",
    "[session 2026-01-05] x",
    "Session 2026-01-05: x",
    "Session (2026-01-05) - x",
]


@pytest.mark.parametrize("text", LEADING)
def test_a_leading_date_is_read(text: str) -> None:
    assert [d.when for d in head_of(text).dates] == [date(2026, 1, 5)]


@pytest.mark.parametrize(
    "text",
    [
        "on 2026-01-05 x",
        "Session: on 2026-01-05 x",
        "2026-01-05.md: x",
        "2026-01-05/x",
        "docs/2026-01-05: x",
        "v2026-01-05: x",
        "[2026-01-05](x.md) x",
        "[session] [2026-01-05](x.md)",
        "Other: 2026-01-05 x",
        "https://x/2026-01-05",
        "2026-01-05x",
        "Session 2025-10-21 Example 1: x",
    ],
)
def test_a_date_elsewhere_is_not(text: str) -> None:
    assert not head_of(text).dates


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-05 to 2026-02-01: x",
        "2026-01-05 - 2026-02-01: x",
        "2026-01-05 – 2026-02-01: x",
        "2026-01-05 — 2026-02-01: x",
        "2026-01-05 / 2026-02-01: x",
        "2026-01-05, 2026-02-01: x",
        "2026-01-05 and 2026-02-01: x",
        "[2026-01-05] - [2026-02-01] x",
        "Session: 2026-01-05 to 2026-02-01 x",
    ],
)
def test_a_range_or_list_of_days_is_none(text: str) -> None:
    head = head_of(text)
    assert not head.dates
    assert [d.when for d in head.ranges] == [date(2026, 1, 5)]


def test_two_leading_dates_around_a_prefix_are_both_read() -> None:
    assert [d.when for d in head_of("2026-01-05: [session] 2026-02-01: x").dates] == [
        date(2026, 1, 5),
        date(2026, 2, 1),
    ]


def test_a_leading_date_in_a_format_of_the_policy_is_read() -> None:
    dates = DateReader((compile_format("%d.%m.%Y"), compile_format("%B %Y")), UTC)
    assert [d.when for d in head_of("Session: 05.01.2026 – x", dates=dates).dates] == [date(2026, 1, 5)]
    assert head_of("January 2026: session: x", dates=dates).prefixes == {"session"}
