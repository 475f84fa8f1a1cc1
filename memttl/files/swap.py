"""The swap itself, one function a rung: the new version takes the memory file's place, or everything is as it was.

`commit.py` calls `swap` with both versions open. What comes out of the memory file's place is looked at before anybody
may read the new version; if it is not what was read, the exchange is undone. Nothing that came out is removed here.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from memttl import trace
from memttl.core.merge import is_whole
from memttl.errors import TryAgain
from memttl.files import versions
from memttl.files.folder import Folder
from memttl.files.ladder import Call, Rung, refused
from memttl.files.pace import Pace
from memttl.files.snapshot import Snapshot, identity
from memttl.files.syscalls import exchange, holds_read_lease, lease_break_s, take_lease

Step = Callable[[str], None]
_LEASE_TRIES = 20
_SHARING_TRIES = 40


class Changed(TryAgain):
    """A stranger wrote the memory file between our reading and our writing; the file is the stranger's newest.

    `left_something`: what came out may hold an update that lies nowhere else, so it must be recovered at once.
    """

    def __init__(self, path: object, *, left_something: bool = False) -> None:
        super().__init__(f"{path} would not stay still: another program wrote it again and again; nothing was changed.")
        self.left_something = left_something


class NotCarried(Exception):
    """A call that the rung needs failed with `code`: this platform, file system or user may not have it."""

    def __init__(self, call: Call, code: int) -> None:
        super().__init__(call, code)
        self.call: Call = call
        self.code = code


@dataclass(slots=True)
class Attempt:
    """One attempt: where everything lies, and both versions open (`live` is the one that was read, `new` ours)."""

    memory: Folder
    name: str
    state: Folder
    journal: versions.Journal
    snapshot: Snapshot
    live: int
    new: int
    was_undone: bool = False
    held_since: float = float("-inf")  # when the leases were taken

    @property
    def swap_name(self) -> str:
        return self.journal.name(versions.SWAP)

    def close(self) -> None:
        """Close both versions, which also lets go of their leases."""
        for descriptor in (self.new, self.live):
            if descriptor >= 0:
                os.close(descriptor)
        self.live = self.new = -1


def swap(attempt: Attempt, rung: Rung, pace: Pace, step: Step) -> None:
    """Put the new version in the memory file's place.

    Raises:
        Changed: a stranger wrote meanwhile; the live file is the stranger's.
        NotCarried: this rung cannot be used here.
        NoPermission: the operating system refuses for good.
    """
    _RUNGS[rung](attempt, pace, step)


def _by_leases(attempt: Attempt, pace: Pace, step: Step) -> None:
    """Rung A: nobody opens the new version before it is known to be right, and nobody writes the old one meanwhile."""
    lease(attempt.new, attempt, write=True)
    held_since = attempt.held_since = time.monotonic()
    lease(attempt.live, attempt, write=False)
    step("leased")
    check_unchanged(attempt)
    if not holds_read_lease(attempt.live):
        raise Changed(attempt.snapshot.path)
    step("verified")
    check_path(attempt)
    step("before exchange")
    exchange_names(attempt)
    step("exchanged")
    if not old_one_came_out(attempt):
        _undo(attempt, step)
        if time.monotonic() - held_since < lease_break_s() / 2:  # later the kernel lets readers in: hands off
            serve_who_waits(attempt)
        raise Changed(attempt.snapshot.path, left_something=True)
    if not _settles(attempt.live, pace.settle_s):
        _undo(attempt, step)
        raise Changed(attempt.snapshot.path, left_something=True)
    step("settled")


def _by_exchange(attempt: Attempt, pace: Pace, step: Step) -> None:
    """Rung B: compare what came out, byte for byte, and watch the old file for late writers."""
    check_unchanged(attempt)
    step("verified")
    check_path(attempt)
    step("before exchange")
    exchange_names(attempt)
    step("exchanged")
    if not old_one_came_out(attempt) or not versions.holds(attempt.live, attempt.snapshot.data):
        _undo(attempt, step)
        raise Changed(attempt.snapshot.path, left_something=True)
    watch(lambda: identity(os.fstat(attempt.live)), pace.watch_s)
    step("settled")


def _by_replace(attempt: Attempt, pace: Pace, step: Step) -> None:
    """Rung C: the old file keeps a second name, then the new version replaces it."""
    check_unchanged(attempt)
    step("verified")
    check_path(attempt)
    attempt.close()  # Windows replaces no file that is open, and the checks go by name from here
    step("before exchange")
    link = attempt.journal.name(versions.LINK)
    keep_old(attempt, link)
    step("linked")
    replace_patiently(attempt, attempt.journal.name(versions.NEW))
    step("exchanged")
    watch(lambda: file_of(attempt.state.stat(link)), pace.watch_s)
    step("settled")


_RUNGS = {Rung.LEASES: _by_leases, Rung.EXCHANGE: _by_exchange, Rung.REPLACE: _by_replace}


def lease(descriptor: int, attempt: Attempt, *, write: bool) -> None:
    """Take a lease with a little patience; raises as `swap`."""
    for _ in range(_LEASE_TRIES):
        try:
            return take_lease(descriptor, write=write)
        except OSError as e:
            if e.errno != errno.EAGAIN:
                raise NotCarried("lease", e.errno or 0) from None
            time.sleep(0.0005)  # a writer has it open
    trace.note("a writer has the file open: no lease")
    raise Changed(attempt.snapshot.path)


def check_unchanged(attempt: Attempt) -> None:
    """Look at the old version again: stat alone proves nothing on ext2 or ramfs, so its bytes are compared too."""
    same_stat = identity(os.fstat(attempt.live)) == identity(attempt.snapshot.stat)
    if not same_stat or not versions.holds(attempt.live, attempt.snapshot.data):
        raise Changed(attempt.snapshot.path)


def check_path(attempt: Attempt) -> None:
    """Look whether the memory file's name still leads to what was read; raises `Changed`."""
    try:
        live = attempt.memory.stat(attempt.name)
    except FileNotFoundError:
        raise Changed(attempt.snapshot.path) from None
    if identity(live) != identity(attempt.snapshot.stat):
        raise Changed(attempt.snapshot.path)


