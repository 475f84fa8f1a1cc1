"""How the runs that nobody watched ended: one line each in the state folder, so that a timer that fails is not silent.

`commands/keeping.py` keeps them; `memttl doctor` reads them, and so does `commands/telling.py` at a terminal. Keeping
one never fails a run and makes no folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memttl.core.failed_runs import COMMANDS, MENDED, in_order
from memttl.core.wording import instant_text
from memttl.errors import MemttlError
from memttl.files.state import State, open_own, own_file

NAME = "outcomes.jsonl"
KEPT_LINES = 200  # of each command: scans every 15 minutes must not push out what the prunes of two nights say
_PART = "outcomes.part"  # in the state folder a later run removes what ends so
_LONGEST = 300
_TAIL_BYTES = 1 << 20  # more than all lines take that are kept: a file that somebody blew up is not read whole


def keep_outcome(state: State, *, command: str, code: int, message: str = "") -> None:
    """Add one line to the outcomes of the runs without a terminal, where there is a state folder; never fail."""
    with contextlib.suppress(OSError, MemttlError, ValueError):
        folder = state.kept if _is_own_folder(state.kept) else state.beside
        if not _is_own_folder(folder):
            return
        text = message.partition("\n")[0][:_LONGEST]
        row = {"time": instant_text(datetime.now(UTC)), "command": command, "code": int(code), "message": text}
        kept = _newest([*_lines(folder / NAME), json.dumps(row).encode()])
        _replace(folder, b"".join(line + b"\n" for line in kept), _like(state, folder))


def read_outcomes(state: State) -> list[Mapping[str, Any]]:
    """Give the kept outcomes in their order; lines that cannot be read are left out.

    Raises:
        NoPermission, CannotCreate: they cannot be read, or a link or a pipe was planted in their place.
    """
    # beside the file, too: there they go where a broken policy cannot say which folder it means
    folders = dict.fromkeys((state.beside, state.kept))
    files = [[row for line in _lines(folder / NAME) if (row := _parsed(line))] for folder in folders]
    return in_order(files, instant_text(datetime.now(UTC)))


def hindrance(state: State) -> str:
    """Say what keeps the outcome of every run from being kept; "" for nothing.

    A folder that only its owner may write is none to others, nor is what lies on a file system that nobody can write.
    """
    for folder in dict.fromkeys((state.beside, state.kept)):
        with contextlib.suppress(OSError):
            if not stat.S_ISREG((folder / NAME).lstat().st_mode):
                return f"{folder / NAME} is no regular file"
    with contextlib.suppress(OSError):
        is_ours = hasattr(os, "getuid") and state.memory.stat().st_uid == os.getuid()
        is_shut = _is_own_folder(state.kept) and not os.access(state.kept, os.W_OK | os.X_OK)
        if is_ours and is_shut and os.access(state.memory.parent, os.W_OK):
            return f"{state.kept} cannot be written"
    return ""


def _newest(lines: Sequence[bytes]) -> list[bytes]:
    """Give the last lines of each command, in their order; what is no outcome is dropped."""
    kept: list[bytes] = []
    counts = dict.fromkeys((*COMMANDS, MENDED), 0)
    for line in reversed(lines):
        command = _parsed(line).get("command")
        if command in counts and counts[command] < KEPT_LINES:
            counts[command] += 1
            kept.append(line)
    return kept[::-1]


def _parsed(line: bytes) -> Mapping[str, Any]:
    with contextlib.suppress(ValueError, RecursionError):
        row = json.loads(line)
        return row if isinstance(row, dict) else {}
    return {}


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
