"""A block between markers: put in once, brought up to date in place, taken out without a trace."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memttl.core.marked_block import BEGIN, END, BadMarkers, has_block, put_block, remove_block

TEXT = "## Title\n\n- one\n- two\n"
BLOCK = f"{BEGIN}\n\n## Title\n\n- one\n- two\n\n{END}".encode()
FILES = {
    "empty": (b"", BLOCK + b"\n"),
    "one line": (b"# Rules\n", b"# Rules\n\n" + BLOCK + b"\n"),
    "no last line end": (b"# Rules", b"# Rules\n\n" + BLOCK),
    "CRLF": (b"# Rules\r\n", b"# Rules\r\n\r\n" + BLOCK.replace(b"\n", b"\r\n") + b"\r\n"),
    "CRLF without the last": (b"a\r\nb", b"a\r\nb\r\n\r\n" + BLOCK.replace(b"\n", b"\r\n")),
    "BOM alone": (b"\xef\xbb\xbf", b"\xef\xbb\xbf" + BLOCK + b"\n"),
    "BOM": (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\n\n" + BLOCK + b"\n"),
    "no UTF-8": (b"caf\xe9 \xff\n", b"caf\xe9 \xff\n\n" + BLOCK + b"\n"),
    "blank lines": (b"a\n\n\n", b"a\n\n\n\n" + BLOCK + b"\n"),
    "lone CR": (b"a\r", b"a\r\n\n" + BLOCK),
    "closed code block": (b"```sh\nx\n```\n", b"```sh\nx\n```\n\n" + BLOCK + b"\n"),
    "code block in a list": (b"1. run\n    ```\n    x\n    ```\n", None),
    "code block behind a bullet": (b"- ```\n  x\n  ```\n", None),
    "code block in a quote": (b"> ```\n> x\n> ```\n", None),
    "shorter fence inside": (b"````\n```\n````\n", None),
    "other fence inside": (b"~~~\n```\n~~~\n", None),
    "fence with backticks behind it is code in a line": (b"``` a ``` b\n", None),
    "comment": (b"<!-- a\nb -->\n", None),
    "other markers": (b"<!-- other:begin -->\n<!-- memttled:begin -->\n", None),
}


@pytest.mark.parametrize("name", FILES)
def test_a_block_is_put_behind_all_else_and_taken_out_without_a_trace(name: str) -> None:
    before, after = FILES[name]
    put = put_block(before, TEXT)
    assert put == (after if after is not None else before + b"\n" + BLOCK + b"\n")
    assert has_block(put)
    assert not has_block(before)
    assert put_block(put, TEXT) == put
    assert remove_block(put) == before


@pytest.mark.parametrize("name", FILES)
def test_a_block_is_brought_up_to_date_at_its_place(name: str) -> None:
    before, _ = FILES[name]
    there = put_block(before, TEXT) + b"\n\nmore \xff\r\nafter\n"
    new = put_block(there, "- three\n")
    assert re.sub(rb"(?s)## Title.*two", b"- three", there) == new
    assert put_block(new, TEXT) == there


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\n\nBLOCK\n\nb\n", b"a\n\nb\n"),
        (b"a\nBLOCK\nb\n", b"a\nb\n"),
        (b"a\n\nBLOCK\nb\n", b"a\n\nb\n"),
        (b"BLOCK\nb\n", b"b\n"),
        (b"  BLOCK  \nb", b"b"),
    ],
)
def test_a_block_that_was_moved_is_taken_out_where_it_is(before: bytes, after: bytes) -> None:
    assert remove_block(before.replace(b"BLOCK", BLOCK)) == after


def test_a_file_without_a_block_stays_as_it_is() -> None:
    assert remove_block(b"```\nnever closed") == b"```\nnever closed"


def test_a_marker_with_other_words_is_the_same_marker() -> None:
    old = b"<!--memttl:begin-->\nold\n<!-- memttl:end of it -->\n"
    assert put_block(old, TEXT) == BLOCK + b"\n"


BROKEN = {
    f"a\n{BEGIN}\nx\n": "the block that line 2 begins is never ended",
    f"a\n{END}\n": "line 2 ends a block that no line begins",
    f"{END}\n{BEGIN}\n": "line 1 ends a block that no line begins",
    f"{BEGIN}\n{BEGIN}\n{END}\n": "line 2 begins a block inside the one that line 1 begins",
    f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n": "line 3 begins a second block",
    f"{BEGIN}\n{END}\n{END}\n": "line 3 ends a block that no line begins",
    f"a\n```\n{BEGIN}\n{END}\n```\n": "the marker in line 3 stands inside the code block that line 2 opens",
    f"~~~\n```\n{BEGIN}\n": "the marker in line 3 stands inside the code block that line 1 opens",
    f"{BEGIN}\n```\n{END}\n": "the marker in line 3 stands inside the code block that line 2 opens",
    f"<!--\n{BEGIN}\n": "the marker in line 2 stands inside the comment that line 1 opens",
    f"- {BEGIN}\n": "the marker in line 1 does not stand alone on its line",
    f"{BEGIN} x\n": "the marker in line 1 does not stand alone on its line",
    f"{BEGIN}{END}\n": "the marker in line 1 does not stand alone on its line",
    f"    {BEGIN}\n": "the marker in line 1 does not stand alone on its line",
    "<!-- memttl:begin\n-->\n": "the marker in line 1 does not stand alone on its line",
}


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("act", [has_block, remove_block, lambda data: put_block(data, TEXT)])
def test_broken_markers_are_refused_with_their_place(text: str, act: object) -> None:
    with pytest.raises(BadMarkers) as refused:
        act(text.encode())  # type: ignore[operator]
    assert str(refused.value) == BROKEN[text]


@pytest.mark.parametrize("text", ["a\n```\nx\n", "````\n```", "<!-- a\n\nb\n", "- ~~~ sh\n"])
def test_nothing_is_put_into_a_code_block_or_comment_that_never_ends(text: str) -> None:
    with pytest.raises(BadMarkers, match="never ends"):
        put_block(text.encode(), TEXT)


PIECES = st.sampled_from(
    [b"a", b"\n", b"\r\n", b"\r", b" ", b"```", b"~~~~", b"<!--", b"-->", b"- ", b"> ", b"\xff", b"\xef\xbb\xbf", b"\0"]
)


@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_put_in_and_taken_out_leaves_any_file_as_it_was(data: bytes) -> None:
    try:
        put = put_block(data, TEXT)
    except BadMarkers:
        assume(False)
    assert put.startswith(data)
    assert put_block(put, TEXT) == put
    assert remove_block(put) == data
