"""Every archive of a memory file: the policy's, those that its log names, and those that are marked as its own.

`workflow/forget.py` asks it, since a policy that names another archive now does not empty the one it named before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memttl.core.forgetting_log import events_in
from memttl.files.archive_mark import UNKNOWN, archive_of
from memttl.files.erasing_places import places_of, read_place
from memttl.files.moving import former_folders
from memttl.files.state import FOLDER, State, state_of


def known_archives(state: State, policy_path: str | None, elsewhere: Path | None) -> tuple[list[State], list[str]]:
    """Give the state of each archive that is there, and a warning for each file that only the log calls one.

    Raises:
        CannotCreate, NoPermission: the log or a folder cannot be read.
    """
    home = state.memory.parent
    of_policy = _real(home, policy_path) if policy_path else None
    found, told = list[State](), list[str]()
    for path in dict.fromkeys([*([of_policy] if of_policy else []), *_marked(state), *_in_logs(state)]):
        if not os.path.lexists(path) or path == state.memory:
            continue
        archive = state_of(path, elsewhere)
        # a log from elsewhere must not lead this to a file that never was an archive of this one
        if path == of_policy or _is_of(archive, state.memory):
            found.append(archive)
        else:
            told.append(
                f"the audit log names the archive {path}, which bears no mark of it, so it was not searched: if it is "
                f"one, forget there as well, with --file {path}"
            )
    return found, told


def _real(home: Path, name: str) -> Path:
    return Path(os.path.realpath(home / os.path.expanduser(name)))


def _is_of(archive: State, memory: Path) -> bool:
    names = archive_of(archive)
    return names == UNKNOWN or any(Path(os.path.realpath(archive.memory.parent / name)) == memory for name in names)


def _marked(state: State) -> Iterator[Path]:
    """Give each file beside the memory file whose state folder bears a mark that names the memory file."""
    home = state.memory.parent
    for mark in sorted((home / FOLDER).glob("*/archive")):
        path = home / mark.parent.name
        names = archive_of(state_of(path))
        if path.is_file() and not path.is_symlink() and names != UNKNOWN and _is_of(state_of(path), state.memory):
            yield Path(os.path.realpath(path))


def _in_logs(state: State) -> Iterator[Path]:
    for place in places_of(state):
        if place.kind in ("log", "old log"):
            begins = (event for event in events_in(read_place(place.path)) if event.get("event") == "begin")
            names = {e["archive"] for e in begins if isinstance(e.get("archive"), str)}
            homes = (state.memory.parent, *former_folders(state))
            for name in sorted(names):
                found = [_real(home, name) for home in homes]
                yield from [path for path in found if _is_of(state_of(path), state.memory)] or found[:1]
