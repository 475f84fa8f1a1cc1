"""The files of the folder `quarantine`: what a repair took out of the memory file, written before it is.

`workflow/repair.py` writes them; they have the memory file's owner and mode.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from memttl.files.backups import write_new
from memttl.files.state import State, own_file, own_folder, refusal, sync_folder


def quarantine_path(state: State, run: str, at: datetime) -> Path:
    """Give the place of what `run` takes out at the instant `at`."""
    return state.quarantine / f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{run}"


def write_quarantine(path: Path, data: bytes, like: os.stat_result) -> None:
    """Write what a run takes out, synced, before the memory file is written.

    Raises:
        CannotCreate, NoPermission: it cannot be written; nothing of it stays.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        own_folder(path.parent, like)
        sync_folder(path.parent.parent)
        write_new(part, data)
        own_file(part, like)
        part.replace(path)
        sync_folder(path.parent)
    except BaseException as e:
        part.unlink(missing_ok=True)
        if isinstance(e, OSError):
            raise refusal(e, f"The quarantine {path} cannot be written") from None
        raise
