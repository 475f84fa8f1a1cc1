"""The write path's own files in the state folder: their names, and how a version of the memory file is written there.

The names are the journal. `<run>-<n>-<old>-<new>.swap` changes places with the memory file: before the swap it holds
the new version, after it whatever came out; `old` and `new` are the digests of what was read and of what was written.
A `.link` is the same on the last rung, where it is a second name of the old file and the new version waits as `.new`.
`<old>.base` is a copy of what was read, for a later three-way merge. A `.part` is half-written, and nobody's loss.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from typing import NamedTuple, Self

from memttl.errors import NoPermission
from memttl.files.folder import CREATE, READ, Folder
from memttl.files.snapshot import Snapshot, digest_of, read_whole

PART, BASE, NEW, SWAP, LINK = ".part", ".base", ".new", ".swap", ".link"
_NAME = re.compile(r"(?P<run>[0-9a-f]+)-(?P<n>[0-9]+)-(?P<old>[0-9a-f]{32})-(?P<new>[0-9a-f]{32})\.(swap|link|new)")
_CHUNK = 1 << 20


def short_digest(data: bytes) -> str:
    """Give the digest of bytes that stands in names."""
    return short(digest_of(data))


def short(digest: str) -> str:
    """Give what stands in names of a SHA-256: its first 32 hex digits."""
    return digest[:32]


class Journal(NamedTuple):
    """What a name in the state folder says: which run, its how manieth write, from what, to what."""

    run: str
    n: int
    old: str
    new: str

    @classmethod
    def read(cls, name: str) -> Self | None:
        """Read a name; None where it is not the journal's."""
        found = _NAME.fullmatch(name)
        return cls(found["run"], int(found["n"]), found["old"], found["new"]) if found else None

    def name(self, suffix: str) -> str:
        """Write the name."""
        return f"{self.run}-{self.n}-{self.old}-{self.new}{suffix}"


def is_leftover(name: str) -> bool:
    """Say whether an entry of the state folder is one that a later run must judge."""
    return name.endswith((PART, BASE)) or Journal.read(name) is not None


def write_base(folder: Folder, snapshot: Snapshot, digest: str | None = None) -> str:
    """Keep the bytes that were read under their digest's name: a copy, since a late writer in place spoils a link.

    `digest` is their short digest, where it is known already.
    """
    name = (digest or short_digest(snapshot.data)) + BASE
    os.close(write_version(folder, name, snapshot.data, snapshot, live=None, sync=False))
    return name


def write_version(
    folder: Folder, name: str, data: bytes, snapshot: Snapshot, *, live: int | None, sync: bool = True
) -> int:
    """Write a version of the memory file under `name`, with its mode, owner, group, ACLs and attributes; give it open.

    `live` is the memory file, open, whose attributes are taken; None for a copy that is never put in its place, which
    needs none, and whose owner may be ours.

    Raises:
        NoPermission: the owner cannot be kept.
        OSError: no space, or the like; nothing of it stays.
    """
    part = name + PART
    folder.unlink(part)
    descriptor = folder.open(part, CREATE)
    try:
        write_at(descriptor, data)
        _keep_metadata(descriptor, snapshot, live)
        if sync:
            os.fsync(descriptor)
        folder.rename(part, name)
    except BaseException:
        os.close(descriptor)
        folder.unlink(part)
        raise
    return descriptor


def write_at(descriptor: int, data: bytes) -> None:
    """Make `data` the file's whole content, through a descriptor that is already open."""
    view, at = memoryview(data), 0
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.ftruncate(descriptor, 0)
    while at < len(view):
        at += os.write(descriptor, view[at : at + _CHUNK])


def _keep_metadata(descriptor: int, snapshot: Snapshot, live: int | None) -> None:
    old, new = snapshot.stat, os.fstat(descriptor)
    if hasattr(os, "fchown") and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            if live is None:
                return  # a copy for ourselves: it stays 0600
            raise NoPermission(
                f"{snapshot.path} belongs to another user or group, which a new version could not keep; nothing was "
                "done.",
                hint="Run memttl as the file's owner.",
            ) from None
    if live is not None and hasattr(os, "listxattr"):  # ACLs are attributes too: system.posix_acl_access
        _keep_attributes(live, descriptor)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & (0o7777 if live is not None else 0o666))


def _keep_attributes(source: int, target: int) -> None:
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


def holds(descriptor: int, data: bytes) -> bool:
    """Say whether an open file holds exactly these bytes, reading it piece by piece."""
    if os.fstat(descriptor).st_size != len(data):
        return False
    at = 0
    os.lseek(descriptor, 0, os.SEEK_SET)
    while piece := os.read(descriptor, _CHUNK):
        if not data.startswith(piece, at):  # fifty times as fast as a comparison of views
            return False
        at += len(piece)
    return at == len(data)


def slurp(folder: Folder, name: str) -> bytes | None:
    """Read an entry whole; None where there is none."""
    try:
        descriptor = folder.open(name, READ)
    except FileNotFoundError:
        return None
    try:
        return read_whole(descriptor)
    finally:
        os.close(descriptor)
