"""An undo killed at every step: the memory file and its pins are the old ones or the new ones, never between."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from asking import listed
from process import aged
from pruning import AT_ONCE, at, events_of, pruned, settings_of, state_folder
from strangers import leftovers
from support import entity

from memttl.files import audit
from memttl.files.commit import STEPS
from memttl.workflow.undo import Request, undo

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
OLD = "[session] 2026-01-05: old"
ALL_STEPS = [step for step in STEPS if step != "linked"] + ["ledger written"]


def run_undo(path: Path, step: str = "", *, run: str | None = None) -> None:
    kill = at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    undo(settings_of(path), Request(run=run, pace=AT_ONCE), step=kill)


def killed_at(path: Path, step: str, *, run: str | None = None) -> None:
    child = os.fork()
    if not child:
        try:
            run_undo(path, step, run=run)
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), f"no step {step}"


def pins(path: Path) -> list[str | None]:
    return [text for _, text, _, asked in listed(path) if asked.pinned]


def pruned_file(folder: Path) -> tuple[Path, bytes, bytes]:
    path = folder / "memory.jsonl"
    path.write_bytes(entity([OLD, "note"], name="A"))
    before = path.read_bytes()
    pruned(aged(path))
    return path, before, path.read_bytes()


@pytest.mark.parametrize("step", ALL_STEPS)
def test_an_undo_killed_at_a_step_is_done_or_not_and_so_are_its_pins(tmp_path: Path, step: str) -> None:
    path, whole, less = pruned_file(tmp_path)
    killed_at(path, step)
    is_done = ALL_STEPS.index(step) >= ALL_STEPS.index("exchanged")
    assert path.read_bytes() == (whole if is_done else less)
    pruned(path)  # the next run that writes settles the log, and removes nothing that is pinned
    assert path.read_bytes() == (whole if is_done else less)
    assert pins(path) == ([OLD] if is_done else [])
    run_undo(path)
    assert path.read_bytes() == whole
    assert pins(path) == [OLD]
    assert audit.is_whole(state_folder(path) / "audit.jsonl")
    pruned(path, policy="[age]\ngrace = '1d'\n")
    assert leftovers(path) == []


@pytest.mark.parametrize("step", ALL_STEPS)
def test_an_undo_of_an_undo_killed_at_a_step_is_done_or_not_and_so_are_its_pins(tmp_path: Path, step: str) -> None:
    path, whole, less = pruned_file(tmp_path)
    run_undo(path)
    first = [event["run"] for event in events_of(path) if event["event"] == "begin"][-1]
    killed_at(path, step, run=first)
    is_done = ALL_STEPS.index(step) >= ALL_STEPS.index("exchanged")
    assert path.read_bytes() == (less if is_done else whole)
    pruned(path)
    assert path.read_bytes() == (less if is_done else whole)
    assert pins(path) == ([] if is_done else [OLD])


def test_an_undo_of_a_missing_file_killed_before_it_writes_leaves_an_empty_one_at_most(tmp_path: Path) -> None:
    path, _, _ = pruned_file(tmp_path)
    path.unlink()
    killed_at(path, "new version written")
    assert path.read_bytes() == b""  # to the memory server the same as a missing one
    run_undo(path)
    assert OLD.encode() in path.read_bytes()
