"""Every file of one memory file's state, told apart by what `forget` must do with it; reading and replacing one.

`erasing.py` goes over them. Links are never followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from memttl.files import versions
from memttl.files.backups import read_backup, write_new
from memttl.files.folder import is_file
from memttl.files.state import State, own_file, refusal, sync_folder

Kind = Literal["memory", "log", "old log", "ledger", "journal", "copy", "leftover", "damaged", "other"]
_DAMAGED = re.compile(r"\.damaged-[0-9]+(-journal)?$")
_COPIES = ("backups", "quarantine")


class Place(NamedTuple):
    """One file. `kind` says what is done: a `copy` is rewritten, a `leftover` settled, `other` is only searched.

    An `old log` is one that a repair has set aside.
    """

    path: Path
    kind: Kind

    def name(self, home: Path) -> str:
        """Give the path for people: seen from the memory file's folder `home` where it lies there."""
        return str(self.path.relative_to(home)) if self.path.is_relative_to(home) else str(self.path)


def places_of(state: State) -> list[Place]:
    """Give the memory file, if it is there, and every file of its state."""
    found = [Place(state.memory, "memory")] if is_file(state.memory) else []
    for folder in dict.fromkeys((state.beside, state.kept)):
        found += [Place(path, _kind(path, folder, state)) for path in _files_in(folder)]
    return found


def _files_in(folder: Path) -> Iterator[Path]:
    def told(e: OSError) -> None:
        raise refusal(e, f"The state folder {e.filename} cannot be read")

    if not folder.is_dir() or folder.is_symlink():
        return
    for parent, folders, names in os.walk(folder, onerror=told):
        folders.sort()
        yield from (path for name in sorted(names) if is_file(path := Path(parent, name)))


def _kind(path: Path, folder: Path, state: State) -> Kind:
    name, top = path.name, path.relative_to(folder).parts[0]
    if path == state.audit:
        return "log"
    if name.startswith(f"{state.audit.name}.damaged-") and not name.endswith(versions.PART):
        return "old log"
    if path == state.ledger:
        return "ledger"
    if name == f"{state.ledger.name}-journal":
        return "journal"
    if name.startswith(state.ledger.name) and _DAMAGED.search(name):
        return "damaged"
    if versions.is_leftover(name):
        return "leftover"
    return "copy" if top in _COPIES or name.startswith("rescued-") else "other"


def read_place(path: Path) -> bytes:
    """Read one file whole, unpacked; b"" where it has gone meanwhile.

    Raises:
        CannotCreate, NoPermission: it cannot be read, or is a damaged compressed one.
    """
    return read_backup(path) if is_file(path) else b""


def replace_file(path: Path, data: bytes) -> None:
    """Put new bytes in a file's place in one step, synced, with its owner, mode and time; packed if it was.

    Raises:
        CannotCreate, NoPermission: it cannot be written, and is as it was.
    """
    part = path.with_name(f"{path.name}{versions.PART}")
    try:
        old = path.lstat()
        write_new(part, _packed(data) if path.suffix == ".gz" else data)
        own_file(part, old)
        os.utime(part, ns=(old.st_atime_ns, old.st_mtime_ns))
        os.replace(part, path)
        sync_folder(path.parent)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise refusal(e, f"{path} cannot be written anew") from None


def remove_file(path: Path) -> None:
    """Remove a file for good, as far as a name can be.

    Raises:
        CannotCreate, NoPermission: it cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as e:
        raise refusal(e, f"{path} cannot be removed") from None


def _packed(data: bytes) -> bytes:
    import gzip  # here: few backups are compressed

    return gzip.compress(data, mtime=0)
