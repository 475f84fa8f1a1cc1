"""Who names a memory file on this machine: clients' configs, variables of the environment, timers of memttl's own.

`workflow/move.py` asks before it moves one; nothing is written here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from memttl.core.move_outcome import ClientStep
from memttl.errors import MemttlError
from memttl.setup.client_config import config_with
from memttl.setup.discover import discover, pointers_to, this_machine

_VARIABLES = ("MEMTTL_FILE", "MEMORY_FILE_PATH")
_MOST_BYTES = 1 << 16


def clients_naming(memory: Path, target: Path, environ: Mapping[str, str]) -> tuple[ClientStep, ...]:
    """Give each client's config that points at `memory`, and the piece of it with `target` in its place."""
    try:
        found = pointers_to(discover(this_machine(environ), counting=False), memory)
        return tuple(ClientStep(p.client, str(p.config), config_with(p, target)) for p in found)
    except (MemttlError, OSError):  # configs of other programs; the move does not hang on them
        return ()


def variables_naming(memory: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Give the variables of the environment that name `memory`."""
    return tuple(name for name in _VARIABLES if environ.get(name) and _is(environ[name], memory))


def _is(text: str, memory: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return os.path.realpath(os.path.expanduser(text)) == str(memory)
    return False


def schedules_naming(memory: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Give the user's systemd units of memttl that name `memory`."""
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    found = []
    for path in sorted(Path(home, "systemd", "user").glob("memttl-*.service")):
        with contextlib.suppress(OSError):
            if path.is_file():
                with path.open("rb") as f:
                    text = f.read(_MOST_BYTES)
                if os.fsencode(memory) in text:
                    found.append(str(path))
    return tuple(found)
