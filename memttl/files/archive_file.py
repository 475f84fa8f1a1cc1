"""The archive of a memory file as a file: where its state lies, whether it can be written, and how it is made and read.

`archiving.py` writes it with these; `prune` and `review` check it before anybody is asked.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memttl.core.look import look_at
from memttl.core.plan import refuse_unsound
from memttl.core.policy import Policy
from memttl.errors import BadPolicy, CannotCreate, Interrupted, MemttlError, NoPermission, TryAgain
from memttl.files.archive_mark import archive_of
from memttl.files.snapshot import Snapshot, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State, own_file, refusal, state_of


def check_archive(archive: Path, state: State, policy: Policy) -> None:
    """Refuse an archive that could not be written; nothing is written here. `state` is the memory file's.

    Raises:
        BadPolicy: it is the memory file itself.
        CannotCreate, NoPermission, TryAgain: what stands there, and what to do.
    """
    refuse_itself(archive, state, policy)
    check_writable(archive, state)


def refuse_itself(archive: Path, state: State, policy: Policy) -> None:
    """Refuse an archive that is the memory file itself.

    Raises:
        BadPolicy: it is.
    """
    is_itself = archive == state.memory
    with suppress(OSError):  # it need not be there
        is_itself = is_itself or archive.samefile(state.memory)
    if is_itself:
        problem = f'archive.path = "{policy.archive_path}": that is the memory file itself, {state.memory}'
        raise BadPolicy(policy.where, (problem,))


def check_writable(archive: Path, state: State) -> None:
    """Refuse an archive as `check_archive` does, but for one that is the memory file itself."""
    _check_place(archive, state)
    if not os.path.lexists(archive):
        return
    with told(cannot(archive)):
        snapshot = read_archive(archive)
        refuse_hard_links(snapshot, archive_state(archive, state).beside)
        refuse_read_only(snapshot)


def cannot(archive: Path) -> str:
    """Give the beginning of what is said where an archive cannot be written."""
    return f"The archive {archive} cannot be written, so that nothing was removed"


def archive_state(archive: Path, state: State) -> State:
    """Give the places of the archive's state: where the memory file's lies elsewhere, so does this one's."""
    return state_of(archive, None if state.kept == state.beside else state.kept.parent)


def _check_place(archive: Path, state: State) -> None:
    if not archive.parent.is_dir():
        raise CannotCreate(
            f"There is no folder {archive.parent} for the archive {archive.name}; nothing was done.",
            hint="Make the folder, or name another archive in the policy ([archive] path).",
        )
    if os.path.lexists(archive) and not stat.S_ISREG(archive.lstat().st_mode):
        raise CannotCreate(
            f"The archive {archive} is no regular file; nothing was done.",
            hint="Move it away, or name another archive in the policy ([archive] path).",
        )
    own = archive_state(archive, state)
    if os.path.lexists(own.ledger) and not archive_of(own):
        raise CannotCreate(
            f"{archive} is a memory file of its own, whose ages memttl keeps, so it becomes no archive; nothing was "
            "done.",
            hint=f"Name another archive in the policy ([archive] path); or remove {own.ledger}, which forgets these "
            "ages.",
        )


def make_if_missing(archive: Path, like: os.stat_result) -> None:
    """Make an empty archive where there is none, with the memory file's owner and mode."""
    try:
        os.close(os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600))
    except FileExistsError:
        return
    own_file(archive, like)
    os.utime(archive, (0, 0))  # an empty file that is as young as this one is taken for one that is being written


def read_archive(archive: Path) -> Snapshot:
    """Read an archive settled.

    Raises:
        Foreign, Malformed: it is no sound memory file.
        NoMemoryFile, NoPermission, TryAgain: as `read_settled`.
    """

    def look(data: bytes) -> tuple[None, bool]:
        found = look_at(data)
        refuse_unsound(data, found.census, found.malformed)
        return None, False

    return read_settled(archive, look, proven=True)[0]


@contextmanager
def told(words: str) -> Iterator[None]:
    """Give what the archive's own writing raises as an error of the memory file's, which is as it was."""
    try:
        yield
    except MemttlError as e:
        message = f"{words}: {e.message}"
        if isinstance(e, Interrupted):
            raise Interrupted("Interrupted; nothing was removed.") from None
        if isinstance(e, TryAgain):  # also one that `writing.py` would take for a stranger's write of the memory file
            raise TryAgain(message) from None
        if isinstance(e, NoPermission):
            raise NoPermission(message, hint=e.hint) from None
        raise CannotCreate(message, hint=e.hint) from None
    except OSError as e:
        raise refusal(e, words) from None
