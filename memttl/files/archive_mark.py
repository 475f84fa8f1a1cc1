"""The mark of an archive in its state folder: which memory files keep in it what was removed from them.

Commands that record or write refuse a file that bears one; `archiving.py` sets it before anything is put in.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from memttl.errors import IsArchive, MemttlError, NoPermission
from memttl.files.backups import write_new
from memttl.files.state import State, lies_in_state, own_file, read_own, refusal

UNKNOWN = ("another memory file",)


def _path(state: State) -> Path:
    return state.beside / "archive"  # beside, whatever folder the policy names: the mark must always be found


def archive_of(state: State) -> tuple[str, ...]:
    """Give the memory files whose archive this file is, as paths from its folder; none for a memory file of its own."""
    try:
        data = read_own(_path(state))
    except MemttlError:
        return UNKNOWN if os.path.lexists(_path(state)) else ()
    if not data:
        return ()
    try:
        names = json.loads(data)["archive_of"]
        return tuple(map(str, names)) or UNKNOWN
    except (ValueError, KeyError, TypeError):
        return UNKNOWN


def refuse_archive(state: State) -> None:
    """Refuse to record or write anything of an archive, or of a backup and the like in a state folder.

    Raises:
        IsArchive: what it is an archive of.
        NoPermission: it is one of memttl's own files.
    """
    if lies_in_state(state.memory):
        raise NoPermission(
            f"{state.memory} lies where memttl keeps its own state (backups and the like); nothing was done.",
            hint="Name the memory file instead, or copy this one to another folder and name the copy.",
        )
    names = archive_of(state)
    if names:
        raise IsArchive(
            f"{state.memory} is the archive of {' and '.join(names)}: it keeps what was removed from there; nothing "
            "was done.",
            hint="Name the memory file instead. `memttl search --file` finds all that an archive holds; to make it a "
            f"memory file of its own, remove {_path(state)}.",
        )


def archive_words(state: State) -> tuple[str, ...]:
    """Give the sentence by which a reading command says that a file is an archive; none for another file."""
    names = archive_of(state)
    return (
        (f"this file is the archive of {' and '.join(names)}: no prune, review or setting goes to it",) if names else ()
    )


def former_names(state: State, name: str) -> frozenset[str]:
    """Give all names under which the archive keeps what goes from the memory file that is `name` now: moves change it.

    `name` itself is one of them.
    """
    found, before = {name}, _former(state)
    todo = [name]
    while todo:
        new = [old for old in before.get(todo.pop(), ()) if old not in found]
        found.update(new)
        todo += new
    return frozenset(found)


def _former(state: State) -> dict[str, list[str]]:
    try:
        found = json.loads(read_own(_path(state)))["formerly"]
        return {str(name): list(map(str, names)) for name, names in found.items()}
    except (MemttlError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def rename_in_mark(state: State, old: str, new: str, like: os.stat_result) -> None:
    """Note that the memory file `old` was moved, and is `new` as seen from the archive; raises as `mark_archive`."""
    names = archive_of(state)
    if old == new or old not in names:
        return
    former = _former(state)
    former.setdefault(new, []).append(old)
    _write(state, [new if name == old else name for name in names if name != new], former, like)


def mark_archive(state: State, name: str, like: os.stat_result) -> None:
    """Note that the archive keeps what goes from the memory file `name`; the caller holds the archive's lock.

    Raises:
        CannotCreate, NoPermission: it cannot be written.
    """
    names = archive_of(state)
    if name in names:
        return
    known = names if names != UNKNOWN else ()
    _write(state, [*known, name], _former(state), like)


def _write(state: State, names: list[str], former: dict[str, list[str]], like: os.stat_result) -> None:
    path, part = _path(state), _path(state).with_name("archive.part")
    fields = {"v": 1, "archive_of": names, **({"formerly": former} if former else {})}
    try:
        write_new(part, json.dumps(fields).encode() + b"\n")
        own_file(part, like)
        part.rename(path)
    except OSError as e:
        raise refusal(e, f"The mark {path} cannot be written") from None
