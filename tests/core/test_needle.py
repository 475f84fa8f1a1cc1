"""A query in a text: found as JavaScript's toLowerCase and includes would find it, and shown where it stands."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memttl.core.needle import needle_of

# characters whose lower case is longer, shorter, or depends on what stands around them
AWKWARD = st.text(st.sampled_from("iIİı\u0307ßẞΣσςAaéÉe\u0301ﬁ\u212aǅ🙂𐐀𐐨\ud83d\ude42 x"), max_size=12)


def marked(query: str, text: str) -> str:
    """The text with the places that are shown as the query in brackets."""
    shown, done = "", 0
    for start, end in needle_of(query).spans(text):
        shown, done = f"{shown}{text[done:start]}[{text[start:end]}]", end
    return shown + text[done:]


@pytest.mark.parametrize(
    ("query", "text", "is_in"),
    [
        ("WebKit", "the webkit tests", True),
        ("webkit", "THE WEBKIT TESTS", True),
        ("", "", True),
        ("ss", "Straße", False),
        ("ß", "STRASSE", False),
        ("i", "İ", True),
        ("İ", "i", False),
        ("ι", "ΑΙ", True),
        ("ΟΔΟΣ", "οδοσοι", False),
        ("é", "e\u0301", False),
        ("\ud83d", "🙂", True),
        ("\ude42", "a 🙂 b", True),
        ("\ude42", "🙁", False),
        # its bytes stand across two of the units of the text
        ("\ud8d8", "\ud8ab\u30d8", False),
    ],
    ids=ascii,
)
def test_text_holds_a_query_as_for_javascript(query: str, text: str, is_in: bool) -> None:
    assert needle_of(query).is_in(text) is is_in


def test_what_is_no_text_holds_an_empty_query_only() -> None:
    assert needle_of("").is_in(None)
    assert not needle_of("x").is_in(None)


@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("WEB", "webkit and WebKit", "[web]kit and [Web]Kit"),
        ("aa", "aaaaa", "[aa][aa]a"),
        ("b", "İİİb and B", "İİİ[b] and [B]"),
        ("istanbul", "xİstanbul istanbul", "xİstanbul [istanbul]"),
        ("i\u0307stan", "xİstanbul", "x[İstan]bul"),
        ("\u0307", "xİİ", "x[İ][İ]"),
        ("\u0307i", "İİİ", "[İİ][İ]"),
        ("ς", "ΟΔΟΣ ΣΟ", "ΟΔΟ[Σ] ΣΟ"),
        ("", "abc", "abc"),
        ("\ud83d", "a🙂", "a🙂"),
        ("z", "abc", "abc"),
    ],
    ids=ascii,
)
def test_places_that_hold_the_query_are_shown(query: str, text: str, shown: str) -> None:
    assert marked(query, text) == shown


@given(AWKWARD, AWKWARD)
@example("i\u0307", "İİ")
def test_what_is_shown_holds_the_query_and_nothing_overlaps(query: str, text: str) -> None:
    needle, done = needle_of(query), 0
    for start, end in needle.spans(text):
        assert done <= start < end <= len(text)
        # at the end of a word a sigma has another form: a part of a text may lower otherwise than within it
        assert needle.lowered.replace("ς", "σ") in text[start:end].lower().replace("ς", "σ")
        done = end
    assert done == 0 or needle.is_in(text)


@given(AWKWARD, AWKWARD, AWKWARD)
def test_place_of_a_text_that_holds_the_query_is_shown(before: str, query: str, after: str) -> None:
    text = before + query + after
    needle = needle_of(query)
    if needle.lowered and needle.lowered in text.lower():
        assert list(needle.spans(text))
