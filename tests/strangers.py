"""A memory file with one entity, strangers who write it as the servers do, and prune beside them on a chosen rung."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from memttl.core.outcome import PruneOutcome
from memttl.files import audit
from memttl.files.ladder import WritePath
from memttl.files.pace import Pace
from memttl.settings import Given, Settings, resolve
from memttl.workflow.prune import Request, prune

OLD = "x [expires 2020-01-02]"
# short, so that a hundred races fit into a minute; nothing waits for quiet, since every test has its stranger
QUICK = Pace(patience_s=5, settle_s=0.02, watch_s=0.05, quiet_s=0, rest_s=0.5, keep_s=0.2)
Step = Callable[[str], None]


def text_of(observations: Iterable[str]) -> bytes:
    """The file as the server writes it: one entity, no newline at the end."""
    record = {"type": "entity", "name": "a", "entityType": "t", "observations": list(observations)}
    return json.dumps(record, separators=(",", ":")).encode()


def settings_of(path: Path) -> Settings:
    """Settings of a memory file with the built-in policy."""
    return resolve(str(path), Given(), {}, datetime.now(UTC))


def run_prune(
    path: Path, *, step: Step = lambda _: None, write_path: WritePath = "auto", pace: Pace = QUICK, **request: object
) -> PruneOutcome:
    """Prune the file, without a question."""
    return prune(settings_of(path), Request(force=True, write_path=write_path, pace=pace, **request), step=step)


def state_folder(path: Path) -> Path:
    """Where the write path's own files lie."""
    return path.parent / ".memttl" / path.name


def leftovers(path: Path) -> list[str]:
    """The write path's own files that are left."""
    kept = ("lock", "backups", "audit.head", "audit.jsonl", "ledger.db")
    return sorted(name for name in os.listdir(state_folder(path)) if name not in kept)


def events(path: Path) -> list[dict]:
    """The audit log, whose chain holds; without the lines that a kill tore."""
    log = state_folder(path) / "audit.jsonl"
    assert audit.is_whole(log)
    return audit.read_events(log)


def once(stage: str, act: Callable[[], object]) -> Step:
    """A step that acts the first time that `stage` is reached."""
    done: list[str] = []

    def step(name: str) -> None:
        if name == stage and not done:
            done.append(name)
            act()

    return step


class Stranger:
    """A memory server on one file, without any lock, driven one save at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(text_of(["k0", OLD]))

    def load(self, path: str | None = None) -> list[str]:
        """Read as the server does: open, read all."""
        return json.loads(Path(path or self.path).read_bytes())["observations"]

    def rename(self, observations: Iterable[str]) -> None:
        """Save as release 2026.8.31 does: a temporary file, then a rename."""
        temporary = f"{self.path}.srv"
        Path(temporary).write_bytes(text_of(observations))
        os.rename(temporary, self.path)

    def in_place(self, observations: Iterable[str], path: str | None = None) -> None:
        """Save as release 2026.7.4 does: truncate, then write."""
        descriptor = os.open(path or self.path, os.O_WRONLY | os.O_TRUNC)
        os.write(descriptor, text_of(observations))
        os.close(descriptor)

    def looked_up(self) -> tuple[int, str]:
        """A writer between path lookup and open: a descriptor to close, and the path that opens the same file later."""
        descriptor = os.open(self.path, os.O_PATH)
        return descriptor, f"/proc/self/fd/{descriptor}"


def behind(act: Callable[[], object], *, head_start_s: float = 0.03) -> threading.Thread:
    """Act in another thread, since it may have to wait for a lease; give it a head start."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    time.sleep(head_start_s)
    return thread
