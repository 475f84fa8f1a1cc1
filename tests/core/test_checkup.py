"""What the bytes of a memory file show: each finding on a file that has it and nothing else."""

from __future__ import annotations

import pytest
from support import entity, json_line, relation

from memttl.core.checkup import Checkup, check_bytes
from memttl.core.findings import Finding
from memttl.core.memory import BOM

GOOD = entity(["a"], name="A")


def check(*lines: bytes) -> Checkup:
    return check_bytes(b"\n".join(lines), "memory.jsonl")


def only(found: Checkup) -> Finding:
    (finding,) = found.findings
    return finding


def test_good_file_has_no_finding() -> None:
    found = check(GOOD, entity([], name="B"), relation("A", "B"), b"")
    assert found.findings == ()
    assert not found.is_damaged


def test_sizes_are_counted() -> None:
    sizes = check(GOOD, entity(["a", "b"], name="B"), relation("A", "B"), b"{").sizes
    assert (sizes.lines, sizes.entities, sizes.relations, sizes.observations, sizes.malformed_lines) == (4, 2, 1, 3, 1)


def test_tokens_are_those_of_a_report() -> None:
    from support import judge_of

    from memttl.core.report import Query
    from memttl.core.survey import survey

    data = b"\n".join([GOOD, entity(["ein Wört", {"content": 1}], name="B"), relation("A", "B")])
    assert check_bytes(data, "f").sizes.tokens_estimated == survey(data, judge_of(), Query()).weights.tokens_estimated


MALFORMED = [
    (GOOD + GOOD, "a second JSON value"),
    (GOOD + b"}}", "text after the JSON object"),
    (GOOD[:-5], "the line ends in the middle of a value"),
    (b'{"type":"entity","n":NaN}', "NaN is no JSON"),
    (b"\0\0\0", "NUL bytes"),
    (b"\xef\xbb\xbf" + GOOD, "a byte order mark after the start of the file"),
    (b"// a comment", "no JSON value"),
]


@pytest.mark.parametrize(("line", "problem"), MALFORMED, ids=lambda value: str(value)[:30])
def test_malformed_line_stops_the_server(line: bytes, problem: str) -> None:
    finding = only(check(GOOD, line))
    assert (finding.severity, finding.name, finding.line) == ("error", "malformed-line", 2)
    assert problem in finding.message
    assert "every tool of the memory server fails" in finding.server
    assert "erase it at their next write" in finding.server


def test_malformed_line_is_told_with_column_and_first_bytes() -> None:
    finding = only(check(GOOD, entity(["é" * 100], name="B")[:-1]))
    assert finding.column == len('{"type":"entity","name":"B","entityType":"note","observations":[""]') + 101
    assert finding.first_bytes == '{"type":"entity","name":"B","entityType"'


def test_first_bytes_that_are_no_utf_8_are_escaped() -> None:
    assert only(check(GOOD, b"\xff{")).first_bytes == "\\xff{"


def test_every_malformed_line_is_named() -> None:
    assert [f.line for f in check(GOOD, b"{", GOOD.replace(b'"A"', b'"B"'), b"[", b"}").findings] == [2, 4, 5]


def test_invalid_utf_8_is_replaced_by_the_server() -> None:
    finding = only(check(entity(["a"], name="A").replace(b'"a"', b'"\xff"')))
    assert finding.name == "malformed-line"
    assert "U+FFFD" in finding.server


def test_invalid_utf_8_in_a_cut_line_stops_the_server() -> None:
    assert "every tool" in only(check(GOOD, b'{"type":"entity","name":"\xff')).server


def test_of_two_lists_the_server_reads_the_last() -> None:
    line = GOOD[:-1] + b',"observations":["b"]}'
    assert "reads the last list alone" in only(check(GOOD.replace(b'"A"', b'"B"'), line)).server


def test_damage_is_damage() -> None:
    assert check(GOOD, b"{").is_damaged
    assert check(BOM + GOOD).is_damaged
    assert not check(GOOD, b"[1]").is_damaged


def test_bom() -> None:
    assert only(check(BOM + GOOD)).name == "bom"


