"""Versions of the old file brought into the new one, through the whole write path or in the one step that holds it.

`moving_swap.py`, `moving_late.py` and `moving_carry.py` call it.
"""

from __future__ import annotations

import os
from typing import Any

from memttl.core.bring_in import bring_in
from memttl.core.merge import is_whole
from memttl.files import versions
from memttl.files.bringing_in import change_of, tell_what_stayed, tell_what_went
from memttl.files.commit import Change
from memttl.files.folder import READ
from memttl.files.snapshot import Snapshot, read_settled
from memttl.files.swap import Attempt, Changed, serve_who_waits
from memttl.files.syscalls import exchange
from memttl.files.writing import Session


def write_in(new: Session, base: bytes, theirs: bytes, begin: dict[str, Any], *, adds_only: bool) -> bool:
    """Bring a version of the old file into the new one through the whole write path; say whether that changed it.

    Raises:
        MemttlError: as `Session.write`.
    """
    run, kept = os.urandom(4).hex(), False

    def make() -> tuple[Change, Snapshot] | None:
        nonlocal kept
        snapshot, _ = read_settled(new.state.memory, _looks_whole, proven=True)
        merged, kept = bring_in(base, theirs, snapshot.data, adds_only=adds_only)
        if merged == snapshot.data:
            return None
        return change_of(snapshot, merged, run, begin, versions.short_digest(theirs)), snapshot

    written = new.write(make)
    if written is not None:
        tell_what_went(new, written)
    if kept:
        tell_what_stayed(new, begin["from"])
    return written is not None


def _looks_whole(data: bytes) -> tuple[None, bool]:
    return None, not is_whole(data, b"")


def put_newer(new: Session, run: str, held: Snapshot, data: bytes, *, leased: int) -> None:
    """Put a newer version in the new file's place, in one step; what it replaces is left for the next look.

    `leased` is the new file open where it is held, else -1; raises as `swap`.
    """
    name = new.state.memory.name
    journal = versions.Journal(run, new.next_number(), versions.short_digest(held.data), versions.short_digest(data))
    versions.write_base(new.beside, held)
    live = new.memory.open(name, READ) if leased < 0 else os.dup(leased)
    swap_name = journal.name(versions.SWAP)
    try:
        os.close(versions.write_version(new.beside, swap_name, data, held, live=live, sync=False))
        exchange(new.beside, swap_name, new.memory, name)
        came = new.beside.stat(swap_name)
        if (came.st_dev, came.st_ino) != (held.stat.st_dev, held.stat.st_ino):
            exchange(new.beside, swap_name, new.memory, name)
            raise Changed(new.state.memory)
    finally:
        os.close(live)
    if leased >= 0:  # whoever opened the new file by the link meanwhile waits for the version that was replaced
        waiting = Attempt(new.memory, name, new.beside, journal, held, -1, leased)
        serve_who_waits(waiting)
