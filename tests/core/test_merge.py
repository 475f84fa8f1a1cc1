"""The three-way merge: hand-made cases for each rule, and properties over random changes."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memttl.core.merge import is_whole, merge
from memttl.core.sequences import merge_keys, numbered


def entity(name: str, *observations: object, **fields: object) -> bytes:
    record = {"type": "entity", "name": name, "entityType": "t", "observations": observations, **fields}
    return json.dumps(record, separators=(",", ":")).encode()


def relation(start: str, end: str) -> bytes:
    return json.dumps({"type": "relation", "from": start, "to": end, "relationType": "knows"}).encode()


def lines(*rows: bytes) -> bytes:
    return b"\n".join(rows)


def test_an_addition_goes_into_a_line_that_the_other_side_cut() -> None:
    base, theirs, live = entity("a", "k", "x"), entity("a", "k", "x", "new"), entity("a", "k")
    assert merge(base, theirs, live) == entity("a", "k", "new")


def test_an_addition_stands_behind_its_neighbour() -> None:
    base, theirs = entity("a", "1", "2"), entity("a", "1", "between", "2")
    assert merge(base, theirs, entity("a", "1", "2", "3")) == entity("a", "1", "between", "2", "3")


def test_a_removal_is_taken_over() -> None:
    assert merge(entity("a", "1", "2"), entity("a", "2"), entity("a", "1", "2", "3")) == entity("a", "2", "3")


def test_the_same_text_twice_counts_twice() -> None:
    base, theirs, live = entity("a", "s", "s"), entity("a", "s"), entity("a", "s", "s", "new")
    assert merge(base, theirs, live) == entity("a", "s", "new")


def test_what_both_sides_added_stands_once() -> None:
    assert merge(entity("a"), entity("a", "n"), entity("a", "n", "m")) == entity("a", "n", "m")


def test_a_line_of_one_side_keeps_its_bytes() -> None:
    odd = b'{ "type" : "entity","name":"odd","entityType":"t","observations":[ "\\u00e9" ], "n":1.0 }'
    base = lines(odd, entity("a", "k", "x"))
    assert merge(base, lines(odd, entity("a", "k", "x", "n")), lines(odd, entity("a", "k"))) == lines(
        odd, entity("a", "k", "n")
    )


def test_spacing_between_observations_is_kept() -> None:
    base = b'{"type":"entity","name":"a","observations": [ "1", "2" ]}'
    theirs = b'{"type":"entity","name":"a","observations": [ "1", "2", "3" ]}'
    live = b'{"type":"entity","name":"a","observations": [ "1", "2", "4" ]}'
    assert merge(base, theirs, live) == b'{"type":"entity","name":"a","observations": [ "1", "2", "3", "4" ]}'


def test_an_entity_that_one_side_removed_and_the_other_added_to_stays_with_what_was_added() -> None:
    base, grown = entity("a", "k"), entity("a", "k", "new")
    rest = entity("b", "z")
    assert merge(lines(base, rest), lines(grown, rest), rest) == lines(entity("a", "new"), rest)
    assert merge(lines(base, rest), rest, lines(grown, rest)) == lines(entity("a", "new"), rest)


def test_relations_return_with_their_entity() -> None:
    link, rest = relation("a", "b"), entity("b", "z")
    base, theirs = lines(entity("a", "k"), rest, link), lines(entity("a", "k", "new"), rest, link)
    assert merge(base, theirs, rest) == lines(entity("a", "new"), rest, link)


def test_other_fields_of_the_stranger_are_taken_where_only_that_side_changed_them() -> None:
    base, theirs, live = entity("a", "k", "x"), entity("a", "k", "x", version=2), entity("a", "k")
    assert merge(base, theirs, live) == entity("a", "k", version=2)


def test_two_entities_of_one_name_are_two() -> None:
    base = lines(entity("a", "1"), entity("a", "2"))
    theirs = lines(entity("a", "1"), entity("a", "2", "new"))
    assert merge(base, theirs, lines(entity("a", "1", "own"), entity("a", "2"))) == lines(
        entity("a", "1", "own"), entity("a", "2", "new")
    )


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_last_newline_is_that_of_the_live_file(end: bytes) -> None:
    base, live = entity("a", "k"), entity("a", "k", "l") + end
    assert merge(base, lines(base, entity("b", "n")), live) == lines(entity("a", "k", "l"), entity("b", "n")) + end


def test_blank_lines_and_a_bom_of_the_live_file_stay() -> None:
    base = entity("a", "k")
    live = b"\xef\xbb\xbf" + entity("a", "k", "l") + b"\n\n"
    assert merge(base, entity("a", "k", "n"), live).startswith(b"\xef\xbb\xbf")
    assert merge(base, entity("a", "k", "n"), live).endswith(b"\n\n")


@pytest.mark.parametrize("data", [b"", b" \n", b'{"type":"enti', entity("a", "k") + b"{"])
def test_half_a_version_is_not_whole(data: bytes) -> None:
    assert not is_whole(data, entity("a", "k"))


def test_a_broken_line_that_was_there_before_is_no_sign_of_half_a_version() -> None:
    assert is_whole(lines(b"{broken", entity("a", "k", "n")), lines(b"{broken", entity("a", "k")))


# ---------------------------------------------------------------- properties

TEXTS = st.sampled_from(["", "k", "x", "long " * 9, "é", "\u2028", "\ud83d", '"', "\\", "2026-01-02", "\x00"])
GRAPHS = st.dictionaries(st.sampled_from(["a", "b", "ü", ""]), st.lists(TEXTS, max_size=5), max_size=4)
SETS = st.dictionaries(st.sampled_from(["a", "b", "ü", ""]), st.lists(TEXTS, max_size=5, unique=True), max_size=4)


def file_of(graph: dict[str, list[str]]) -> bytes:
    return lines(*(entity(name, *texts) for name, texts in graph.items()))


def facts(data: bytes) -> Counter[tuple[str, str]]:
    rows = [json.loads(line) for line in data.split(b"\n") if line.strip()]
    return Counter((row["name"], text) for row in rows for text in row["observations"])


@given(GRAPHS, GRAPHS)
def test_with_no_change_of_one_side_the_merge_is_the_other_side(base: dict, other: dict) -> None:
    old, new = file_of(base), file_of(other)
    assert merge(old, old, new) == new
    assert merge(old, new, old) == new


@given(GRAPHS, GRAPHS, GRAPHS)
def test_nothing_that_either_side_added_vanishes(base: dict, one: dict, two: dict) -> None:
    old = facts(file_of(base))
    merged = facts(merge(file_of(base), file_of(one), file_of(two)))
    for side in (one, two):
        added = facts(file_of(side)) - old
        assert all(merged[fact] for fact in added)


@given(GRAPHS, GRAPHS, GRAPHS)
def test_nothing_comes_from_nowhere(base: dict, one: dict, two: dict) -> None:
    merged = facts(merge(file_of(base), file_of(one), file_of(two)))
    assert set(merged) <= set(facts(file_of(one))) | set(facts(file_of(two)))


@given(GRAPHS, GRAPHS, GRAPHS)
def test_both_orders_of_a_merge_hold_the_same(base: dict, one: dict, two: dict) -> None:
    old, left, right = file_of(base), file_of(one), file_of(two)
    assert facts(merge(old, left, right)) == facts(merge(old, right, left))


@given(SETS, SETS, SETS)
def test_a_merge_is_whole_json_and_merging_again_changes_nothing(base: dict, one: dict, two: dict) -> None:
    """A run may be killed between the merge and the end of the leftover; the next one then merges it again."""
    old, theirs = file_of(base), file_of(one)
    merged = merge(old, theirs, file_of(two))
    assert is_whole(merged, b"") or not merged.strip()
    assert facts(merge(old, theirs, merged)) == facts(merged)


@given(st.lists(TEXTS, max_size=8), st.lists(TEXTS, max_size=8), st.lists(TEXTS, max_size=8))
def test_each_side_keeps_its_order(base: list[str], theirs: list[str], live: list[str]) -> None:
    old, other, ours = (numbered(side) for side in (base, theirs, live))
    merged = merge_keys(old, other, ours)
    assert [key for key in merged if key in ours] == [key for key in ours if key in merged]
    assert len(merged) == len(set(merged))