def test_null_line_stops_the_server() -> None:
    finding = only(check(GOOD, b"null"))
    assert (finding.severity, finding.name, finding.line) == ("error", "null-line", 2)


@pytest.mark.parametrize("line", [b"[1,2]", b"42", b'"text"', b"true"])
def test_json_that_is_no_object_is_erased(line: bytes) -> None:
    finding = only(check(GOOD, line))
    assert (finding.severity, finding.name, finding.line) == ("warning", "no-object", 2)
    assert "erases it at its next write" in finding.server


def test_unknown_types_are_erased() -> None:
    finding = only(check(GOOD, entity(["b"], name="B"), json_line({"type": "Entity"}), json_line({"x": 1})))
    assert (finding.name, finding.line) == ("unknown-type", 3)
    assert "lines 3 and 4" in finding.message
    assert "erases it at its next write" in finding.server


def test_marker_of_a_fork_is_a_note() -> None:
    finding = only(check(json_line({"type": "_aim", "source": "mcp-knowledge-graph"}), GOOD))
    assert (finding.severity, finding.name) == ("note", "marker-line")


def test_extra_fields_are_told_with_the_releases_that_drop_them() -> None:
    finding = only(check(entity(["a"], name="A", createdAt="x", version=1), relation("A", "A", weight=1)))
    assert finding.name == "extra-field"
    assert "(createdAt, version and weight)" in finding.message
    assert "2025.9.25" in finding.server


ODD_RECORDS = [
    (json_line({"type": "entity", "entityType": "t", "observations": []}), "no-name"),
    (json_line({"type": "entity", "name": "B", "observations": []}), "no-entity-type"),
    (json_line({"type": "entity", "name": "B", "entityType": "t"}), "no-observations"),
    (entity(None, name="B"), "no-observations"),
    (entity("text", name="B"), "no-observations"),
    (entity(["a", {"content": "b"}], name="B"), "observation-no-text"),
    (entity([None], name="B"), "observation-no-text"),
    (json_line({"type": "relation", "from": "A", "to": "A"}), "relation-incomplete"),
    (json_line({"type": "relation", "to": "A", "relationType": "x"}), "relation-incomplete"),
]


@pytest.mark.parametrize(("line", "name"), ODD_RECORDS, ids=lambda value: str(value)[:60])
def test_record_that_the_server_stumbles_over(line: bytes, name: str) -> None:
    finding = only(check(GOOD, line))
    assert (finding.severity, finding.name, finding.line) == ("warning", name, 2)
    assert "read_graph fails for the whole graph" in finding.server


def test_duplicate_names() -> None:
    finding = only(check(GOOD, entity([], name="B"), GOOD))
    assert (finding.severity, finding.name, finding.line) == ("warning", "duplicate-name", 1)
    assert "lines 1 and 3: 2 entities of the name A" in finding.message


def test_names_differ_by_case() -> None:
    assert check(GOOD, entity([], name="a")).findings == ()


def test_dangling_relations() -> None:
    finding = only(check(GOOD, relation("A", "B"), relation("C", "A"), relation("A", "A")))
    assert (finding.severity, finding.name, finding.line) == ("note", "dangling-relation", 2)
    assert "lines 2 and 3" in finding.message
    assert "B and C" in finding.message


def test_relations_are_not_called_dangling_while_their_entity_may_be_on_a_damaged_line() -> None:
    assert [f.name for f in check(GOOD, entity(["b"], name="B")[:-1], relation("A", "B")).findings] == [
        "malformed-line"
    ]


def test_relations_are_not_called_dangling_while_a_graph_is_packed_into_a_line() -> None:
    graph = json_line({"entities": [{"name": "B", "entityType": "note", "observations": []}]})
    assert [f.name for f in check(graph, GOOD, relation("A", "B")).findings] == ["unknown-type"]


def test_relation_to_an_entity_that_is_nested_too_deep_is_not_dangling() -> None:
    deep = entity(["b"], name="B")[:-1] + b',"x":' + b"[" * 600 + b"]" * 600 + b"}"
    assert [f.name for f in check(GOOD, deep, relation("A", "B")).findings] == ["too-deep"]


def test_names_twice_are_told_in_a_damaged_file_as_something_for_later() -> None:
    (finding,) = [f for f in check(GOOD, GOOD, b"{").findings if f.name == "duplicate-name"]
    assert "once the file is mended, let the assistant" in finding.help


