"""One look at a memory file: what is unchanged, what is new, and what is no memory file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from strategies import memory_files
from support import entity, relation

from memttl.core.digests import line_digest, text_key
from memttl.core.evidence import text_of
from memttl.core.foreign import Census
from memttl.core.look import KnownLines, keys_of, look_at
from memttl.core.memory import read_lines


def known(*lines: bytes) -> KnownLines:
    return KnownLines({line_digest(line): number for number, line in enumerate(lines, start=1)})


@given(memory_files())
def test_look_that_knows_nothing_meets_every_text_in_order(data: bytes) -> None:
    texts: dict[str, bytes] = {}
    for line in read_lines(data):
        if line.is_judged and line.record is not None:
            found = [text_of(o) for o in line.record["observations"]]
            before = texts.setdefault(line.record["name"], b"")
            texts[line.record["name"]] = before + b"".join(text_key(t) for t in found if t is not None)
    assert {name: met.keys for name, met in look_at(data).changed.items()} == texts


@given(memory_files())
def test_census_is_the_same_whatever_is_known(data: bytes) -> None:
    judged = [line.raw for line in read_lines(data) if line.is_judged]
    expected = Census()
    for line in read_lines(data):
        expected.add(line)
    assert look_at(data).census == expected
    assert look_at(data, known(*judged)).census == expected


def test_line_that_is_known_is_not_parsed() -> None:
    broken = b'{"type":"entity","name":"A","observations":[' + b"x"
    look = look_at(broken, known(broken))
    assert (look.unchanged, look.changed, look.malformed) == ({1}, {}, [])


def test_known_line_that_stands_twice_is_met_once_more() -> None:
    line = entity(["x"])
    look = look_at(line + b"\n" + line, known(line))
    assert look.unchanged == {1}
    assert look.changed["E"].keys == text_key("x")


def test_line_that_is_not_there_is_left() -> None:
    line, gone = entity(["x"]), entity(["y"])
    assert look_at(line, known(line, gone)).left == {line_digest(gone): 2}


def test_known_lines_are_not_used_up() -> None:
    line = entity(["x"])
    lines = known(line)
    look_at(line, lines)
    assert lines.by_digest == {line_digest(line): 1}


@pytest.mark.parametrize(
    "line",
    [
        relation("A", "B"),
        b'{"type":"entity","name":"A"}',
        b'{"type":"entity","name":5,"observations":["x"]}',
        b'{"type":"entity","name":"A","observations":null}',
        b'{"type":"note","name":"A","observations":["x"]}',
        b'{"type":"entity","type":"relation","name":"A","observations":["x"]}',
        b"[]",
        b"",
        b" ",
    ],
)
def test_what_is_not_judged_is_not_met(line: bytes) -> None:
    look = look_at(line)
    assert (look.changed, look.malformed) == ({}, [])


def test_line_that_only_begins_as_a_relation_is_met() -> None:
    line = b'{"type":"relation","type":"entity","name":"A","observations":["x"]}'
    assert look_at(line).changed["A"].keys == text_key("x")


def test_malformed_line_is_named_by_its_number() -> None:
    look = look_at(entity(["x"]) + b"\n\n" + b'{"type":"enti')
    assert [line.number for line in look.malformed] == [3]


def test_carriage_return_is_part_of_the_line() -> None:
    line = entity(["x"])
    assert look_at(line + b"\r\n", known(line)).left


def test_byte_order_mark_is_not() -> None:
    line = entity(["x"])
    assert look_at(b"\xef\xbb\xbf" + line, known(line)).unchanged == {1}


def test_elements_without_a_text_have_no_key() -> None:
    assert keys_of(["x", None, 3, ["x"], {}, {"text": "y"}, {"text": 5, "value": "z"}]) == [
        text_key(text) for text in "xyz"
    ]


def test_text_of_an_object_and_the_same_string_have_one_key() -> None:
    assert len(set(keys_of(json.loads('["x", {"content": "x"}, {"text": "x"}]')))) == 1
