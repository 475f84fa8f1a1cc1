"""One run's write, broken off at every step: the file is the whole old or the whole new one, and the log says which."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from process import FIXTURES, copy_of
from pruning import STEPS, at, events_of, names_in, pruned, settings_of, state_folder
from without_root import in_child

from memttl.errors import CannotCreate, Interrupted, MemttlError
from memttl.workflow.prune import Request, prune

EXAMPLE = FIXTURES / "memory/example.jsonl"
OLD = EXAMPLE.read_bytes()
APPLIED = STEPS.index("exchanged")
every_step = pytest.mark.parametrize("name", STEPS)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The example as a prune leaves it."""
    path = copy_of(EXAMPLE, tmp_path_factory.mktemp("new"))
    assert pruned(path).applied
    return path.read_bytes()


def kill_at(memory: Path, name: str) -> None:
    """Prune in a child that is killed at the step of this name."""

    def run() -> int:
        pruned(memory, step=at(name, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        return 0

    assert in_child(run, 1, 2) == -signal.SIGKILL


def is_applied(name: str) -> bool:
    return STEPS.index(name) >= APPLIED


def ends_of(memory: Path) -> list[bool]:
    return [event["applied"] for event in events_of(memory) if event["event"] == "end"]


@every_step
def test_killed_run_leaves_the_whole_old_or_the_whole_new_file(memory: Path, new: bytes, name: str) -> None:
    kill_at(memory, name)
    assert memory.read_bytes() == (new if is_applied(name) else OLD)
    assert names_in(memory.parent) == [".memttl", "memory.jsonl"]


@every_step
def test_next_run_settles_the_log_and_tidies_up(memory: Path, new: bytes, name: str) -> None:
    kill_at(memory, name)
    later = pruned(memory, now="2026-06-20T00:00:00Z")
    assert later.applied
    was_logged = STEPS.index(name) >= STEPS.index("begin logged")
    assert ends_of(memory) == ([is_applied(name)] if was_logged else []) + [True]
    assert [e["event"] for e in events_of(memory)].count("begin") == len(ends_of(memory))
    assert names_in(memory.parent) == [".memttl", "memory.jsonl"]
    assert names_in(state_folder(memory)) == ["audit.head", "audit.jsonl", "backups", "ledger.db", "lock"]


@every_step
def test_next_run_removes_in_the_end_what_one_run_would_have_removed(memory: Path, new: bytes, name: str) -> None:
    kill_at(memory, name)
    pruned(memory)
    assert memory.read_bytes() == new


@pytest.mark.parametrize("name", ["begin logged", "exchanged", "synced"])
def test_next_run_says_what_it_settled(memory: Path, name: str) -> None:
    kill_at(memory, name)
    words = "after it had written" if is_applied(name) else "before it wrote anything"
    assert any(words in warning for warning in pruned(memory, now="2026-06-20T00:00:00Z").warnings)


@pytest.mark.parametrize("name", STEPS[2:-1])
def test_dry_run_tells_of_a_killed_run_and_leaves_it_alone(memory: Path, name: str) -> None:
    kill_at(memory, name)
    before = names_in(state_folder(memory))
    outcome = prune(settings_of(memory), Request(dry_run=True))
    assert any("an earlier run was killed" in warning for warning in outcome.warnings)
    assert names_in(state_folder(memory)) == before


def test_dry_run_tells_nothing_of_runs_that_ended(memory: Path) -> None:
    pruned(memory)
    assert prune(settings_of(memory), Request(dry_run=True)).warnings == ()


def test_run_killed_while_it_settles_is_settled_by_the_next(memory: Path, new: bytes) -> None:
    kill_at(memory, "begin logged")
    kill_at(memory, "begin logged")
    pruned(memory)
    assert ends_of(memory) == [False, False, True]
    assert memory.read_bytes() == new


@every_step
def test_ctrl_c_leaves_the_whole_old_or_the_whole_new_file(memory: Path, new: bytes, name: str) -> None:
    with pytest.raises(Interrupted) as raised:
        pruned(memory, step=at(name, interrupt))
    assert memory.read_bytes() == (new if is_applied(name) else OLD)
    assert raised.value.applied is is_applied(name)
    assert ("the memory file is as it was" in raised.value.message) is not is_applied(name)


@every_step
def test_ctrl_c_leaves_nothing_to_tidy_up(memory: Path, name: str) -> None:
    with pytest.raises(Interrupted):
        pruned(memory, step=at(name, interrupt))
    left = [name for name in names_in(state_folder(memory)) if not name.endswith((".swap", ".base"))]
    assert [n for n in left if n != "audit.head"] == ["audit.jsonl", "backups", "ledger.db", "lock"]
    assert len(names_in(state_folder(memory) / "backups")) == is_applied(name)
    assert ends_of(memory) == [is_applied(name)] * bool(events_of(memory))


def interrupt() -> None:
    raise KeyboardInterrupt


def test_real_signal_in_the_middle_of_the_write_is_a_ctrl_c(memory: Path) -> None:
    def run() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            pruned(memory, step=at("new version written", lambda: os.kill(os.getpid(), signal.SIGINT)))
        except Interrupted:
            return 7
        return 0

    assert in_child(run, 1, 2) == 7
    assert memory.read_bytes() == OLD


@every_step
def test_any_other_error_leaves_the_log_as_true(memory: Path, name: str) -> None:
    with pytest.raises(ZeroDivisionError):
        pruned(memory, step=at(name, lambda: 1 / 0))
    assert ends_of(memory) == [is_applied(name)] * bool(events_of(memory))


def test_state_folder_that_is_taken_away_in_the_middle_is_no_written_file(memory: Path) -> None:
    with pytest.raises(CannotCreate) as raised:
        pruned(memory, step=at("begin logged", lambda: shutil.rmtree(memory.parent / ".memttl")))
    assert not raised.value.applied
    assert memory.read_bytes() == OLD


def failing_from(step: str, limit: int) -> Callable[[Path], int]:
    """A prune in whose process no file may grow past `limit` bytes from this step on: a full disk."""

    def run(memory: Path) -> int:
        shrink = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))  # noqa: E731
        try:
            pruned(memory, step=at(step, shrink))
        except CannotCreate as e:
            return 7 + 2 * e.applied + ("the memory file is as it was" in e.message)
        except MemttlError:
            return 3
        return 0

    return run


