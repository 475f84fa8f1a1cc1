"""What the notes of a move tell: beside the memory file, as warnings of every run; in the user's own state folder, to
whoever looks for it at the old place.

`settings.py` asks for the first, `commands/over_files.py` and `discover` for the second, which `move` makes. At
the old place nothing is left: that may be the npx cache, or somebody else's repository.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from memttl.core.moving import (
    HISTORY,
    UNDER_WAY,
    Move,
    finish_words,
    move_line,
    read_moves,
    reappeared_help,
    reappeared_words,
    under_way_words,
)

_MOST_BYTES = 1 << 20
_AWAY = "moved.jsonl"


def move_words(memory: Path, environ: Mapping[str, str]) -> list[str]:
    """Give a sentence for a move that was interrupted, for each old place at which a file lies again, and for each
    schedule that still runs there."""
    folder = os.path.join(memory.parent, ".memttl", memory.name)
    found = [f"{under_way_words(move)}; {finish_words(move)}" for move in _noted(os.path.join(folder, UNDER_WAY))[-1:]]
    moves = _noted(os.path.join(folder, HISTORY))
    for move in moves:
        if _is_file(move.source):
            found.append(f"{reappeared_words(move)}. {reappeared_help(move)}".rstrip("."))
    if moves:
        from memttl.setup.here import this_installation  # here: few files were moved
        from memttl.setup.schedule_check import stale_words

        found += stale_words(memory, moves, this_installation(environ))
    return found


def note_away(move: Move, environ: Mapping[str, str]) -> None:
    """Note for this user where a memory file was moved to; never fail. Without a home there is no note."""
    path = _away(environ)
    with contextlib.suppress(OSError):
        if path is not None:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, 0o600)
            try:
                os.write(descriptor, move_line(move))
            finally:
                os.close(descriptor)


def moved_away(path: str | Path, environ: Mapping[str, str]) -> Move | None:
    """Give the move that took a memory file away from a place where none lies, to where it lies since the last one."""
    place = _away(environ)
    if place is None or "\0" in str(path) or os.path.lexists(path):
        return None
    latest: dict[str, Move] = {}
    for move in _noted(place):
        latest[move.source] = move
        latest.pop(move.target, None)  # it lies there again
    found = latest.get(os.path.realpath(path))
    while found is not None and found.target in latest:
        found = found._replace(target=latest.pop(found.target).target)
    return found


def _away(environ: Mapping[str, str]) -> str | None:
    """Give the place of the user's notes, in the folder where memttl keeps the state of a file in the npx cache."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if sys.platform == "win32":
        folder = environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        folder = home and os.path.join(home, "Library", "Application Support")
    else:
        folder = environ.get("XDG_STATE_HOME") or (home and os.path.join(home, ".local", "state"))
    return os.path.join(folder, "memttl", _AWAY) if folder else None


def _noted(path: str) -> list[Move]:
    if not _is_file(path):
        return []
    try:
        with open(path, "rb") as f:
            return read_moves(f.read(_MOST_BYTES))
    except OSError:
        return []


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
