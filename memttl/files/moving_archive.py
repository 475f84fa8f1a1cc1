"""The archive of a memory file at its move: carried like a memory file where it goes along, and told of the new place.

`workflow/move.py` plans it, and does it before the old place's state goes.
"""

from __future__ import annotations

import os
from pathlib import Path

from memttl.files.archive_file import archive_state
from memttl.files.archive_mark import archive_of, rename_in_mark
from memttl.files.folder import is_file
from memttl.files.lock import locked
from memttl.files.moving import move_under_way
from memttl.files.moving_carry import Carrying, carry, resume
from memttl.files.moving_places import reader_of
from memttl.files.moving_state import drop_state
from memttl.files.state import State, prepare
from memttl.files.writing import Options, Session


def archive_step(old: State, archive: Path | None, target: Path | None, *, policy_goes: bool) -> tuple[str, str] | None:
    """Tell which way the archive goes: along with a policy that names it by a relative path, or nowhere.

    `target` is the archive that the policy names at the new place.
    """
    if archive is None or not archive.is_file():
        return None
    own = os.path.relpath(old.memory, archive.parent)
    names = archive_of(archive_state(archive, old))
    if own not in names:
        return None
    is_along = policy_goes and names == (own,) and target not in (None, archive)
    return str(archive), str(target if is_along and not os.path.lexists(str(target)) else archive)


def carry_archive(
    archive: tuple[str, str], old: State, new: State, options: Options, session: Session, *, link: bool
) -> None:
    """Carry the archive where it goes along, and let it know the memory file's new place; all may be done already.

    Raises:
        MemttlError: it could not be carried; the same move again goes on.
    """
    source, target = map(Path, archive)
    before, after = archive_state(source, old), archive_state(target, new)
    if source != target:
        step = options._replace(step=lambda name: options.step(f"archive {name}"))
        carrying = Carrying(before, after, link, reader_of(source), step)
        noted = move_under_way(after.beside)
        if noted is not None and is_file(target):
            done = resume(carrying, noted)
        elif is_file(source):
            if noted is not None:
                drop_state(after)
            done = carry(carrying)
        else:
            done = None
        for text in done.warnings if done else ():
            session.warn(f"the archive {target.name}: {text}")
    names = [os.path.relpath(place, target.parent) for place in (old.memory, new.memory)]
    if source != target:
        names[0] = os.path.relpath(old.memory, source.parent)
    like = target.stat()
    prepare(after, like)
    with locked(after, like):
        rename_in_mark(after, names[0], names[1], like)
