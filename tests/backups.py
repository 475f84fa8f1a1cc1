"""Backups made, listed, compared and restored in this process, on a memory file of a few entities."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from process import aged
from pruning import AT_ONCE, settings_of, state_folder
from support import entity, relation

from memttl.core.backups_outcome import RestoreOutcome, ThinOutcome
from memttl.files.backups import backup_name
from memttl.workflow.restore import RestoreRequest, restore
from memttl.workflow.thin_backups import thin

OLD = b"\n".join([entity(["a", "b"], name="A"), entity(["c"], name="B"), relation("A", "B")])
NEW = b"\n".join([entity(["a", "x"], name="A"), entity(["d"], name="C")])


def memory_of(folder: Path, data: bytes = NEW) -> Path:
    """A memory file, left alone for so long that a damaged one is believed at once."""
    path = folder / "memory.jsonl"
    path.write_bytes(data)
    return aged(path)


def keep(
    path: Path, data: bytes, run: str = "aaaa0001", at: str = "2026-05-01T12:00:00Z", *, packed: bool = False
) -> Path:
    """Put a backup into the state folder of a memory file, as a run before would have."""
    folder = state_folder(path) / "backups"
    folder.mkdir(parents=True, exist_ok=True)
    backup = folder / backup_name(run, datetime.fromisoformat(at).astimezone(UTC))
    backup = backup.with_name(backup.name + ".gz") if packed else backup
    backup.write_bytes(gzip.compress(data) if packed else data)
    return backup


def log_run(path: Path, run: str, *events: dict[str, Any], command: str = "prune", applied: bool | None = True) -> None:
    """Log one run as memttl does."""
    from memttl.files import audit

    end = [] if applied is None else [{"event": "end", "run": run, "applied": applied}]
    begin = {"event": "begin", "run": run, "command": command, "time": "2026-05-01T12:00:00.000Z"}
    log = state_folder(path) / "audit.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    audit.append(log, [begin, *({"run": run, **e} for e in events), *end], path.stat())


def restored(
    path: Path,
    backup: str = "latest",
    *,
    policy: str = "",
    ask: Callable[[RestoreOutcome], bool] | None = None,
    step: Callable[[str], None] = lambda _: None,
    **request: Any,
) -> RestoreOutcome:
    """The outcome of a restore, applied unless it is a dry run or declined."""
    settings = settings_of(path, policy=policy)
    return restore(settings, RestoreRequest(backup, **{"pace": AT_ONCE, **request}), ask=ask, step=step)


def thinned(path: Path, *, policy: str = "", **how: Any) -> ThinOutcome:
    """The outcome of `backups prune`."""
    return thin(settings_of(path, policy=policy), **how)


def kept(path: Path) -> list[str]:
    """The names of the files in the folder of backups."""
    return sorted(p.name for p in (state_folder(path) / "backups").iterdir())
