"""The files of the folder `quarantine`: what a repair took out of the memory file, written before it is.

`workflow/repair.py` writes them; they have the memory file's owner and mode.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from memttl.files.backups import write_whole
from memttl.files.state import State, own_folder, refusal, sync_folder


def quarantine_path(state: State, run: str, at: datetime) -> Path:
    """Give the place of what `run` takes out at the instant `at`."""
    return state.quarantine / f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{run}"


def write_quarantine(path: Path, data: bytes, like: os.stat_result) -> None:
    """Write what a run takes out, synced, before the memory file is written.

    Raises:
        CannotCreate, NoPermission: it cannot be written; nothing of it stays.
    """
    failure = f"The quarantine {path} cannot be written"
    try:
        own_folder(path.parent, like)
        sync_folder(path.parent.parent)
    except OSError as e:
        raise refusal(e, failure) from None
    write_whole(path, data, like, failure=failure)
