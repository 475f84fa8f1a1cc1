"""Large texts and lines take time in proportion: where a quadratic way takes minutes, they are done in seconds."""

from __future__ import annotations

import time

import pytest
from support import NOW, entity, judge_of, verdicts_of

from memttl.core.cut import cut_line
from memttl.core.durations import Duration, expires_after
from memttl.core.memory import parse_line
from memttl.core.rules import glob
from memttl.core.spans import is_well_formed

SIZE = 250_000
POLICY = """
[dates]
formats = ["%d   %m   %Y", "%B %Y"]
labels = ["session", "a b"]
[[rules]]
prefix = ["session", "-"]
entity = ["*a*b*c*"]
tier = "session"
"""
# each is what a quadratic reading of heads, marks, dates, case or composition would choke on
PIECES = [
    "a",
    " ",
    "- ",
    "- [x] ",
    "1. ",
    "[",
    "(",
    "]",
    "[session] ",
    "session: ",
    "2026-01-05 ",
    "2026-01-05, ",
    "session: 2026-01-05 ",
]
PIECES += [
    "\u00a0",
    "\u0301\u0316",
    "ß",
    "İ",
    "é",
    ";",
    " - ",
    "; ",
    "expires ",
    "ttl 1 ",
    "[ttl 1d,",
    "5 ",
    "january ",
    "a b",
    "9",
]


@pytest.mark.parametrize("piece", PIECES, ids=ascii)
@pytest.mark.parametrize("start", ["", "session", "[", "x "])
def test_a_long_text_is_judged_in_time(start: str, piece: str) -> None:
    text = start + piece * (SIZE // len(piece))
    judge, line = judge_of(POLICY), entity([text])
    began = time.process_time()
    verdicts_of(line, judge)
    assert time.process_time() - began < 2


LINES = {
    "one long string": b'"' + b"x" * SIZE + b'"',
    "escapes": b'"' + b"\\n" * (SIZE // 2) + b'"',
    "quotes": b'"' + b'\\"' * (SIZE // 2) + b'"',
    "an open string": b'"' + b'\\"' * (SIZE // 2),
    "many strings": b'"a",' * (SIZE // 4) + b'"a"',
    "brackets in a string": b'"' + b"[{" * (SIZE // 2) + b'"',
    "nesting": b"[" * (SIZE // 8) + b"]" * (SIZE // 8),
    "open brackets": b"[" * (SIZE // 4),
    "objects": b'{"a":1},' * (SIZE // 8) + b"1",
    "a lone surrogate": b'"\\ud800' + b"x" * SIZE + b'"',
    "white space": b"1" + b" " * SIZE,
}


@pytest.mark.parametrize("name", LINES)
def test_a_long_line_is_read_and_cut_in_time(name: str) -> None:
    line = b'{"type":"entity","name":"A","observations":[' + LINES[name] + b"]}"
    began = time.process_time()
    kind = parse_line(line, 1).kind
    assert is_well_formed(line) == (kind != "malformed")
    if kind == "entity":
        cut_line(line, [0])
    assert time.process_time() - began < 5


def test_many_stars_of_a_glob_do_not_multiply() -> None:
    began = time.process_time()
    assert not glob("*a" * 30 + "*b").fullmatch("a" * 20_000)
    assert time.process_time() - began < 1


def test_a_ttl_of_a_billion_years_is_never() -> None:
    assert expires_after(NOW, Duration(months=12 * (10**9 - 1)), NOW.tzinfo) is None  # type: ignore[arg-type]
