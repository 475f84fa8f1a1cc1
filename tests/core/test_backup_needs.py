"""Which runs of the audit log need their backups: those that could not be undone without."""

from __future__ import annotations

from typing import Any

import pytest

from memttl.core.backup_needs import runs_that_need_backups

WITH = {"event": "removed", "entity": "E", "raw": '"x"', "raw_digest": "d"}
WITHOUT = {"event": "removed", "entity": "E", "raw_digest": "d"}


def run(name: str, *lines: dict[str, Any], applied: bool | None = True, **begin: Any) -> list[dict[str, Any]]:
    ends = [] if applied is None else [{"event": "end", "run": name, "applied": applied}]
    return [{"event": "begin", "run": name, "command": "prune", **begin}, *({"run": name, **e} for e in lines), *ends]


def test_a_run_with_its_texts_in_the_log_needs_none() -> None:
    assert runs_that_need_backups(run("a", WITH)) == set()


@pytest.mark.parametrize("event", ["removed", "removed_entity", "removed_relation", "removed_line"])
def test_a_run_whose_log_lacks_a_text_needs_its_backup(event: str) -> None:
    assert runs_that_need_backups(run("a", WITH, {**WITHOUT, "event": event})) == {"a"}


def test_a_run_that_was_not_applied_or_removed_nothing_needs_none() -> None:
    assert runs_that_need_backups([*run("a", WITHOUT, applied=False), *run("b")]) == set()


def test_a_run_that_has_not_ended_needs_its_backup() -> None:
    assert runs_that_need_backups(run("a", WITH, applied=None)) == {"a"}


def test_a_run_of_which_a_summary_is_left_needs_none() -> None:
    assert runs_that_need_backups([{"event": "summary", "run": "a", "applied": True, "removed": 3}]) == set()


@pytest.mark.parametrize("line", [{}, {"event": "erased", "run": "a"}])
def test_a_run_with_a_line_torn_or_erased_needs_its_backup(line: dict[str, Any]) -> None:
    events = [*run("b", WITH), *run("a", WITH, WITH)]
    assert runs_that_need_backups([*events[:-1], line, events[-1]]) == {"a"}


def test_a_torn_line_between_two_runs_is_neithers() -> None:
    assert runs_that_need_backups([*run("a", WITH), {}, *run("b", WITH)]) == set()


def test_a_run_whose_begin_is_torn_needs_its_backup() -> None:
    assert runs_that_need_backups([{}, *run("a", WITH)[1:]]) == {"a"}


def test_the_newest_restore_keeps_what_it_replaced_and_what_it_put_back() -> None:
    events = [
        *run("a", WITH, command="restore", restores="20260101T000000Z-aaaa.jsonl"),
        *run("b", WITH, command="restore", restores="20260102T000000Z-bbbb.jsonl.gz"),
    ]
    assert runs_that_need_backups(events) == {"b", "bbbb"}


def test_the_newest_undo_keeps_its_own_and_that_of_the_run_it_undid() -> None:
    assert runs_that_need_backups([*run("a", WITH), *run("b", command="undo", undoes="a")]) == {"a", "b"}
