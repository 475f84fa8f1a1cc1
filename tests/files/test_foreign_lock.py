"""Locks of other programs: waited for while fresh, passed once stale, never made and never removed."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from strangers import OLD, QUICK, Stranger, run_prune

from memttl.errors import Locked


@pytest.fixture(params=["file", "folder"])
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Stranger:
    server = Stranger(tmp_path / "memory.jsonl")
    lock = tmp_path / "memory.jsonl.lock"
    lock.touch() if request.param == "file" else lock.mkdir()
    return server


def lock_of(server: Stranger) -> Path:
    return server.path.with_name("memory.jsonl.lock")


def test_a_fresh_lock_is_waited_for(server: Stranger) -> None:
    lock = lock_of(server)
    threading.Timer(0.3, lambda: lock.rmdir() if lock.is_dir() else lock.unlink()).start()
    begun = time.monotonic()
    assert run_prune(server.path).applied
    assert time.monotonic() - begun > 0.25


def test_a_lock_that_stays_fresh_ends_the_run(server: Stranger) -> None:
    with pytest.raises(Locked, match=r"memory\.jsonl\.lock"):
        run_prune(server.path, pace=QUICK._replace(patience_s=0.3))
    assert server.load() == ["k0", OLD]
    assert lock_of(server).exists()


def test_a_stale_lock_is_passed_and_said_and_left(server: Stranger) -> None:
    os.utime(lock_of(server), (time.time() - 31, time.time() - 31))
    outcome = run_prune(server.path)
    assert outcome.applied
    assert any("memory.jsonl.lock is 31 s old" in warning for warning in outcome.warnings)
    assert lock_of(server).exists()


def test_nothing_to_remove_asks_for_no_lock(server: Stranger) -> None:
    server.path.write_bytes(server.path.read_bytes().replace(OLD.encode(), b"k1"))
    assert not run_prune(server.path, pace=QUICK._replace(patience_s=0.1)).applied


def test_no_lock_is_made(tmp_path: Path) -> None:
    run_prune(Stranger(tmp_path / "memory.jsonl").path)
    assert sorted(os.listdir(tmp_path)) == [".memttl", "memory.jsonl"]