@pytest.mark.parametrize(
    ("step", "limit"), [("start", 0), ("start", 1000), ("backup written", 10), ("new version written", 10)]
)
def test_full_disk_before_the_replace_changes_nothing(memory: Path, step: str, limit: int) -> None:
    assert in_child(lambda: failing_from(step, limit)(memory), 1, 2) == 8
    assert memory.read_bytes() == OLD
    assert ends_of(memory) == []


@pytest.mark.parametrize(("step", "limit"), [("start", 1000), ("new version written", 10)])
def test_run_after_a_full_disk_goes_on_as_if_nothing_had_been(memory: Path, new: bytes, step: str, limit: int) -> None:
    in_child(lambda: failing_from(step, limit)(memory), 1, 2)
    assert pruned(memory).applied
    assert memory.read_bytes() == new
    assert ends_of(memory) == [True]
    assert names_in(state_folder(memory)) == ["audit.head", "audit.jsonl", "backups", "ledger.db", "lock"]


def test_full_disk_after_the_replace_is_said_aloud(memory: Path, new: bytes) -> None:
    assert in_child(lambda: failing_from("exchanged", 10)(memory), 1, 2) == 9
    assert memory.read_bytes() == new


def test_run_after_a_full_disk_writes_the_missing_end(memory: Path) -> None:
    in_child(lambda: failing_from("exchanged", 10)(memory), 1, 2)
    pruned(memory, now="2026-06-20T00:00:00Z")
    assert ends_of(memory) == [True, True]


def test_log_holds_begin_removals_and_end_of_a_run(memory: Path) -> None:
    outcome = pruned(memory)
    events = events_of(memory)
    assert [e["event"] for e in events] == ["begin", *["removed"] * 7, "end"]
    assert {e["run"] for e in events} == {outcome.run}
    assert [(e["entity"], e["line"], e["index"], e["reason"]) for e in events[1:-1]] == [
        (v.entity, v.line, v.index, v.reason) for v in outcome.plan.removals
    ]


def test_begin_names_policy_file_and_limits(memory: Path) -> None:
    pruned(memory)
    begin = events_of(memory)[0]
    assert begin["file"] == str(memory)
    assert begin["policy"] == "built-in"
    assert begin["limits"] == {"max_prune_fraction": 0.5, "max_prune_count": 1000}
    assert len(begin["policy_digest"]) == 16


def test_backup_of_a_run_holds_the_file_as_it_was(memory: Path) -> None:
    outcome = pruned(memory)
    assert outcome.backup is not None
    assert Path(outcome.backup).read_bytes() == OLD
    assert events_of(memory)[-1]["backup"] == Path(outcome.backup).name


def test_file_is_never_missing_and_never_half(memory: Path, new: bytes) -> None:
    def watch() -> int:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            data = memory.read_bytes()
            if data not in (OLD, new):
                return 3
            if data == new:
                return 7
        return 4

    child = os.fork()
    if child == 0:
        os._exit(in_child(watch, 1, 2))
    pruned(memory)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
