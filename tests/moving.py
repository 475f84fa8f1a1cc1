"""Moves in this process or in a forked child, and what lies at both places then."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from process import aged
from pruning import at, pruned, settings_of, state_folder
from support import entity

from memttl.core.move_outcome import MoveOutcome
from memttl.files import audit
from memttl.files.pace import Pace
from memttl.workflow.move import Request, move

OLD = "[session] 2026-01-05: old"
QUICK = Pace(settle_s=0.005, watch_s=0.01, rest_s=0.3, keep_s=0)
WHOLE = entity([OLD, "note"], name="A")
Step = Callable[[str], None]


def memory_in(folder: Path, data: bytes = WHOLE, *, name: str = "memory.jsonl") -> Path:
    """A memory file at rest in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return aged(path)


def pruned_in(folder: Path, policy: str = "", **how: Any) -> Path:
    """A memory file of which a run has removed one observation, at rest."""
    path = memory_in(folder)
    pruned(path, policy=policy, **how)
    return aged(path)


def moved(path: Path, new: Path | str, *, step: Step = lambda _: None, **request: Any) -> MoveOutcome:
    """The outcome of a move of `path`, without a question."""
    environ = request.pop("environ", {})
    settings = settings_of(path, **environ)
    return move(settings, Request(str(new), environ=environ, **{"pace": QUICK, **request}), step=step)


def killed_at(path: Path, new: Path, step: str, **request: Any) -> None:
    """A move in a forked child that is killed at a step."""
    child = os.fork()
    if not child:
        try:
            moved(path, new, step=at(step, lambda: os.kill(os.getpid(), signal.SIGKILL)), **request)
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), f"no step {step}"


def log_of(path: Path) -> list[dict[str, Any]]:
    """The audit log, whose chain holds."""
    log = state_folder(path) / "audit.jsonl"
    assert audit.is_whole(log)
    return audit.read_events(log)
