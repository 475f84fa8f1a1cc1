"""This installation of memttl and this machine, as far as a schedule must know them; as one value, so that a test can
give another.

`workflow/schedule.py` asks once for each memory file.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import memttl
from memttl.setup.home import home_of


class Here(NamedTuple):
    """Where memttl and the schedulers' files lie, and who runs this.

    `program` are the words that start memttl, `lies_in` the folders that they need; `passing` is the one of these that
    a tool may empty at any time, `checkout` one that lies in a source tree, each None for none. `environment` are the
    variables that decide where memttl finds its policy, its state and itself. `is_booted`: systemd runs this machine.
    """

    platform: str
    program: tuple[str, ...]
    lies_in: tuple[str, ...]
    passing: str | None
    environment: tuple[tuple[str, str], ...]
    environ: Mapping[str, str]
    user: int
    group: int
    is_booted: bool
    user_units: Path
    system_units: Path
    cron_folder: Path
    agents: Path
    daemons: Path
    logs: Path
    checkout: str | None = None


def this_installation(environ: Mapping[str, str]) -> Here:
    """Look at this process and its environment."""
    home = Path(home_of(environ))
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    program = (_interpreter(), "-P", "-m", "memttl")
    package = os.path.dirname(os.path.dirname(os.path.abspath(memttl.__file__)))
    lies_in = (os.path.dirname(program[0]), sys.prefix, sys.base_prefix, package)
    return Here(
        platform=sys.platform,
        program=program,
        lies_in=lies_in,
        passing=next((path for path in (sys.prefix, package) if _is_passing(path)), None),
        environment=tuple(_environment(environ, config, home, package)),
        environ=environ,
        user=os.getuid() if hasattr(os, "getuid") else 0,
        group=os.getgid() if hasattr(os, "getgid") else 0,
        is_booted=os.path.isdir("/run/systemd/system"),  # as sd_booted(3) finds out
        user_units=config / "systemd" / "user",
        system_units=Path("/etc/systemd/system"),
        cron_folder=Path("/etc/cron.d"),
        agents=home / "Library" / "LaunchAgents",
        daemons=Path("/Library/LaunchDaemons"),
        logs=home / "Library" / "Logs",
        checkout=checkout_of(sys.prefix, package),
    )


def checkout_of(prefix: str, package: str) -> str | None:
    """Give the part of an installation that lies in a source tree: its virtual environment, or memttl itself."""
    is_venv = os.path.exists(os.path.join(prefix, "pyvenv.cfg"))
    if is_venv and os.path.exists(os.path.join(os.path.dirname(prefix), "pyproject.toml")):
        return prefix
    return package if os.path.exists(os.path.join(package, "pyproject.toml")) else None


def _interpreter() -> str:
    """Give this interpreter: an upgrade by pip, pipx or uv keeps its path, and a virtual environment is known by it."""
    path = os.path.abspath(sys.executable)
    without_window = os.path.join(os.path.dirname(path), "pythonw.exe")
    return without_window if sys.platform == "win32" and os.path.exists(without_window) else path


def _is_passing(path: str) -> bool:
    """Say whether a folder is one that `uvx` or `pipx run` made for one run, and removes when it likes."""
    parts = Path(path).parts
    return any(part.startswith(("archive-v", "builds-v", "environments-v")) for part in parts) or (
        "pipx" in parts and (".cache" in parts or "Cache" in parts or "Caches" in parts)
    )


def _environment(environ: Mapping[str, str], config: Path, home: Path, package: str) -> list[tuple[str, str]]:
    found = []
    if environ.get("MEMTTL_STATE_DIR"):
        found.append(("MEMTTL_STATE_DIR", os.path.abspath(os.path.expanduser(environ["MEMTTL_STATE_DIR"]))))
    # a scheduler starts with none of what a shell's start-up files set, and another policy may remove more
    if environ.get("XDG_CONFIG_HOME") and config != home / ".config":
        found.append(("XDG_CONFIG_HOME", str(config)))
    state = environ.get("XDG_STATE_HOME")
    if state and Path(state) != home / ".local" / "state":
        found.append(("XDG_STATE_HOME", state))
    if _needs_path(environ, package):
        found.append(("PYTHONPATH", package))
    return found


def _needs_path(environ: Mapping[str, str], package: str) -> bool:
    """Say whether memttl is found by PYTHONPATH, or by the folder in which it was started, alone."""
    if package in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        return False
    named = [os.path.abspath(path) for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    try:
        return package in (*named, os.getcwd())
    except FileNotFoundError:
        return package in named
