"""One line on stderr that says how far long work has come, for a person at a terminal; elsewhere not one byte.

`over_files.py` opens it for a command, the work tells it how far it is, and whatever is printed first takes it away. A
thread draws it: there is life in it while SQLite or the disk is at work, and a terminal that is stopped (Ctrl-S) stops
no run that holds the memory file.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memttl.commands.printing import before_printing
from memttl.core.progress import Progress

DELAY_S = 0.5  # of silence, before there is anything to see
FRAME_S = 0.1
_CLEAR = b"\r\x1b[K"
_WIDEST = 72  # columns: when a window gets narrower, a short line is left whole
_PULSE = 4  # columns of what moves where nobody knows how much there is
_NARROWEST = 6


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give what the work is to tell how far it is: after half a second a bar on stderr, a terminal, shows it."""
    bar = Bar(sys.stderr.fileno())
    before_printing(bar.clear)
    try:
        bar.start()
        yield bar.tell
    finally:
        bar.end()
        before_printing(None)


class Stand(NamedTuple):
    """How far the work is: its name, how much is done, and of how much; None where nobody knows."""

    what: str
    done: int = 0
    total: int | None = None


class Bar:
    """The line on the terminal behind `descriptor`. `tell` and `clear` are for the work, `draw` for the thread."""

    def __init__(self, descriptor: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._descriptor, self._clock = descriptor, clock
        self._since = clock()
        self._stand: Stand | None = Stand("reading")
        self._is_shown = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to draw; where no thread can be had the work goes on without a bar."""
        try:
            self._thread.start()
        except RuntimeError:
            self._over.set()

    def end(self) -> None:
        """Take the bar away for good."""
        self._over.set()
        self.clear()
        if self._thread.is_alive():
            self._thread.join()

    def tell(self, what: str, done: int, total: int | None) -> None:
        """Note how far the work is; after something was printed this is the begin of a new silence."""
        if self._stand is None:
            self._since = self._clock()
        self._stand = Stand(what, done, total)

    def clear(self) -> None:
        """Take the bar off the screen, until the work tells of itself again."""
        with self._lock:
            self._stand = None
            if self._is_shown:
                self._is_shown = False
                self._write(_CLEAR)

    def _run(self) -> None:
        while not self._over.wait(FRAME_S):
            self.draw()

    def draw(self) -> None:
        """Show how far the work is, if it has lasted long enough."""
        with self._lock:
            stand, passed_s = self._stand, self._clock() - self._since
            if stand is None or passed_s < DELAY_S or not _in_foreground(self._descriptor):
                return
            line = frame(stand, passed_s, _columns(self._descriptor))
            self._is_shown = True
            self._write(b"\r" + line.encode("ascii", "replace") + b"\x1b[K")

    def _write(self, data: bytes) -> None:
        # not through sys.stderr, whose lock a thread that waits for the terminal would hold at the end of the process
        try:
            os.write(self._descriptor, data)
        except OSError:  # the terminal went away
            self._over.set()


def _in_foreground(descriptor: int) -> bool:
    """Say whether the terminal is ours to write to, and not that of whoever started us with `&`."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except (OSError, AttributeError):  # not the terminal that controls us; no such thing on this platform
        return True


def _columns(descriptor: int) -> int:
    try:
        return os.get_terminal_size(descriptor).columns or 80
    except OSError:
        return 80


def frame(stand: Stand, passed_s: float, columns: int) -> str:
    """Give the line for a terminal of so many columns, in ASCII; it never reaches the last one, where a line wraps."""
    what, done, total = stand
    width = max(0, min(columns - 1, _WIDEST))
    is_known = total is not None and done < total
    amount = f"{100 * done // total:3}% " if is_known and total else ""
    end = f"{amount}{int(passed_s) // 60}:{int(passed_s) % 60:02}"
    room = width - len(f"{what} [] {end}")
    if room < _NARROWEST:
        return f"{end.strip()} {what}"[:width]
    bar = _filled(room * done // total, room) if is_known and total else _pulse(round(passed_s / FRAME_S), room)
    return f"{what} [{bar}] {end}"


def _filled(full: int, room: int) -> str:
    return "#" * full + "." * (room - full)


def _pulse(step: int, room: int) -> str:
    """A block that goes to and fro."""
    way = room - _PULSE
    at = way - abs(step % (2 * way) - way)
    return "." * at + "#" * _PULSE + "." * (way - at)
