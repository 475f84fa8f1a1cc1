"""Lines of a memory file: told apart as the memory server's JSON.parse tells them, malformed ones with their place."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from support import entity, json_line, relation

from memttl.core.memory import MAX_DEPTH, entity_heads, line_spans, parse_line, read_lines
from memttl.core.model import Line
from memttl.core.spans import is_deeper_than, is_well_formed, top_level_items

BOM = b"\xef\xbb\xbf"
LINE = entity(["a", "b"])


def kinds(data: bytes) -> list[str]:
    return [line.kind for line in read_lines(data)]


def test_the_servers_own_lines() -> None:
    assert kinds(LINE + b"\n" + relation("A", "B")) == ["entity", "relation"]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "_aim", "source": "x"},
        {"type": "Entity", "name": "A", "observations": []},
        {"type": 3},
        {"type": None},
        {"type": ["entity"]},
        {"_type": "entity"},
        {"name": "A", "observations": ["x"]},
        {},
        [],
        ["entity"],
        "entity",
        3,
        -0.5,
        True,
        None,
    ],
)
def test_any_other_json_is_passed_through(record: object) -> None:
    assert kinds(json_line(record)) == ["other"]


@pytest.mark.parametrize(
    "blank",
    ["", " ", "\t", "\r", "\v\f", "\u00a0", "\u2028", "\u2029", "\u3000", "\ufeff", "\u1680\u205f", " \u200a\r"],
)
def test_what_javascript_trims_is_blank(blank: str) -> None:
    assert kinds(LINE + b"\n" + blank.encode() + b"\n" + LINE) == ["entity", "blank", "entity"]


@pytest.mark.parametrize("text", ["\x1f", "\x1c", "\x85", "\u180e", "\u200b", "\x00", "."])
def test_what_only_python_would_strip_is_malformed(text: str) -> None:
    assert kinds(LINE + b"\n" + text.encode()) == ["entity", "malformed"]


def test_lines_end_at_lf_alone() -> None:
    line = entity(["a\u2028b\u2029c\x85d"])
    assert next((n, s, e) for n, s, e, _ in line_spans(line + b"\n" + LINE)) == (1, 0, len(line))
    assert kinds(line) == ["entity"]


def test_crlf_is_part_of_a_line_and_read() -> None:
    (first, second) = read_lines(LINE + b"\r\n" + LINE + b"\r\n")
    assert (first.kind, second.kind, first.raw) == ("entity", "entity", LINE + b"\r")


def test_a_last_newline_makes_no_line() -> None:
    assert kinds(LINE + b"\n") == ["entity"]
    assert kinds(b"") == []
    assert kinds(b"\n") == ["blank"]


def test_a_byte_order_mark_at_the_start_is_no_part_of_a_line() -> None:
    (line,) = read_lines(BOM + LINE)
    assert (line.kind, line.raw) == ("entity", LINE)
    assert kinds(BOM) == []


# name -> (line, column from 1, words of the problem)
MALFORMED: dict[str, tuple[bytes, int, str]] = {
    "cut tail": (LINE[:-4], 69, "ends in the middle"),
    "cut after a key": (b'{"type":"entity","name"', 24, "ends in the middle"),
    "open string": (b'{"type":"ent', 9, "ends in the middle"),
    "two objects": (LINE + LINE, len(LINE) + 1, "second JSON value"),
    "words behind": (LINE + b" x", len(LINE) + 2, "text after"),
    "comma behind": (LINE + b",", len(LINE) + 1, "text after"),
    "BOM": (BOM + LINE, 1, "byte order mark"),
    "NUL bytes": (b"\x00\x00\x00", 1, "NUL"),
    "NUL bytes behind": (LINE + b"\x00", len(LINE) + 1, "text after"),
    "NaN": (b'{"name":"NaN","x":NaN}', 19, "NaN is no JSON"),
    "-Infinity": (b'{"Infinity":-Infinity}', 13, "-Infinity is no JSON"),
    "NaN behind a quote": (rb'{"a":"\"NaN","x":NaN}', 18, "NaN is no JSON"),
    "invalid UTF-8": (b'{"name":"\xc3\xa9\xe9"}', 11, "invalid UTF-8"),
    "surrogate in UTF-8": (b'"\xed\xa0\x80"', 2, "invalid UTF-8"),
    "single quotes": (b"{'type':'entity'}", 2, "no name in double quotes"),
    "trailing comma": (b'{"type":"entity",}', 17, "a comma before a closing bracket"),
    "trailing comma in a list": (b'{"x":[1, ]}', 8, "a comma before a closing bracket"),
    "comma and nothing else": (b'{"x":[,]}', 7, ""),
    "comment": (b"// memory", 1, ""),
    "raw tab in a string": (b'{"name":"a\tb"}', 11, "a raw control character in a text"),
    "stray backslash": (rb'{"a":"\q"}', 7, "a stray backslash"),
    "stray backslash and u": (rb'{"a":"\u12"}', 8, "a stray backslash before u"),
    "no colon": (b'{"a" 1}', 6, "a colon is missing"),
    "no comma": (b'{"a":1 "b":2}', 8, "a comma or bracket is missing"),
    "leading zero": (b'{"x":01}', 7, ""),
    "plus": (b'{"x":+1}', 6, ""),
    "no-break space before": ("\u00a0{}".encode(), 1, ""),
    "vertical tab behind": (b"{}\v", 3, "text after"),
    "merge conflict": (b"<<<<<<< HEAD", 1, "no JSON value"),
    "two lists": (b'{"type":"entity","name":"A","observations":["a"],"observations":["b"]}', 65, "a second list"),
    "two lists, one escaped": (b'{"observations":["a"],"obs\\u0065rvations":["b"]}', 43, "a second list"),
    "two lists and a lone surrogate": (b'{"observations":["\\ud800"],"observations":[]}', 43, "a second list"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_line_is_named_with_column_and_problem(name: str) -> None:
    raw, column, problem = MALFORMED[name]
    line = parse_line(raw, 7)
    assert (line.kind, line.number, line.column) == ("malformed", 7, column)
    assert problem in line.problem
    assert line.problem


def test_observations_twice_elsewhere_is_no_matter() -> None:
    raw = b'{"type":"entity","name":"observations","observations":["\\"observations\\":"],"x":{"observations":[1]}}'
    assert parse_line(raw, 1).is_judged


@pytest.mark.parametrize(
    "raw",
    [
        b'{"x":1e400}',
        b'{"x":-0}',
        b'{"x":' + b"9" * 6000 + b"}",
        b'{"x":0.' + b"1" * 6000 + b"}",
        b'{"x":"\\ud800\\udfff\\ud800"}',
    ],
)
def test_what_json_parse_takes_is_well_formed(raw: bytes) -> None:
    assert parse_line(raw, 1).kind == "other"


@pytest.mark.parametrize(
    "line",
    [
        entity(None),
        entity({}),
        entity("x"),
        entity(["x"], name=None),  # type: ignore[arg-type]
        b'{"type":"entity","name":"A"}',
        b'{"type":"entity","observations":["x"]}',
        relation("A", "B", name="A", observations=["x"]),
    ],
)
def test_only_a_named_entity_with_a_list_is_judged(line: bytes) -> None:
    assert not parse_line(line, 1).is_judged


def test_names_and_types_are_given_in_order_with_duplicates() -> None:
    lines = [entity(["x"], name="B"), entity(["x"], name="A", kind=3), entity([], name="B", kind="bug")]
    data = b"\n".join([*lines, entity(None, name="C"), relation("D", "E")])
    assert entity_heads(data) == [("B", "note"), ("A", None), ("B", "bug")]


def deep(levels: int, *, kind: str = "entity", inner: bytes = b"1", more: bytes = b"") -> bytes:
    nested = b"[" * levels + inner + b"]" * levels
    return b'{"type":"%s","name":"A","observations":["a"],"x":%s%s}' % (kind.encode(), nested, more)


@pytest.mark.parametrize("inner", [b"1", b'"\\ud800"', b"1e400"])
def test_a_line_of_modest_depth_is_judged(inner: bytes) -> None:
    assert parse_line(deep(MAX_DEPTH - 1, inner=inner), 1).is_judged


@pytest.mark.parametrize("inner", [b"1", b'"\\ud800"', b"1e400"])
@pytest.mark.parametrize("levels", [MAX_DEPTH, 1023, 1024, 1500, 100_000])
def test_a_deep_line_is_kept_unread_as_one_of_its_type(levels: int, inner: bytes) -> None:
    line = parse_line(deep(levels, inner=inner), 1)
    assert (line.kind, line.too_deep, line.record, line.is_judged) == ("entity", True, None, False)


@pytest.mark.parametrize("kind", ["relation", "note", "Entity"])
def test_a_deep_line_of_another_type(kind: str) -> None:
    assert parse_line(deep(3000, kind=kind), 1).kind == ("relation" if kind == "relation" else "other")


@pytest.mark.parametrize(
    "line", [deep(3000)[:-1], deep(3000) + b"}", deep(3000, inner=b"NaN"), deep(3000, more=b","), b"[" * 3000]
)
def test_a_deep_line_that_is_broken_is_malformed(line: bytes) -> None:
    assert parse_line(line, 1).kind == "malformed"


def test_a_deep_line_with_two_lists_is_malformed() -> None:
    assert parse_line(deep(3000, more=b',"observations":[]'), 1).kind == "malformed"


def test_depth_does_not_depend_on_the_callers_own() -> None:
    def below(frames: int, call: Callable[[], Line]) -> Line:
        return call() if frames == 0 else below(frames - 1, call)

    assert below(300, lambda: parse_line(deep(MAX_DEPTH - 1, inner=b'"\\ud800"'), 1)).is_judged


def test_brackets_inside_strings_are_no_nesting() -> None:
    assert not is_deeper_than(json_line(["[" * 2000]), 500)
    assert is_deeper_than(b"[" * 501 + b"]" * 501, 500)


@pytest.mark.parametrize(
    "text", ['{"a":1,"\\u0061":2,"b":{"a":[3]}}', ' { "a" : [1 , 2] , "a":"}" } ', "{}", "[1]", '"a"']
)
def test_top_level_items_are_what_json_reads(text: str) -> None:
    pairs = json.loads(text, object_pairs_hook=lambda p: p) if text.strip().startswith("{") else []
    raw = text.encode()
    found = [
        (key, json.loads(raw[start:end], object_pairs_hook=lambda p: p)) for key, start, end in top_level_items(raw)
    ]
    assert found == pairs


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nul",
        "[1 2]",
        "[,]",
        "[1,]",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        "{1:2}",
        "]",
        "[}",
        '"\\x"',
        "1.",
        ".5",
        "--1",
    ],
)
def test_is_well_formed_refuses(text: str) -> None:
    assert not is_well_formed(text.encode())
