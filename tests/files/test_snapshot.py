"""Settled reading: never a half-written version, never a wait where there is nothing to wait for."""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from process import aged

from memttl.errors import Malformed, NoMemoryFile, NoPermission, UnknownEntity
from memttl.files.snapshot import identity, read_once, read_settled, refuse_hard_links, refuse_read_only

WHOLE, HALF = b'{"type":"entity"}\n', b'{"type":"ent'


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(WHOLE)
    return path


class Clock:
    """A clock that stands still but for the sleeps; what happens in a sleep can be told."""

    def __init__(self, path: Path, during_sleep: Callable[[int], object] = lambda _: None) -> None:
        self.now, self.sleeps, self.slept_s, self.during_sleep = path.stat().st_mtime, 0, 0.0, during_sleep

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept_s += seconds
        self.sleeps += 1
        self.during_sleep(self.sleeps)


def ends_in_lf(data: bytes) -> tuple[bytes, bool]:
    return data, not data.endswith(b"\n")


def settled(path: Path, clock: Clock, look: Callable[[bytes], tuple[bytes, bool]] = ends_in_lf) -> bytes:
    return read_settled(path, look, clock=lambda: clock.now, sleep=clock.sleep)[1]


def test_whole_file_that_was_left_alone_is_believed_at_once(memory: Path) -> None:
    clock = Clock(memory)
    clock.now += 3600
    assert (settled(memory, clock), clock.sleeps) == (WHOLE, 0)


def test_whole_file_of_this_moment_is_read_twice(memory: Path) -> None:
    """A server that writes in place may have written the first lines of more."""
    clock = Clock(memory, lambda n: n < 3 and memory.write_bytes(WHOLE * (n + 1)))
    assert (settled(memory, clock), clock.sleeps) == (WHOLE * 3, 3)


def test_whole_file_that_another_replaces_was_whole(memory: Path) -> None:
    clock = Clock(
        memory, lambda n: memory.with_name("x").write_bytes(WHOLE * n) and memory.with_name("x").replace(memory)
    )
    assert (settled(memory, clock), clock.sleeps) == (WHOLE, 1)


def test_damaged_file_is_believed_two_seconds_after_the_last_write(memory: Path) -> None:
    memory.write_bytes(HALF)
    clock = Clock(memory)
    assert settled(memory, clock) == HALF
    assert 2 < clock.slept_s < 2.3


def test_damaged_file_that_was_left_alone_is_read_twice(memory: Path) -> None:
    memory.write_bytes(HALF)
    clock = Clock(memory)
    clock.now += 3600
    assert settled(memory, clock) == HALF
    assert 0.19 < clock.slept_s < 0.22


def test_damaged_file_dated_after_the_clock_is_read_twice(memory: Path) -> None:
    memory.write_bytes(HALF)
    clock = Clock(memory)
    clock.now -= 3600
    assert settled(memory, clock) == HALF
    assert 0.19 < clock.slept_s < 0.22


def test_half_written_file_is_read_again_until_it_is_whole(memory: Path) -> None:
    memory.write_bytes(HALF)
    clock = Clock(memory, lambda n: n == 3 and memory.write_bytes(WHOLE))
    assert (settled(memory, clock), clock.sleeps) == (WHOLE, 4)


def test_two_readings_that_differ_prove_nothing(memory: Path) -> None:
    memory.write_bytes(HALF)
    clock = Clock(memory, lambda n: n < 4 and aged(memory).write_bytes(HALF + b"x" * n))
    clock.now += 3600
    settled(memory, clock)
    assert 0.22 < clock.slept_s < 0.25


def test_empty_file_may_be_half_written(memory: Path) -> None:
    memory.write_bytes(b"")
    clock = Clock(memory, lambda n: n == 1 and memory.write_bytes(WHOLE))
    assert settled(memory, clock) == WHOLE


def test_refusal_waits_until_the_file_is_at_rest(memory: Path) -> None:
    memory.write_bytes(HALF)
    clock = Clock(memory)

    def look(data: bytes) -> tuple[bytes, bool]:
        raise Malformed("broken")

    with pytest.raises(Malformed):
        settled(memory, clock, look)
    assert 2 < clock.slept_s < 2.3


def test_name_that_an_empty_file_lacks_is_looked_for_again(memory: Path) -> None:
    memory.write_bytes(b"")
    clock = Clock(memory, lambda n: n == 1 and memory.write_bytes(WHOLE))

    def look(data: bytes) -> tuple[bytes, bool]:
        if not data:
            raise UnknownEntity("no such entity")
        return data, False

    assert settled(memory, clock, look) == WHOLE


def test_snapshot_holds_bytes_and_digest(memory: Path) -> None:
    snapshot = read_once(memory)
    assert snapshot.data == WHOLE
    assert snapshot.digest == hashlib.sha256(WHOLE).hexdigest()


def test_link_is_not_followed(memory: Path) -> None:
    link = memory.with_name("link")
    link.symlink_to(memory)
    with pytest.raises(NoMemoryFile):
        read_once(link)


def test_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryFile, match=r"There is no file .*none\.jsonl"):
        read_once(tmp_path / "none.jsonl")


def test_pipe_of_that_name_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoMemoryFile, match="no regular file"):
        read_once(tmp_path / "pipe")


def test_lease_of_another_does_not_block_the_reader(memory: Path) -> None:
    # the write path of another memttl holds one for a moment; opening without O_NONBLOCK would wait for up to 45 s
    holder = os.open(memory, os.O_RDWR)
    before = signal.signal(signal.SIGURG, lambda *_: fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_UNLCK))
    try:
        fcntl.fcntl(holder, 10, signal.SIGURG)  # F_SETSIG
        fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        begun = time.monotonic()
        assert read_once(memory).data == WHOLE
        assert time.monotonic() - begun < 5
    finally:
        os.close(holder)
        signal.signal(signal.SIGURG, before)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(WHOLE),
        lambda path: path.with_name("new").write_bytes(WHOLE) and path.with_name("new").replace(path),
        lambda path: path.chmod(0o600),
        lambda path: os.utime(path),
    ],
    ids=["written", "replaced", "mode", "time"],
)
def test_identity_moves_with_every_change(memory: Path, change: Callable[[Path], object]) -> None:
    before = read_once(memory)
    time.sleep(0.02)  # one tick of the kernel's clock
    change(memory)
    assert identity(read_once(memory).stat) != identity(before.stat)


def test_second_name_is_refused(memory: Path) -> None:
    os.link(memory, memory.with_name("second"))
    with pytest.raises(NoPermission, match="2 names"):
        refuse_hard_links(read_once(memory))


def test_read_only_file_is_refused(memory: Path) -> None:
    memory.chmod(0o444)
    with pytest.raises(NoPermission, match="0444"):
        refuse_read_only(read_once(memory))
