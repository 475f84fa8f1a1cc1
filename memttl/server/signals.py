"""SIGTERM, SIGHUP and Ctrl-C while a file is served: the first lets the server finish what it has, a second ends it.

`serve.py` asks for it. Where the system knows no such handlers for an event loop (Windows), both end it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` in the event loop at the first signal."""
    loop, ending = asyncio.get_running_loop(), _ending()

    def first() -> None:
        for one in ending:
            loop.remove_signal_handler(one)
            signal.signal(one, _at_once)
        end()

    with contextlib.suppress(NotImplementedError):
        for number in ending:
            loop.add_signal_handler(number, first)
    yield


def _ending() -> list[signal.Signals]:
    found = [signal.SIGTERM, signal.SIGINT]
    # of a terminal that is closed; Windows knows none, and `nohup` has it ignored
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found


def _at_once(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)  # what is half done is settled by the next run, as after a kill
