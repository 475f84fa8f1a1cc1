"""Cutting: whole elements go, every other byte stays, and a cut that is not one is refused."""

from __future__ import annotations

import json

import pytest
from support import entity

from memttl.core.cut import check_cut, cut_line, observation_spans, raw_elements

LINE = b'{"observations": [ "a" , {"b":[1,"]"]},null ,"c\\"]" ] , "name":"E","x":[ 1 ,2]}\r'


@pytest.mark.parametrize(
    ("remove", "kept"),
    [
        ([], b'"a" , {"b":[1,"]"]},null ,"c\\"]"'),
        ([0], b'{"b":[1,"]"]},null ,"c\\"]"'),
        ([1], b'"a",null ,"c\\"]"'),
        ([3], b'"a" , {"b":[1,"]"]},null'),
        ([0, 1], b'null ,"c\\"]"'),
        ([1, 2], b'"a" ,"c\\"]"'),
        ([0, 3], b'{"b":[1,"]"]},null'),
        ([0, 1, 2, 3], b""),
    ],
)
def test_what_stays_of_a_list(remove: list[int], kept: bytes) -> None:
    assert cut_line(LINE, remove) == b'{"observations": [ ' + kept + b' ] , "name":"E","x":[ 1 ,2]}\r'


def test_the_same_index_twice_is_one() -> None:
    assert cut_line(entity(["a", "b"]), [1, 1]) == entity(["a"])


@pytest.mark.parametrize("remove", [[2], [-1], [0, 7]])
def test_an_index_outside_the_list_is_refused(remove: list[int]) -> None:
    with pytest.raises(ValueError, match="of 2 observations"):
        cut_line(entity(["a", "b"]), remove)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b'{"observations":null}',
        b'{"observations":[],"observations":["a"]}',
        b'{"x":{"observations":["a"]}}',
    ],
)
def test_a_line_without_a_single_list_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="no single list"):
        cut_line(line, [0])


def test_spans_are_those_of_the_elements() -> None:
    assert [LINE[start:end] for start, end in observation_spans(LINE)] == [
        b'"a"',
        b'{"b":[1,"]"]}',
        b"null",
        b'"c\\"]"',
    ]
    assert observation_spans(b'{"observations":[ ]}') == []


def test_raw_elements_come_as_written() -> None:
    line = b'{"observations":["caf\\u00e9", 1.0 ,"\\ud800"]}'
    assert raw_elements(line)[:3:2] == ['"caf\\u00e9"', '"\\ud800"']
    assert raw_elements(line)[1] == "1.0"


def test_a_key_spelled_with_an_escape_is_cut() -> None:
    assert cut_line(b'{"obs\\u0065rvations":["a","b"]}', [0]) == b'{"obs\\u0065rvations":["b"]}'


@pytest.mark.parametrize(
    ("after", "remove"),
    [
        (entity(["a", "b"]), [0]),
        (entity(["a"]), [0]),
        (entity(["b"], name="F"), [0]),
        (entity(["b"], x=1), [0]),
        (entity([]), [0]),
    ],
)
def test_a_cut_that_changed_anything_else_is_caught(after: bytes, remove: list[int]) -> None:
    with pytest.raises(AssertionError, match="nothing was written"):
        check_cut(entity(["a", "b"]), after, remove)


@pytest.mark.parametrize("number", ["1.0", "-0", "1e400", "9" * 5000, "0.10"])
def test_numbers_that_no_parser_keeps_pass_the_check(number: str) -> None:
    line = b'{"observations":["a","b"],"n":%s}' % number.encode()
    check_cut(line, cut_line(line, [0]), [0])
    with pytest.raises(AssertionError):
        check_cut(line, cut_line(line, [0]).replace(number.encode(), b"7"), [0])


def test_a_long_line_is_cut_in_one_pass() -> None:
    observations = [f"observation {i}" for i in range(50_000)]
    line = entity(observations)
    after = cut_line(line, range(0, 50_000, 2))
    assert json.loads(after)["observations"] == observations[1::2]
