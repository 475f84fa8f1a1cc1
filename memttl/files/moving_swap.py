"""Taking a memory file away from its old place: a link to the new one comes there, and no update is lost by the way.

`moving_carry.py` calls it once the new place holds the file. Whatever comes out of the old place is brought into the
new file before anybody can read that by the link, where there are leases; nothing that came out is removed here.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from memttl.core.bring_in import additions, bring_in
from memttl.core.merge import is_whole
from memttl.errors import NoPermission
from memttl.files import versions
from memttl.files.folder import READ
from memttl.files.ladder import Rung
from memttl.files.moving_merge import put_newer, write_in
from memttl.files.moving_taken import ADDS, MOVED, LinkAttempt, Taken
from memttl.files.snapshot import Snapshot, identity, read_once
from memttl.files.state import refusal
from memttl.files.swap import (
    Changed,
    NotCarried,
    check_path,
    check_unchanged,
    exchange_names,
    keep_old,
    lease,
    old_one_came_out,
    watch,
)
from memttl.files.syscalls import holds_read_lease, lease_break_s
from memttl.files.writing import Session

_PAUSE_S = 0.001
_WRITTEN_S = 0.5  # how long a writer is waited for that was held while it opened the old file
_NO_JOURNAL = versions.Journal("", 0, "", "")


@dataclass(slots=True)
class Taking:
    """One taking away, with both sessions open. `base` is what the new file was made from.

    `adds_only`: the memory itself is out already; what lies there now takes nothing away.
    """

    old: Session
    new: Session
    run: str
    base: bytes
    adds_only: bool
    read: Callable[[], Snapshot]
    link: bool
    _count: int = 0
    _merged: int = 0
    _names: list[str] = field(default_factory=list)

    def run_it(self) -> Taken:
        """Put a link in the old file's place, or nothing on the last rung where none is wanted.

        Raises:
            Changed, TryAgain: the old file would not stay still.
            NoPermission: it can never be taken away, or no link be made.
        """
        if self.old.rung is Rung.LEASES and self.new.rung is not Rung.LEASES:
            self.old.rung = Rung.EXCHANGE  # readers of the new file cannot be held
        while True:
            self.old.wait_until_ready()
            try:
                data = self._try()
                return Taken(data, tuple(self._names), self._merged, self.old.rung is Rung.REPLACE and not self.link)
            except NotCarried as e:
                self.old.step_down(e)
            except Changed:
                if time.monotonic() > self.old.deadline:
                    raise
                time.sleep(_PAUSE_S)

    @property
    def _name(self) -> str:
        return self.old.state.memory.name

    def _try(self) -> bytes:
        snapshot = self.read()
        self.old.step("old file read")
        held = self._bring_first(snapshot.data)
        if self.old.rung is Rung.REPLACE:
            self._replace(snapshot)
        else:
            self._exchange(snapshot, held)
        return snapshot.data

    def _bring_first(self, theirs: bytes) -> Snapshot:
        """Bring what lies at the old place into the new file, which nobody reads there yet; give that as it is then.

        What takes something away goes the whole way, by the log and a backup.
        """
        held = read_once(self.new.state.memory)
        wanted = held.data if theirs == self.base else self._brought(theirs, held.data)
        if wanted == held.data:
            return held
        self._merged += 1
        if self.new.rung is Rung.LEASES:
            data = additions(self.base, theirs, held.data)
            if data != held.data:
                put_newer(self.new, self.run, held, data, leased=-1)
                held = read_once(self.new.state.memory)
            if self._brought(theirs, held.data) == held.data:
                return held
        begin = {"command": "recover", "from": str(self.old.state.memory)}
        write_in(self.new, self.base, theirs, begin, adds_only=self.adds_only)
        return read_once(self.new.state.memory)

    def _brought(self, theirs: bytes, live: bytes) -> bytes:
        return bring_in(self.base, theirs, live, adds_only=self.adds_only).data

    def _bring_out(self, base: bytes, found: Iterable[bytes], held: Snapshot, *, leased: int) -> None:
        """Add what came out of the old place to the new file, which is open as `leased` and held.

        What goes by it goes later, the whole way, where it is logged.
        """
        data = held.data
        for theirs in found:
            if theirs != base and is_whole(theirs, base):
                made = additions(base, theirs, data)
                self._merged += made != data
                data = made
        if data != held.data:
            put_newer(self.new, self.run, held, data, leased=leased)

    def _next_name(self) -> str:
        self._count += 1
        return f"{self.run}-{self._count}{ADDS if self.adds_only else MOVED}"

    def _next_link(self) -> str:
        """Make a link to the new file in the old state folder; what comes out of the old place will have its name."""
        name = self._next_name()
        self.old.beside.unlink(name)
        folder = self.old.beside
        try:
            os.symlink(self.new.state.memory, folder.name(name), dir_fd=folder.fd)
        except (OSError, NotImplementedError) as e:
            if not self.link:
                self.old.rung = Rung.REPLACE  # there the file can be taken away without one
                raise Changed(self.old.state.memory) from None
            raise NoPermission(
                f"No link can be made at {self.old.state.memory} ({e}); nothing was moved.",
                hint="Give --no-link, and let every client's config name the new path.",
            ) from None
        like = self.old.like
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            os.chown(folder.name(name), like.st_uid, like.st_gid, dir_fd=folder.fd, follow_symlinks=False)
        self._names.append(name)
        return name

    def _exchange(self, snapshot: Snapshot, held: Snapshot) -> None:
        """Rungs A and B. Under the lease on the new file nobody reads it by the link before all is in it."""
        is_leased = self.old.rung is Rung.LEASES
        attempt = self._opened(snapshot)
        try:
            held_since = time.monotonic()
            if is_leased:
                lease(attempt.new, attempt, write=True)
                held_since = time.monotonic()
                lease(attempt.live, attempt, write=False)
                self.old.step("leased")
            self._check(attempt, held)
            if is_leased and not holds_read_lease(attempt.live):
                raise Changed(snapshot.path)
            self.old.step("before exchange")
            exchange_names(attempt)
            self.old.step("exchanged")
            if is_leased:
                end = held_since + lease_break_s() / 2  # later the kernel lets readers in
                with suppress(Changed, NotCarried):  # what came out is looked at again
                    self._collect(attempt, end)
                    self._bring_out(snapshot.data, self._came_out(), held, leased=attempt.new)
            else:
                watch(lambda: identity(os.fstat(attempt.live)), self.old.pace.watch_s)
            self.old.step("settled")
        except BaseException:
            if not self._is_out():
                self._drop(attempt.link)
            raise
        finally:
            attempt.close()
        self.old.step("released")

    def _is_out(self) -> bool:
        """Say whether something came out of the old place under the newest name."""
        try:
            return stat.S_ISREG(self.old.beside.stat(self._names[-1]).st_mode)
        except FileNotFoundError:
            return False

    def _drop(self, link: str) -> None:
        """Remove a link of ours in whose place nothing came out."""
        self.old.beside.unlink(link)
        self._names.remove(link)

    def _attempt(self, snapshot: Snapshot, link: str = "") -> LinkAttempt:
        return LinkAttempt(self.old.memory, self._name, self.old.beside, _NO_JOURNAL, snapshot, -1, -1, link=link)

    def _opened(self, snapshot: Snapshot) -> LinkAttempt:
        new = self.new
        attempt = self._attempt(snapshot, self._next_link())
        try:
            attempt.live = self.old.memory.open(self._name, READ)
            flags = os.O_RDWR | (READ & ~os.O_RDONLY)
            attempt.new = new.memory.open(new.state.memory.name, flags)
        except OSError as e:
            attempt.close()
            self._drop(attempt.link)
            if isinstance(e, (FileNotFoundError, BlockingIOError)):
                raise Changed(snapshot.path) from None
            raise refusal(e, f"{new.state.memory} cannot be opened") from None
        return attempt

    def _check(self, attempt: LinkAttempt, held: Snapshot) -> None:
        check_unchanged(attempt)
        check_path(attempt)
        found = self.new.memory.stat(self.new.state.memory.name)
        if identity(found) != identity(held.stat) or not versions.holds(attempt.new, held.data):
            raise Changed(held.path)

    def _collect(self, attempt: LinkAttempt, end: float) -> None:
        """Wait for who had looked up the old file, or read it, before the exchange; take out what they put there."""
        settle_s = self.old.pace.settle_s
        quiet = time.monotonic() + settle_s
        if not old_one_came_out(attempt):
            os.close(attempt.live)  # a server replaced it between our look and the exchange: nobody finds it any more
            attempt.live = -1
        while time.monotonic() < min(quiet, end):
            if attempt.live >= 0 and not holds_read_lease(attempt.live):
                os.close(attempt.live)  # let a writer in that waits for it
                attempt.live = -1
                self._wait_written(attempt, end)
                quiet = time.monotonic() + settle_s
            if self._is_file():
                exchange_names(self._attempt(attempt.snapshot, self._next_link()))
                quiet = time.monotonic() + settle_s
            time.sleep(_PAUSE_S)

    def _wait_written(self, attempt: LinkAttempt, end: float) -> None:
        before = attempt.snapshot.data
        end = min(end, time.monotonic() + _WRITTEN_S)
        while time.monotonic() < end:
            data = versions.slurp(self.old.beside, attempt.link)
            if data != before and data is not None and is_whole(data, before):
                return
            time.sleep(_PAUSE_S)

    def _is_file(self) -> bool:
        try:
            return stat.S_ISREG(self.old.memory.stat(self._name).st_mode)
        except FileNotFoundError:
            return False

    def _came_out(self) -> list[bytes]:
        found = []
        for name in self._names:
            if stat.S_ISREG(self.old.beside.stat(name).st_mode):
                found.append(versions.slurp(self.old.beside, name) or b"")
        return found

    def _replace(self, snapshot: Snapshot) -> None:
        """Rung C: the old file keeps a second name, then the link replaces it, or nothing does."""
        attempt = self._attempt(snapshot)
        attempt.live = self.old.memory.open(self._name, READ)
        try:
            check_unchanged(attempt)
        finally:
            attempt.close()
        self.old.step("before exchange")
        kept = self._next_name()
        if self.link:
            link = self._next_link()
            keep_old(attempt, kept)
            self._names[-1:] = [kept]
            self.old.memory.replace_from(self.old.beside, link, self._name)
        else:
            try:
                self.old.beside.replace_from(self.old.memory, self._name, kept)
            except FileNotFoundError:
                raise Changed(snapshot.path) from None
            self._names.append(kept)
        self.old.step("exchanged")
        watch(lambda: identity(self.old.beside.stat(kept)), self.old.pace.watch_s)
        self.old.step("settled")
