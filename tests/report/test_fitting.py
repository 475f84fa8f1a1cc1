"""Lines that fit: by columns, at white space, and whole again when they are joined."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memttl.report.fitting import columns_of, cut, wrap

texts = st.text(st.sampled_from("ab \u65e5\u672c\U0001f600e\u0301-"), max_size=60)


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("\u65e5\u672c", 4), ("e\u0301", 1), ("\U0001f600", 2), ("", 0)]
)
def test_columns_are_those_of_a_screen(text: str, columns: int) -> None:
    assert columns_of(text) == columns


@given(texts, st.integers(2, 30))
def test_no_line_is_wider_and_nothing_but_white_space_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(columns_of(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(texts, st.integers(2, 30))
def test_a_cut_text_fits_and_begins_as_it_did(text: str, width: int) -> None:
    found = cut(text, width)
    assert columns_of(found) <= width
    assert found == text or (found.endswith("…") and text.startswith(found[:-1]))


def test_lines_break_between_words() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("  - one two", 7) == ["  - one", "two"]
