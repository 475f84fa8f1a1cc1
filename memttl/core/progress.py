"""How far a long piece of work has come: calls of a `Progress`, about one for each MiB, out of the loops over lines.

The commands pass one down that draws a bar; without it nothing is called that does anything. Pure: no clock, no screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memttl.core.model import Line

Progress = Callable[[str, int, int | None], None]  # what is done, how much of it, of how much (None: nobody knows)
Tick = Callable[[int], None]  # how many bytes are done

TICK_BYTES = 1 << 20


def no_progress(_what: str, _done: int, _total: int | None) -> None:
    """Tell nobody."""


def no_tick(_done: int) -> None:
    """Tell nobody."""


def ticks_of(progress: Progress, what: str, total: int) -> Tick:
    """Give what is called with the bytes done of `total`."""
    return lambda done: progress(what, done, total)


def ticking(lines: Iterable[Line], tick: Tick) -> Iterator[Line]:
    """Yield lines that were read before, telling of their bytes as they go by."""
    done = due = 0
    for line in lines:
        if done >= due:
            tick(done)
            due = done + TICK_BYTES
        yield line
        done += len(line.raw) + 1
    tick(done)


def size_of(lines: Iterable[Line]) -> int:
    """Give the bytes of lines, with a line end each: what `ticking` comes to."""
    return sum(len(line.raw) + 1 for line in lines)
