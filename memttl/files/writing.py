"""A session of one writing command on one memory file: lock, ladder, recovery, and writing until the file holds still.

Every use case that writes opens one with `writing(…)` and calls `session.write(make)`; `make` reads and plans anew each
time, since a stranger may have written.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from memttl import trace
from memttl.errors import MemttlError, TryAgain
from memttl.files.commit import Change, commit
from memttl.files.folder import Folder
from memttl.files.foreign_lock import wait_for_foreign_lock
from memttl.files.ladder import WritePath, first_rung, next_rung, quiet_words, refused
from memttl.files.letting_go import Late
from memttl.files.lock import locked
from memttl.files.mounts import fs_type_of
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.remembered import Remembered
from memttl.files.run_log import RunLog
from memttl.files.snapshot import Snapshot, digest_of, identity
from memttl.files.state import State, prepare, refusal
from memttl.files.swap import Changed, NotCarried, Step

Make = Callable[[], tuple[Change, Snapshot] | None]
MakeAgain = Callable[[], tuple[Change, Snapshot, int] | None]
_PAUSE_S = 0.001
LOOKS_AGAIN = 3  # what a prune leaves, the next one removes


class Options(NamedTuple):
    """How a session writes: the user's word on the rung, the times, and the call that is made between the steps.

    `remembered` is what earlier sessions of this process have found out.
    """

    write_path: WritePath = "auto"
    pace: Pace = DEFAULT_PACE
    step: Step = trace.step
    remembered: Remembered | None = None


class Written(NamedTuple):
    """What was written in the end, on which bytes, and its backup."""

    change: Change
    snapshot: Snapshot
    backup: Path | None


class Session(RunLog):
    """One memory file, locked, with its folders open. `warnings` gathers what the user should be told."""

    def __init__(self, state: State, like: os.stat_result, memory: Folder, beside: Folder, options: Options) -> None:
        super().__init__(state, like)
        self.memory, self.beside = memory, beside
        self.write_path, self.pace, self.step, self.remembered = options
        self.had_to_wait = False  # for another memttl's lock
        self.deadline = time.monotonic() + self.pace.patience_s
        self.is_recovering = False
        self.late = Late.NO  # of the last write
        self.started = datetime.now(UTC)
        self._number = 0
        self.fs_type = fs_type_of(state.memory, memory.fd, self.remembered)
        self.rung = first_rung(self.write_path, platform=sys.platform, fs_type=self.fs_type)
        trace.note(f"rung {self.rung.value}, file system {self.fs_type or 'unknown'}")

    def digest(self, data: bytes) -> str:
        """Give SHA-256 of a version of the memory file, in hex."""
        return self.remembered.digest(data) if self.remembered is not None else digest_of(data)

    def next_number(self) -> int:
        """Count the writes of this session, for their names."""
        self._number += 1
        return self._number

    def write(self, make: Make) -> Written | None:
        """Write what `make` gives, and again what it then gives where a stranger wrote meanwhile; None for nothing.

        Raises:
            Changed, TryAgain, Locked: the file would not stay still within the patience.
            MemttlError: as `make` and `commit` say.
        """
        while True:
            self.wait_until_ready()
            made = make()
            if made is None:
                return None
            try:
                backup = commit(self, *made)
            except NotCarried as e:
                self.step_down(e)
            except Changed as e:
                self._after_a_stranger(e)
            else:
                if self.rung.waits_for_quiet:
                    self.warn(quiet_words(self.fs_type))
                return Written(*made, backup)

    def look_again(
        self, make: MakeAgain, words: Callable[[int], str], failure: str, *, looks: int = LOOKS_AGAIN
    ) -> None:
        """After a write: write again what a server undid that had read the file before the swap.

        `make` gives what is to be written and how many observations it is about, None where all is well; `words` tells
        of so many, and `failure` begins the warning where that could not be done: the memory file is written already.
        Each write can be undone in turn, so that it is looked up to `looks` times.
        """
        from memttl.files.recover import recover

        try:
            for _ in range(looks):
                recover(self)  # a late writer's update may have come out of the swap
                if not self._write_again(make, words):
                    return
            self.warn(f"{failure}: another program saved it again and again")
        except MemttlError as e:
            self.warn(f"{failure}: {e.message}")

    def _write_again(self, make: MakeAgain, words: Callable[[int], str]) -> bool:
        count = 0

        def counted() -> tuple[Change, Snapshot] | None:
            nonlocal count
            made = make()
            if made is None:
                return None
            change, snapshot, count = made
            return change, snapshot

        if self.write(counted) is None:
            return False
        self.warn(f"the memory server had read the file before this run wrote it and {words(count)}")
        return True

    def wait_until_ready(self) -> None:
        """Wait for a lock of another program, and where the rung needs it for a quiet moment; raises as `write`."""
        self._pass_foreign_lock()
        if self.rung.waits_for_quiet:
            self._wait_for_quiet()

    def _pass_foreign_lock(self) -> None:
        told = wait_for_foreign_lock(self.state.memory, deadline=self.deadline, stale_s=self.pace.lock_stale_s)
        if told:
            self.warn(told)

    def _wait_for_quiet(self) -> None:
        """Wait until the file was still for a while, by its mtime or, where clocks differ, by watching it."""
        trace.note(f"waiting until the file has been still for {self.pace.quiet_s} s")
        seen, since = None, time.monotonic()
        while True:
            found = self.memory.stat(self.state.memory.name)
            if self.remembered is not None and self.remembered.is_as_written(found):
                return  # it was quiet before that write
            if identity(found) != seen:
                seen, since = identity(found), time.monotonic()
            is_old = time.time() - found.st_mtime >= self.pace.quiet_s
            if is_old or time.monotonic() - since >= self.pace.quiet_s:
                return
            if time.monotonic() > self.deadline:
                raise TryAgain(
                    f"{self.state.memory} is written again and again, and on this file system it must be "
                    f"still for {self.pace.quiet_s:.0f} s; nothing was changed.",
                    hint="Stop the memory server for a moment, or run the same command later.",
                )
            time.sleep(0.02)

    def step_down(self, failed: NotCarried) -> None:
        """Go to the next rung after a call failed; raises where there is none."""
        rung = next_rung(failed.call, failed.code, write_path=self.write_path)
        if rung is None:
            error = OSError(failed.code, os.strerror(failed.code))
            raise refused(failed.code, self.state.memory) or refusal(error, f"{self.state.memory} cannot be replaced")
        trace.note(f"{failed.call} cannot be had here ({os.strerror(failed.code)}): on to rung {rung.value}")
        self.rung = rung

    def _after_a_stranger(self, changed: Changed) -> None:
        if changed.applied:
            raise changed
        trace.note(f"another program wrote meanwhile{' (late)' if changed.left_something else ''}: planning anew")
        if changed.left_something and not self.is_recovering:
            from memttl.files.recover import recover

            recover(self)
        if time.monotonic() > self.deadline:
            raise changed
        time.sleep(_PAUSE_S)


@contextmanager
def writing(
    state: State,
    like: os.stat_result,
    options: Options = Options(),  # noqa: B008
    *,
    once_locked: Callable[[], None] = lambda: None,
    in_move: bool = False,
) -> Iterator[Session]:
    """Open a session: make the state folder, lock it, and recover what a killed run left.

    `like` is the memory file's stat, whose owner and mode the state folder takes; `once_locked` is called between the
    lock and the recovery; `in_move` as in `locked`.

    Raises:
        Locked: another memttl holds it.
        NoPermission, CannotCreate: the state folder cannot be written, or the memory file never be replaced.
    """
    from memttl.files.recover import recover

    pace = options.pace
    prepare(state, like, anew=in_move)
    with (
        locked(state, like, patience_s=pace.patience_s, poll_s=pace.poll_s, in_move=in_move) as had_to_wait,
        _opened(state.memory.parent) as memory,
        _opened(state.beside) as beside,
    ):
        session = Session(state, like, memory, beside, options)
        session.had_to_wait = had_to_wait
        try:
            once_locked()
            recover(session)
            yield session
        except BaseException:
            with suppress(MemttlError):  # the first error is the one to tell; the next run settles the log
                session.log_end({"applied": False})
                # where this fails, too, settings stay of a text that did not come: one added later begins anew
                session.set_ahead(())
            raise
        session.log_end({"applied": False})
        if options.remembered is not None:
            with suppress(MemttlError):
                options.remembered.note_log(state.audit)


def _opened(path: Path) -> Folder:
    try:
        return Folder(path)
    except OSError as e:
        raise refusal(e, f"The folder {path} cannot be opened") from None
