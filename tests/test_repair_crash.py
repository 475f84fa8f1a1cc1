"""A repair killed at every step: the memory file is the old one or the new one, and nothing that went is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from process import aged
from pruning import AT_ONCE, at, pruned, settings_of, state_folder
from strangers import leftovers
from support import entity

from memttl.core.quarantine import read_quarantine
from memttl.files import audit
from memttl.files.commit import STEPS
from memttl.workflow.repair import Request, repair

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
ALL_STEPS = [step for step in STEPS if step != "linked"] + ["ledger written"]
ALL_STEPS.insert(ALL_STEPS.index("begin logged"), "quarantine written")
MENDED = entity(["one", "two"], name="A")
DAMAGED = MENDED + b"]}}"


def run_repair(path: Path, step: str = "") -> None:
    kill = at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    repair(settings_of(path), Request(pace=AT_ONCE), step=kill)


def killed_at(path: Path, step: str) -> None:
    child = os.fork()
    if not child:
        try:
            run_repair(path, step)
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), f"no step {step}"


def quarantined(path: Path) -> list[list[bytes]]:
    folder = state_folder(path) / "quarantine"
    files = sorted(folder.iterdir()) if folder.exists() else []
    return [[raw for _, raw in read_quarantine(file.read_bytes())] for file in files]


@pytest.mark.parametrize("step", ALL_STEPS)
def test_a_repair_killed_at_a_step_is_done_or_not_and_the_next_one_finishes(tmp_path: Path, step: str) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(DAMAGED)
    killed_at(aged(path), step)
    is_done = ALL_STEPS.index(step) >= ALL_STEPS.index("exchanged")
    assert path.read_bytes() == (MENDED if is_done else DAMAGED)
    assert not is_done or quarantined(path) == [[b"]}}"]]
    run_repair(path)
    assert path.read_bytes() == MENDED
    assert [b"]}}"] in quarantined(path)
    pruned(path, policy="[age]\ngrace = '1d'\n")  # settles the log where the kill came behind the swap
    assert [name for name in leftovers(path) if name != "quarantine"] == []
    assert audit.is_whole(state_folder(path) / "audit.jsonl")