def test_nul_characters() -> None:
    assert only(check(entity(["a\0b"]))).name == "nul-character"


@pytest.mark.parametrize("text", ["\x1b[31mred", "bell\x07", "\x7f", "\x85"])
def test_control_characters(text: str) -> None:
    assert only(check(entity([text]))).name == "control-character"


def test_tabs_line_ends_and_letters_are_no_control_characters() -> None:
    assert check(entity(["a\tb\nc\r\n", "né 中 🙂 \u2028"])).findings == ()


def test_blank_lines_are_a_note() -> None:
    finding = only(check(GOOD, b"", b" \t", entity([], name="B")))
    assert (finding.severity, finding.name, finding.line) == ("note", "blank-line", 2)


def test_crlf_is_a_note() -> None:
    assert only(check(GOOD + b"\r", entity([], name="B") + b"\r")).name == "crlf"


def test_deep_nesting_is_a_note() -> None:
    line = GOOD[:-1] + b',"x":' + b"[" * 600 + b"]" * 600 + b"}"
    assert [f.name for f in check(entity(["b"], name="B"), line).findings] == ["too-deep"]


def test_empty_file_is_a_note() -> None:
    assert only(check(b"")).name == "empty"


def test_large_graph_is_a_warning() -> None:
    finding = only(check(entity([f"note {i}, which is somewhat long" for i in range(3000)])))
    assert (finding.severity, finding.name) == ("warning", "large-graph")


FOREIGN = [
    (b"\x1f\x8b\x08", "gzip", "every tool"),
    (GOOD.decode().encode("utf-16"), "UTF-16", "every tool"),
    (b"[" + GOOD + b"]", "one JSON array", "reads it as an empty graph and erases all of it"),
    (b"[\n" + GOOD + b"\n]", "one JSON array", "every tool"),
    (b'{"entities":[],"relations":[]}', "one JSON document", "reads it as an empty graph and erases all of it"),
    (b'{"role":"user"}\n{"role":"user"}', "no type", "ignores these lines"),
    (b'{"_type":"entity"}\n{"_type":"entity"}', "_type", "ignores these lines"),
]


@pytest.mark.parametrize(("data", "what", "server"), FOREIGN, ids=lambda value: str(value)[:30])
def test_foreign_file_is_said_once(data: bytes, what: str, server: str) -> None:
    found = check(data)
    finding = only(found)
    assert (finding.severity, finding.name, found.is_damaged) == ("error", "foreign", True)
    assert what in finding.message
    assert server in finding.server


MENDS = "memttl doctor --repair"


@pytest.mark.parametrize(
    "data",
    [b"{}", b"[]", b"[1,2]", b'{"entities":[]}', b'{\n"a": 1\n}', b'{"a":1}', b"PK\x03\x04\x14", BOM + b'{\n"a":1}'],
)
def test_a_repair_that_would_change_nothing_is_not_named(data: bytes) -> None:
    assert MENDS not in " ".join(f.help for f in check(data).findings)


@pytest.mark.parametrize("data", [b"[" + GOOD + b"]", BOM + GOOD, GOOD + GOOD, GOOD.decode().encode("utf-16")])
def test_a_repair_that_helps_is_named(data: bytes) -> None:
    assert all(MENDS in f.help for f in check(data).findings)


def test_graph_in_a_line_that_the_server_erases_is_for_the_repair() -> None:
    graph = json_line({"entities": [{"name": "B", "entityType": "note", "observations": []}]})
    finding = only(check(GOOD, graph, entity([], name="C")))
    assert (finding.name, finding.line, MENDS in finding.help) == ("unknown-type", 2, True)


def test_every_help_names_a_command_and_every_name_is_a_slug() -> None:
    lines = [*(line for line, _ in MALFORMED), *(line for line, _ in ODD_RECORDS), b"null", b"[1]", b"", GOOD, GOOD]
    for finding in check(*lines, json_line({"type": "x"}), relation("A", "nobody"), entity(["\0"])).findings:
        assert "`" in finding.help, finding
        assert finding.name.replace("-", "").isalpha()
