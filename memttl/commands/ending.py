"""SIGTERM in a run that nobody watches: it ends as by Ctrl-C, with the memory file whole and the outcome kept.

`keeping.py` has its runs end so; systemd sends it where TimeoutStartSec is over, and where the machine goes down.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_by_sigterm() -> Iterator[list[int]]:
    """Let a first SIGTERM raise KeyboardInterrupt, and the next ones nothing: that one is being dealt with.

    The list holds the signal once it has come.
    """
    came: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        came.append(number)
        raise KeyboardInterrupt

    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:  # somebody else's to deal with
        yield came
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield came
    finally:
        if not came:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
