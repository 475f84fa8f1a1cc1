"""The state folder beside the memory file: where it lies, and how its folders and files are made.

All of it takes the memory file's owner, group and mode, never wider; nothing here follows a link that a cloned
repository may have planted.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from memttl.errors import AS_IT_WAS, CannotCreate, LedgerLost, MemttlError, NoPermission

FOLDER = ".memttl"
_MARK = b"ledger\n"
_ELSEWHERE = re.compile("-[0-9a-f]{16}$")


class State(NamedTuple):
    """The places of one memory file's state. `beside` holds the lock and the write path's own files."""

    beside: Path
    kept: Path  # ledger, backups and audit log; the same folder, unless the policy or the environment names another
    memory: Path

    @property
    def lock(self) -> Path:
        return self.beside / "lock"

    @property
    def ledger(self) -> Path:
        return self.kept / "ledger.db"

    @property
    def audit(self) -> Path:
        return self.kept / "audit.jsonl"

    @property
    def backups(self) -> Path:
        return self.kept / "backups"

    @property
    def quarantine(self) -> Path:
        return self.kept / "quarantine"


def state_of(memory: Path, elsewhere: Path | None = None) -> State:
    """Give the places for the memory file at `memory` (links resolved); `elsewhere` is a folder for what is kept."""
    beside = memory.parent / FOLDER / memory.name
    if elsewhere is None:
        return State(beside, beside, memory)
    digest = hashlib.sha256(os.fsencode(memory)).hexdigest()[:16]
    return State(beside, elsewhere / f"{memory.name}-{digest}", memory)


def lies_in_state(path: str | Path) -> bool:
    """Say whether a file is one of memttl's own, such as a backup: in a state folder, wherever that lies."""
    return any(_is_state_folder(folder) for folder in Path(os.path.realpath(path)).parents)


def _is_state_folder(folder: Path) -> bool:
    """Say so by its name and by what lies in it: people may name their own folders as they like."""
    if folder.parent.name == FOLDER:
        return any(os.path.lexists(folder / name) for name in ("lock", "audit.jsonl"))
    return bool(_ELSEWHERE.search(folder.name)) and os.path.lexists(folder / "path")


def prepare(state: State, like: os.stat_result, *, anew: bool = False) -> None:
    """Make the folders, with the memory file's owner and mode, and the `.gitignore` in them.

    `anew`: also where the file was used with another state folder, or where this one was emptied.

    Raises:
        NoPermission, CannotCreate: a folder cannot be made, or a link stands where it should be.
    """
    if not anew:
        refuse_another_folder(state)
    try:
        _folder(state.beside.parent, like, is_shared=True)
        _folder(state.beside, like)
        _once(state.beside.parent / ".gitignore", b"*\n", like)
        if state.kept != state.beside:
            for folder in reversed(state.kept.parents):
                if not folder.is_dir():  # with sudo the parents must not be root's either
                    _folder(folder, like, is_shared=True)
            _folder(state.kept, like)
            _check_path(state, like)
        # before any backup: where there are backups and no log, somebody took the log away
        _once(state.audit, b"", like)
        _folder(state.backups, like)
    except OSError as e:
        raise refusal(e, f"The state folder {e.filename or state.beside} cannot be made") from None


def refuse_another_folder(state: State) -> None:
    """Refuse a state folder that holds nothing of a file that has been used with another one: its pins lie there.

    The lock is always beside the file, and made after the audit log.

    Raises:
        LedgerLost: where to look.
    """
    if state.kept != state.beside:
        _refuse_path(state)
    is_used = os.path.isfile(state.lock) and not os.path.islink(state.lock)
    if is_used and not (os.path.lexists(state.ledger) or os.path.lexists(state.audit)):
        raise LedgerLost(
            f"{state.memory} has been used with another state folder, or {state.kept} was emptied: there is neither a "
            f"ledger nor an audit log in it, so that what you pinned cannot be rebuilt; {AS_IT_WAS}.",
            hint="Name the folder of before (MEMTTL_STATE_DIR, [state] dir); or `memttl doctor --repair` begins anew "
            "in this one, without pins and settings.",
        )


def mark_ledger(state: State) -> None:
    """Note in the lock file that a ledger was made: where it and the log are gone later, both were lost."""
    if had_ledger(state):
        return
    with contextlib.suppress(OSError), open(state.lock, "r+b") as f:
        f.write(_MARK)


def had_ledger(state: State) -> bool:
    """Say whether a ledger was made for this memory file."""
    try:
        return state.lock.lstat().st_size > 0
    except OSError:
        return False


def refusal(e: OSError, what: str) -> MemttlError:
    """Turn an operating system's no into ours: permission and read-only are 77, everything else is 73."""
    is_link = e.errno == errno.ELOOP  # all of ours are opened with O_NOFOLLOW
    message = f"{what} ({'a link stands in its place' if is_link else e.strerror or e}); {AS_IT_WAS}."
    if is_link:
        return NoPermission(message, hint="Move the link away; memttl writes its state through none.")
    if isinstance(e, PermissionError) or e.errno == errno.EROFS:
        return NoPermission(message, hint="Run memttl as the file's owner, in a folder that may be written.")
    return CannotCreate(message, hint="Free some space or mend the folder, then run the command again.")


