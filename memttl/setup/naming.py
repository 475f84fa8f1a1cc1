"""Who names a memory file on this machine: clients' configs, variables of the environment, timers of memttl's own.

`workflow/move.py` asks before it moves one; nothing is written here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memttl.core.installed import Installed
from memttl.core.move_outcome import ClientStep
from memttl.errors import MemttlError
from memttl.setup.client_config import change_of
from memttl.setup.discover import discover, pointers_to, this_machine
from memttl.setup.found import Unread
from memttl.setup.here import this_installation
from memttl.setup.installed import installed_naming

_VARIABLES = ("MEMTTL_FILE", "MEMORY_FILE_PATH")


class Clients(NamedTuple):
    """The clients' configs that point at a memory file, each with its change, and a sentence for each unread one."""

    steps: tuple[ClientStep, ...] = ()
    unread: tuple[str, ...] = ()


def clients_naming(memory: Path, target: Path, environ: Mapping[str, str]) -> Clients:
    """Give each client's config that points at `memory`, and the piece of it with `target` in its place."""
    try:
        discovery = discover(this_machine(environ), counting=False)
        found = pointers_to(discovery, memory)
        steps = tuple(ClientStep(p.client, str(p.config), *change_of(p, target)) for p in found)
    except (MemttlError, OSError):  # configs of other programs; the move does not hang on them
        return Clients(unread=("the configs of the MCP clients here could not be read, and may name the old place",))
    return Clients(steps, tuple(map(_unread_words, discovery.unread)))


def _unread_words(unread: Unread) -> str:
    return (
        f"the config {unread.config} ({unread.client}) could not be read ({unread.problem}): if it names the old place,"
        " its client begins an empty memory there"
    )


def variables_naming(memory: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Give the variables of the environment that name `memory`."""
    return tuple(name for name in _VARIABLES if environ.get(name) and _is(environ[name], memory))


def _is(text: str, memory: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return os.path.realpath(os.path.expanduser(text)) == str(memory)
    return False


def schedules_naming(memory: Path, environ: Mapping[str, str]) -> tuple[Installed, ...]:
    """Give the schedules of memttl's own that name `memory`, of every kind that can be read."""
    return tuple(installed_naming(memory, this_installation(environ)))
