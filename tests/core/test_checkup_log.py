"""The audit log's events and the outcomes of unwatched runs, and what they say to worry about."""

from __future__ import annotations

from typing import Any

from memttl.core.checkup_log import check_backups, check_outcomes, newest_time


def run_of(name: str, *, text: bool = False, applied: bool = True, undoes: str = "", backup: str = "") -> list[Any]:
    begin = {
        "event": "begin",
        "run": name,
        "backup": f"/b/{backup or name}.jsonl",
        **({"undoes": undoes} if undoes else {}),
    }
    removed = {"event": "restored" if undoes else "removed", "run": name, **({"raw": '"a"'} if text else {})}
    return [begin, removed, {"event": "end", "run": name, "applied": applied, "backup": begin["backup"]}]


def told(events: list[Any], *backups: str) -> list[str]:
    return [finding.name for finding in check_backups(events, backups, "f")]


def test_removed_digests_without_a_backup_cannot_be_put_back() -> None:
    assert told(run_of("a")) == ["backup-gone"]


def test_backup_that_is_there_will_do_compressed_or_not() -> None:
    assert told(run_of("a"), "a.jsonl") == []
    assert told(run_of("a"), "a.jsonl.gz") == []


def test_texts_in_the_log_will_do_without_a_backup() -> None:
    assert told(run_of("a", text=True)) == []


def test_run_that_did_not_apply_or_was_undone_needs_no_backup() -> None:
    assert told(run_of("a", applied=False)) == []
    assert told([*run_of("a"), *run_of("b", undoes="a")]) == []


def test_lines_before_a_second_begin_do_not_count() -> None:
    first, second = run_of("a"), run_of("a", text=True)
    assert told([*first[:2], *second]) == []


def test_newest_time_is_that_of_the_latest_event() -> None:
    events = [{"event": "begin", "time": "2026-01-02T00:00:00Z"}, {"event": "end", "time": "2026-01-03T00:00:00Z"}]
    assert newest_time([*events, {"event": "set", "time": 5}, {"event": "removed"}]) == "2026-01-03T00:00:00Z"
    assert newest_time([]) == ""


def outcomes(command: str, *codes: int) -> list[dict[str, Any]]:
    return [
        {"time": f"2026-01-{day:02}T00:00:00Z", "command": command, "code": code, "message": "why" if code else ""}
        for day, code in enumerate(codes, 1)
    ]


def said(*rows: dict[str, Any]) -> list[str]:
    return [finding.message for finding in check_outcomes(rows, "f")]


def test_failed_runs_since_the_last_good_one_are_counted() -> None:
    assert said(*outcomes("prune", 65, 0, 65, 65)) == [
        "the last 2 scheduled runs of prune ended 65, since 2026-01-03T00:00:00Z: why"
    ]


def test_one_failed_run_is_told() -> None:
    assert said(*outcomes("prune", 0, 75)) == ["the last scheduled run of prune ended 75, at 2026-01-02T00:00:00Z: why"]


def test_message_that_a_list_follows_does_not_end_in_a_colon() -> None:
    (row,) = outcomes("prune", 65)
    (message,) = said({**row, "message": "m.jsonl: 1 line that the memory server cannot read; nothing was done:"})
    assert message.endswith("nothing was done")


def test_run_that_is_fine_again_ends_the_count() -> None:
    assert said(*outcomes("prune", 65, 0)) == []


def test_scans_that_work_do_not_hide_prunes_that_fail() -> None:
    assert len(said(*outcomes("prune", 65), *outcomes("scan", 0, 0))) == 1


def test_rows_that_cannot_be_read_are_passed_over() -> None:
    assert said({"command": "prune"}, {"code": "65"}, {}) == []
