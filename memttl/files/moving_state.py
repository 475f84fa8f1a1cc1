"""The state of a memory file carried to another place: copied file by file, compared, synced; and taken away behind it.

`moving_carry.py` calls it under both locks. No link is followed; what cannot be removed afterwards does no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from memttl.core.moving import HISTORY, UNDER_WAY
from memttl.errors import CannotCreate, TryAgain
from memttl.files import outcomes, versions
from memttl.files.leftovers import RESCUED
from memttl.files.recover import recover
from memttl.files.state import State, had_ledger, mark_ledger, open_own, own_file, own_folder, refusal, sync_folder
from memttl.files.writing import Session

_MARK = "archive"
_STAYS = frozenset({"lock", "path", UNDER_WAY})  # each place has its own
_PIECE = 1 << 20
_PAUSE_S = 0.05


def settle_leftovers(session: Session) -> None:
    """Wait until nothing is left of earlier writes: late writers of what they displaced are looked for at that name.

    Raises:
        TryAgain: another program keeps one of them open.
    """
    deadline = time.monotonic() + session.pace.patience_s + session.pace.keep_s
    while has_leftovers(session):
        if time.monotonic() > deadline:
            raise TryAgain(
                f"What an earlier write left in {session.beside.path} is held open by another program; nothing was "
                "moved."
            )
        time.sleep(min(_PAUSE_S, session.pace.keep_s or _PAUSE_S))
        recover(session)


def has_leftovers(session: Session) -> bool:
    """Say whether something lies there that an earlier write displaced, or did not finish."""
    return any(map(_is_leftover, session.beside.names()))


def _is_leftover(name: str) -> bool:
    """A `.base` is none: it may belong to a version that was set aside."""
    return name.endswith(versions.PART) or versions.Journal.read(name) is not None


def copy_state(old: State, new: State, like: os.stat_result) -> None:
    """Copy all that is kept of a memory file to the new place, whose folders are made and empty.

    Raises:
        CannotCreate, NoPermission: something cannot be read or written.
    """
    try:
        for folder in dict.fromkeys((old.kept, old.beside)):
            for path in _files_in(folder):
                parts = path.relative_to(folder).parts
                target = _home_of(parts[0], new).joinpath(*parts)
                _copy(path, target, like, is_more=parts == (outcomes.NAME,) and folder == old.beside != old.kept)
        if had_ledger(old):
            mark_ledger(new)
        for folder in dict.fromkeys((new.kept, new.beside)):
            for parent, _, _ in os.walk(folder):
                sync_folder(Path(parent))
            sync_folder(folder.parent)
    except OSError as e:
        raise refusal(e, f"The state of {old.memory} cannot be copied to {e.filename or new.kept}") from None


def _home_of(name: str, new: State) -> Path:
    is_beside = name in (_MARK, HISTORY) or name.startswith(RESCUED) or name.endswith(versions.BASE)
    return new.beside if is_beside else new.kept


def _files_in(folder: Path) -> Iterator[Path]:
    if not folder.is_dir() or folder.is_symlink():
        return
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            is_top = path.parent == folder
            if not (is_top and (name in _STAYS or _is_leftover(name))) and stat.S_ISREG(path.lstat().st_mode):
                yield path


def _copy(source: Path, target: Path, like: os.stat_result, *, is_more: bool) -> None:
    """Copy one file, and read it back; `is_more`: it is added to what lies there already."""
    if not target.parent.is_dir():
        own_folder(target.parent, like)
    if not is_more:
        target.unlink(missing_ok=True)  # `prepare` makes an empty log
    digest, before = hashlib.sha256(), target.stat().st_size if target.exists() else 0
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open_own(source) as f, os.fdopen(os.open(target, flags, 0o600), "r+b", buffering=0) as t:
        while piece := f.read(_PIECE):
            digest.update(piece)
            view = memoryview(piece)
            while view:
                view = view[t.write(view) :]
        os.fsync(t.fileno())
        about = os.fstat(f.fileno())
        t.seek(before)
        again = hashlib.sha256()
        while piece := t.read(_PIECE):
            again.update(piece)
    if again.digest() != digest.digest():
        raise CannotCreate(f"{target} does not hold what was written to it; nothing was moved.", hint="Check the disk.")
    own_file(target, like)
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))


def drop_state(state: State) -> None:
    """Take away what was copied elsewhere, the note of the move last, and memttl's folder where nothing else is in it.

    What cannot be removed stays: nothing reads it again.
    """
    for folder in dict.fromkeys((state.kept, state.beside)):
        if folder.is_symlink() or not folder.is_dir():
            continue
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(folder), key=lambda name: (name == "lock", name == UNDER_WAY)):
                path = folder / name
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
            folder.rmdir()
    home = state.beside.parent
    if state.kept != state.beside and home.parent in state.kept.parent.parents:
        with contextlib.suppress(OSError):  # the policy's own folder beside the file; the state of others stays
            state.kept.parent.rmdir()
    with contextlib.suppress(OSError):
        if os.listdir(home) == [".gitignore"]:
            (home / ".gitignore").unlink()
            home.rmdir()


def is_unused(state: State) -> bool:
    """Say whether a state folder holds nothing that anybody could miss."""
    kept = {"lock", "audit.jsonl", "audit.head", UNDER_WAY, "path", "backups"}
    for folder in dict.fromkeys((state.kept, state.beside)):
        if folder.is_dir() and not set(os.listdir(folder)) <= kept:
            return False
    is_logged = state.audit.exists() and state.audit.stat().st_size > 0
    return not is_logged and not (state.backups.is_dir() and os.listdir(state.backups))
