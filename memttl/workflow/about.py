"""The use case `--version --verbose`: what a bug report needs, of this installation and of the files that it would use.

`commands/about.py` prints it. It works whatever is broken, takes no lock, writes nothing, and opens no memory file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from memttl import __version__
from memttl.core.wording import instant_text, plural
from memttl.errors import BadPolicy, MemttlError, NoMemoryFile, UsageError
from memttl.files.checkup import Place, fs_type_of, rung_of
from memttl.files.state import state_of
from memttl.memory_files import memory_files
from memttl.settings import Given, Settings, resolve_anyway
from memttl.setup.this_install import Fact, install_facts, machine_facts, told

_SHOWN = 10


def about(environ: Mapping[str, str]) -> tuple[Fact, ...]:
    """Give all facts in their order; what cannot be told says why."""
    return (
        Fact("memttl", __version__),
        *install_facts(),
        *_folders(),
        *_files(environ),
        *machine_facts(environ),
    )


def _folders() -> Iterator[Fact]:
    import platformdirs

    yield told("config folder", lambda: _there(platformdirs.user_config_dir("memttl", appauthor=False)))
    yield told("state folder", lambda: _there(platformdirs.user_state_dir("memttl", appauthor=False)))


def _files(environ: Mapping[str, str]) -> Iterator[Fact]:
    names: list[str] = []

    def found() -> str:
        try:
            names.extend(memory_files(Given(), environ))
        except (NoMemoryFile, UsageError) as e:
            return f"none; {e.message}"
        return plural(len(names), "file") if len(names) > 1 else names[0]

    yield told("memory file", found)
    for name in names[:_SHOWN]:
        yield from _file(name, environ)


def _file(name: str, environ: Mapping[str, str]) -> Iterator[Fact]:
    try:
        settings = resolve_anyway(name, Given(), {**environ, "MEMTTL_NOW": ""}, datetime.now(UTC))
    except MemttlError as e:
        yield Fact("  file", f"{name}; {e.message}")
        return
    state = state_of(settings.memory, settings.state_elsewhere)
    yield told("  file", lambda: _stat_words(settings))
    yield told("  policy", lambda: _policy_words(settings))
    yield told("  state", lambda: _there(str(state.kept)))
    yield told("  written", lambda: _way(settings))


def _stat_words(settings: Settings) -> str:
    link = f" (a link: {settings.named})" if os.path.islink(settings.named) else ""
    if not os.path.lexists(settings.memory):
        return f"{settings.memory}{link}, missing"
    found = settings.memory.stat()
    kind = "" if stat.S_ISREG(found.st_mode) else "no regular file, "
    changed = instant_text(datetime.fromtimestamp(found.st_mtime, UTC))
    owner = f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}"
    return f"{settings.memory}{link}, {kind}{found.st_size:,} bytes, changed {changed}, {owner}"


def _policy_words(settings: Settings) -> str:
    bad: BadPolicy | None = settings.bad_policy
    return f"{bad.where}, {plural(len(bad.problems), 'problem')}" if bad else settings.policy.where


def _way(settings: Settings) -> str:
    """Say on which file system the file lies, and on which rung it would be written; doctor says more."""
    state = state_of(settings.memory, settings.state_elsewhere)
    found = settings.memory.stat() if settings.memory.exists() else None
    place = Place(settings.named, settings.memory, state, found)
    return f"on rung {rung_of(place).value}, file system {fs_type_of(settings.memory.parent) or 'unknown'}"


def _there(path: str) -> str:
    return path if os.path.lexists(path) else f"{path} (not there)"
