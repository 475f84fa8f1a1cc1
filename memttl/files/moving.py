"""The notes of a move in the state folders of both places: what is under way, and where a file has been moved from.

While a move is under way no other command writes at either place (`lock.py` asks here). `moving_carry.py` sets the
notes and takes them away.
"""

from __future__ import annotations

import os
from pathlib import Path

from memttl.core.moving import (
    HISTORY,
    UNDER_WAY,
    Move,
    finish_words,
    give_up_command,
    move_line,
    read_moves,
    under_way_words,
)
from memttl.errors import MemttlError, TryAgain
from memttl.files.backups import write_whole
from memttl.files.folder import is_file
from memttl.files.state import State, read_own, sync_folder


def move_under_way(beside: Path) -> Move | None:
    """Give the move that the state folder `beside` a memory file tells of, None for none."""
    try:
        found = read_moves(read_own(beside / UNDER_WAY))
    except (MemttlError, OSError):
        return None
    return found[-1] if found else None


def note_under_way(beside: Path, move: Move, like: os.stat_result) -> None:
    """Note a move that begins; raises as `write_whole`."""
    write_whole(
        beside / UNDER_WAY, move_line(move), like, failure=f"The note of the move in {beside} cannot be written"
    )


def drop_under_way(beside: Path) -> None:
    """Take the note of a move away; none is no error."""
    (beside / UNDER_WAY).unlink(missing_ok=True)
    sync_folder(beside)


def moves_to(beside: Path) -> list[Move]:
    """Give the moves by which a memory file came where it is, oldest first."""
    try:
        return read_moves(read_own(beside / HISTORY))
    except (MemttlError, OSError):
        return []


def note_done(beside: Path, move: Move, like: os.stat_result) -> None:
    """Note a move that is done among those before it; a further one from the same place takes the place of the first.

    Raises:
        CannotCreate, NoPermission: it cannot be written.
    """
    before = [m for m in moves_to(beside) if m.source not in (move.source, move.target)]  # back where it was
    data = b"".join(map(move_line, (*before, move)))
    write_whole(beside / HISTORY, data, like, failure=f"The note of the move in {beside} cannot be written")


def move_returned(move: Move) -> bool:
    """Say whether a file lies again where a move has taken one away."""
    return is_file(move.source)


def refuse_moving(state: State) -> None:
    """Refuse to write at a place that is being moved from or to.

    Raises:
        TryAgain: how the move is finished.
    """
    move = move_under_way(state.beside)
    if move is not None:
        raise TryAgain(
            f"{state.memory} cannot be written: {under_way_words(move)}; nothing was done.",
            hint=f"{finish_words(move)}.{given_up_words(state.memory, move)}",
        )


def given_up_words(memory: Path, move: Move) -> str:
    """Say how a move is given up whose other place is gone; "" where that is there, or the memory is not here."""
    other = Path(move.target if str(memory) == move.source else move.source)
    if os.path.lexists(other) or other.parent.is_dir() or not os.path.isfile(memory) or memory.is_symlink():
        return ""
    return f" Where {other.parent} is gone for good, {give_up_command(memory)} gives it up: the whole memory lies here."


def former_folders(state: State) -> list[Path]:
    """Give the folders in which a memory file lay before its moves: old runs name their archive from there."""
    return [Path(move.source).parent for move in reversed(moves_to(state.beside))]
