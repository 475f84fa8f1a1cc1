"""What a run does from step to step, in words without any text of a memory file, for whoever listens: MEMTTL_LOG.

Everything that waits, tries anew or writes calls `note` or `step`; `commands/diagnostics.py` listens where a log was
asked for, else nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def note(what: str) -> None:
    """Tell whoever listens; `what` names files, counts and line numbers, never an entity or an observation."""
    for listener in _listeners:
        listener(what)


def is_heard() -> bool:
    """Say whether anybody listens: what costs something is not worked out for nobody."""
    return bool(_listeners)


def step(name: str) -> None:
    """Tell of one step of the write path, by its name."""
    note(f"step: {name}")


def listen(listener: Callable[[str], None] | None) -> None:
    """Let `listener` be told, in place of who was; None for nobody."""
    _listeners[:] = [] if listener is None else [listener]
