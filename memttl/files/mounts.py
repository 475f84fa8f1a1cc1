"""What the kernel says of mounts: the type of the file system that a descriptor lies on, and single files mounted.

Called by `writing.py` and `checkup.py`. os.statvfs has no type, so it is looked up by mount id (proc(5)). Elsewhere
than on Linux all is unknown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memttl.errors import NoPermission

if TYPE_CHECKING:
    from memttl.files.remembered import Remembered

_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """One line of a mountinfo file: `root` is the path inside the file system that is mounted at `point`."""

    id: int
    device: str
    root: str
    point: str
    fs_type: str


def fs_type_of(memory: Path, folder: int | None, remembered: Remembered | None = None) -> str | None:
    """Give the type of the file system of a memory file, whose folder is open as `folder`; None where nobody knows.

    Raises:
        NoPermission: the file is mounted by itself.
    """
    if folder is None:
        return None
    about = os.fstat(folder)
    known = remembered.fs_type(about) if remembered else None
    if known is not None:
        return known[0]
    mount = mount_of(folder)
    alone = mounted_alone(str(memory), mount) if mount else None
    if alone is not None:
        raise NoPermission(
            f"{memory} is mounted by itself at {alone}, where a swap would leave the old file; nothing was done.",
            hint="Mount its folder instead of the file.",
        )
    if remembered is not None:
        remembered.note_mounts(about, mount.fs_type if mount else None)
    return mount.fs_type if mount else None


def parse_mounts(text: str) -> list[Mount]:
    """Read a mountinfo file; lines of another shape are left out."""
    mounts = []
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields, types = left.split(" "), right.split(" ")
        if len(fields) >= 6 and types[0] and fields[0].isdigit():
            mounts.append(Mount(int(fields[0]), fields[2], _plain(fields[3]), _plain(fields[4]), types[0]))
    return mounts


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), text)


def mount_of(descriptor: int, proc: Path = Path("/proc")) -> Mount | None:
    """Give the mount that an open file or folder lies on, None where that is not to be known."""
    try:
        info = (proc / f"self/fdinfo/{descriptor}").read_text()
        mounts = parse_mounts((proc / "self/mountinfo").read_text(errors="surrogateescape"))
    except OSError:
        return None
    found = re.search(r"^mnt_id:\s*([0-9]+)", info, re.MULTILINE)
    return next((m for m in mounts if found and m.id == int(found[1])), None)


def mounted_alone(path: str, mount: Mount, proc: Path = Path("/proc")) -> str | None:
    """Give where this one file is mounted by itself (`docker -v file:file`), in any namespace that may be read.

    Whoever sees it there keeps the old inode after an exchange, and would write where nobody reads.
    """
    # normpath keeps two slashes at the front
    inside = "/" + os.path.normpath(f"{mount.root}/{os.path.relpath(path, mount.point)}").lstrip("/")
    for number, mounts in enumerate(_namespaces(proc)):
        for other in mounts:
            is_here = number == 0 and other.point == path  # the first namespace is our own
            if is_here or (other.device, other.root) == (mount.device, inside):
                return other.point
    return None


def _namespaces(proc: Path) -> Iterator[list[Mount]]:
    """Yield each mount namespace once; those of other users' processes are left out, they may not be read."""
    seen = set()
    for process in ("self", *(name for name in os.listdir(proc) if name.isdigit())):
        try:
            space = os.readlink(proc / process / "ns/mnt")
            if space not in seen:
                seen.add(space)
                yield parse_mounts((proc / process / "mountinfo").read_text(errors="surrogateescape"))
        except OSError:
            continue
