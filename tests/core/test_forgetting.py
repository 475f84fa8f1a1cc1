"""Bytes without what is to be forgotten: whole elements and lines go, every other byte stays; what is left is found."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import AWKWARD
from support import entity, json_line, relation

from memttl.core.forgetting import Without, met_in, targets_of, without
from memttl.core.mentions import Mentions, mentions_of
from memttl.core.selection import Choice

TEXTS = st.one_of(st.sampled_from(AWKWARD), st.text(max_size=8))


def forgotten(data: bytes, *words: str | None, drop_broken: bool = False, **how: bool) -> Without:
    """What is left of a file when a choice of its own is forgotten; the entity is taken as an exact name."""
    choice = Choice(*words, **how)
    means: Callable[[str], bool] = lambda name: choice.entity in (name, "*")  # noqa: E731
    names, met = met_in(data, means, choice.matcher())
    whole = sorted(name for name in names if means(name)) if choice.text is None else []
    return without(data, targets_of(met, whole, (), mentions_of(choice, tuple(whole))), drop_broken=drop_broken)


def test_whole_observations_go_and_other_bytes_stay() -> None:
    data = (
        b'\xef\xbb\xbf{"observations": ["a" , "Secret",  "b\\u00e9"],"n":1.0,"name":"E","type":"entity"}\r\n\n{"x":1}'
    )
    left = forgotten(data, "E", "sECRET")
    assert left.data == data.replace(b' , "Secret"', b"")
    assert (left.observations, left.lines, left.broken) == (1, 0, ())


def test_an_equal_observation_goes_however_it_is_spelled() -> None:
    data = b'{"type":"entity","name":"E","entityType":"t","observations":["caf\xc3\xa9/1","caf\\u00e9\\/1","x"]}'
    assert json.loads(forgotten(data, "E", "CAFÉ/1").data)["observations"] == ["x"]


@pytest.mark.parametrize("element", [{"content": "x", "key": "secret"}, {"secret": 1}, ["a", ["secret"]], 12345])
def test_what_is_no_string_goes_for_any_text_inside(element: object) -> None:
    data = entity(["stays", element])
    assert json.loads(forgotten(data, "E", "12345" if element == 12345 else "secret").data)["observations"] == ["stays"]


def test_another_entity_of_an_equal_text_keeps_it() -> None:
    data = entity(["secret"], name="E") + b"\n" + entity(["secret"], name="F")
    assert forgotten(data, "E", "secret").data == entity([], name="E") + b"\n" + entity(["secret"], name="F")


def test_a_whole_entity_goes_with_all_its_lines_and_relations() -> None:
    kept = [entity(["E"], name="F"), relation("F", "G")]
    gone = [entity(["a", "b"]), relation("E", "F"), relation("F", "E"), json_line({"type": "entity", "name": "E"})]
    left = forgotten(b"\n".join([gone[0], kept[0], gone[1], kept[1], *gone[2:]]), "E")
    assert left.data == b"\n".join(kept)
    assert (left.observations, left.lines) == (2, 4)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_last_newline_stays_as_it_was(end: bytes) -> None:
    between = end or b"\n"
    data = entity(["a"], name="F") + between + entity(["a"]) + end
    assert forgotten(data, "E").data == entity(["a"], name="F") + end


def test_a_broken_line_stays_in_a_memory_file_and_goes_from_a_copy() -> None:
    bad, good = b'{"type":"entity","observations":["secret', entity(["x", "secret"])
    left = forgotten(good + b"\n" + bad, "E", "secret")
    assert left.data == entity(["x"]) + b"\n" + bad
    assert left.broken == (2,)
    left = forgotten(good + b"\n" + bad, "E", "secret", drop_broken=True)
    assert left.data == entity(["x"])


def test_a_broken_line_without_it_stays_everywhere() -> None:
    data = entity(["secret"]) + b'\n{"other'
    assert forgotten(data, "E", "secret", drop_broken=True).data.endswith(b'\n{"other')


def test_of_a_whole_entity_a_broken_line_must_hold_the_name_as_a_string() -> None:
    data = entity(["a"], name="Redis") + b'\n{"about Redis\n{"name":"Redis","obs'
    assert forgotten(data, "Redis", drop_broken=True).data == b'{"about Redis'


def test_a_line_nested_too_deep_is_kept() -> None:
    deep = entity(["secret"])[:-1] + b',"x":' + b"[" * 600 + b"]" * 600 + b"}"
    assert forgotten(deep + b"\n" + entity(["secret"]), "E", "secret").data == deep + b"\n" + entity([])


@given(before=TEXTS, secret=TEXTS.filter(lambda text: len(text) > 2), after=TEXTS, is_ascii=st.booleans())
def test_any_text_is_found_before_and_gone_after(before: str, secret: str, after: str, is_ascii: bool) -> None:
    record = {"type": "entity", "name": "E", "entityType": "t", "observations": ["stays", before + secret + after]}
    data = json.dumps(record).encode() if is_ascii else json_line(record)
    assume(not any(secret.lower() in word for word in json.dumps(record | {"observations": ["stays"]}).lower().split()))
    left = forgotten(data, "E", secret)
    assume(left.observations)  # a combining mark at a seam makes another letter: that is no match
    assert json.loads(left.data)["observations"] == ["stays"]
    assert Mentions(secret).count(data) > 0
    assert Mentions(secret).count(left.data) == 0


@pytest.mark.parametrize(
    "data",
    [
        "a Caf\u00e9/1 b".encode(),
        b"a caf\\u00e9/1 b",
        b"a CAF\\u00C9\\/1 b",
        b'{"raw":"\\"caf\\\\u00e9\\\\/1\\""}',
        "café/1".encode("utf-16"),
        b"\xff\x00caf\xc3\xa9/1\xff",
    ],
)
def test_a_text_is_found_in_any_spelling(data: bytes) -> None:
    assert Mentions("café/1").count(data) == 1
    assert Mentions("cafe/1").count(data) == 0


def test_a_text_with_backslashes_is_found() -> None:
    text = r"C:\new\u0041"
    for data in (text.encode(), json.dumps(text).encode(), json.dumps(json.dumps(text)).encode()):
        assert Mentions(text).count(data) == 1


def test_an_emoji_is_found_as_a_pair_of_escapes() -> None:
    assert Mentions("😀").count(json.dumps("😀").encode()) == 1


def test_names_are_found_as_words_only() -> None:
    assert Mentions(names=("Red",)).count(b"Redis Red, Red. red") == 2


def test_exact_is_found_as_written() -> None:
    assert Mentions("Abc", exact=True).count(b"abc Abc") == 1
