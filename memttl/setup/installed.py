"""The schedules of memttl's own that lie on this machine, read back from where each kind keeps them.

`memttl schedule`, `move` and `doctor` ask. Nothing is written; what cannot be read is left out.
"""

from __future__ import annotations

import contextlib
import os
import plistlib
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memttl.core.installed import Installed, command_of, every_of
from memttl.core.schedule import DEFAULTS, MARK, Every, Kind
from memttl.errors import MemttlError
from memttl.setup.cron import end_of
from memttl.setup.here import Here
from memttl.setup.job import unit_name
from memttl.setup.systemd import BY_SHELL
from memttl.setup.targets import Crontab, is_ours

_MOST_BYTES = 1 << 16
_SUFFIX: dict[Kind, str] = {"systemd": ".service", "launchd": ".plist", "cron": ""}
_BEGIN = re.compile(rf"^# (memttl-[a-z]+-[a-z0-9-]+): {MARK}")
_COLUMNS = 5


def installed_for(memory: Path, here: Here, *, asks_crontab: bool = False) -> list[Installed]:
    """Give the schedules of one memory file, by their names alone: a few looks, whatever else is installed.

    `memory` has its links resolved, and need not be there any more. `asks_crontab`: the program `crontab` is run.
    """
    names = _names(memory)
    found = [
        one
        for kind, folder, system in _folders(here)
        for name in sorted(names)
        for one in _read(kind, folder / f"{name}{_SUFFIX[kind]}", system=system)
    ]
    return found + [one for one in (_crontab(here) if asks_crontab else ()) if one.name in names]


def installed_here(here: Here) -> list[Installed]:
    """Give the schedules of all memory files; the program `crontab` is run, once."""
    found = [
        one
        for kind, folder, system in _folders(here)
        for path in _paths(folder, f"memttl-*{_SUFFIX[kind]}")
        for one in _read(kind, path, system=system)
    ]
    return [*found, *_crontab(here)]


def naming(installed: Iterable[Installed], memory: Path) -> list[Installed]:
    """Give those schedules that name a memory file, by whatever path, or are named after it."""
    names = _names(memory)
    return [one for one in installed if one.name in names or str(memory) in (one.file, os.path.realpath(one.file))]


def installed_naming(memory: Path, here: Here) -> list[Installed]:
    """Give all schedules that name a memory file, by whatever path, or are named after it; `crontab` is asked, too."""
    return naming(installed_here(here), memory)


def _names(memory: Path) -> set[str]:
    return {unit_name(memory, command) for command in DEFAULTS}


def _paths(folder: Path, pattern: str) -> list[Path]:
    with contextlib.suppress(OSError):  # a folder that this user may not enter, where sudo kept another one's HOME
        return sorted(folder.glob(pattern))
    return []


def _folders(here: Here) -> Iterator[tuple[Kind, Path, bool]]:
    yield from (("systemd", here.user_units, False), ("systemd", here.system_units, True))
    yield from (("cron", here.cron_folder, True), ("launchd", here.agents, False), ("launchd", here.daemons, True))


def _read(kind: Kind, path: Path, *, system: bool) -> Iterator[Installed]:
    text = ""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as f:
                text = f.read(_MOST_BYTES).decode("utf-8", "surrogateescape")
    if not is_ours(text):
        return
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, plistlib.InvalidFileException):
        if kind == "systemd":
            yield from _unit(path, text, system=system)
        elif kind == "launchd":
            yield from _list(path, text, system=system)
        else:
            yield from _blocks(text, str(path), system=system)


