"""The use case prune in this process or in a forked child, on a copy of a fixture; what it left behind."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memttl.core.outcome import PruneOutcome
from memttl.files import audit, commit
from memttl.files.pace import Pace
from memttl.settings import Given, Settings, resolve
from memttl.workflow.prune import Request, prune

NOW = "2026-06-01T12:00:00Z"
STEPS = [step for step in commit.STEPS if step not in ("leased", "linked")]  # those of every rung
AT_ONCE = Pace(settle_s=0.005, keep_s=0)  # what came out of the swap need not wait for a late writer


# an access control list as the kernel takes it: user rw, user 1234 rw, group r, mask rw, others r
_ROWS = [(1, 6, 2**32 - 1), (2, 6, 1234), (4, 4, 2**32 - 1), (16, 6, 2**32 - 1), (32, 4, 2**32 - 1)]
ACL = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in _ROWS)


def set_attribute(path: Path, name: str, value: bytes) -> None:
    """Set an extended attribute, or skip the test where the file system has none."""
    try:
        os.setxattr(path, name, value)
    except OSError as e:
        pytest.skip(f"this file system takes no {name} ({e.strerror})")


def settings_of(path: Path, *, policy: str = "", now: str = NOW, **environ: str) -> Settings:
    """The settings of one memory file; a policy's text is written beside it."""
    if policy:
        (path.parent / "memttl.toml").write_text(policy, encoding="utf-8")
    return resolve(str(path), Given(now=now), environ, datetime.now(UTC))


def pruned(
    path: Path,
    *,
    policy: str = "",
    now: str = NOW,
    ask: Callable[[PruneOutcome], bool] = lambda _: True,
    step: Callable[[str], None] = lambda _: None,
    **request: Any,
) -> PruneOutcome:
    """The outcome of an applied prune of `path`."""
    return prune(settings_of(path, policy=policy, now=now), Request(**{"pace": AT_ONCE, **request}), ask=ask, step=step)


def at(name: str, act: Callable[[], object]) -> Callable[[str], None]:
    """A `step` that acts once, when the write comes to the step of this name."""
    done: list[object] = []

    def step(reached: str) -> None:
        if reached == name and not done:
            done.append(act())

    return step


def state_folder(path: Path) -> Path:
    """The state folder of a memory file that lies beside it."""
    return path.parent / ".memttl" / path.name


def events_of(path: Path) -> list[dict[str, Any]]:
    """The audit log of a memory file, event by event; without the lines that a kill tore."""
    return audit.read_events(state_folder(path) / "audit.jsonl")


def names_in(folder: Path) -> list[str]:
    """All names in a folder, sorted."""
    return sorted(os.listdir(folder))