def exchange_names(attempt: Attempt) -> None:
    """Let the new version and the memory file change places; raises as `swap`."""
    try:
        exchange(attempt.state, attempt.swap_name, attempt.memory, attempt.name)
    except FileNotFoundError:
        raise Changed(attempt.snapshot.path) from None
    except OSError as e:
        raise refused(e.errno or 0, attempt.snapshot.path) or NotCarried("exchange", e.errno or 0) from None


def old_one_came_out(attempt: Attempt) -> bool:
    """Say whether what lies under the new version's name is what was read."""
    return file_of(attempt.state.stat(attempt.swap_name))[:2] == file_of(attempt.snapshot.stat)[:2]


def file_of(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _settles(live: int, settle_s: float) -> bool:
    """Hold both leases a while: a writer that had looked up the path before the exchange now meets the old one's."""
    end = time.monotonic() + settle_s
    while holds_read_lease(live):
        left = end - time.monotonic()
        if left <= 0:
            return True
        time.sleep(min(left, 0.001))
    return False


def _undo(attempt: Attempt, step: Step) -> None:
    """Exchange until what comes out is what was put in, so that the newest of the strangers' files ends up live."""
    expected = file_of(os.fstat(attempt.new))[:2]
    for _ in range(1000):
        step("before undo")
        placed = file_of(attempt.state.stat(attempt.swap_name))[:2]
        exchange_names(attempt)
        if file_of(attempt.state.stat(attempt.swap_name))[:2] == expected:
            break
        expected = placed
    attempt.was_undone = True


def serve_who_waits(attempt: Attempt) -> None:
    """Write the live content into our version, still leased: a reader that already waits for it then reads the newest.

    Without a name of the journal meanwhile, since half of it may be written when we are killed.
    """
    ours = file_of(attempt.state.stat(attempt.swap_name))[:2] == file_of(os.fstat(attempt.new))[:2]
    part = attempt.swap_name + versions.PART
    if ours:
        attempt.state.rename(attempt.swap_name, part)
    data = _live_content(attempt)
    versions.write_at(attempt.new, data)
    if ours:
        digest = versions.short_digest(data)
        base = attempt.snapshot._replace(data=data)
        versions.write_base(attempt.state, base)
        attempt.state.rename(part, attempt.journal._replace(old=digest, new=digest).name(versions.SWAP))


def _live_content(attempt: Attempt) -> bytes:
    data = b""
    for _ in range(50):
        data = versions.slurp(attempt.memory, attempt.name) or b""
        if is_whole(data, attempt.snapshot.data):
            break
        time.sleep(0.002)
    return data


def watch(look: Callable[[], object], watch_s: float) -> None:
    """Wait for late writers of the old file; what they wrote is found and merged by its content."""
    before, end = look(), time.monotonic() + watch_s
    while time.monotonic() < end and look() == before:
        time.sleep(min(watch_s, 0.01))


def keep_old(attempt: Attempt, link: str) -> None:
    """Give the old file a second name, or where there are no hard links a copy, as the last thing before it goes."""
    try:
        attempt.state.link_from(attempt.memory, attempt.name, link)
    except FileNotFoundError:
        raise Changed(attempt.snapshot.path) from None
    except OSError:
        os.close(versions.write_version(attempt.state, link, attempt.snapshot.data, attempt.snapshot, live=None))
        check_path(attempt)
        return
    if file_of(attempt.state.stat(link)) != file_of(attempt.snapshot.stat):
        raise Changed(attempt.snapshot.path)


def replace_patiently(
    attempt: Attempt, new_name: str, *, platform: str = sys.platform, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Replace the memory file by `new_name`; on Windows with patience while a program has it open (EACCES, EPERM).

    Raises:
        TryAgain: a program kept it open.
        NoPermission: the operating system refuses for good.
    """
    for tried in range(_SHARING_TRIES):
        try:
            return attempt.memory.replace_from(attempt.state, new_name, attempt.name)
        except PermissionError as e:
            if platform != "win32":
                raise refused(e.errno or 0, attempt.snapshot.path) or e from None
            sleep(min(0.005 * (tried + 1), 0.1))
        except OSError as e:
            raise refused(e.errno or 0, attempt.snapshot.path) or e from None
    raise TryAgain(f"{attempt.snapshot.path} is held open by another program; nothing was changed.")
