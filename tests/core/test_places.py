"""Places of observations and lines, as the audit log holds them."""

from __future__ import annotations

import json

from support import entity

from memttl.core.places import element_key, standing


def test_a_place_names_the_neighbours_that_stay() -> None:
    found = standing(entity(["a", "b", "c", "d"], name="E"), {1: [1, 2]}).elements
    around = {"slot": 1, "previous": element_key('"a"'), "next": element_key('"d"')}
    assert [(e.raw, e.place) for e in found.values()] == [('"b"', around), ('"c"', around)]


def test_at_the_ends_of_a_list_there_is_no_neighbour() -> None:
    found = standing(entity(["a", "b"], name="E"), {1: [0, 1]}).elements
    assert {tuple(e.place.values()) for e in found.values()} == {(0, None, None)}


def test_equal_observations_that_stay_are_counted_in_all_entities_of_the_name() -> None:
    data = entity(["a", "a"], name="E") + b"\n" + entity(["a", "b"], name="E") + b"\n" + entity(["a"], name="F")
    found = standing(data, {1: [0], 2: [1]}).elements
    assert found[1, 0].place["left"] == 2
    assert "left" not in found[2, 1].place
    assert found[2, 1].place["copy"] == 1


def test_a_key_stays_when_the_server_writes_the_value_anew() -> None:
    assert element_key('"caf\\u00e9"') == element_key('"café"')
    assert element_key('{"b": 1.0, "a": "x"}') == element_key('{"a":"x","b":1}')
    assert element_key('"1"') != element_key("1")
    assert element_key(json.dumps("\ud800"))


def test_whole_lines_have_places_too() -> None:
    lines = [entity([], name="A"), b'{"type":"relation","from":"A","to":"B","relationType":"r"}', entity([], name="B")]
    found = standing(b"\n".join(lines), {}, {2}).lines
    assert found[2].raw == lines[1]
    assert found[2].place["slot"] == 1
    assert found[2].place["previous"] != found[2].place["next"]


def test_a_number_of_thousands_of_digits_has_a_key() -> None:
    assert element_key("9" * 5000) == element_key("9" * 5000) != element_key("9" * 5001)


def test_an_entity_whose_name_is_written_with_escapes_is_one_of_its_name() -> None:
    data = b'{"type":"entity","name":"Zo\\u00eb","observations":["a"]}\n' + entity(["a"], name="Zoë")
    found = standing(data, {2: [0]}).elements
    assert (found[2, 0].place["copy"], found[2, 0].place["left"]) == (1, 1)
