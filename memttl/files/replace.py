"""The one place that writes the memory file: a new version beside it, a last look, then one atomic replace.

What stands here is the last rung of DESIGN's ladder for a file that is at rest for a moment; the rungs that never lose
an update of a server that does not pause (leases and exchange) belong into this module too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from memttl.errors import CannotCreate, NoPermission, TryAgain
from memttl.files.backups import write_new
from memttl.files.snapshot import Snapshot, identity, read_once
from memttl.files.state import refusal, sync_folder


class Changed(TryAgain):
    """A stranger wrote the memory file between our reading and our writing; nothing was replaced."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} would not stay still: another program wrote it again and again; nothing was changed.")


def write_version(path: Path, data: bytes, snapshot: Snapshot) -> None:
    """Write the new version to `path` (same file system), synced, with mode, owner, group, ACLs and attributes kept.

    Raises:
        NoPermission: the owner cannot be kept.
        CannotCreate: no space, or the like; nothing of it stays.
    """
    try:
        write_new(path, data)
        _keep_metadata(path, snapshot)
    except OSError as e:
        path.unlink(missing_ok=True)
        raise refusal(e, f"The new version of {snapshot.path} cannot be written") from None
    except NoPermission:
        path.unlink(missing_ok=True)
        raise


def _keep_metadata(path: Path, snapshot: Snapshot) -> None:
    old, new = snapshot.stat, path.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.chown(path, old.st_uid, old.st_gid)
        except PermissionError:
            raise NoPermission(
                f"{snapshot.path} belongs to another user or group, which a new version could not keep; nothing was "
                "done.",
                hint="Run memttl as the file's owner.",
            ) from None
    if hasattr(os, "listxattr"):  # ACLs are attributes too: system.posix_acl_access
        _keep_attributes(snapshot.path, path)
    path.chmod(stat.S_IMODE(old.st_mode))


def _keep_attributes(source: Path, target: Path) -> None:
    try:
        names = os.listxattr(source)
    except OSError:
        return
    for name in set(os.listxattr(target)).difference(names):  # a list of rights that the folder passed on
        with contextlib.suppress(OSError):
            os.removexattr(target, name)
    for name in names:
        try:
            os.setxattr(target, name, os.getxattr(source, name))
        except OSError as e:
            if e.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENODATA, errno.EACCES):
                raise


def is_unchanged(snapshot: Snapshot) -> bool:
    """Say whether the live file is still the snapshot: same inode, same times, same bytes."""
    live = read_once(snapshot.path)
    return identity(live.stat) == identity(snapshot.stat) and live.data == snapshot.data


def replace(new: Path, snapshot: Snapshot) -> None:
    """Put the file `new` in the memory file's place, if that is still the snapshot.

    Raises:
        Changed: it is not; nothing was replaced.
        NoPermission: the operating system refuses (a mount point, an immutable file, a read-only folder).
    """
    if not is_unchanged(snapshot):
        raise Changed(snapshot.path)
    try:
        os.replace(new, snapshot.path)
    except OSError as e:
        if e.errno == errno.EBUSY:
            raise NoPermission(
                f"{snapshot.path} is mounted as a single file and cannot be replaced; nothing was done.",
                hint="Mount its folder instead of the file.",
            ) from None
        raise refusal(e, f"{snapshot.path} cannot be replaced") from None


def sync_memory_folder(path: Path) -> None:
    """Make the replace durable.

    Raises:
        CannotCreate: the folder cannot be synced.
    """
    try:
        sync_folder(path.parent)
    except OSError as e:
        raise CannotCreate(f"The folder of {path} cannot be synced ({e.strerror}).") from None
