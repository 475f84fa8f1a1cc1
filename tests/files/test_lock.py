"""The sidecar lock: one memttl at a time for one memory file, for as long as it lives."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memttl.errors import ExitCode, Locked
from memttl.files.lock import locked
from memttl.files.state import State, prepare, state_of


@pytest.fixture
def state(tmp_path: Path) -> State:
    memory = tmp_path / "memory.jsonl"
    memory.write_bytes(b"")
    found = state_of(memory)
    prepare(found, memory.stat())
    return found


def take(state: State, patience_s: float = 0.1) -> None:
    with locked(state, state.memory.stat(), patience_s=patience_s):
        pass


@contextmanager
def held_by_another(state: State) -> Iterator[int]:
    """Let a forked child hold the lock; give its process id."""
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with locked(state, state.memory.stat()):
                os.write(told, b"x")
                time.sleep(60)
        finally:
            os._exit(1)
    os.read(ready, 1)
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(told)


def test_another_process_that_holds_it_is_waited_for_and_then_told(state: State) -> None:
    with held_by_another(state):
        begun = time.monotonic()
        with pytest.raises(Locked, match="the memory file is as it was") as raised:
            take(state, 0.3)
    assert 0.3 <= time.monotonic() - begun < 5
    assert raised.value.exit_code is ExitCode.TRY_AGAIN


def test_it_is_had_as_soon_as_the_other_lets_go(state: State) -> None:
    with held_by_another(state) as child:
        threading.Timer(0.2, os.kill, (child, signal.SIGKILL)).start()
        take(state, 20)


def test_killed_holder_leaves_it_free(state: State) -> None:
    with held_by_another(state):
        pass
    take(state)


def test_it_is_free_after_an_error(state: State) -> None:
    with pytest.raises(ZeroDivisionError), locked(state, state.memory.stat()):
        raise ZeroDivisionError
    take(state)


def test_its_file_stays(state: State) -> None:
    take(state)
    inode = state.lock.stat().st_ino
    take(state)
    assert state.lock.stat().st_ino == inode


def test_locks_of_two_memory_files_are_two(state: State, tmp_path: Path) -> None:
    other = state_of(tmp_path / "other.jsonl")
    other.memory.write_bytes(b"")
    prepare(other, other.memory.stat())
    with held_by_another(state):
        take(other)
