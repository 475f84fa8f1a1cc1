"""Two versions of a memory file compared: what is gone, what is new, what says the same in other bytes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from strategies import AWKWARD
from support import entity, relation

from memttl.core.differences import Differences, differences
from memttl.core.memory import read_lines
from memttl.core.places import name_of


def of(before: list[bytes], after: list[bytes]) -> Differences:
    return differences(b"\n".join(before), b"\n".join(after))


def told(found: Differences) -> dict[str, int]:
    """The counts that are not zero."""
    return {key: count for key, count in found.counts.items() if count}


def test_equal_files_do_not_differ() -> None:
    assert of([entity(["a"]), relation("a", "b")], [entity(["a"]), relation("a", "b")]) == Differences(are_equal=True)


def test_observations_are_told_with_their_place() -> None:
    (change,) = of([entity(["a", "b", "c"])], [entity(["d", "b"])]).entities
    assert [(part.place, part.value) for part in change.gone] == [(0, "a"), (2, "c")]
    assert [(part.place, part.value) for part in change.added] == [(0, "d")]


def test_an_entity_that_is_gone_has_all_its_observations_gone() -> None:
    found = of([entity(["a", "b"], name="A")], [entity([], name="B")])
    assert [(e.entity, e.is_gone, e.is_new, len(e.gone)) for e in found.entities] == [
        ("A", True, False, 2),
        ("B", False, True, 0),
    ]


def test_a_retyped_entity_is_told_though_nothing_else_changed() -> None:
    (change,) = of([entity(["a"], kind="x")], [entity(["a"], kind="y")]).entities
    assert (change.is_retyped, change.type_before, change.type_after) == (True, "x", "y")
    assert told(of([entity(["a"], kind="x")], [entity(["a"], kind="y")])) == {"entities_retyped": 1}


def test_equal_observations_are_counted_as_copies() -> None:
    assert told(of([entity(["a", "a", "a"])], [entity(["a"])])) == {"observations_gone": 2}


def test_entities_of_one_name_are_counted_as_copies() -> None:
    first, second = entity(["a"], name="E"), entity(["b"], name="E")
    (change,) = of([first, second], [second]).entities
    assert (change.line_before, change.line_after) == (1, 0)


def test_a_text_that_reads_like_json_is_no_value() -> None:
    assert told(of([entity(["1"])], [entity([1])])) == {"observations_added": 1, "observations_gone": 1}


def test_numbers_that_a_double_cannot_tell_apart_are_compared_by_their_digits() -> None:
    before, after = (b'{"type":"entity","name":"E","observations":[%s]}' % n for n in (b"9" * 30, b"9" * 29 + b"8"))
    assert told(differences(before, after)) == {"observations_added": 1, "observations_gone": 1}


def test_a_number_that_python_refuses_to_read_is_compared_all_the_same() -> None:
    before = b'{"type":"entity","name":"E","observations":["a",%s]}' % (b"9" * 5000)
    assert told(differences(before, entity(["a"]))) == {"entities_retyped": 1, "observations_gone": 1}


def test_other_bytes_of_the_same_are_counted_and_are_no_difference() -> None:
    spaced = json.dumps(json.loads(entity(["ä"]))).encode()
    found = of([entity(["ä"])], [spaced])
    assert (told(found), found.are_none, found.are_equal) == ({"lines_rewritten": 1}, True, False)


def test_another_order_of_lines_is_no_difference_but_not_equal() -> None:
    found = of([entity([], name="A"), entity([], name="B")], [entity([], name="B"), entity([], name="A")])
    assert (told(found), found.are_none, found.are_equal) == ({}, True, False)


def test_relations_are_compared_by_ends_and_type() -> None:
    assert told(of([relation("a", "b")], [relation("a", "b", since=1), relation("b", "a")])) == {
        "relations_added": 1,
        "lines_rewritten": 1,
    }


def test_damaged_and_other_lines_are_compared_by_their_bytes() -> None:
    found = of([b'{"type":"enti', b'{"type":"_aim"}', b"\xff"], [b'{"type":"enti', b'{"type":"_aim","x":1}'])
    assert told(found) == {"damaged_lines_gone": 1, "other_lines_added": 1, "other_lines_gone": 1}


names = st.sampled_from(["A", "B", "\ud800"])
values = st.one_of(st.sampled_from(AWKWARD), st.integers(0, 2), st.just(1.0), st.just({"content": "x"}), st.none())
lines = st.one_of(
    st.builds(lambda n, v, k: entity(v, name=n, kind=k), names, st.lists(values, max_size=4), st.sampled_from("xy")),
    st.builds(relation, names, names),
    st.sampled_from([b"", b"  ", b"{", b"\xff", b'{"type":"entity","name":"A"}', b"[1]"]),
)
files = st.lists(lines, max_size=6).map(b"\n".join)
quick = settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])


def contents(data: bytes) -> Counter[Any]:
    """What a file says, as a bag: an entity for each copy, its observations, and every other line."""
    bag: Counter[Any] = Counter()
    for line in read_lines(data):
        record = line.record or {}
        if name_of(line) is not None:
            bag["entity", record["name"]] += 1
            bag.update(("observation", record["name"], _key(value)) for value in record["observations"])
        elif line.kind == "relation":
            bag["relation", _key([record.get(k) for k in ("from", "to", "relationType")])] += 1
        elif line.kind != "blank":
            bag["line", line.raw.strip()] += 1
    return bag


def _key(value: Any) -> str:
    return json.dumps(1 if value == 1.0 and not isinstance(value, bool) else value, sort_keys=True)


@quick
@given(files, files)
def test_applying_the_differences_to_the_first_gives_what_the_second_says(before: bytes, after: bytes) -> None:
    found, bag = differences(before, after), contents(before)
    for change in found.entities:
        bag["entity", change.entity] += change.is_new - change.is_gone
        bag.subtract(("observation", change.entity, _key(part.value)) for part in change.gone)
        bag.update(("observation", change.entity, _key(part.value)) for part in change.added)
    for sign, relations, others in (
        (-1, found.relations_gone, found.lines_gone),
        (1, found.relations_added, found.lines_added),
    ):
        for line in relations:
            bag["relation", _key([(line.record or {}).get(k) for k in ("from", "to", "relationType")])] += sign
        for line in others:
            bag["line", line.raw.strip()] += sign
    assert +bag == contents(after)
    assert min(bag.values(), default=0) >= 0


@quick
@given(files, files)
def test_the_way_back_is_the_other_way_round(before: bytes, after: bytes) -> None:
    there, back = differences(before, after).counts, differences(after, before).counts
    swapped = {k.replace("_gone", "_?").replace("_added", "_gone").replace("_?", "_added"): n for k, n in back.items()}
    assert there == {key: swapped[key] for key in there}


@quick
@given(files)
def test_a_file_does_not_differ_from_itself(data: bytes) -> None:
    assert differences(data, data) == Differences(are_equal=True)
