"""The state folder beside the memory file: where it lies, and how its folders and files are made.

All of it takes the memory file's owner, group and mode, never wider; nothing here follows a link that a cloned
repository may have planted.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import NamedTuple

from memttl.errors import CannotCreate, MemttlError, NoPermission

FOLDER = ".memttl"


class State(NamedTuple):
    """The places of one memory file's state. `beside` holds the lock and the write path's own files."""

    beside: Path
    kept: Path  # backups and audit log; the same folder, unless the policy or the environment names another
    memory: Path

    @property
    def lock(self) -> Path:
        return self.beside / "lock"

    @property
    def audit(self) -> Path:
        return self.kept / "audit.jsonl"

    @property
    def backups(self) -> Path:
        return self.kept / "backups"


def state_of(memory: Path, elsewhere: Path | None = None) -> State:
    """Give the places for the memory file at `memory` (links resolved); `elsewhere` is a folder for what is kept."""
    beside = memory.parent / FOLDER / memory.name
    if elsewhere is None:
        return State(beside, beside, memory)
    digest = hashlib.sha256(os.fsencode(memory)).hexdigest()[:16]
    return State(beside, elsewhere / f"{memory.name}-{digest}", memory)


def prepare(state: State, like: os.stat_result) -> None:
    """Make the folders, with the memory file's owner and mode, and the `.gitignore` in them.

    Raises:
        NoPermission, CannotCreate: a folder cannot be made, or a link stands where it should be.
    """
    try:
        for folder in (state.beside.parent, state.beside):
            _folder(folder, like)
        _once(state.beside.parent / ".gitignore", b"*\n", like)
        if state.kept != state.beside:
            state.kept.parent.mkdir(parents=True, exist_ok=True)
            _folder(state.kept, like)
            _check_path(state, like)
        _folder(state.backups, like)
    except OSError as e:
        raise refusal(e, f"The state folder {e.filename or state.beside} cannot be made") from None


def refusal(e: OSError, what: str) -> MemttlError:
    """Turn an operating system's no into ours: permission and read-only are 77, everything else is 73."""
    message = f"{what} ({e.strerror or e}); the memory file is as it was."
    if isinstance(e, PermissionError) or e.errno == errno.EROFS:
        return NoPermission(message, hint="Run memttl as the file's owner, in a folder that may be written.")
    return CannotCreate(message, hint="Free some space or mend the folder, then run the command again.")


def _check_path(state: State, like: os.stat_result) -> None:
    """Where state lies elsewhere, its `path` file says which memory file it belongs to."""
    owner = state.kept / "path"
    _once(owner, os.fsencode(state.memory) + b"\n", like)
    if owner.read_bytes() != os.fsencode(state.memory) + b"\n":
        raise CannotCreate(
            f"The state folder {state.kept} belongs to another memory file (see its file `path`).",
            hint="Name another state folder, or move that one away.",
        )


def _folder(path: Path, like: os.stat_result) -> None:
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise NoPermission(
                f"{path} is no folder (a link, perhaps), so nothing is written there.",
                hint="Move it away; memttl makes its own state folder.",
            ) from None
        return
    mode = stat.S_IMODE(like.st_mode) & 0o777
    _own(path, like, mode | (mode & 0o444) >> 2)


def _own(path: Path, like: os.stat_result, mode: int) -> None:
    made = path.lstat()
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid) and hasattr(os, "chown"):
        try:
            os.chown(path, like.st_uid, like.st_gid, follow_symlinks=False)
        except PermissionError:
            mode &= 0o700  # not the memory file's group: then nobody's but the owner's
    path.chmod(mode)


def _once(path: Path, data: bytes, like: os.stat_result) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "wb") as f:
        f.write(data)
    own_file(path, like)


def own_file(path: Path, like: os.stat_result) -> None:
    """Give a file of ours the memory file's owner, group and mode, without execute bits, never wider."""
    _own(path, like, stat.S_IMODE(like.st_mode) & 0o666)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable; a no-op where folders cannot be opened (Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
