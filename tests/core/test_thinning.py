"""Old runs become one summary line each; what was set stays, and the chain holds from the first line to the last."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from chains import LATER, OLD, YOUNG, Event, kinds_in, put, removed, run_of, set_line

from memttl.core.backup_needs import runs_that_need_backups
from memttl.core.chain import check, digest_of, event_of, line_of, lines_of
from memttl.core.past_runs import runs_of
from memttl.core.stubs import erased
from memttl.core.thinning import Thinned, thinned


def lines(tmp_path: Path, *events: Event) -> list[bytes]:
    return lines_of(put(tmp_path / "audit.jsonl", *events).read_bytes())


def thin(found: list[bytes], *, before: str = YOUNG, keep: int = 0, known: int = 0) -> Thinned | None:
    return thinned(found, lambda time: time < before, at=LATER, keep=keep, known=known)


def after(found: list[bytes], made: Thinned | None) -> list[Event]:
    assert made is not None
    whole = [*made.lines, *found[made.taken :]]
    assert check(b"".join(line + b"\n" for line in whole)).broken is None
    return [json.loads(line) for line in whole]


BASELINE = {"event": "baseline", "time": OLD, "baseline": OLD}


def test_old_run_becomes_one_line(tmp_path: Path) -> None:
    found = lines(tmp_path, *run_of("a1", OLD, removed("a1"), removed("a1", kind="removed_line")), *run_of("b1", YOUNG))
    summary, *rest = after(found, thin(found))
    assert kinds_in(rest) == ["begin", "end"]
    assert {k: v for k, v in summary.items() if k not in ("prev", "was", "own")} == {
        "v": 1,
        "event": "summary",
        "run": "a1",
        "command": "prune",
        "time": OLD,
        "now": "2026-01-05T12:00:00Z",
        "applied": True,
        "removed": 2,
        "restored": 0,
        "quarantined": 0,
        "thinned": LATER,
    }


def test_run_in_which_something_was_set_is_told_as_it_was(tmp_path: Path) -> None:
    begin, gone, end = run_of("a1", OLD, removed("a1"))
    found = lines(tmp_path, begin, gone, set_line("x", OLD, "a1"), end, *run_of("b1", YOUNG))
    summary = after(found, thin(found))[0]
    assert (summary["event"], summary["applied"], summary["removed"]) == ("summary", True, 1)


def test_no_text_is_left_of_an_old_run(tmp_path: Path) -> None:
    found = lines(tmp_path, *run_of("a1", OLD, removed("a1", "my secret")), *run_of("b1", YOUNG))
    assert "secret" not in json.dumps(after(found, thin(found)))


def test_several_old_runs_become_a_line_each(tmp_path: Path) -> None:
    runs = [run_of(f"a{i}", OLD, removed(f"a{i}")) for i in range(3)]
    found = lines(tmp_path, *chain(*runs), *run_of("b1", YOUNG))
    events = after(found, thin(found))
    assert [e["run"] for e in events if e["event"] == "summary"] == ["a0", "a1", "a2"]
    assert ["was" in e for e in events] == [False, False, True, False, False]


def test_what_was_set_stays_byte_for_byte(tmp_path: Path) -> None:
    kept = (
        set_line("p"),
        BASELINE,
        {"event": "accepted", "time": OLD},
        {"event": "forgotten", "run": "f", "time": OLD},
    )
    events = [e for one in kept for e in (*run_of("a1" + one["event"][0].encode().hex(), OLD), one)]
    found = lines(tmp_path, *events, *run_of("b1", YOUNG))
    made = thin(found)
    assert made is not None
    stay = [line for line in found if json.loads(line)["event"] in ("set", "baseline", "accepted", "forgotten")]
    assert [line for line in made.lines if json.loads(line)["event"] != "summary"] == stay
    assert kinds_in(after(found, made)).count("summary") == 4


def test_run_that_is_old_behind_a_young_one_stays(tmp_path: Path) -> None:
    found = lines(tmp_path, *run_of("a1", YOUNG), *run_of("b1", OLD))
    assert thin(found) is None


def test_run_that_goes_on_behind_a_young_one_stays_whole(tmp_path: Path) -> None:
    again = [{**e, "again": True} for e in run_of("a1", OLD)]
    found = lines(tmp_path, *run_of("a0", OLD), *run_of("a1", OLD), *run_of("b1", YOUNG), *again)
    made = thin(found)
    assert made is not None
    assert made.taken == 2


def test_newest_runs_stay_however_old_they_are(tmp_path: Path) -> None:
    runs = [run_of(f"a{i:x}", OLD, removed(f"a{i:x}")) for i in range(12)]
    found = lines(tmp_path, *chain(*runs))
    made = thin(found, keep=10)
    assert made is not None
    assert made.runs == 2
    assert thin(found[:30], keep=10) is None


@pytest.mark.parametrize("time", [None, "", "soon", 5, "2026-13-01"])
def test_run_whose_time_cannot_be_read_stays(tmp_path: Path, time: Any) -> None:
    begin, end = run_of("a1", OLD)
    found = lines(tmp_path, {**begin, "time": time}, end, *run_of("b1", YOUNG))
    old = ("2026-01-05",)
    assert thinned(found, lambda t: t.startswith(old), at=LATER, keep=0) is None


def test_run_that_was_not_applied_is_summarised_as_such(tmp_path: Path) -> None:
    found = lines(tmp_path, *run_of("a1", OLD, removed("a1"), applied=False), *run_of("b1", YOUNG))
    summary = after(found, thin(found))[0]
    assert summary["applied"] is False
    assert "removed" not in summary


def test_removals_of_a_second_write_are_not_counted_twice(tmp_path: Path) -> None:
    again = [{**e, "again": True} for e in run_of("a1", OLD, removed("a1", kind="removed_again"))]
    found = lines(tmp_path, *run_of("a1", OLD, removed("a1")), *again, *run_of("b1", YOUNG))
    (summary,) = [e for e in after(found, thin(found)) if e["event"] == "summary"]
    assert summary["removed"] == 1


def test_what_a_run_undid_is_still_told(tmp_path: Path) -> None:
    undo = run_of("b1", OLD, removed("b1", kind="restored"), command="undo", undoes="a1")
    found = lines(tmp_path, *run_of("a1", OLD, removed("a1")), *undo, *run_of("c1", YOUNG))
    runs = runs_of(after(found, thin(found)))
    assert [(r.run, r.undone_by, r.is_thinned) for r in runs] == [
        ("a1", "b1", True),
        ("b1", "", True),
        ("c1", "", False),
    ]


def test_erased_removal_still_counts(tmp_path: Path) -> None:
    found = lines(tmp_path, *run_of("a1", OLD, removed("a1"), removed("a1", "y")), *run_of("b1", YOUNG))
    found[1] = line_of(erased(json.loads(found[1]), digest_of(found[1])))
    assert after(found, thin(found))[0]["removed"] == 2


def test_thinning_twice_holds_the_chain(tmp_path: Path) -> None:
    runs = [run_of(f"a{i}", f"2026-0{i + 1}-01T00:00:00Z", removed(f"a{i}")) for i in range(5)]
    found = lines(tmp_path, *runs[0], *runs[1], set_line("p"), *runs[2], *runs[3], *runs[4])
    for before, summaries in (("2026-01-15", 1), ("2026-03-15", 3), ("2026-04-15", 4)):
        made = thin(found, before=before)
        after(found, made)
        assert made is not None
        found = [*made.lines, *found[made.taken :]]
        assert kinds_in(e for e in map(event_of, found) if e).count("summary") == summaries
    assert thin(found, before="2026-04-15") is None or thin(found, before="2026-04-15").runs == 0  # type: ignore[union-attr]


def test_torn_line_within_goes_with_its_run(tmp_path: Path) -> None:
    log = put(tmp_path / "audit.jsonl", *run_of("a1", OLD)[:1])
    log.write_bytes(log.read_bytes() + b"{")
    found = lines(tmp_path, run_of("a1", OLD)[1], *run_of("b1", YOUNG))
    assert kinds_in(after(found, thin(found))) == ["summary", "begin", "end"]


def test_torn_line_beside_no_run_stays(tmp_path: Path) -> None:
    log = put(tmp_path / "audit.jsonl", set_line("p"))
    log.write_bytes(log.read_bytes() + b"{")
    found = lines(tmp_path, set_line("q"), *run_of("a1", OLD), *run_of("b1", YOUNG))
    made = thin(found)
    assert made is not None
    assert made.lines[1] == b"{"
    assert check(b"".join(line + b"\n" for line in (*made.lines, *found[made.taken :]))).broken is None


@pytest.mark.parametrize("number", [0, 1, 2])
def test_log_that_was_edited_there_is_not_thinned(tmp_path: Path, number: int) -> None:
    found = lines(tmp_path, *run_of("a1", OLD, removed("a1")), *run_of("b1", YOUNG))
    assert thin(found) is not None
    found[number] = found[number].replace(b'"run":"a1"', b'"run":"a2"')
    assert thin(found) is None


def test_runs_whose_texts_are_not_in_the_log_need_their_backup(tmp_path: Path) -> None:
    bare = {k: v for k, v in removed("a1").items() if k != "raw"}
    tried = run_of("b1", OLD, {**bare, "run": "b1"}, applied=False)
    killed = [*run_of("d1", YOUNG)[:1], {**bare, "run": "d1"}]
    events = [*run_of("a1", OLD, bare), *tried, *run_of("c1", OLD, removed("c1")), *killed]
    assert runs_that_need_backups(events) == {"a1", "d1"}
    found = lines(tmp_path, *events[:-2], *run_of("e1", YOUNG))
    assert runs_that_need_backups(after(found, thin(found))) == set()


ARRIVED = {"event": "arrived", "run": "c1", "time": OLD, "entity": "my secret", "digests": [], "at": OLD}


def test_old_arrivals_that_the_ledger_knows_become_one_line(tmp_path: Path) -> None:
    found = lines(tmp_path, ARRIVED, ARRIVED, set_line("s1", OLD), ARRIVED, ARRIVED, ARRIVED, *run_of("b1", YOUNG))
    left = after(found, thin(found, known=5))
    assert kinds_in(left) == ["summary", "set", "summary", "arrived", "begin", "end"]
    assert (left[0]["arrived"], left[2]["arrived"], "run" in left[0]) == (2, 2, False)
    assert runs_of(left)[0].run == "b1"


def test_young_arrivals_and_those_that_the_ledger_lacks_stay(tmp_path: Path) -> None:
    found = lines(tmp_path, ARRIVED, ARRIVED, {**ARRIVED, "time": YOUNG}, {**ARRIVED, "time": YOUNG})
    assert thin(found) is None
    assert kinds_in(after(found, thin(found, known=4))) == ["summary", "arrived", "arrived"]


def test_arrivals_among_old_runs_go_with_them(tmp_path: Path) -> None:
    found = lines(tmp_path, ARRIVED, *run_of("a1", OLD), ARRIVED, ARRIVED, *run_of("b1", YOUNG))
    assert kinds_in(after(found, thin(found, known=5))) == ["summary", "begin", "end"]
