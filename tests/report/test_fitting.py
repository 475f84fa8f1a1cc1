"""Text broken into the lines of a screen: nothing is lost, nothing is wider than the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memttl.report.fitting import columns_of, wrap

WORDS = st.text(st.sampled_from("ab漢é\u0301 -😀"), max_size=80)


@given(WORDS, st.integers(2, 30))
def test_lines_fit_and_hold_all_that_is_no_white_space(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(columns_of(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "lines"), [("", [""]), ("abc", ["abc"]), ("abcdef", ["abc", "def"]), ("漢漢", ["漢", "漢"])]
)
def test_word_wider_than_the_screen_is_broken(text: str, lines: list[str]) -> None:
    assert wrap(text, 3) == lines