def _check_path(state: State, like: os.stat_result) -> None:
    """Where state lies elsewhere, its `path` file says which memory file it belongs to."""
    owner = state.kept / "path"
    _once(owner, os.fsencode(state.memory) + b"\n", like)
    _refuse_path(state)


def _refuse_path(state: State) -> None:
    """Refuse a state folder of another memory file; one without the file `path` is not made yet."""
    if read_own(state.kept / "path") not in (b"", os.fsencode(state.memory) + b"\n"):
        raise CannotCreate(
            f"The state folder {state.kept} belongs to another memory file (see its file `path`).",
            hint="Name another state folder, or move that one away.",
        )


def _folder(path: Path, like: os.stat_result, *, is_shared: bool = False) -> None:
    """Make a folder, or check one that is there. `is_shared`: other memory files have state in it too."""
    mode = stat.S_IMODE(like.st_mode) & 0o777
    mode |= (mode & 0o444) >> 2 | 0o700
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        _check_folder(path)
        found = stat.S_IMODE(path.lstat().st_mode)
        if found & ~mode and not is_shared:  # the memory file was closed to others after the last run
            with contextlib.suppress(PermissionError):
                path.chmod(found & mode)
        return
    try:
        _own(path, like, mode)
    except NoPermission:
        path.rmdir()  # a folder of the wrong user's would lock the right one out
        raise


def own_folder(path: Path, like: os.stat_result) -> None:
    """Make a folder of ours in the state folder, with the memory file's owner and mode, or check the one there.

    Raises:
        OSError: it cannot be made.
        NoPermission, CannotCreate: something else stands in its place.
    """
    _folder(path, like)


def _check_folder(path: Path) -> None:
    mode = path.lstat().st_mode
    hint = "Move it away; memttl makes its own state folder."
    if stat.S_ISLNK(mode):
        raise NoPermission(f"{path} is a link, and memttl writes its state through none; {AS_IT_WAS}.", hint=hint)
    if not stat.S_ISDIR(mode):
        raise CannotCreate(f"{path} is no folder, so nothing can be kept in it; {AS_IT_WAS}.", hint=hint)


def _own(path: Path, like: os.stat_result, mode: int) -> None:
    made = path.lstat()
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid) and hasattr(os, "chown"):
        try:
            os.chown(path, like.st_uid, like.st_gid, follow_symlinks=False)
        except PermissionError:
            if made.st_uid != like.st_uid:
                raise NoPermission(
                    f"The memory file belongs to another user, as whom nothing can be written here; {AS_IT_WAS}.",
                    hint="Run memttl as the file's owner.",
                ) from None
            mode &= 0o700  # not the memory file's group: then nobody's but the owner's
    if hasattr(os, "removexattr"):  # a folder above may pass on rights that the memory file does not give
        for name in ("system.posix_acl_access", "system.posix_acl_default"):
            with contextlib.suppress(OSError):
                os.removexattr(path, name)
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
    """Give a file of ours the memory file's owner, group and mode, without execute bits, never wider for others."""
    _own(path, like, stat.S_IMODE(like.st_mode) & 0o666 | 0o600)


def narrow(path: Path, like: os.stat_result) -> None:
    """Take from a file what the memory file does not give: another owner, wider permissions, rights by a list.

    Raises:
        NoPermission: the memory file belongs to somebody else.
        OSError: as `chmod`.
    """
    found = path.lstat()
    mode = stat.S_IMODE(found.st_mode) & (stat.S_IMODE(like.st_mode) | 0o600) & 0o777
    has_list = hasattr(os, "listxattr") and "system.posix_acl_access" in os.listxattr(path, follow_symlinks=False)
    is_like = (found.st_uid, found.st_gid) == (like.st_uid, like.st_gid)
    if has_list or not is_like or mode != stat.S_IMODE(found.st_mode):
        _own(path, like, mode)


def read_own(path: Path, *, after: int = 0) -> bytes:
    """Read a file of ours, from the byte `after` on; b"" where there is none.

    Raises:
        NoPermission, CannotCreate: it cannot be read, or a link or a pipe was planted in its place.
    """
    try:
        with open_own(path) as f:
            f.seek(after)
            return f.read()
    except FileNotFoundError:
        return b""


def open_own(path: Path) -> io.BufferedReader:
    """Open a file of ours for reading.

    Raises:
        FileNotFoundError: there is none.
        NoPermission, CannotCreate: it cannot be read, or a link or a pipe was planted in its place.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise
    except OSError as e:
        raise refusal(e, f"{path} cannot be read") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CannotCreate(f"{path} is no regular file; {AS_IT_WAS}.", hint="Move it away.")
    return os.fdopen(descriptor, "rb")


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable; a no-op where folders cannot be opened (Windows)."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
