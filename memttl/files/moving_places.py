"""Which two places a move is about, what an earlier move left between them, and why one is refused.

`workflow/move.py` asks before anything is written. Nothing is written here.
"""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memttl.core.look import look_at
from memttl.core.move_outcome import Kind
from memttl.core.moving import Move, finish_words, give_up_command
from memttl.core.plan import refuse_unsound
from memttl.errors import NoMemoryFile, NoPermission, TryAgain, UsageError
from memttl.files.archive_mark import archive_of
from memttl.files.folder import is_file
from memttl.files.moving import move_returned, move_under_way, moves_to
from memttl.files.moving_place import exists, leads_to
from memttl.files.snapshot import Snapshot, read_settled, refuse_read_only
from memttl.files.state import FOLDER, State, state_of


class Places(NamedTuple):
    """Both places. `kind` tells what is to be done, `earlier` the move that is finished or followed."""

    old: Path
    new: Path
    kind: Kind
    earlier: Move | None = None


def places_of_move(named_as: str, memory: Path, new_text: str, *, link: bool | None) -> Places:
    """Tell which places are meant, and whether an earlier move stopped between them; `memory` has links resolved.

    Raises:
        UsageError, NoMemoryFile, TryAgain: what stands in the way.
    """
    folder, name = os.path.split(os.path.abspath(named_as))
    named = Path(os.path.realpath(folder), name)
    new = target_of(new_text, memory)
    under_way = move_under_way(state_of(new).beside)
    if under_way is not None and (under_way.source in (str(named), str(memory)) or memory == new):
        return _under_way(Path(under_way.source), new, under_way)
    if memory == new:
        return _same(named, new, link=link)
    mine = move_under_way(state_of(memory).beside)
    if mine is not None and mine.target != str(new):
        raise TryAgain(
            f"A move of {memory} to {mine.target} was interrupted; nothing was done.",
            hint=f"{finish_words(mine)} first.",
        )
    if os.path.lexists(new) and not _is_own_link(memory, new):
        earlier = next((m for m in moves_to(state_of(new).beside) if m.source == str(memory)), None)
        if earlier is None or not move_returned(earlier):
            raise _taken(memory, new)
        return Places(memory, new, "bring in", earlier)
    if mine is not None:
        return Places(memory, new, "move", mine)
    _refuse_place(memory, new)
    return Places(memory, new, "move")


def _is_own_link(memory: Path, new: Path) -> bool:
    """Say whether at NEW lies a link that an earlier move left there, and that still leads to the memory file."""
    known = any(move.source == str(new) for move in moves_to(state_of(memory).beside))
    return known and leads_to(new, memory)


def _under_way(old: Path, new: Path, noted: Move) -> Places:
    if is_file(new):
        if not old.parent.is_dir():
            raise NoMemoryFile(
                f"A move from {old} to {new} was interrupted, and the folder {old.parent} is not there.",
                hint="Mount or put it back, and run the same command again. Where it is gone for good, "
                f"{give_up_command(new)} ends the move: the whole memory lies at the new place.",
            )
        return Places(old, new, "finish", noted)
    if not is_file(old):
        raise NoMemoryFile(
            f"A move from {old} to {new} was interrupted, and there is no file at either place.",
            hint="Mount or put back the folder of one of them, and run the same command again.",
        )
    return Places(old, new, "move", noted)


def _same(named: Path, new: Path, *, link: bool | None) -> Places:
    """The file lies there already: a link of an earlier move may be all that there is to do."""
    earlier = next((m for m in moves_to(state_of(new).beside) if m.source == str(named)), None)
    if earlier is None:
        raise UsageError(f"{named} is {new} itself; nothing was moved.", hint="Name another place, a folder or a file.")
    is_link = named.is_symlink() and link is False
    return Places(named, new, "remove link" if is_link else "nothing", earlier)


