"""The bytes of an archive: what is put in stands there once and in order, and what is taken out leaves no trace."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from memttl.core.archive import Entry, as_json, entries_of, put_in
from memttl.core.archive_update import Arrival, Update, archived, held_by, taken_out
from memttl.core.digests import as_bytes
from memttl.core.durations import NEVER, Duration
from memttl.core.records import raw_fields

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
AWKWARD = ["", "a", "b", "é", "\u2028", "\ud800", "😀", '"\\', "\x00\x1f\x7f", "\r\n", " a "]


def removed(entity: str, raw: str, kind: Any = "note") -> dict[str, Any]:
    """The event of one removal."""
    return {"event": "removed", "entity": entity, "entity_type": kind, **raw_fields(raw, with_text=True)}


def entries(*pairs: tuple[str, str]) -> list[Entry]:
    """Entries of (entity, JSON)."""
    return entries_of([removed(*pair) for pair in pairs])


def put(data: bytes, *pairs: tuple[str, str]) -> bytes:
    """The archive with these put in."""
    return put_in(data, entries(*pairs))[0]


class Log:
    """An archive and its log, driven write by write."""

    def __init__(self, data: bytes = b"") -> None:
        self.data, self.events = data, list[dict[str, Any]]()

    def take(self, update: Update) -> None:
        """Apply one write."""
        end = {"event": "end", "applied": True}
        self.data, self.events = update.data, [*self.events, {"event": "begin"}, *update.events, end]

    def archive(
        self, by: str, *pairs: tuple[str, str], of: str = "m", at: datetime = AT, max_age: Duration = NEVER
    ) -> None:
        """One run archives."""
        self.take(archived(self.data, held_by(self.events), Arrival(entries(*pairs), of, by, at, max_age)))

    def give_up(self, by: str, of: str = "m") -> None:
        """One run was not applied, or is undone whole."""
        self.take(taken_out(self.data, held_by(self.events), lambda claim: (claim.of, claim.by) == (of, by)))


def test_an_empty_archive_gets_the_line_that_the_server_would_write() -> None:
    assert put(b"", ("Ä", '"x"'), ("Ä", '"\\u00e9"')) == (
        '{"type":"entity","name":"Ä","entityType":"note","observations":["x","\\u00e9"]}'.encode()
    )


def test_a_lone_surrogate_in_a_name_is_escaped_as_json_stringify_does() -> None:
    assert as_json("a\ud800\u2028\x01") == '"a\\ud800\u2028\\u0001"'


def test_an_entity_stands_there_once_and_entities_in_order_of_first_archiving() -> None:
    data = put(put(b"", ("B", '"1"'), ("A", '"2"')), ("A", '"3"'), ("B", '"4"'), ("C", '"5"'))
    found = [json.loads(line) for line in data.split(b"\n")]
    assert [(e["name"], e["observations"]) for e in found] == [("B", ["1", "4"]), ("A", ["2", "3"]), ("C", ["5"])]


def test_entities_of_one_name_and_two_types_are_two() -> None:
    data, _ = put_in(b"", entries_of([removed("A", '"x"', "t"), removed("A", '"x"', "u"), removed("A", '"y"', None)]))
    assert [json.loads(line)["entityType"] for line in data.split(b"\n")] == ["t", "u", ""]


def test_an_equal_json_value_is_not_added_again_however_it_is_spelled() -> None:
    data = put(b"", ("A", '"\\u00e9"'), ("A", '"é"'), ("A", '{"a":1,"b":1.0}'), ("A", '{"b":1,"a":1.0}'))
    assert json.loads(data)["observations"] == ["é", {"a": 1, "b": 1.0}]


def test_raw_json_stays_byte_for_byte() -> None:
    data = put(b"", ("A", '{ "text" : "\\u0041", "n":1e400 }'))
    assert b'[{ "text" : "\\u0041", "n":1e400 }]' in data


def test_bytes_of_what_stands_there_stay() -> None:
    old = b'{"extra":[],"observations":[ ], "type":"entity","name":"A","entityType":"note"}\r\n\n{"type":"x"}\n'
    assert put(old, ("A", '"x"')) == old.replace(b"[ ]", b'[ "x"]')


def test_last_newline_is_kept_and_none_is_made() -> None:
    assert put(put(b"", ("A", '"x"')), ("B", '"y"')).count(b"\n") == 1
    assert put(put(b"", ("A", '"x"')) + b"\n", ("B", '"y"')).count(b"\n") == 2
    assert put(b"\n", ("A", '"x"')).endswith(b'["x"]}\n')


def test_a_relation_is_written_as_the_server_does_and_once() -> None:
    raw = '{"from":"A","relationType":"r", "to":"B","type":"relation","createdAt":"2020"}'
    events = [{"event": "removed_relation", "entity": "A", **raw_fields(raw, with_text=True)}] * 2
    data, made = put_in(b"", entries_of(events))
    assert (data, len(made)) == (b'{"type":"relation","from":"A","to":"B","relationType":"r"}', 1)


def test_what_was_there_before_a_run_stays_when_it_is_given_up() -> None:
    log = Log(put(b"", ("A", '"x"')))
    log.archive("r1", ("A", '"x"'), ("A", '"y"'), ("B", '"z"'))
    log.give_up("r1")
    assert log.data == put(b"", ("A", '"x"'))


def test_an_entity_that_was_empty_before_stays() -> None:
    before = b'{"type":"entity","name":"A","entityType":"note","observations":[]}'
    log = Log(before)
    log.archive("r1", ("A", '"x"'))
    log.give_up("r1")
    assert log.data == before


def test_what_two_runs_removed_leaves_with_the_second() -> None:
    log = Log()
    log.archive("r1", ("A", '"x"'))
    log.archive("r2", ("A", '"x"'), of="other")
    log.give_up("r1")
    assert json.loads(log.data)["observations"] == ["x"]
    log.give_up("r2", of="other")
    assert log.data == b""


def test_a_further_try_of_a_run_leaves_nothing_of_the_one_before() -> None:
    log = Log()
    log.archive("r1", ("A", '"x"'), ("A", '"y"'))
    log.archive("r1", ("A", '"y"'), ("B", '"z"'))
    again = Log()
    again.archive("r1", ("A", '"y"'), ("B", '"z"'))
    assert log.data == again.data
    log.give_up("r1")
    assert log.data == b""


def test_a_write_that_was_not_applied_does_not_count() -> None:
    update = archived(b"", held_by([]), Arrival(entries(("A", '"x"')), "m", "r1", AT, NEVER))
    assert held_by([{"event": "begin"}, *update.events, {"event": "end", "applied": False}]).claims == []
    assert held_by([{"event": "begin"}, *update.events]).own == frozenset()


def test_what_is_older_than_max_age_goes_with_the_run_that_archives() -> None:
    log, year = Log(put(b"", ("A", '"mine"'))), Duration(months=12)
    log.archive("r1", ("A", '"x"'), ("B", '"y"'))
    log.archive("r2", ("C", '"z"'), at=AT + timedelta(days=364), max_age=year)
    assert len(log.data.split(b"\n")) == 3
    log.archive("r3", ("C", '"z"'), at=AT + timedelta(days=366), max_age=year)
    found = [json.loads(line) for line in log.data.split(b"\n")]
    assert [(e["name"], e["observations"]) for e in found] == [("A", ["mine"]), ("C", ["z"])]


def test_of_unknown_age_stays_whatever_max_age_says() -> None:
    log = Log()
    log.archive("r1", ("A", '"x"'))
    log.events = [{key: value for key, value in event.items() if key != "at"} for event in log.events]
    log.archive("r2", ("C", '"z"'), at=AT + timedelta(days=9999), max_age=Duration(days=1))
    assert b'"x"' in log.data


def test_a_second_removal_makes_it_young_again() -> None:
    log, year = Log(), Duration(months=12)
    log.archive("r1", ("A", '"x"'))
    log.archive("r2", ("A", '"x"'), at=AT + timedelta(days=300), max_age=year)
    log.archive("r3", ("C", '"z"'), at=AT + timedelta(days=400), max_age=year)
    assert b'"x"' in log.data


def test_of_two_copies_one_stays_until_both_are_put_back() -> None:
    log = Log()
    log.archive("r1", ("A", '"x"'), ("A", '"x"'))
    left = [1]
    log.take(taken_out(log.data, held_by(log.events), lambda _claim: bool(left and left.pop())))
    assert b'"x"' in log.data
    log.give_up("r1")
    assert log.data == b""


PAIRS = st.lists(
    st.tuples(st.sampled_from(AWKWARD), st.sampled_from(AWKWARD).map(as_json) | st.sampled_from(["1", "1.0", "null"]))
)
RUNS = settings(max_examples=150, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


def plain(data: bytes) -> list[tuple[str, list[str]]]:
    """The graph of an archive, comparable."""
    return [
        (r["name"], [json.dumps(o) for o in r["observations"]])
        for r in map(json.loads, data.split(b"\n") if data else [])
    ]


@given(before=PAIRS, pairs=PAIRS, newline=st.booleans())
@RUNS
def test_taking_out_what_was_put_in_gives_the_same_bytes(
    before: list[tuple[str, str]], pairs: list[tuple[str, str]], newline: bool
) -> None:
    log = Log(put(b"", *before) + (b"\n" if newline and before else b""))
    was = log.data
    log.archive("r1", *pairs)
    log.give_up("r1")
    assert log.data == was


@given(first=PAIRS, second=PAIRS)
@RUNS
def test_two_runs_leave_each_value_once_in_order_of_first_archiving(
    first: list[tuple[str, str]], second: list[tuple[str, str]]
) -> None:
    log = Log()
    log.archive("r1", *first)
    log.archive("r2", *second)
    wanted: dict[str, dict[str, None]] = {}
    for entity, raw in (*first, *second):
        wanted.setdefault(entity, {})[json.dumps(json.loads(raw)).removesuffix(".0")] = None
    found = [(name, [raw.removesuffix(".0") for raw in raws]) for name, raws in plain(log.data)]
    assert found == [(name, list(raws)) for name, raws in wanted.items()]


@given(first=PAIRS, second=PAIRS, third=PAIRS)
@RUNS
def test_giving_up_one_run_leaves_what_the_others_removed(
    first: list[tuple[str, str]], second: list[tuple[str, str]], third: list[tuple[str, str]]
) -> None:
    log = Log()
    for by, pairs in (("r1", first), ("r2", second), ("r3", third)):
        log.archive(by, *pairs)
    log.give_up("r2")
    held = {(name, raw.removesuffix(".0")) for name, raws in plain(log.data) for raw in raws}
    assert held == {(name, json.dumps(json.loads(raw)).removesuffix(".0")) for name, raw in (*first, *third)}


def test_raw_bytes_of_a_lone_surrogate_can_be_written() -> None:
    assert as_bytes('"\\ud800"') in put(b"", ("A", '"\\ud800"'))
