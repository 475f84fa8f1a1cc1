"""Versions of the old file brought into the new one: three ways, or additions alone, through the whole write path.

`moving_swap.py`, `moving_late.py` and `moving_carry.py` call it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from memttl.core.merge import is_whole, merge
from memttl.files import versions
from memttl.files.commit import Change
from memttl.files.folder import READ
from memttl.files.snapshot import Snapshot, read_settled
from memttl.files.swap import Attempt, Changed, serve_who_waits
from memttl.files.syscalls import exchange
from memttl.files.writing import Session

BringIn = Callable[[bytes, bytes, bytes], bytes]  # base, what a stranger made of it, today's new file -> new file


def three_ways(base: bytes, theirs: bytes, live: bytes) -> bytes:
    """Bring in all that a stranger changed: at the old place lay the memory itself."""
    return merge(base, theirs, live)


def additions(base: bytes, theirs: bytes, live: bytes) -> bytes:
    """Bring in what a stranger added, and take nothing away: a server may have begun an empty memory there."""
    return merge(base, merge(b"", theirs, base), live)


def write_in(new: Session, base: bytes, theirs: bytes, bring_in: BringIn, begin: dict[str, Any]) -> bool:
    """Bring a version of the old file into the new one through the whole write path; say whether that changed it.

    Raises:
        MemttlError: as `Session.write`.
    """
    run = os.urandom(4).hex()

    def make() -> tuple[Change, Snapshot] | None:
        snapshot, _ = read_settled(new.state.memory, _looks_whole, proven=True)
        merged = bring_in(base, theirs, snapshot.data)
        if merged == snapshot.data:
            return None
        digests = {"file_digest": snapshot.digest, "new_digest": snapshot._replace(data=merged).digest}
        return Change(run, merged, {**begin, **digests}, list, versions.short_digest(merged)), snapshot

    return new.write(make) is not None


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
