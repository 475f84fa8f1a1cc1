"""A write of `memttl serve` killed at every step, failing, and beside strangers who write at every step.

The file is the whole old or the whole new one, what was acknowledged stays, and the next write tidies up.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from ledgers import written
from pruning import at, events_of, names_in, state_folder
from served import Served, add, make, take
from strangers import Stranger, behind
from support import entity
from without_root import in_child

from memttl.core.durations import parse_duration
from memttl.core.wish import Patch
from memttl.errors import CannotCreate, MemttlError, NoPermission
from memttl.files import audit
from memttl.files.commit import STEPS
from memttl.files.remembered import Remembered
from memttl.files.state import state_of
from memttl.files.turns import Turns

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
TTL = Patch(ttl=parse_duration("5d"))
KEPT = ["audit.head", "audit.jsonl", "backups", "ledger.db", "lock"]
ON_RUNGS = [
    *(("auto", step) for step in STEPS if step != "linked"),
    *(("replace", step) for step in ("linked", "exchanged", "settled")),
]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory file of one entity that is served already, with one acknowledged text that has a TTL."""
    path = written(tmp_path / "memory.jsonl", {"A": ["a", "b"]})
    Served(path).answer(add("A", "acknowledged", patch=TTL))
    return path


def texts(path: Path) -> list[str]:
    """The texts of the file's one entity."""
    found: list[str] = json.loads(path.read_bytes())["observations"]
    return found


def died(act: Callable[[], object]) -> bool:
    """Act in a child; say whether it was killed."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            act()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kill(step: str) -> Callable[[str], None]:
    """A step at which this process is killed."""
    return at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))


def tidy(path: Path) -> list[str]:
    """What lies in the state folder after another write."""
    Served(path).answer(add("A", "next"))
    Served(path).answer(add("A", "next but one"))
    return names_in(state_folder(path))


@pytest.mark.parametrize(("rung", "step"), ON_RUNGS)
def test_additions_killed_at_a_step_are_all_there_or_none(memory: Path, rung: str, step: str) -> None:
    serving = Served(memory, step=kill(step), write_path=rung)  # type: ignore[arg-type]
    assert died(lambda: serving.answers(add("A", "one", patch=TTL), add("A", "two")))
    came = STEPS.index(step) >= STEPS.index("exchanged")
    assert texts(memory) == ["a", "b", "acknowledged", *(["one", "two"] if came else [])]
    assert tidy(memory) == KEPT
    assert texts(memory)[-2:] == ["next", "next but one"]
    assert "begin" not in [event["event"] for event in events_of(memory)]


@pytest.mark.parametrize(("rung", "step"), ON_RUNGS)
def test_deletion_killed_at_a_step_is_in_file_and_log_or_in_neither(memory: Path, rung: str, step: str) -> None:
    serving = Served(memory, step=kill(step), write_path=rung)  # type: ignore[arg-type]
    assert died(lambda: serving.answers(take("A", "b"), add("A", "one", patch=TTL)))
    came = STEPS.index(step) >= STEPS.index("exchanged")
    assert texts(memory) == (["a", "acknowledged", "one"] if came else ["a", "b", "acknowledged"])
    assert tidy(memory) == KEPT
    assert audit.is_whole(state_folder(memory) / "audit.jsonl")
    ends = [event["applied"] for event in events_of(memory) if event["event"] == "end"]
    assert ends == ([came] if STEPS.index(step) >= STEPS.index("begin logged") else [])


@pytest.mark.parametrize("save", ["rename", "in_place"])
@pytest.mark.parametrize(
    "step", ["start", "new version written", "leased", "verified", "exchanged", "settled", "synced"]
)
def test_stranger_who_writes_at_a_step_and_we_are_both_heard(tmp_path: Path, save: str, step: str) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    server.in_place(["a", "b"])
    seen = server.load()
    act = at(step, lambda: behind(lambda: getattr(server, save)([*seen, "theirs"]), head_start_s=0.01))
    serving = Served(server.path, step=act, settle_s=0.03)
    serving.answers(add("a", "ours"), take("a", "b"))
    serving.answer(add("a", "next"))
    assert sorted(server.load()) == ["a", "next", "ours", "theirs"]


def test_full_disk_fails_all_and_changes_nothing(memory: Path) -> None:
    before = memory.read_bytes()

    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))

    def run() -> int:
        found = Served(memory, step=at("start", fill)).apply([add("A", "one"), add("A", "two")])
        return sum(isinstance(e, MemttlError) and not e.applied and "as it was" in e.message for e in found)

    assert in_child(run, 1, 2) == 2
    assert memory.read_bytes() == before
    assert tidy(memory) == KEPT


def test_fault_after_the_write_is_told_and_the_answer_stands(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("odd")

    serving = Served(memory)
    monkeypatch.setattr("memttl.files.editing.AfterWrite", fail)
    assert serving.answer(add("A", "new")).added == (("A", ("new",)),)
    assert serving.told == ["RuntimeError after a write: odd"]


def test_own_leftovers_are_not_read_again_until_they_go(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serving, read = Served(memory, keep_s=60), list[str]()
    monkeypatch.setattr("memttl.files.recover._look", lambda _session, name, _journal: read.append(name))
    for number in range(5):
        serving.answer(add("A", f"new {number}"))
    assert [name.endswith(".swap") for name in names_in(state_folder(memory))].count(True) >= 5
    assert read == []


def test_leftover_that_a_late_writer_changed_is_merged(memory: Path) -> None:
    serving = Served(memory, keep_s=60)
    late = os.open(memory, os.O_PATH)
    serving.answer(add("A", "ours"))
    with open(f"/proc/self/fd/{late}", "wb") as f:
        f.write(entity(["a", "b", "acknowledged", "late"], name="A"))
    os.close(late)
    serving.answer(add("A", "next"))
    assert set(texts(memory)) == {"a", "b", "acknowledged", "ours", "late", "next"}


def test_swap_of_another_process_may_rest_while_nobody_has_written_it(tmp_path: Path) -> None:
    path, remembered = tmp_path / "left.swap", Remembered()
    path.write_bytes(b"x")
    assert not remembered.may_rest(path.name, path.stat())
    os.utime(path, (1, 1))
    assert remembered.may_rest(path.name, path.stat())


def test_known_leftover_that_changed_may_not_rest(tmp_path: Path) -> None:
    path, remembered = tmp_path / "left.swap", Remembered()
    path.write_bytes(b"x")
    remembered.note_redundant(path.name, path.stat())
    assert remembered.may_rest(path.name, path.stat())
    os.utime(path, (1, 1))
    assert not remembered.may_rest(path.name, path.stat())


def test_busy_process_gives_way_and_an_idle_one_does_not() -> None:
    clock, slept = [0.0], list[float]()
    turns = Turns(clock=lambda: clock[0], sleep=slept.append)
    for _ in range(4):
        turns.begin()
        clock[0] += 0.1
        turns.end()
    turns.begin()
    assert len(slept) == 1
    turns.end(has_rivals=True)
    turns.begin()
    assert len(slept) == 2
    turns.end(has_rivals=True)
    clock[0] += 1
    turns.begin()
    assert len(slept) == 2


def test_state_folder_that_is_gone_is_made_again(memory: Path) -> None:
    import shutil

    serving = Served(memory)
    serving.answer(make("B", "x"))
    shutil.rmtree(state_of(memory).beside)
    serving.answer(add("A", "new"))
    assert b'"new"' in memory.read_bytes()


def test_own_write_is_no_unrest_where_the_file_must_be_still(memory: Path) -> None:
    os.utime(memory, (1, 1))
    serving = Served(memory, write_path="replace", quiet_s=1000, patience_s=0.1)
    for number in range(3):
        serving.answer(add("A", f"new {number}"))
    memory.write_bytes(entity(["a stranger's"], name="A"))
    (answer,) = serving.apply([add("A", "new")])
    assert isinstance(answer, MemttlError)


def ttl_of(path: Path, text: str) -> str | None:
    """What the log has last said of a text's TTL, "" for nothing ever."""
    said = [e["settings"] for e in events_of(path) if e["event"] == "set" and json.loads(e["raw"]) == text]
    return said[-1].get("ttl") if said else ""


