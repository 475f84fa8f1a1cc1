"""Which rung of the ladder the write path stands on: from platform, file system type and what a call said no with.

`writing.py` asks where to start; when a call fails it asks for the next rung. No rung is taken by hope: leases are used
only on file systems known to hold writers with them, since FUSE grants leases that hold nobody.
"""

from __future__ import annotations

import enum
import errno
from typing import Literal, cast, get_args

from memttl.core.near import refuse_unknown_word
from memttl.errors import NoPermission

WritePath = Literal["auto", "exchange", "replace"]
Call = Literal["lease", "exchange"]

# measured, but for f2fs and zfs, whose leases are the kernel's generic ones too
LEASE_FILE_SYSTEMS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs"})
QUIET_S = 2.0


def read_write_path(word: str) -> WritePath:
    """Read the value of `--write-path`.

    Raises:
        UsageError: it is none of the three.
    """
    refuse_unknown_word("--write-path", word, get_args(WritePath))
    return cast(WritePath, word)


class Rung(enum.Enum):
    """How the new version takes the memory file's place; each is worth less than the one before."""

    LEASES = "A"  # leases and exchange: loses nothing of a server that writes without pause
    EXCHANGE = "B"  # exchange, and a look at what came out
    REPLACE = "C"  # os.replace of a file that was still

    @property
    def waits_for_quiet(self) -> bool:
        """True where the file must have been still for `QUIET_S` seconds first."""
        return self is not Rung.LEASES


def first_rung(write_path: WritePath, *, platform: str, fs_type: str | None) -> Rung:
    """Give the best rung that this platform and file system are known to carry; `write_path` is the user's word."""
    if write_path == "replace" or platform == "win32":
        return Rung.REPLACE
    if write_path == "exchange":
        return Rung.EXCHANGE
    if platform == "linux" and fs_type in LEASE_FILE_SYSTEMS:
        return Rung.LEASES
    return Rung.EXCHANGE if platform in ("linux", "darwin") else Rung.REPLACE


# what a call says where it is not carried: the next rung may do
_NOT_CARRIED: dict[Call, frozenset[int]] = {
    "lease": frozenset(
        {errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
    ),
    "exchange": frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}),
}
_NEXT: dict[Call, Rung] = {"lease": Rung.EXCHANGE, "exchange": Rung.REPLACE}


def next_rung(call: Call, code: int, *, write_path: WritePath) -> Rung | None:
    """Give the rung to stand on after `call` failed with `code`; None where the failure says nothing of rungs.

    Raises:
        NoPermission: the user asked for an exchange, and this file system has none.
    """
    if code not in _NOT_CARRIED[call]:
        return None
    if call == "exchange" and write_path == "exchange":
        raise NoPermission(
            "This file system cannot exchange two files in one step, which --write-path exchange asks for; nothing was "
            "done.",
            hint="Leave --write-path away, or stop the server and give --write-path replace.",
        )
    return _NEXT[call]


def refused(code: int, path: object) -> NoPermission | None:
    """Give rung D: why the memory file cannot be replaced at all; None where `code` means something else."""
    if code not in _REFUSALS:
        return None
    reason, hint = _REFUSALS[code]
    return NoPermission(f"{path} cannot be replaced: {reason}; nothing was done.", hint=hint)


_OWNER = "Run memttl as the file's owner, in a folder that may be written."
_REFUSALS = {
    errno.EBUSY: ("it is mounted as a single file", "Mount its folder instead of the file."),
    errno.EPERM: ("it or its folder is immutable, or the folder is sticky and the file another user's", _OWNER),
    errno.EACCES: ("its folder may not be written", _OWNER),
    errno.EROFS: ("its file system is read-only", "Mount it writable."),
    errno.EXDEV: (
        "its state folder lies on another file system",
        "Let the folder .memttl beside the memory file be a plain folder, no mount of its own.",
    ),
}


def quiet_words(fs_type: str | None) -> str:
    """Give the sentence that says aloud that the file was waited for."""
    where = f"on this file system ({fs_type})" if fs_type else "here"
    return (
        f"{where} the memory file cannot be held still, so memttl waited until nobody had written it for "
        f"{QUIET_S:.0f} s; for certainty stop the server while memttl writes"
    )
