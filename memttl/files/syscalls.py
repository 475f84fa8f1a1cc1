"""The few calls that Python's `os` lacks: exchanging two names in one step, and leases. Called by `swap.py` alone.

A lease is the kernel's promise to hold an open() by somebody else until we have let go (fcntl(2), F_SETLEASE).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from memttl.files.folder import Folder

_RENAME_EXCHANGE = 2  # linux/fs.h
# and RENAME_SWAP of macOS (sys/stdio.h) is 2 as well
# musl before 1.2.6 has no renameat2: its number by machine, from the kernel's syscall tables
_RENAMEAT2 = {
    "x86_64": 316,
    "aarch64": 276,
    "riscv64": 276,
    "loongarch64": 276,
    "i386": 353,
    "i686": 353,
    "armv6l": 382,
    "armv7l": 382,
    "ppc64le": 357,
    "s390x": 347,
}
_ARGUMENTS = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
Renamer = Callable[[int, bytes, int, bytes, int], int]


def exchange(one: Folder, name: str, other: Folder, other_name: str) -> None:
    """Let two names change places in one step: at no instant is one of them missing.

    Raises:
        OSError: EINVAL, ENOSYS, ENOTSUP where the platform or file system cannot; EXDEV, EBUSY, EPERM, … as rename().
    """
    if one.fd is None or other.fd is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    renamer = _renamer(sys.platform, platform.machine())
    while renamer(one.fd, os.fsencode(name), other.fd, os.fsencode(other_name), _RENAME_EXCHANGE) != 0:
        code = ctypes.get_errno()
        if code != errno.EINTR:
            raise OSError(code, os.strerror(code), other_name)


@cache
def _renamer(system: str, machine: str) -> Renamer:
    """Give the platform's exchanging rename; where there is none, a call that fails with ENOSYS."""
    if system == "win32":
        return _no_renamer
    libc = ctypes.CDLL(None, use_errno=True)
    name = "renameatx_np" if system == "darwin" else "renameat2"
    with contextlib.suppress(AttributeError):
        return _typed(getattr(libc, name), *_ARGUMENTS)
    if system == "linux" and machine in _RENAMEAT2:
        return _by_number(libc, _RENAMEAT2[machine])
    return _no_renamer


def _by_number(libc: ctypes.CDLL, number: int) -> Renamer:
    call = _typed(libc.syscall, ctypes.c_long, *_ARGUMENTS)
    return lambda *arguments: call(number, *arguments)


def _typed(function: Callable[..., int], *arguments: type) -> Callable[..., int]:
    function.argtypes = arguments  # type: ignore[attr-defined]
    function.restype = ctypes.c_int  # type: ignore[attr-defined]
    return function


def _no_renamer(_fd: int, _name: bytes, _other_fd: int, _other_name: bytes, _flags: int) -> int:
    ctypes.set_errno(errno.ENOSYS)
    return -1


def take_lease(descriptor: int, *, write: bool) -> None:
    """Take a lease: a read lease holds whoever opens the file to write, a write lease whoever opens it at all.

    Raises:
        OSError: EAGAIN where somebody has it open that way; EACCES for a file of another user; EINVAL, ENOLCK and
            the like where there are no leases.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import fcntl

    # first of all: a broken lease sends SIGIO, whose default action kills the process; SIGURG is ignored by default
    fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK if write else fcntl.F_RDLCK)


def holds_read_lease(descriptor: int) -> bool:
    """Say whether a read lease is whole; where somebody waits to write the kernel names what it wants us to go to."""
    if sys.platform != "linux":
        return False
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_RDLCK


def is_awaited_by_a_writer(descriptor: int) -> bool:
    """Say whether somebody waits for our write lease to write: for a reader the kernel would leave us a read lease."""
    if sys.platform != "linux":
        return False
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_UNLCK


def lease_break_s() -> float:
    """Give how long the kernel waits for the holder of a lease before it lets the others in."""
    try:
        return float(Path("/proc/sys/fs/lease-break-time").read_text())
    except (OSError, ValueError):
        return 45.0  # the kernel's default
