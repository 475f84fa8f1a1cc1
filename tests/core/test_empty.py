"""`remove_empty_entities`: which entity and relation lines go whole, and which stay in doubt."""

from __future__ import annotations

import pytest
from support import entity, plan_of, relation

from memttl.core.apply import apply_plan
from memttl.core.plan import Plan

POLICY = "[prune]\nremove_empty_entities = true\n"
GONE = "[session] 2026-01-01: gone"
A = entity([GONE], name="A")
B = entity([GONE, "stays"], name="B")
B_AFTER = entity(["stays"], name="B")
A_B, B_A, B_C = relation("A", "B"), relation("B", "A"), relation("B", "C")


def plan(*lines: bytes, approved: Plan | None = None, keep_malformed: bool = False) -> Plan:
    approval = approved.approval if approved else None
    return plan_of(b"\n".join(lines), POLICY, approval=approval, keep_malformed=keep_malformed)


def after(*lines: bytes, approved: Plan | None = None, keep_malformed: bool = False) -> list[bytes]:
    """The lines that are left of a file of these `lines`."""
    found = plan(*lines, approved=approved, keep_malformed=keep_malformed)
    return apply_plan(b"\n".join(lines), found).split(b"\n")


def test_an_emptied_entity_goes_with_its_relations() -> None:
    assert after(A, B, A_B, B_A, B_C) == [B_AFTER, B_C]


def test_what_goes_whole_is_in_the_plan() -> None:
    lines = plan(A, B, A_B, B_C).lines
    assert [(r.line, r.kind, r.entity, r.raw) for r in lines] == [(1, "entity", "A", A), (3, "relation", "A", A_B)]


def test_without_the_setting_it_stays() -> None:
    assert not plan_of(A + b"\n" + A_B).lines


def test_one_that_was_empty_before_stays() -> None:
    empty = entity([], name="E")
    assert after(empty, A, relation("E", "A")) == [empty]
    assert after(empty, B) == [empty, B_AFTER]


@pytest.mark.parametrize(
    "other", [entity(["stays"], name="A"), entity([], name="A"), entity(None, name="A"), entity({}, name="A")]
)
def test_relations_stay_while_another_entity_has_the_name(other: bytes) -> None:
    assert after(A, other, A_B) == [other, A_B]


def test_names_compare_with_case() -> None:
    assert after(A, entity(["stays"], name="a"), A_B) == [entity(["stays"], name="a")]


def test_two_of_one_name_that_are_both_emptied_go_with_their_relations() -> None:
    assert after(A, B, A, A_B) == [B_AFTER]


def test_a_relation_between_two_that_go_goes_once() -> None:
    two = entity([GONE], name="C")
    assert [r.line for r in plan(A, two, relation("A", "C"), relation("A", "A")).lines] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "odd", [relation("A", "B", x="\ud800"), b'{"type":"relation","from":"A"}', b'{"type":"relation","to":"\\u0041"}']
)
def test_odd_relations_go_too(odd: bytes) -> None:
    assert after(A, B, odd) == [B_AFTER]


@pytest.mark.parametrize(
    "other", [b'{"type":"relation"}', b'{"type":"relation","from":["A"],"to":1}', b'{"type":"x","from":"A"}']
)
def test_other_lines_stay(other: bytes) -> None:
    assert after(A, B, other) == [B_AFTER, other]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ([A, B, A_B], [B_AFTER]),
        ([B, A_B, A], [B_AFTER]),
        ([B, B_C, A], [B_AFTER, B_C]),
        ([A], []),
        ([B, b"", A], [B_AFTER, b""]),
    ],
    ids=range(5),
)
def test_line_ends_stay_as_they_were(
    start: bytes, lines: list[bytes], left: list[bytes], end: bytes, last: bool
) -> None:
    data = start + end.join(lines) + (end if last else b"")
    expected = start + end.join(left) + (end if last and left else b"")
    assert apply_plan(data, plan_of(data, POLICY)) == expected


def test_prune_twice_is_prune_once() -> None:
    once = after(A, B, A_B, B_A)
    assert after(*once) == once


# in doubt


DEEP = b'{"type":"entity","name":"A","observations":[],"x":' + b"[" * 3000 + b"]" * 3000 + b"}"


@pytest.mark.parametrize("unreadable", [DEEP, b'{"type":"entity","name":"A","observ'])
def test_what_an_unreadable_line_may_need_stays(unreadable: bytes) -> None:
    left = after(A, B, A_B, unreadable, keep_malformed=True)
    assert left == [entity([], name="A"), B_AFTER, A_B, unreadable]


def test_a_relation_that_a_stranger_added_keeps_its_entity() -> None:
    approved = plan(A, B, A_B)
    assert after(A, B, A_B, B_A, approved=approved) == [entity([], name="A"), B_AFTER, A_B, B_A]


def test_the_same_relation_once_more_keeps_its_entity() -> None:
    approved = plan(A, B, A_B)
    assert after(A, B, A_B, A_B, approved=approved) == [entity([], name="A"), B_AFTER, A_B, A_B]


def test_a_new_relation_between_two_that_would_go_keeps_both() -> None:
    two = entity([GONE], name="C")
    new = relation("A", "C")
    left = after(A, two, B, new, approved=plan(A, two, B))
    assert left == [entity([], name="A"), entity([], name="C"), B_AFTER, new]


def test_an_approved_relation_goes_with_the_end_that_goes() -> None:
    two, new = entity([GONE], name="C"), relation("A", "B")
    left = after(A, two, B, relation("A", "C"), new, approved=plan(A, two, B, relation("A", "C")))
    assert left == [entity([], name="A"), B_AFTER, new]


def test_an_entity_that_grew_since_stays_with_what_is_new() -> None:
    grown = entity([GONE, "new"], name="A")
    assert after(grown, B, A_B, approved=plan(A, B, A_B)) == [entity(["new"], name="A"), B_AFTER, A_B]


def test_what_was_shown_without_the_setting_approves_no_lines() -> None:
    shown = plan_of(b"\n".join([A, B, A_B]))
    assert after(A, B, A_B, approved=shown) == [entity([], name="A"), B_AFTER, A_B]
