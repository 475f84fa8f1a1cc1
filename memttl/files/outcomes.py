"""How the runs that nobody watched ended: one line each in the state folder, so that a timer that fails is not silent.

`commands/keeping.py` keeps them; `memttl doctor` reads them, and so does `commands/telling.py` at a terminal. Keeping
one never fails a run and makes no folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memttl.core.wording import instant_text
from memttl.errors import MemttlError
from memttl.files.state import State, open_own, own_file

NAME = "outcomes.jsonl"
KEPT_LINES = 200
_PART = "outcomes.part"  # in the state folder a later run removes what ends so
_LONGEST = 300
_TAIL_BYTES = 512 << 10  # more than KEPT_LINES take: a file that somebody blew up is not read whole


def keep_outcome(state: State, *, command: str, code: int, message: str = "") -> None:
    """Add one line to the outcomes of the runs without a terminal, where there is a state folder; never fail."""
    with contextlib.suppress(OSError, MemttlError, ValueError):
        folder = state.kept if _is_own_folder(state.kept) else state.beside
        if not _is_own_folder(folder):
            return
        text = message.partition("\n")[0][:_LONGEST]
        row = {"time": instant_text(datetime.now(UTC)), "command": command, "code": int(code), "message": text}
        kept = [line for line in _lines(folder / NAME) if line][-(KEPT_LINES - 1) :]
        _replace(folder, b"".join(line + b"\n" for line in (*kept, json.dumps(row).encode())), _like(state, folder))


def read_outcomes(state: State) -> list[dict[str, Any]]:
    """Give the kept outcomes, oldest first; lines that cannot be read are left out.

    Raises:
        NoPermission, CannotCreate: they cannot be read, or a link or a pipe was planted in their place.
    """
    found = []
    # beside the file, too: there they go where a broken policy cannot say which folder it means
    for folder in dict.fromkeys((state.beside, state.kept)):
        for line in _lines(folder / NAME):
            with contextlib.suppress(ValueError, RecursionError):
                row = json.loads(line)
                found += [row] if isinstance(row, dict) else []
    return sorted(found, key=lambda row: str(row.get("time")))


def _lines(path: Path) -> list[bytes]:
    """Give the last lines of the file, whole ones if it is ours."""
    try:
        with open_own(path) as f:
            size = f.seek(0, os.SEEK_END)
            f.seek(max(0, size - _TAIL_BYTES))
            lines = f.read(_TAIL_BYTES).split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return []
    return lines if size <= _TAIL_BYTES else lines[1:]


def _is_own_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _like(state: State, folder: Path) -> os.stat_result:
    """Give the stat whose owner and mode the file takes: the memory file's, the folder's where that is missing."""
    try:
        return state.memory.stat()
    except OSError:
        return folder.stat()


def _replace(folder: Path, data: bytes, like: os.stat_result) -> None:
    """Write the file anew under another name and rename it: a reader sees the old or the new one."""
    part = folder / _PART
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, 0o600), "wb") as f:
            f.write(data)
        own_file(part, like)
        part.replace(folder / NAME)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
