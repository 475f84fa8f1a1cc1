"""A restore killed at every step and at random instants: the file is the whole old or the whole new one, never between.

The next run tidies up, and the log says what happened.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest
from asking import forked
from backups import NEW, OLD, keep, log_run, memory_of, restored
from pruning import at, events_of, state_folder
from support import entity

from memttl.files import audit
from memttl.files.commit import STEPS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
KILLS = int(os.environ.get("CRASH_KILLS", "30"))
ON_LEASES = [step for step in STEPS if step != "linked"]


def with_backup(folder: Path, old: bytes = OLD, new: bytes = NEW) -> Path:
    path = memory_of(folder, new)
    log_run(path, "aaaa0001")
    keep(path, old)
    return path


def log_of(path: Path) -> list[str]:
    """The begins and ends in the log."""
    return [e["event"] for e in events_of(path) if e["event"] in ("begin", "end")]


@pytest.mark.parametrize("is_missing", [False, True], ids=["there", "missing"])
@pytest.mark.parametrize("step", [*ON_LEASES, "ledger written"])
def test_a_restore_killed_at_a_step_leaves_the_old_or_the_new_file(
    tmp_path: Path, step: str, *, is_missing: bool
) -> None:
    path = with_backup(tmp_path)
    before = NEW
    if is_missing:  # the server takes a missing file and an empty one for the same
        path.unlink()
        before = b""
    kill = at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: restored(path, "aaaa", step=kill)), 0)
    assert os.WIFSIGNALED(status), f"no step {step}"
    is_done = step == "ledger written" or STEPS.index(step) >= STEPS.index("exchanged")
    assert path.read_bytes() == (OLD if is_done else before)
    restored(path, "aaaa")  # of the same bytes it writes nothing, so that something is written once more
    path.write_bytes(NEW)
    restored(path, "aaaa")
    assert path.read_bytes() == OLD
    assert log_of(path) == ["begin", "end"] * (len(log_of(path)) // 2)
    assert audit.is_whole(state_folder(path) / "audit.jsonl")


def test_a_restore_killed_at_random_instants_leaves_a_whole_file(tmp_path: Path) -> None:
    chance = random.Random(20261130)
    old = b"\n".join(entity([f"old {i}"], name=f"E{i}") for i in range(400))
    new = b"\n".join(entity([f"new {i}"], name=f"E{i}") for i in range(400))
    path, kills = with_backup(tmp_path, old, new), 0
    for _ in range(KILLS):
        path.write_bytes(new)
        child = forked(lambda: restored(path, "aaaa0001"))
        time.sleep(chance.uniform(0, 0.15))
        os.kill(child, signal.SIGKILL)
        kills += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        assert path.read_bytes() in (old, new)
    assert kills > KILLS // 4
    path.write_bytes(new)
    restored(path, "aaaa0001")
    assert path.read_bytes() == old
    assert log_of(path) == ["begin", "end"] * (len(log_of(path)) // 2)