def _unit(path: Path, text: str, *, system: bool) -> Iterator[Installed]:
    """Read a service, and look whether its timer is there and enabled."""
    lines = dict(line.split("=", 1) for line in text.split("\n") if re.match(r"(ExecStart|Description)=", line))
    words = tuple(w.replace("%%", "%").replace("$$", "$") for w in shlex.split(lines["ExecStart"]))
    words = words[len(BY_SHELL) :] if words[: len(BY_SHELL)] == BY_SHELL else words
    variables = [shlex.split(v)[0].replace("%%", "%") for v in re.findall(r"^Environment=(.+)$", text, re.MULTILINE)]
    timer = path.with_suffix(".timer")
    is_enabled = timer.is_file() and os.path.lexists(path.parent / "timers.target.wants" / timer.name)
    every = every_of(lines.get("Description", ""))
    yield from _one("systemd", path.stem, str(path), words, variables, every, system=system, is_enabled=is_enabled)


def _list(path: Path, text: str, *, system: bool) -> Iterator[Installed]:
    keys = plistlib.loads(text.encode("utf-8", "surrogateescape"))
    variables = [f"{name}={value}" for name, value in keys.get("EnvironmentVariables", {}).items()]
    words = tuple(map(str, keys["ProgramArguments"]))
    yield from _one("launchd", path.stem, str(path), words, variables, _times(keys), system=system)


def _times(keys: Mapping[str, Any]) -> Every | None:
    if "StartInterval" in keys:
        return Every(int(keys["StartInterval"]) // 60)
    at = keys.get("StartCalendarInterval")
    if isinstance(at, list):
        return Every(months=12 // len(at))
    if not isinstance(at, dict):
        return None
    return Every(10080) if "Weekday" in at else Every(months=1) if "Day" in at else Every(1440)


def _crontab(here: Here) -> Iterator[Installed]:
    if here.platform == "win32" or shutil.which("crontab", path=here.environ.get("PATH")) is None:
        return
    with contextlib.suppress(MemttlError):
        crontab = Crontab("", here.environ)
        yield from _blocks(crontab.whole(), crontab.title, system=False)


def _blocks(text: str, path: str, *, system: bool) -> Iterator[Installed]:
    """Read what stands between memttl's lines of a crontab; `system`: a user's name stands before each command."""
    name, every = "", None
    for row in text.split("\n"):
        begin = _BEGIN.match(row)
        if begin:
            name, every = begin[1], None
        elif row == end_of(name):
            name = ""
        elif name and row.startswith("#"):
            every = every_of(row) or every
        elif name and row.strip():
            with contextlib.suppress(ValueError):
                words = shlex.split(row.replace("\\%", "%"))[_COLUMNS + system :]
                first = next((i for i, word in enumerate(words) if not re.match(r"[A-Z_]+=", word)), len(words))
                yield from _one("cron", name, path, tuple(words[first:]), words[:first], every, system=system)


def _one(
    kind: Kind,
    name: str,
    path: str,
    words: tuple[str, ...],
    variables: list[str],
    every: Every | None,
    *,
    system: bool,
    is_enabled: bool = True,
) -> Iterator[Installed]:
    command = command_of(words)
    if command is not None:
        lacks = _lacks(words[0], variables)
        yield Installed(kind, command, system, name, path, words, every, lacks, is_enabled)


def _lacks(python: str, variables: list[str]) -> str:
    """Name what is gone of a program: its Python, or memttl in that Python's environment; "" where nothing is known.

    Nothing is started for it: root may look at units that somebody else wrote.
    """
    if os.path.isabs(python) and _is_gone(python):
        return python
    packages = next((v.partition("=")[2] for v in variables if v.startswith("PYTHONPATH=")), "")
    if packages:
        package = os.path.join(packages, "memttl")
        return package if _is_gone(package) else ""
    home = Path(python).parent.parent
    with contextlib.suppress(OSError):
        about = (home / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
        is_alone = not re.search(r"^include-system-site-packages\s*=\s*true", about, re.MULTILINE | re.IGNORECASE)
        places = ("lib*/python*/site-packages/*memttl*", "Lib/site-packages/*memttl*")
        if is_alone and not any(next(home.glob(place), None) for place in places):
            return f"memttl in {home}"
    return ""


def _is_gone(path: str) -> bool:
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # in a folder that is closed to us
    return False
