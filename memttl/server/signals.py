"""SIGTERM and Ctrl-C while a file is served: the first one lets the server finish what it has, the second ends it.

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

_ENDING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def ended_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` in the event loop at the first signal."""
    loop = asyncio.get_running_loop()

    def first() -> None:
        for one in _ENDING:
            loop.remove_signal_handler(one)
            signal.signal(one, _at_once)
        end()

    with contextlib.suppress(NotImplementedError):
        for number in _ENDING:
            loop.add_signal_handler(number, first)
    yield


def _at_once(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)  # what is half done is settled by the next run, as after a kill
