"""What the notes of a move beside a memory file tell whoever uses it, as warnings. Called by `settings.py`.

It reads two small files, and looks whether something lies at the old place again.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memttl.core.moving import HISTORY, UNDER_WAY, Move, read_moves, reappeared_help, reappeared_words, under_way_words

_MOST_BYTES = 1 << 20


def move_words(memory: Path) -> list[str]:
    """Give a sentence for a move that was interrupted, and for each old place at which a file lies again."""
    folder = os.path.join(memory.parent, ".memttl", memory.name)
    found = [under_way_words(move) for move in _noted(os.path.join(folder, UNDER_WAY))[-1:]]
    for move in _noted(os.path.join(folder, HISTORY)):
        if _is_file(move.source):
            found.append(f"{reappeared_words(move)}. {reappeared_help(move)}".rstrip("."))
    return found


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