def _taken(memory: Path, new: Path) -> UsageError:
    names = archive_of(state_of(new))
    if names:
        return UsageError(f"{new} is the archive of {' and '.join(names)}; nothing was moved.", hint="Name another.")
    if new.exists() and os.path.lexists(memory) and os.path.samefile(new, memory):
        if new.is_symlink():
            return UsageError(
                f"{new} is a link to the memory itself, {memory}; nothing was moved.",
                hint=f"Remove the link {new} (not the memory, {memory}), or name another place.",
            )
        return UsageError(f"{new} is another name of {memory} itself; nothing was moved.", hint="Name another place.")
    return exists(new)


def _refuse_place(memory: Path, new: Path) -> None:
    if not os.path.lexists(memory):
        raise NoMemoryFile(f"There is no file {memory}.", hint="Name the memory file with --file.")
    if FOLDER in new.parts:
        raise UsageError(f"{new} lies in a state folder of memttl; nothing was moved.", hint="Name another place.")
    if "_npx" in new.parts:
        raise UsageError(
            f"{new} lies in the npx cache, which the next update of the server deletes; nothing was moved.",
            hint="Name a folder of your own, ~/memory/ say.",
        )
    above = next((f for f in new.parents if os.path.lexists(f)), None)
    if above is not None and not above.is_dir():
        raise UsageError(f"{above} is no folder, so nothing can lie in it; nothing was moved.", hint="Name another.")
    _refuse_unwritable(above or new.parent, new)


def _refuse_unwritable(folder: Path, new: Path) -> None:
    """Refuse before anything is begun what making the file would fail at, so that a dry run says it, too."""
    looked_into = os.R_OK if folder == new.parent else 0  # it is opened, to be synced; in one above a folder is made
    if not os.access(folder, looked_into | os.W_OK | os.X_OK):
        raise NoPermission(
            f"The folder {folder} may not be written or read; nothing was moved.",
            hint="Name another place, or run memttl as a user who may write there.",
        )
    try:
        new.lstat()
    except OSError as e:
        if e.errno == errno.ENAMETOOLONG:
            raise UsageError(
                f"{new} is too long for a path here; nothing was moved.", hint="Name another place."
            ) from None


def target_of(new: str, source: Path) -> Path:
    """Give the new place that is meant: NEW itself, or the old name in the folder NEW.

    Raises:
        UsageError: it is empty.
    """
    if not new:
        raise UsageError("NEW is an empty path; nothing was moved.")
    path = os.path.expanduser(new)
    if path.endswith(("/", os.sep)) or os.path.isdir(path):
        path = os.path.join(path, source.name)
    folder, name = os.path.split(os.path.abspath(path))
    return Path(os.path.realpath(folder), name)


def refuse_state(new: State) -> None:
    """Refuse a place where memttl keeps the state of a file that is gone.

    Raises:
        UsageError: what to do.
    """
    for folder in dict.fromkeys((new.beside, new.kept)):
        if os.path.lexists(folder):
            raise UsageError(
                f"{folder} holds what memttl keeps of a file {new.memory.name} that is no longer there; nothing was "
                "moved.",
                hint="Name another place, or move that folder away if nothing in it is wanted.",
            )


def reader_of(memory: Path) -> Callable[[], Snapshot]:
    """Give what reads the memory file settled, and refuses one that is damaged, foreign, linked or read-only."""

    def look(data: bytes) -> tuple[None, bool]:
        if data:
            found = look_at(data)
            refuse_unsound(data, found.census, found.malformed)
        return None, False

    def read() -> Snapshot:
        snapshot = read_settled(memory, look, proven=True)[0]
        if snapshot.stat.st_nlink > 1:
            raise NoPermission(
                f"{memory} has {snapshot.stat.st_nlink} names (hard links); nothing was moved.",
                hint=f"Remove the other names first: `find / -xdev -samefile {shlex.quote(str(memory))}` lists them.",
            )
        refuse_read_only(snapshot)
        return snapshot

    return read
