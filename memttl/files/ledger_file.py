"""The ledger as a file, before SQLite sees it: what may lie in its place, its journal, and a folder for a copy of both.

Called by `ledger_open.py`.
"""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memttl.errors import AS_IT_WAS, CannotCreate, LedgerDamaged, NoPermission, TryAgain
from memttl.files.state import open_own, refusal

_JOURNAL = "-journal"
_HEAD = b"SQLite format 3\0"
_ROLLBACK = b"\x01\x01"  # at byte 18, where 2 is a write-ahead log, which even a reader would leave files of


def is_there(path: Path) -> bool:
    """Say whether a ledger lies there; an empty file is one that was never committed.

    Raises:
        NoPermission, CannotCreate: a link or something else was planted there; the folder may not be read.
    """
    size = 0
    for name in (path, journal_of(path)):
        try:
            found = name.lstat()
        except (FileNotFoundError, NotADirectoryError):
            if name == path:
                return False
            continue
        except OSError as e:
            raise refusal(e, f"The ledger {path} cannot be opened") from None
        if stat.S_ISLNK(found.st_mode):
            hint = "Move the link away; memttl writes its state through none."
            raise NoPermission(f"{name} is a link; {AS_IT_WAS}.", hint=hint)
        if not stat.S_ISREG(found.st_mode):
            raise CannotCreate(f"{name} is no regular file; {AS_IT_WAS}.", hint="Move it away.")
        if name == path:
            size = found.st_size
    return size > 0


def journal_of(path: Path) -> Path:
    """Give the place of the rollback journal."""
    return path.with_name(path.name + _JOURNAL)


def check_head(path: Path) -> None:
    """Refuse what SQLite would open otherwise than as a ledger.

    Raises:
        LedgerDamaged: it is no database with a rollback journal.
        NoPermission, CannotCreate: it cannot be read.
        TryAgain: it went away this moment.
    """
    if journal_of(path).exists():
        return  # the head may be half-written, and be rolled back
    try:
        with open_own(path) as f:
            head = f.read(20)
    except FileNotFoundError:
        raise TryAgain(f"The ledger {path} went away; {AS_IT_WAS}.") from None
    if head[:16] != _HEAD or head[18:] != _ROLLBACK:
        raise LedgerDamaged(f"{path} is no ledger of memttl; {AS_IT_WAS}.")


@contextmanager
def folder_for_a_copy(path: Path) -> Iterator[str]:
    """Make a folder of one's own in the temporary folder, for a while.

    Raises:
        NoPermission, CannotCreate: there is no place for one.
    """
    try:
        folder = tempfile.mkdtemp()
    except OSError as e:
        raise refusal(e, f"The ledger {path} cannot be read by way of a copy") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
