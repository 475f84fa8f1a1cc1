"""What a repair makes of each kind of damage: one fact each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support import FIXTURES, entity, relation

from memttl.core.checkup import check_bytes
from memttl.core.memory import read_lines
from memttl.core.repair import plan_repair, undo_repair
from memttl.errors import Foreign

A, B, R = entity(["one", "two"], name="A"), entity(["x"], name="B"), relation("A", "B")
OTHERS = ("gzip.jsonl", "chat-log.jsonl", "think-tank-underscore-type.jsonl", "empty-object-alone.jsonl")
EXPECTED = json.loads((FIXTURES / "memory/expected.json").read_text(encoding="utf-8"))
DAMAGED = sorted((FIXTURES / "from-servers").glob("*.jsonl")) + [
    FIXTURES / "memory" / name for name, row in EXPECTED.items() if row["exit"] == 65 and name not in OTHERS
]


def repaired(*lines: bytes, end: bytes = b"") -> bytes:
    return plan_repair(b"\n".join(lines) + end).data


def lines(*rows: bytes) -> bytes:
    return b"\n".join(rows)


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.stem)
def test_every_damaged_fixture_is_mended_once(path: Path) -> None:
    plan = plan_repair(path.read_bytes())
    assert [line for line in read_lines(plan.data) if line.kind == "malformed"] == []
    assert not plan_repair(plan.data).is_needed


@pytest.mark.parametrize("path", sorted((FIXTURES / "from-servers").glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_whole_record_of_a_race_is_kept(path: Path) -> None:
    data = path.read_bytes()
    plan = plan_repair(data)
    kinds = [line.kind for line in read_lines(plan.data)]
    assert kinds.count("entity") == data.count(b'{"type":"entity"') == 2
    assert kinds.count("relation") == data.count(b'{"type":"relation"')
    assert len(plan.data) + sum(len(piece.raw) for piece in plan.pieces) == len(data)


def test_joined_records_get_lines_of_their_own() -> None:
    assert repaired(A + B, R) == lines(A, B, R)


def test_an_object_of_any_type_that_is_joined_is_kept() -> None:
    assert repaired(b'{"type":"_aim"}' + A, b'{"k":1}' + b"{}") == lines(b'{"type":"_aim"}', A, b'{"k":1}', b"{}")


def test_joined_records_of_a_file_with_crlf_are_parted_by_crlf() -> None:
    assert plan_repair(A + B + b"\r\n" + R + b"\r\n").data == A + b"\r\n" + B + b"\r\n" + R + b"\r\n"


def test_debris_between_two_records_is_taken_out() -> None:
    plan = plan_repair(A + b'x","y"]}' + B)
    assert plan.data == lines(A, B)
    assert [(piece.line, piece.offset, piece.raw) for piece in plan.pieces] == [(1, len(A), b'x","y"]}')]


@pytest.mark.parametrize("rest", [b"}", b"]}", b"}}"])
def test_doubled_closing_brackets_are_taken_out(rest: bytes) -> None:
    assert repaired(A + rest, B, end=b"\n") == lines(A, B) + b"\n"


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        (b'["one","tw', b'["one"]}'),
        (b'["one","two"', b'["one","two"]}'),
        (b'["one","two\\', b'["one"]}'),
        (b'["one",', b'["one"]}'),
        (b'["one"]', b'["one"]}'),
        (b"[", b"[]}"),
        (b"[1,2", b"[1]}"),
        (b'[{"content":"a"},{"content":"b', b'[{"content":"a"}]}'),
    ],
)
def test_a_cut_entity_is_completed_to_its_last_whole_observation(cut: bytes, kept: bytes) -> None:
    head = b'{"type":"entity","name":"A","entityType":"t","observations":'
    plan = plan_repair(lines(B, head + cut))
    assert plan.data == lines(B, head + kept)
    if b"one" not in cut or not cut.endswith((b'"', b"]", b"[")):
        assert [piece.reason for piece in plan.pieces] in ([], ["breaks off in the middle of a value"])


@pytest.mark.parametrize(
    "cut", [b'{"type":"enti', b'{"type":"entity","name":"A"', R[:-9], b"{", b'{"type":"note","x":1']
)
def test_a_cut_record_that_has_no_list_yet_is_taken_out_whole(cut: bytes) -> None:
    plan = plan_repair(lines(A, cut))
    assert plan.data == A
    assert [piece.raw for piece in plan.pieces] == [b"\n", cut]


def test_a_relation_that_lacks_its_bracket_alone_is_completed() -> None:
    assert repaired(A, R[:-1]) == lines(A, R)


def test_a_record_behind_a_torn_one_is_kept_though_it_stands_in_what_looks_like_a_string() -> None:
    assert repaired(A[:-4] + B) == lines(A[: A.index(b',"two')] + b"]}", B)


def test_a_record_in_the_list_of_a_torn_one_is_no_observation_of_it() -> None:
    torn = A[: A.index(b'"two"')]
    assert repaired(torn + B + b"}}") == lines(A[: A.index(b',"two"')] + b"]}", B)
    assert repaired(torn, B + b"x") == lines(A[: A.index(b',"two"')] + b"]}", B)


def test_a_line_of_which_nothing_can_be_saved_goes_whole() -> None:
    plan = plan_repair(lines(A, b"what is this", B))
    assert plan.data == lines(A, B)
    assert [(piece.line, piece.raw) for piece in plan.pieces] == [(2, b"what is this\n")]


def test_a_null_line_goes_since_the_server_dies_of_it() -> None:
    assert repaired(A, b"null", B) == lines(A, B)


def test_what_the_server_passes_over_stays_byte_for_byte() -> None:
    odd = (b'{"type":"_aim"}', b"", b"  ", A + b"\r", b'{"Type":1}', b"[1,2]", b"42", " \u2028".encode())
    data = lines(*odd, A, B)
    assert not plan_repair(data).is_needed
    assert plan_repair(data + b"}").data == data


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_file_ends_as_it_did(end: bytes) -> None:
    assert plan_repair(lines(A, B + b"}") + end).data == lines(A, B) + end
    assert plan_repair(lines(A, b"rubbish") + end).data == A + end


@pytest.mark.parametrize("torn", [b"x\n\ny", b"\n\nx\n\n\ny\nz", b"\n\n\nx"])
def test_a_file_that_ends_in_torn_and_blank_lines_gains_no_last_line_end(torn: bytes) -> None:
    plan = plan_repair(lines(A, torn))
    assert plan.data == A
    assert b"".join(piece.raw for piece in plan.pieces) == b"\n" + torn
    assert [piece.line for piece in plan.pieces] == [plan.text.count(b"\n", 0, p.offset) + 1 for p in plan.pieces]


def test_a_byte_order_mark_goes_wherever_it_stands() -> None:
    mark = b"\xef\xbb\xbf"
    assert repaired(mark + A, mark + B) == lines(A, B)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_becomes_utf_8_and_lies_in_quarantine_whole(encoding: str) -> None:
    data = lines(A, entity(["é \u2028 😀"])).decode().encode(encoding)
    plan = plan_repair(data)
    assert plan.data == lines(A, entity(["é \u2028 😀"]))
    assert plan.pieces[0].raw == data


@pytest.mark.parametrize("indent", [None, 2])
def test_a_graph_document_becomes_one_record_a_line_with_its_type_first(indent: int | None) -> None:
    graph = {"entities": [{"name": "A", "entityType": "t", "observations": ["a"]}], "relations": []}
    plan = plan_repair(lines(json.dumps(graph, indent=indent).encode(), B))
    first, second = plan.data.split(b"\n")
    assert json.loads(first) == {"type": "entity", **graph["entities"][0]}
    assert first.startswith(b'{"type":"entity"')
    assert second == B


def test_a_pretty_printed_array_keeps_keys_numbers_and_escapes_as_they_are_spelled() -> None:
    text = b'[\n {"observations": ["\\u00e9"],\n  "n": 1.0e2, "type": "entity", "name": "A"},\n ' + B + b"\n]\n"
    assert plan_repair(text).data == b'{"observations":["\\u00e9"],"n":1.0e2,"type":"entity","name":"A"}\n' + B + b"\n"


def test_a_torn_graph_document_keeps_its_records() -> None:
    torn = b'{"entities":[{"name":"A","entityType":"t","observations":["a"]},'
    torn += b'{"name":"B","entityType":"t","observations":["b"'
    assert repaired(torn) == lines(
        b'{"type":"entity","name":"A","entityType":"t","observations":["a"]}',
        b'{"type":"entity","name":"B","entityType":"t","observations":["b"]}',
    )


def test_a_record_over_several_lines_is_put_on_one() -> None:
    pretty = json.dumps(json.loads(A), indent=2).encode()
    assert repaired(B, pretty, R) == lines(B, A, R)


@pytest.mark.parametrize(
    ("before", "behind"), [(B, b""), (b"", b"]}"), (A[: A.index(b'"two"')], b""), (B[:-4], b"}"), (b"]}", b"\n}")]
)
def test_a_whole_record_is_not_taken_apart_for_an_observation_that_looks_like_a_record(
    before: bytes, behind: bytes
) -> None:
    odd = b'{"type":"entity","name":"O","entityType":"t","observations":[' + R + b',"keep me"]}'
    assert odd in plan_repair(before + odd + behind).data.split(b"\n")
    assert R not in plan_repair(before + odd + behind).data.split(b"\n")


def test_a_whole_record_over_several_lines_keeps_an_observation_that_looks_like_a_record() -> None:
    odd = {"type": "entity", "name": "O", "entityType": "t", "observations": [json.loads(R), "keep me"]}
    assert repaired(B, json.dumps(odd, indent=2).encode()) == lines(B, json.dumps(odd, separators=(",", ":")).encode())


def test_a_torn_line_does_not_swallow_the_whole_ones_behind_it() -> None:
    torn = A[: A.index(b'"two"')]
    assert repaired(torn, B, b"]}", R) == lines(A[: A.index(b',"two"')] + b"]}", B, R)


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [(b"a\tb", b"a\\tb"), (b"a\nb", b"a\\nb"), (b"a\0b", b"a\\u0000b"), (b"C:\\Users", b"C:\\\\Users")],
)
def test_what_no_string_may_hold_is_escaped(raw: bytes, escaped: bytes) -> None:
    assert repaired(A.replace(b"one", raw), B) == lines(A.replace(b"one", escaped), B)


def test_bytes_that_are_no_utf_8_become_the_replacement_character_and_the_line_lies_in_quarantine() -> None:
    odd = A.replace(b"one", b"caf\xe9")
    plan = plan_repair(lines(odd, B))
    assert plan.data == lines(A.replace(b"one", "caf\ufffd".encode()), B)
    assert [piece.raw for piece in plan.pieces] == [odd]


def test_nan_becomes_null_and_commas_too_many_go() -> None:
    assert repaired(b'{"type":"entity","name":"A","n":NaN,"observations":["a",],}') == (
        b'{"type":"entity","name":"A","n":null,"observations":["a"]}'
    )


@pytest.mark.parametrize(
    ("twice", "once"),
    [
        (b'"observations":["a","b"],"x":1,"observations":["b"]', b'"x":1,"observations":["a","b"]'),
        (b'"observations":["a"],"observations":[]', b'"observations":["a"]'),
        (b'"observations":["a"],"observations":null', b'"observations":["a"]'),
        (b'"observations":null,"observations":null', b'"observations":null'),
    ],
)
def test_two_lists_of_observations_are_joined(twice: bytes, once: bytes) -> None:
    assert repaired(b'{"type":"entity","name":"A",' + twice + b"}") == b'{"type":"entity","name":"A",' + once + b"}"


def test_nuls_that_pad_the_file_go() -> None:
    assert plan_repair(lines(A, B) + b"\0" * 600).data == lines(A, B)


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08xyz", b'{\n "name": "a package",\n "version": 1\n}\n'])
def test_what_is_no_memory_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(Foreign):
        plan_repair(data)


@pytest.mark.parametrize("name", OTHERS)
def test_another_tools_file_in_which_nothing_can_be_mended_is_refused_as_doctor_tells_it(name: str) -> None:
    data = (FIXTURES / "memory" / name).read_bytes()
    told = check_bytes(data, "memory.jsonl").findings[0].message
    with pytest.raises(Foreign, match=re.escape(told.removeprefix("the file "))):
        plan_repair(data)


def test_a_file_of_nothing_but_nuls_becomes_empty_with_a_warning() -> None:
    plan = plan_repair(b"\0" * 4096)
    assert plan.data == b""
    assert plan.warnings


@pytest.mark.parametrize("unit", [b"{", b"[", b'"', b'{"', b'{"a":', b'":"{"', A, A[:-8], A[:-8] + b"\n", b"{\n"])
def test_a_megabyte_of_it_takes_no_recursion(unit: bytes) -> None:
    plan_repair(b"{" + unit * (100_000 // len(unit)))


def test_an_undone_repair_brings_the_damage_back_beside_what_came_since() -> None:
    damaged = lines(A, B + b"}}", R)
    live = lines(entity(["one", "two", "new"], name="A"), B, R)
    assert undo_repair(damaged, plan_repair(damaged).data) == damaged
    assert undo_repair(damaged, live) == lines(entity(["one", "two", "new"], name="A"), B + b"}}", R)


def test_an_undone_repair_brings_the_byte_order_mark_back() -> None:
    mark = b"\xef\xbb\xbf"
    assert undo_repair(mark + A, lines(A, B)) == mark + lines(A, B)


def test_a_repaired_document_is_undone_only_while_nothing_came_since() -> None:
    damaged = b"[" + A + b"," + B + b"]"
    assert undo_repair(damaged, lines(A, B)) == damaged
    assert undo_repair(damaged, lines(A, B, R)) is None
