"""Runs out of the audit log's events."""

from __future__ import annotations

from typing import Any

import pytest

from memttl.core.past_runs import run_named, runs_of
from memttl.errors import UnknownRun


def run(name: str, *lines: str, applied: bool | None = True, **begin: Any) -> list[dict[str, Any]]:
    """The events of one run."""
    end = [] if applied is None else [{"event": "end", "run": name, "applied": applied}]
    return [
        {"event": "begin", "run": name, "command": "prune", "time": "2026-01-01T00:00:00.000Z", **begin},
        *({"event": line, "run": name} for line in lines),
        *end,
    ]


def test_lines_count_only_before_an_end_that_applied() -> None:
    runs = runs_of([*run("a", "removed", applied=False), *run("b", "removed"), *run("c", "removed", applied=None)])
    assert [(r.run, r.applied, len(r.removed)) for r in runs] == [("a", False, 0), ("b", True, 1), ("c", None, 0)]


def test_a_further_try_supersedes_the_one_before() -> None:
    events = [*run("a", "removed", "removed", applied=False), *run("a", "removed")]
    assert [len(r.removed) for r in runs_of(events)] == [1]


def test_a_further_write_of_a_run_says_nothing_new() -> None:
    events = [*run("a", "removed"), *run("a", "removed_again", again=True)]
    assert [len(r.removed) for r in runs_of(events)] == [1]


def test_whole_lines_are_removals_too() -> None:
    assert len(runs_of(run("a", "removed_entity", "removed_relation", "removed_line", "restored"))[0].removed) == 3


def test_an_undo_of_an_undo_lets_the_run_stand_again() -> None:
    events = [*run("a", "removed"), *run("b", "restored", undoes="a"), *run("c", "removed", undoes="b")]
    assert [r.undone_by for r in runs_of(events)] == ["", "c", ""]
    assert [r.undone_by for r in runs_of(events[:6])] == ["b", ""]


def test_an_undo_of_a_part_or_without_effect_undoes_no_run() -> None:
    events = [*run("a", "removed"), *run("b", undoes="a", partial=True), *run("c", applied=False, undoes="a")]
    assert runs_of(events)[0].undone_by == ""


def parts(events: list[dict[str, Any]]) -> list[tuple[str, tuple[str, ...]]]:
    """Who undid each run, whole and in part."""
    return [(r.undone_by, r.partly_undone_by) for r in runs_of(events)]


def test_an_undo_of_a_part_is_named_as_such() -> None:
    events = [*run("a", "removed"), *run("b", undoes="a", partial=True), *run("c", undoes="a", partial=True)]
    assert parts(events)[0] == ("", ("b", "c"))


def test_an_undo_of_the_whole_stands_instead_of_those_of_parts() -> None:
    events = [*run("a", "removed"), *run("b", undoes="a", partial=True), *run("c", undoes="a")]
    assert parts(events)[0] == ("c", ())


def test_an_undo_that_was_undone_in_part_undid_a_part() -> None:
    events = [*run("a", "removed"), *run("b", undoes="a"), *run("c", undoes="b", partial=True)]
    assert parts(events) == [("", ("b",)), ("", ("c",)), ("", ())]


def test_an_undo_of_a_part_that_is_undone_says_nothing() -> None:
    events = [*run("a", "removed"), *run("b", undoes="a", partial=True), *run("c", undoes="b")]
    assert parts(events) == [("", ()), ("c", ()), ("", ())]


def test_an_undo_of_a_part_without_effect_says_nothing() -> None:
    assert parts([*run("a"), *run("b", undoes="a", partial=True, applied=False)])[0] == ("", ())


def test_a_summary_is_a_run_without_lines() -> None:
    found = runs_of([{"event": "summary", "run": "a", "command": "prune", "time": "t", "applied": True}])[0]
    assert (found.is_thinned, found.applied, found.removed) == (True, True, [])


def test_the_head_of_a_name_is_enough_where_it_is_the_only_one() -> None:
    runs = runs_of([*run("abcd1234"), *run("abff1234")])
    assert run_named(runs, "abc").run == "abcd1234"
    with pytest.raises(UnknownRun, match="could be 2 runs"):
        run_named(runs, "ab")
    with pytest.raises(UnknownRun, match="knows no run 'x'"):
        run_named(runs, "x")
