"""`memttl log` and `memttl log verify` as whole processes: what a person, a script and a terminal get."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from chains import LATER, OLD, YOUNG, put, removed, run_of, set_line
from ledgers import written
from process import Terminal, error_of, memttl, tree

from memttl.core.chain import digest_of, line_of
from memttl.core.stubs import erased
from memttl.files import audit
from memttl.files.audit_head import head_path
from memttl.files.state import State, prepare, state_of
from memttl.report.log import settings_words


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return written(tmp_path / "memory.jsonl", {"E": ["[session] 2026-01-01: old", "stays"]})


@pytest.fixture
def state(memory: Path) -> State:
    prepare(state_of(memory), memory.stat())
    return state_of(memory)


def shown(memory: Path, *args: str, code: int = 0) -> str:
    ended = memttl("log", *args, "--file", memory)
    assert ended.returncode == code, ended.stderr
    return ended.stdout


def document(memory: Path, *args: str, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown(memory, *args, "--json", code=code))
    return found


def test_where_nothing_was_logged_that_is_said(memory: Path) -> None:
    assert shown(memory) == f"Nothing was logged yet of {memory}.\n"
    assert document(memory)["runs"] == []
    assert "nothing was logged yet" in shown(memory, "verify")
    assert not (memory.parent / ".memttl").exists()


def test_log_needs_no_memory_file(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    memory.unlink()
    assert "prune: removed 1 observation" in shown(memory)
    assert "is whole" in shown(memory, "verify")


def test_real_runs_are_told_oldest_first(memory: Path) -> None:
    memttl("prune", "--yes", "--file", memory, "--now", "2026-06-01T00:00:00Z")
    memttl("pin", "E", "stays", "--yes", "--file", memory)
    heads = [line for line in shown(memory).splitlines() if not line.startswith(" ")]
    assert [re.sub(r"^.{23}  [0-9a-f]{8}  ", "", head) for head in heads] == [
        "prune: removed 1 observation",
        "pin: 1 observation",
    ]
    assert "    - [session] 2026-01-01: old\n" in shown(memory)
    assert "    * stays\n      pinned\n" in shown(memory)
    assert shown(memory, "verify").endswith("the audit log is whole: 4 lines.\n")


def test_reading_the_log_writes_nothing(memory: Path) -> None:
    memttl("prune", "--yes", "--file", memory, "--now", "2026-06-01T00:00:00Z")
    before = tree(memory.parent)
    shown(memory)
    shown(memory, "verify")
    assert tree(memory.parent) == before


def test_keys_of_the_documents(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1"), backup="b"), set_line("p"))
    found = document(memory)
    assert list(found) == ["schema", "file", "now", "runs", "warnings"]
    run = found["runs"][0]
    assert list(run) == [
        "kind", "run", "command", "time", "applied", "settled", "thinned", "backup", "undoes", "undone_by",
        "partly_undone_by", "edited", "counts", "told", "changes",
    ]  # fmt: skip
    assert run["counts"] == {"removed": 1, "restored": 0, "quarantined": 0, "set": 0}
    assert list(run["changes"][0]) == [
        "event", "entity", "entity_type", "entity_pin", "line", "index", "observation", "digest", "tier", "rule",
        "age_source", "created_at", "expires_at", "reason", "settings", "edited",
    ]  # fmt: skip
    assert run["changes"][0]["observation"] == "x"
    assert list(document(memory, "verify")) == [
        "schema", "file", "now", "log", "whole", "lines", "summaries", "erased", "torn", "torn_end", "broken", "hint",
        "warnings",
    ]  # fmt: skip


ACCEPTED = {"event": "accepted", "time": OLD, "gone": 40, "observations": 2}
FORGOTTEN = {"event": "forgotten", "run": "f", "time": OLD, "places": ["a", "b"]}
UNDO = run_of("a1", OLD, removed("a1", kind="restored"), command="undo", undoes="b7")
BOTH = run_of("a1", OLD, removed("a1"), removed("a1", kind="removed_relation"))
REPAIR = run_of("a1", OLD, removed("a1", kind="quarantined"), command="repair")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (run_of("a1", OLD, removed("a1"), applied=False), "prune: nothing was written; planned: removed 1 observation"),
        (run_of("a1", OLD, removed("a1"))[:-1], "prune: killed, or at work still; planned: removed 1 observation"),
        (run_of("a1", OLD, command="recover"), "recover: merged an update that another program wrote"),
        (UNDO, "undo: restored 1 observation; undid b7"),
        (BOTH, "prune: removed 1 observation and 1 relation"),
        (REPAIR, "repair: quarantined 1 piece"),
        ([{"event": "baseline", "time": OLD, "baseline": OLD}], "scan: the first look at this file"),
        ([{"event": "backfill", "run": "b", "time": OLD, "moved": 2}], "backfill: 2 births moved earlier"),
        ([ACCEPTED], "scan: accepted that 40 observations had vanished"),
        ([FORGOTTEN], "forget: erased for good, in 2 places"),
        ([{**FORGOTTEN, "places": None}], "forget: erased for good"),
    ],
    ids=range(11),
)
def test_each_thing_has_its_words(memory: Path, state: State, lines: list[dict[str, Any]], words: str) -> None:
    put(state.audit, *lines)
    assert words in shown(memory)


def test_killed_run_that_was_settled_says_so(memory: Path, state: State) -> None:
    *lines, end = run_of("a1", OLD, removed("a1"))
    put(state.audit, *lines, {**end, "settled": True})
    put(state.audit, *run_of("a2", OLD, removed("a2"))[:-1], {**end, "run": "a2", "applied": False, "settled": True})
    assert "removed 1 observation; killed after it had written\n" in shown(memory)
    assert "it was killed before it wrote" in shown(memory)


def test_texts_that_are_gone_show_as_the_head_of_their_digest(memory: Path, state: State) -> None:
    line = removed("a1")
    del line["raw"]
    put(state.audit, *run_of("a1", OLD, line))
    assert f"    - text not in the log, SHA-256 {line['raw_digest'][:12]}…\n" in shown(memory)
    assert document(memory)["runs"][0]["changes"][0]["observation"] is None


def test_erased_lines_are_told_as_such(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1", "my secret")))
    lines = state.audit.read_bytes().splitlines()
    lines[1] = line_of(erased(json.loads(lines[1]), digest_of(lines[1])))
    audit.rewrite(state.audit, b"".join(line + b"\n" for line in lines), time=LATER)
    assert "removed 1 observation" in shown(memory)
    assert "observation, erased for good" in shown(memory)
    assert "secret" not in shown(memory) + shown(memory, "--json")
    assert "(1 erased line)" in shown(memory, "verify")


def test_thinned_run_is_told_in_one_line(memory: Path, state: State) -> None:
    summary = {"event": "summary", "run": "a1", "command": "prune", "time": OLD, "applied": True, "removed": 3}
    put(state.audit, {**summary, "restored": 0, "thinned": LATER})
    assert "a1        prune: removed 3; thinned on 2026-06-02, its texts are gone\n" in shown(memory)


def test_control_characters_of_a_text_do_not_reach_the_terminal(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1", "\x1b[31mred\n") | {"entity": "E\x07", "reason": "\u202e"}))
    assert r"\x1b[31mred\n" in shown(memory)
    assert "\x1b" not in shown(memory)
    assert r"E\x07" in shown(memory)


def test_lines_are_cut_to_a_terminal(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1", "long " * 100)))
    screen = Terminal("log", "--file", memory, columns=60).end().screen
    assert max(len(line) for line in screen.splitlines()) == 60
    assert "…" in screen
    assert "long " * 99 in shown(memory)


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (["--run", "a1"], ["a1"]),
        (["--since", "2026-06-01"], ["5e7", "c1"]),
        (["--until", "2026-06-01"], ["a1", "5e7"]),
        (["--since", "2d", "--now", "2026-06-03"], ["5e7", "c1"]),
        (["--entity", "E", "--since", "2026-06-01"], ["5e7", "c1"]),
        (["--entity", "Z*"], []),
    ],
    ids=lambda args: " ".join(args),
)
def test_part_of_the_log_can_be_asked_for(memory: Path, state: State, args: list[str], found: list[str]) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")), set_line("p", YOUNG), *run_of("c1", LATER, removed("c1")))
    assert [run["run"] for run in document(memory, *args)["runs"]] == found
    if not found:
        assert "No run of 'Z*' is in the audit log" in shown(memory, *args)


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["--run", "zz"], "UnknownRun"),
        (["--entity", "Nobody"], "UnknownEntity"),
        (["--since", "soon"], "UsageError"),
        (["--until", "2026-01-01", "--since", "2026-02-01"], "UsageError"),
    ],
    ids=lambda args: " ".join(args),
)
def test_slip_is_exit_2(memory: Path, state: State, args: list[str], name: str) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    ended = memttl("log", *args, "--json", "--file", memory)
    assert (ended.returncode, error_of(ended)["name"]) == (2, name)


def test_torn_last_line_is_a_warning_and_the_rest_is_shown(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    with state.audit.open("ab") as f:
        f.write(b'{"v":1,"event":"beg')
    ended = memttl("log", "--file", memory)
    assert "removed 1 observation" in ended.stdout
    assert "the last line of the audit log is torn" in ended.stderr
    assert "Its last line is torn" in shown(memory, "verify")
    assert document(memory, "verify")["torn_end"] is True


def test_line_that_was_torn_before_is_named(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD))
    with state.audit.open("ab") as f:
        f.write(b"{")
    put(state.audit, set_line("p"))
    assert "passed over: line 3" in memttl("log", "--file", memory).stderr
    assert "is whole: 4 lines (1 torn line)." in shown(memory, "verify")


def test_edited_log_is_exit_73_and_names_the_line(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    state.audit.write_bytes(state.audit.read_bytes().replace(b'"tier":"session"', b'"tier":"Session"'))
    assert "line 2, of the run a1: edited" in shown(memory, "verify", code=73)
    broken = document(memory, "verify", code=73)["broken"]
    assert list(broken) == ["line", "what", "why", "run"]
    assert (broken["line"], broken["what"], broken["run"]) == (2, "edited", "a1")
    ended = memttl("log", "verify", "--quiet", "--file", memory)
    assert (ended.returncode, ended.stdout) == (73, "")
    assert "line 2" in ended.stderr
    assert "removed 1 observation" in shown(memory)  # the timeline still reads it


def edited(state: State, old: bytes, new: bytes) -> None:
    """Edit a log by hand."""
    data = state.audit.read_bytes()
    assert old in data
    state.audit.write_bytes(data.replace(old, new))


def test_text_that_was_edited_is_not_shown_as_what_stood_there(memory: Path, state: State) -> None:
    line = removed("a1", "rent is 900")
    put(state.audit, *run_of("a1", OLD, line, removed("a1", "stays")))
    edited(state, b"rent is 900", b"rent is 700")
    told = shown(memory)
    assert f"    - edited in the log, SHA-256 {line['raw_digest'][:12]}…\n    - stays\n" in told
    assert "700" not in told
    changes = document(memory)["runs"][0]["changes"]
    assert [(c["edited"], c["observation"]) for c in changes] == [(True, None), (False, "stays")]


def test_line_that_breaks_the_chain_is_not_believed(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1", "taken"), removed("a1", "stays") | {"tier": "operational"}))
    edited(state, b'"tier":"session"', b'"tier":"scratch"')
    told = shown(memory)
    assert "    - edited in the log, SHA-256" in told
    assert "    - stays\n" in told
    assert "scratch" not in told


def test_last_line_that_was_edited_is_not_believed(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD), set_line("p"), set_line("q"))
    head, _, last = state.audit.read_bytes().rstrip().rpartition(b"\n")
    state.audit.write_bytes(head + b"\n" + last.replace(b'"entity":"E"', b'"entity":"F"') + b"\n")
    assert "  F\n    * edited in the log, SHA-256" in shown(memory)


def test_edited_log_is_warned_of_once(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1", "one"), removed("a1", "two")))
    edited(state, b'\\"one\\"', b'\\"1\\"')
    edited(state, b'\\"two\\"', b'\\"2\\"')
    ended = memttl("log", "--file", memory)
    warning = "warning: the audit log is not whole (line 2): `memttl log verify` tells where\n"
    assert (ended.returncode, ended.stderr) == (0, warning)
    assert document(memory)["warnings"] == [warning.removeprefix("warning: ").rstrip()]


def test_edited_begin_marks_its_run(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    edited(state, b'"command":"prune"', b'"command":"scan"')
    assert "scan: removed 1 observation; edited in the log\n" in shown(memory)
    assert document(memory)["runs"][0]["edited"] is True


def test_log_that_was_cut_at_its_end_is_warned_of(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1", "x")))
    state.audit.write_bytes(b"".join(state.audit.read_bytes().splitlines(keepends=True)[:-1]))
    ended = memttl("log", "--file", memory)
    assert "not whole (line 2)" in ended.stderr
    assert "    - x\n" in ended.stdout


def test_run_that_was_undone_in_part_says_so(memory: Path, state: State) -> None:
    undo = {"command": "undo", "undoes": "a1", "partial": True}
    put(state.audit, *run_of("a1", OLD, removed("a1")), *run_of("b1", LATER, removed("b1", kind="restored"), **undo))
    assert "prune: removed 1 observation; partly undone by b1\n" in shown(memory)
    assert "restored 1 observation; undid a part of a1\n" in shown(memory)
    assert document(memory)["runs"][0]["partly_undone_by"] == ["b1"]


def test_undo_says_that_it_pins_and_its_undo_that_it_unpins(memory: Path) -> None:
    memttl("prune", "--yes", "--file", memory, "--now", "2026-06-01T00:00:00Z")
    memttl("undo", "--yes", "--file", memory)
    undo = document(memory)["runs"][-1]["run"]
    memttl("undo", undo, "--yes", "--file", memory)
    assert "undo: restored 1 observation, pinned 1 observation; undid" in shown(memory)
    assert "undo: removed 1 observation, unpinned 1 observation; undid" in shown(memory)


def test_what_is_set_is_told_in_words() -> None:
    assert settings_words({"pinned": True, "pinned_by_undo": True}) == "pinned by an undo"
    assert settings_words({"pinned": True, "created_at": "2026-01-05"}) == "pinned, created 2026-01-05"
    assert settings_words({"review_by": "2026-07-01"}) == "review by 2026-07-01"


def test_names_of_runs_are_never_cut_at_a_terminal(memory: Path, state: State) -> None:
    line = removed("a1b2c3d4") | {"reason": "put back: the run 0a1b2c3d is undone, and " * 2 + "the run 12345678"}
    more = [removed("a1b2c3d4", kind=f"removed_{kind}") for kind in ("entity", "relation", "line")]
    undo = run_of("99990000", LATER, command="undo", undoes="a1b2c3d4")
    put(state.audit, *run_of("a1b2c3d4", OLD, line, *more), *undo)
    screen = Terminal("log", "--file", memory, columns=64).end().screen
    assert "undone by 99990000" in " ".join(screen.split())
    assert "the run 12345678" in " ".join(screen.split())
    assert max(len(line) for line in screen.splitlines()) <= 64


def test_bytes_of_a_damaged_line_take_one_short_line(memory: Path, state: State) -> None:
    data = b"\xff\x1b{" + b"junk\xfe" * 100
    raw = data.decode("utf-8", "surrogateescape")
    gone = {"raw": raw, "raw_digest": hashlib.sha256(data).hexdigest(), "entity": ""}
    put(state.audit, *run_of("a1", OLD, removed("a1", kind="restored_line") | gone))
    heading, line = shown(memory).splitlines()[1:3]
    assert heading.startswith("  a damaged line")
    assert line.startswith(r"    + line: \xff\x1b{junk\xfejunk")
    assert len(line) < 90


def test_archive_says_how_much_came_and_went(memory: Path, state: State) -> None:
    one = {"run": "a1", "of": "memory.jsonl", "by": "0a1b2c3d", "entity": "E"}
    kinds = ("entity", "observation", "observation", "relation")
    came = [{"event": "archived", "kind": kind, **one} for kind in kinds]
    gone = [{"event": "taken_out", "kind": "observation", **one, "run": "b1"}]
    old = [{"event": "thinned", "kind": "observation", **one, "run": "c1"}]
    for run, lines in (("a1", came), ("b1", gone), ("c1", old)):
        put(state.audit, *run_of(run, OLD, *lines, command="archive"))
    told = shown(memory)
    source = "; removed by 0a1b2c3d of memory.jsonl\n"
    assert f"archive: archived 1 entity, 2 observations and 1 relation{source}" in told
    assert f"archive: took out 1 observation{source}" in told
    assert f"archive: thinned 1 observation{source}" in told


def test_nothing_found_names_what_was_asked_for(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    asked = ["--since", "2026-10-31", "--until", "2026-11-02", "--entity", "E"]
    words = "No run of 'E' since 2026-10-31 before 2026-11-03 is in the audit log of"
    assert shown(memory, *asked).startswith(words)


def test_run_can_be_repeated(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD), *run_of("b1", YOUNG), *run_of("c1", LATER))
    found = document(memory, "--run", "a1", "--run", "c")["runs"]
    assert [run["run"] for run in found] == ["a1", "c1"]


def test_times_have_seconds(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", "2026-01-05T12:00:07.000Z"))
    assert shown(memory).startswith("2026-01-05 12:00:07 UTC  a1 ")


def test_forget_is_one_entry(memory: Path) -> None:
    memttl("pin", "E", "stays", "--yes", "--file", memory)
    memttl("forget", "E", "--yes", "--for-good", "--file", memory)
    told = shown(memory)
    heads = [line.rpartition("  ")[2] for line in told.splitlines() if line[0] != " "]
    assert [head.split(":")[0] for head in heads] == ["set", "forget"]  # a stub tells no command
    assert "forget: erased for good, in " in told
    assert "  erased by forget\n    * observation, erased for good\n" in told


def test_log_that_was_cut_at_its_end_is_exit_73_and_says_the_way_out(memory: Path, state: State) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    whole = state.audit.read_bytes()
    state.audit.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert "line 2: cut: it ends before the line that was added last" in shown(memory, "verify", code=73)
    state.audit.write_bytes(b"")
    assert "it is gone or empty" in shown(memory, "verify", code=73)
    head_path(state.audit).unlink()
    state.audit.write_bytes(whole)
    assert "is whole" in shown(memory, "verify")


def test_log_that_was_taken_away_is_exit_73(memory: Path) -> None:
    memttl("scan", "--file", memory)
    state = state_of(memory)
    state.audit.unlink()
    head_path(state.audit).unlink()
    assert "it is gone or empty" in shown(memory, "verify", code=73)


def test_log_of_a_newer_memttl_is_refused(memory: Path, state: State) -> None:
    put(state.audit, {"event": "x", "v": 2})
    assert memttl("log", "--file", memory).returncode == 73
    assert memttl("log", "verify", "--file", memory).returncode == 73


def test_options_before_verify_are_refused(memory: Path) -> None:
    ended = memttl("log", "--file", memory, "verify")
    assert ended.returncode == 2
    assert "stand after that word" in ended.stderr


def test_several_files_are_told_each(memory: Path, state: State, tmp_path: Path) -> None:
    put(state.audit, *run_of("a1", OLD, removed("a1")))
    other = written(tmp_path / "other.jsonl", {"E": ["x"]})
    ended = memttl("log", "--json", "--file", memory, "--file", other)
    assert [len(d["runs"]) for d in json.loads(ended.stdout)["files"]] == [1, 0]


def test_state_of_another_memory_file_is_refused(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "memttl.toml").write_text('[state]\ndir = "kept"\n')
    memttl("scan", "--file", memory)
    (kept,) = (tmp_path / "kept").iterdir()
    (kept / "path").write_text("/elsewhere\n")
    assert memttl("log", "--file", memory).returncode == 73


def test_log_that_may_not_be_read_is_exit_77(memory: Path, state: State) -> None:
    state.audit.unlink()
    state.audit.symlink_to(os.devnull)
    assert memttl("log", "--file", memory).returncode == 77


@pytest.mark.parametrize(
    "line",
    [
        {"event": "removed"},
        {"event": "begin", "run": 5},
        {"event": "begin", "run": "x", "command": 5, "time": 7},
        {"event": "set", "run": "x", "entity_pin": 5, "settings": 3},
        {"event": "set", "run": "x", "settings": [], "entity": 5},
        {"event": "summary", "run": "x", "applied": "yes", "removed": "many", "thinned": 5},
        {"event": "baseline"},
        {"event": "forgotten", "places": "x"},
        {"event": []},
        {"event": "erased", "run": "x", "of": 5},
    ],
    ids=str,
)
def test_odd_line_is_no_traceback(memory: Path, state: State, line: dict[str, Any]) -> None:
    begin, end = run_of("x", OLD)
    put(state.audit, line, begin, line, {**line, "event": "removed_entity", "run": "x", "raw": "{"}, end)
    for args in ([], ["--json"], ["verify"], ["--entity", "E*"]):
        ended = memttl("log", *args, "--file", memory)
        assert ended.returncode in (0, 73), ended.stderr
        assert "Traceback" not in ended.stderr
