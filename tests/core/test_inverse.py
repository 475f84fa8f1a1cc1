"""Undo of a prune on bytes: all comes back at its place, and nothing that came since is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from process import ROOT
from strategies import memory_files
from support import entity, plan_of, relation
from undoing import graph, logged, pruned_away, run_of, undone

from memttl.core.plan import Plan
from memttl.core.undo import plan_undo
from memttl.core.undo_items import undo_items
from memttl.errors import MemttlError

OLD = "[session] 2020-01-05: old"
OLDER = "[session] 2020-01-04: older"
EMPTY_GO = "[prune]\nremove_empty_entities = true\n"
POLICIES = ["", EMPTY_GO, '[tiers]\nincident = { ttl = "1d", keep_last = 1 }\n[[rules]]\ntier = "incident"\n']


def plan_or_none(data: bytes, policy: str) -> Plan | None:
    try:
        plan = plan_of(data, policy, force=True, keep_malformed=True)
    except MemttlError:
        return None
    return plan if plan.removals else None


def texts(data: bytes) -> list[list[object]]:
    return [json.loads(line)["observations"] for line in data.split(b"\n") if b"observations" in line]


@pytest.mark.parametrize("policy", POLICIES, ids=["built-in", "empty entities go", "keep last"])
@pytest.mark.parametrize("path", sorted((ROOT / "fixtures/memory").glob("*.jsonl")), ids=lambda path: path.stem)
def test_undo_of_a_prune_gives_the_same_graph_on_every_fixture(path: Path, policy: str) -> None:
    data = path.read_bytes()
    plan = plan_or_none(data, policy)
    if plan is None:
        pytest.skip("nothing goes from this one")
    new, run = pruned_away(data, plan)
    assert graph(undone(new, run).inverse.data) == graph(data)


@settings(max_examples=150, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(memory_files(), st.sampled_from(POLICIES), st.booleans())
def test_undo_of_a_prune_is_the_identity_on_the_graph(data: bytes, policy: str, with_text: bool) -> None:
    plan = plan_or_none(data, policy)
    if plan is None:
        return
    new, run = pruned_away(data, plan, with_text=with_text)
    back = undone(new, run, backup=None if with_text else data)
    assert graph(back.inverse.data) == graph(data)
    assert back.lost == ()
    again = undone(back.inverse.data, run)
    assert again.does_nothing  # nothing comes back twice
    out = undone(back.inverse.data, run_of(back))
    assert graph(out.inverse.data) == graph(new)
    assert graph(undone(out.inverse.data, run_of(out)).inverse.data) == graph(data)


def test_what_came_since_stays_and_what_came_back_is_not_doubled() -> None:
    data = entity([OLD, "a", OLDER], name="E") + b"\n" + entity(["x"], name="F")
    _, run = pruned_away(data, plan_of(data, force=True))
    now = entity(["a", "b", OLDER], name="E") + b"\n" + entity(["x", "y"], name="F") + b"\n" + entity([], name="G")
    back = undone(now, run).inverse
    assert texts(back.data) == [[OLD, "a", "b", OLDER], ["x", "y"], []]
    assert back.there == 1


def test_at_its_place_where_its_neighbours_still_stand_else_at_the_end() -> None:
    data = entity(["a", OLD, "b", "c"], name="E")
    _, run = pruned_away(data, plan_of(data, force=True))
    for today, then in (
        (["a", "b", "c"], ["a", OLD, "b", "c"]),
        (["new", "a", "b"], ["new", "a", OLD, "b"]),
        (["a", "c"], ["a", OLD, "c"]),
        (["b", "c", "a"], ["b", "c", "a", OLD]),
        (["c", "b"], ["c", OLD, "b"]),
        (["c", "d"], ["c", "d", OLD]),
        ([], [OLD]),
    ):
        assert texts(undone(entity(today, name="E"), run).inverse.data) == [then]


def test_its_entity_is_made_again_where_it_is_gone() -> None:
    data = entity([OLD, "a"], name="E", kind="sprint") + b"\n" + relation("F", "E")
    _, run = pruned_away(data, plan_of(data, force=True))
    today = entity([], name="F") + b"\n" + relation("F", "G")
    back = undone(today, run)
    new = json.dumps({"type": "entity", "name": "E", "entityType": "sprint", "observations": [OLD]})
    lines = [json.loads(line) for line in back.inverse.data.split(b"\n")]
    assert lines[1] == json.loads(new)
    assert (lines[0]["name"], lines[2]["to"]) == ("F", "G")
    assert graph(undone(back.inverse.data, run_of(back)).inverse.data) == graph(today)


def test_entity_and_relations_that_a_prune_emptied_come_back_at_their_place() -> None:
    lines = [entity(["k"], name="A"), entity([OLD], name="E", at=1.0), relation("E", "A"), entity(["k"], name="B")]
    data = b"\n".join([*lines, relation("B", "E"), relation("A", "B")])
    new, run = pruned_away(data, plan_of(data, EMPTY_GO, force=True))
    assert b'"E"' not in new
    assert undone(new, run).inverse.data == data


def test_a_relation_that_comes_back_without_one_of_its_ends_is_said() -> None:
    data = b"\n".join([entity([OLD], name="E"), entity(["k"], name="A"), relation("E", "A")])
    new, run = pruned_away(data, plan_of(data, EMPTY_GO, force=True))
    assert undone(new, run).warnings == ()
    assert "'A'" in undone(new.replace(entity(["k"], name="A"), b""), run).warnings[0]


def test_an_undo_of_an_undo_leaves_an_entity_that_somebody_has_added_to() -> None:
    data = b"\n".join([entity([OLD], name="E"), entity(["k"], name="A"), relation("E", "A")])
    new, run = pruned_away(data, plan_of(data, EMPTY_GO, force=True))
    back = undone(new, run)
    since = back.inverse.data.replace(json.dumps(OLD).encode(), json.dumps(OLD).encode() + b',"since"')
    assert since != back.inverse.data
    out = undone(since, run_of(back)).inverse
    assert texts(out.data) == [["since"], ["k"]]
    assert b"relation" in out.data


def test_a_file_that_was_wiped_gets_back_what_the_run_removed() -> None:
    data = entity([OLD, "a"], name="E") + b"\n" + entity([OLDER], name="F")
    _, run = pruned_away(data, plan_of(data, force=True))
    back = undone(b"", run).inverse.data
    assert texts(back) == [[OLD], [OLDER]]
    assert not back.endswith(b"\n")


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    data = b"\xef\xbb\xbf" + entity([OLD, "a"], name="E") + b"\r\n" + entity(["x"], name="F") + b"\r\n"
    new, run = pruned_away(data, plan_of(data, force=True))
    assert undone(new, run).inverse.data == data
    gone = b"\xef\xbb\xbf" + entity(["x"], name="F") + b"\r\n"
    assert undone(gone, run).inverse.data.count(b"\r\n") == 2


def test_damaged_lines_stay_byte_for_byte() -> None:
    data = entity([OLD, "a"], name="E")
    new, run = pruned_away(data, plan_of(data, force=True))
    damaged = new + b'\n{"type":"entity","name":"X","observ'
    assert undone(damaged, run).inverse.data == data + b'\n{"type":"entity","name":"X","observ'


def test_raw_json_comes_back_as_it_was_written() -> None:
    head = b'{"type": "entity", "name": "E", "entityType": "t", "observations": '
    data = head + b'["[session] 2020-01-05: caf\\u00e9 \\/", "a"]}'
    new, run = pruned_away(data, plan_of(data, force=True))
    assert undone(new, run).inverse.data == data


def test_an_edited_line_of_the_log_is_not_put_back() -> None:
    data = entity([OLD, "a"], name="E")
    new, run = pruned_away(data, plan_of(data, force=True))
    for raw in ('"another"', '"a",\n"b"', "]", None):
        events = [{**event, "raw": raw} for event in run.events]
        back = undone(new, logged(events))
        assert back.inverse.data == new
        assert len(back.lost) == 1
        assert undone(new, logged(events), backup=data).inverse.data == data  # a backup still holds it


def test_no_more_moves_than_was_approved() -> None:
    data = entity([OLD, OLD, "a", OLDER], name="E")
    new, run = pruned_away(data, plan_of(data, force=True))
    shown = undone(entity([OLD, "a", OLDER], name="E"), run).inverse
    assert sum(shown.keys.values()) == 1
    assert texts(undone(new, run, approved=shown.keys).inverse.data) == [[OLD, "a"]]


def test_duplicate_names_get_back_what_was_theirs() -> None:
    data = b"\n".join([entity(["a", OLD], name="E"), entity([OLDER, "b"], name="E")])
    new, run = pruned_away(data, plan_of(data, force=True))
    assert undone(new, run).inverse.data == data
    one_is_left = entity(["a", "b"], name="E")
    assert texts(undone(one_is_left, run).inverse.data) == [["a", OLD, OLDER, "b"]]


def test_parts_of_one_run_come_back_in_their_order_whichever_comes_first() -> None:
    data = entity(["a", OLD, OLDER, "[session] 2020-01-06: last", "b"], name="E")
    new, run = pruned_away(data, plan_of(data, force=True))
    raws = [json.dumps(text) for text in (OLD, OLDER, "[session] 2020-01-06: last")]
    for first in raws:
        for second in raws:
            today = new
            for raw in (first, second, *raws):
                items = undo_items(run, lambda: None, lambda item: item.raw == raw)  # noqa: B023
                today = plan_undo(today, run, items, {}, pin=False).inverse.data
            assert today == data


def test_a_backup_of_which_something_was_erased_still_gives_the_rest() -> None:
    lines = [entity(["secret"], name="Vault"), entity(["s", "k", OLD, OLDER], name="A")]
    data = b"\n".join(lines)
    new, run = pruned_away(data, plan_of(data, force=True), with_text=False)
    backup = entity(["k", OLD, OLDER], name="A")  # a forget took a line and an element before them
    back = undone(new, run, backup=backup)
    assert (back.lost, back.inverse.data) == ((), data)


def test_a_number_of_thousands_of_digits_comes_back() -> None:
    head = b'{"type":"entity","name":"E","entityType":"t","observations":["k",{"content":"a [expires 2020-01-02]","n":'
    data = head + b"1" * 5000 + b"}]}"
    new, run = pruned_away(data, plan_of(data, force=True))
    back = undone(new, run)
    assert back.inverse.data == data
    assert undone(data, run_of(back)).inverse.data == new


def test_of_two_empty_entities_of_one_name_the_one_goes_that_was_put_back() -> None:
    first, second = entity([OLD], name="A", kind="t"), entity(["k"], name="A", kind="u", note="mine")
    data = first + b"\n" + second
    _, run = pruned_away(data, plan_of(data, EMPTY_GO, force=True))
    today = entity([], name="A", kind="u", note="mine")
    back = undone(today, run)
    assert undone(back.inverse.data, run_of(back)).inverse.data == today
