"""Rungs B and C wait until the file was still, and say so; what a killed server left is only told."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from strangers import OLD, QUICK, Stranger, run_prune

from memttl.errors import TryAgain

PATIENT = QUICK._replace(quiet_s=0.5, patience_s=3)


@pytest.fixture
def server(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path / "memory.jsonl")


@pytest.mark.parametrize("write_path", ["exchange", "replace"])
def test_a_file_written_a_moment_ago_is_waited_for_and_that_is_said(server: Stranger, write_path: str) -> None:
    begun = time.monotonic()
    outcome = run_prune(server.path, write_path=write_path, pace=PATIENT)
    assert outcome.applied
    assert time.monotonic() - begun > 0.4
    assert any("waited until nobody had written it" in warning for warning in outcome.warnings)


def test_leases_wait_for_nothing_and_say_nothing(server: Stranger) -> None:
    outcome = run_prune(server.path, pace=PATIENT)
    assert outcome.applied
    assert outcome.warnings == ()


@pytest.mark.parametrize("write_path", ["exchange", "replace"])
def test_a_file_that_never_rests_ends_the_run_and_stays(server: Stranger, write_path: str) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            server.rename(["k0", OLD])
            time.sleep(0.05)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with pytest.raises(TryAgain, match="must be still"):
            run_prune(server.path, write_path=write_path, pace=PATIENT._replace(patience_s=1))
    finally:
        stop.set()
        writer.join()
    assert server.load() == ["k0", OLD]


def test_a_file_dated_after_the_clock_is_watched_instead(server: Stranger) -> None:
    os.utime(server.path, (time.time() + 3600,) * 2)
    assert run_prune(server.path, write_path="exchange", pace=PATIENT).applied


def test_what_a_killed_server_left_is_told_and_left(server: Stranger) -> None:
    left = server.path.with_name(f"memory.jsonl.{'0f' * 16}.tmp")
    left.write_bytes(b"half")
    assert run_prune(server.path, dry_run=True).warnings == ()  # it may be at work this moment
    os.utime(left, (time.time() - 100,) * 2)
    assert any(left.name in warning for warning in run_prune(server.path, dry_run=True).warnings)
    assert any(left.name in warning for warning in run_prune(server.path).warnings)
    assert left.read_bytes() == b"half"
