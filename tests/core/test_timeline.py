"""What the log tells becomes a timeline, oldest first, and parts of it can be asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from chains import LATER, OLD, YOUNG, Event, removed, run_of, set_line
from support import NOW, instant

from memttl.core.dates import DateReader
from memttl.core.past_runs import refuse_thinned, runs_of
from memttl.core.timeline import Wanted, narrowed, read_bound, timeline_of
from memttl.errors import RunThinned, UnknownEntity, UnknownRun, UsageError

EVENTS: list[Event] = [
    {"event": "baseline", "time": OLD, "baseline": OLD},
    *run_of("a1b2", OLD, removed("a1b2"), removed("a1b2", "y") | {"entity": "F"}),
    set_line("p", YOUNG, "5e70") | {"entity": "F"},
    set_line("q", YOUNG, "5e70"),
    {"event": "set", "run": "5e71", "command": "pin", "time": YOUNG, "entity_pin": "G*", "settings": {"pinned": True}},
    {"event": "backfill", "run": "bf", "time": YOUNG, "moved": 3},
    *run_of("a1b3", LATER, removed("a1b3", kind="restored"), command="undo", undoes="a1b2"),
]
READER = DateReader((), UTC)


def runs(wanted: Wanted) -> list[str | None]:
    return [entry.run for entry in narrowed(timeline_of(EVENTS), wanted)]


def test_all_is_told_in_the_order_in_which_it_began() -> None:
    entries = timeline_of(EVENTS)
    assert [e.kind for e in entries] == ["baseline", "run", "settings", "settings", "backfill", "run"]
    assert [len(e.changes) for e in entries] == [0, 2, 2, 1, 0, 1]


def test_run_that_was_undone_names_the_one_that_did() -> None:
    past = timeline_of(EVENTS)[1].past
    assert past is not None
    assert past.undone_by == "a1b3"


def test_what_was_removed_a_second_time_is_told_once() -> None:
    again = [{**e, "again": True} for e in run_of("a1", OLD, removed("a1", kind="removed_again"))]
    (entry,) = timeline_of([*run_of("a1", OLD, removed("a1")), *again])
    assert len(entry.changes) == 1


def test_lines_of_a_try_that_came_to_nothing_are_not_those_of_the_run() -> None:
    tried = run_of("a1", OLD, removed("a1"), removed("a1", "y"), applied=False)
    (entry,) = timeline_of([*tried, *run_of("a1", OLD, removed("a1", "z"))])
    assert [c["raw"] for c in entry.changes] == ['"z"']


def test_run_without_an_end_is_neither_applied_nor_not() -> None:
    (entry,) = timeline_of(run_of("a1", OLD, removed("a1"))[:-1])
    assert entry.past is not None
    assert entry.past.applied is None
    assert len(entry.changes) == 1


def test_erased_settings_are_told_with_their_run() -> None:
    (entry,) = timeline_of([{"event": "erased", "run": "5e7", "time": OLD, "of": "set"}])
    assert (entry.kind, entry.run, len(entry.changes)) == ("settings", "5e7", 1)


@pytest.mark.parametrize(
    ("run", "found"), [("a1b2", ["a1b2"]), ("a1b3", ["a1b3"]), ("5e70", ["5e70"]), ("b", ["bf"]), ("bf", ["bf"])]
)
def test_run_is_found_by_its_beginning(run: str, found: list[str]) -> None:
    assert runs(Wanted((run,))) == found


@pytest.mark.parametrize("run", ["", "a1", "5e7", "ffff", "None"])
def test_unknown_or_ambiguous_run_is_refused(run: str) -> None:
    with pytest.raises(UnknownRun):
        runs(Wanted((run,)))


@pytest.mark.parametrize(
    ("entities", "found"),
    [
        (("F",), ["a1b2", "5e70"]),
        (("E",), ["a1b2", "5e70", "a1b3"]),
        (("E", "F"), ["a1b2", "5e70", "a1b3"]),
        (("?",), ["a1b2", "5e70", "a1b3"]),
        (("G*",), ["5e71"]),
        (("Gus",), ["5e71"]),  # its entity pin holds it
        (("X*",), []),
    ],
)
def test_entities_are_names_or_globs(entities: tuple[str, ...], found: list[str]) -> None:
    assert runs(Wanted(entities=entities)) == found


def test_only_lines_of_the_entities_are_shown() -> None:
    found = narrowed(timeline_of(EVENTS), Wanted(entities=("F",)))
    assert [c["entity"] for entry in found for c in entry.changes] == ["F", "F"]


def test_several_runs_can_be_asked_for() -> None:
    assert runs(Wanted(("a1b3", "5e70"))) == ["5e70", "a1b3"]


def test_forget_is_one_entry_with_what_it_tells_at_its_end() -> None:
    told = {"event": "forgotten", "run": "f1", "time": LATER, "places": {"a": 1}}
    for lines in (run_of("f1", OLD, command="forget"), [{"event": "summary", "run": "f1", "time": OLD}]):
        (entry,) = timeline_of([*lines, told])
        assert (entry.kind, entry.time, entry.told) == ("run", OLD, told)


def test_unknown_entity_says_where_the_servers_deletions_can_be_seen() -> None:
    with pytest.raises(UnknownEntity) as error:
        narrowed(timeline_of(EVENTS), Wanted(entities=("Mira",)))
    assert "What a server deleted is not in the log: `memttl backups diff latest`" in error.value.hint


def test_unknown_entity_is_a_slip_with_near_names() -> None:
    events = [removed("a1") | {"entity": "Sprint 11"}]
    entries = timeline_of([*run_of("a1", OLD, *events)])
    with pytest.raises(UnknownEntity, match='did you mean "Sprint 11"'):
        narrowed(entries, Wanted(entities=("Sprint 12",)))


def test_since_is_included_and_until_is_not() -> None:
    assert runs(Wanted(since=instant(YOUNG))) == ["5e70", "5e71", "bf", "a1b3"]
    assert runs(Wanted(until=instant(YOUNG))) == [None, "a1b2"]
    assert runs(Wanted(since=instant(YOUNG), until=instant(LATER))) == ["5e70", "5e71", "bf"]


def test_what_has_no_readable_time_is_shown_always() -> None:
    entries = timeline_of(run_of("a1", "soon"))
    assert narrowed(entries, Wanted(since=instant(YOUNG), until=instant(LATER))) == entries


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("--since", "2026-05-01", "2026-05-01T00:00:00Z"),
        ("--until", "2026-05-01", "2026-05-02T00:00:00Z"),
        ("--since", "2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
        ("--until", "2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
        ("--since", "30d", "2026-05-02T12:00:00Z"),
        ("--until", "30d", "2026-05-02T12:00:00Z"),
        ("--since", "2 weeks", "2026-05-18T12:00:00Z"),
        ("--since", "3mo", "2026-03-01T12:00:00Z"),
        ("--since", "7", "2026-05-25T12:00:00Z"),
    ],
)
def test_bound_is_a_day_an_instant_or_so_long_ago(option: str, text: str, expected: str) -> None:
    assert read_bound(option, text, NOW, READER) == instant(expected)


def test_day_is_one_of_the_policys_zone() -> None:
    berlin = DateReader((), ZoneInfo("Europe/Berlin"))
    assert read_bound("--since", "2026-05-01", NOW, berlin) == instant("2026-04-30T22:00:00Z")
    assert read_bound("--until", "2026-05-01", NOW, berlin) == instant("2026-05-01T22:00:00Z")


@pytest.mark.parametrize("text", ["", "soon", "never", "-3d", "30m", "2026-02-30", "9999999 years", "0"])
def test_bound_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        read_bound("--since", text, NOW, READER)


def test_entry_without_an_offset_is_taken_as_utc() -> None:
    (entry,) = timeline_of(run_of("a1", "2026-01-05T12:00:00"))
    assert entry.moment == datetime(2026, 1, 5, 12, tzinfo=UTC)


def test_thinned_run_cannot_be_undone_and_says_since_when() -> None:
    summary = {"event": "summary", "run": "a1", "time": OLD, "applied": True, "removed": 2, "thinned": LATER}
    (thinned_run,) = runs_of([summary])
    with pytest.raises(RunThinned, match=r"a1 was thinned on 2026-06-02 .*texts are gone") as error:
        refuse_thinned(thinned_run)
    assert error.value.exit_code == 2
    with pytest.raises(RunThinned) as error:
        refuse_thinned(thinned_run, backup="20260105T120000Z-a1.jsonl")
    assert "20260105T120000Z-a1.jsonl" in error.value.hint
    refuse_thinned(runs_of(run_of("a2", OLD))[0])


def test_arrivals_are_no_entries_nor_those_that_were_erased() -> None:
    came = {"event": "arrived", "run": "a1", "time": "2026-06-01T12:00:00Z", "entity": "E", "digests": []}
    assert timeline_of([came, {"event": "erased", "run": "a1", "of": "arrived"}]) == []