@pytest.mark.parametrize("deletes", [False, True])
@pytest.mark.parametrize("step", ["exchanged", "released"])
def test_text_that_came_before_a_kill_has_its_ttl(memory: Path, step: str, *, deletes: bool) -> None:
    serving = Served(memory, step=kill(step))
    assert died(lambda: serving.answers(add("A", "one", patch=TTL), *([take("A", "b")] if deletes else [])))
    tidy(memory)
    assert ttl_of(memory, "one") == "5 days"


def test_log_that_cannot_be_written_fails_what_needs_it_and_nothing_else(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise CannotCreate("The audit log cannot be written; the memory file is as it was.")

    serving = Served(memory)
    monkeypatch.setattr(audit, "append", full)
    found = serving.apply([add("A", "one", patch=TTL), add("A", "two")])
    assert [isinstance(e, MemttlError) and not e.applied for e in found] == [True, False]
    assert texts(memory) == ["a", "b", "acknowledged", "two"]


@pytest.mark.parametrize("deletes", [False, True])
def test_settings_of_a_write_that_fails_for_good_are_taken_back(memory: Path, *, deletes: bool) -> None:
    def fail(step: str) -> None:
        if step == "verified":
            raise NoPermission("no")

    longer = Patch(ttl=parse_duration("90d"))
    wanted = add("A", "acknowledged", "one", patch=longer), *([take("A", "b")] if deletes else [])
    before = memory.read_bytes()
    assert all(isinstance(e, NoPermission) for e in Served(memory, step=fail).apply(wanted))
    assert memory.read_bytes() == before
    assert (ttl_of(memory, "acknowledged"), ttl_of(memory, "one")) == ("5 days", None)
    assert audit.unfinished_run(events_of(memory)) is None


def test_settings_of_a_try_that_a_stranger_spoiled_are_logged_once_and_answered_as_new(memory: Path) -> None:
    serving = Served(memory, now="2026-06-20T00:00:00Z", step=at("verified", lambda: os.utime(memory)))
    before = len(events_of(memory))
    answer = serving.answer(add("A", "acknowledged", "one", patch=TTL))
    assert answer.added == (("A", ("acknowledged", "one")),)
    assert [event["event"] for event in events_of(memory)[before:]] == ["arrived", "set", "set"]
