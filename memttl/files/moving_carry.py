"""One memory file and its state carried to another place, from both locks to the last look at the old one.

`workflow/move.py` calls it for the memory file, and for an archive that goes along. At every instant the whole memory
lies at the old place or at the new one; the notes in both state folders tell a later move how far this one came.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memttl.core.moving import Move
from memttl.errors import LedgerLost, MemttlError
from memttl.files import audit, versions
from memttl.files.archive_mark import archive_of
from memttl.files.backups import backup_name, list_backups, read_backup, write_backup
from memttl.files.commit import timestamp
from memttl.files.folder import READ, is_file
from memttl.files.knowledge import ledger_of
from memttl.files.moving import drop_under_way, move_under_way, note_done, note_under_way
from memttl.files.moving_failing import finished_by_a_further_move, undone_where_it_fails
from memttl.files.moving_late import came_out, is_out, judge_all, remove_link, wait_for_late_writers
from memttl.files.moving_merge import write_in
from memttl.files.moving_place import drop_placed, exists, folders_for, leads_to, put_in_place
from memttl.files.moving_state import copy_state, drop_state, is_unused, settle_leftovers
from memttl.files.moving_swap import Taking
from memttl.files.moving_taken import Taken
from memttl.files.snapshot import Snapshot
from memttl.files.state import State, refuse_another_folder
from memttl.files.writing import Options, Session, writing

# every name that `step` is called with in an undisturbed move by leases, in order
STEPS = (
    *("locked", "noted at the old place", "noted at the new place", "state copied", "backup written"),
    *("new file written", "new file in place", "old file read", "leased", "before exchange", "exchanged"),
    *("settled", "released", "noted as out", "logged", "synced", "watched"),
    *("old file gone", "carried along", "old state gone", "done"),
)


class Carrying(NamedTuple):
    """What is carried: the states of both places, and how. `read` reads the old file and refuses what is not sound.

    `before_the_end` is called when the new place holds everything and nothing of the old one was taken away but the
    file: there the caller carries policy and archive. `again`: a file had appeared at the old place since.
    """

    old: State
    new: State
    link: bool
    read: Callable[[], Snapshot]
    options: Options = Options()
    archive: tuple[str, str] | None = None
    before_the_end: Callable[[Session], None] = lambda _: None
    again: bool = False


class Carried(NamedTuple):
    """What became of it. `merged` counts what other programs wrote meanwhile; `backup` holds what was moved.

    `returned`: a file lies at the old place again.
    """

    move: Move
    backup: Path | None = None
    merged: int = 0
    returned: bool = False
    warnings: tuple[str, ...] = ()


def carry(carrying: Carrying) -> Carried:
    """Carry a memory file that no move has touched yet.

    Raises:
        MemttlError: nothing was moved; or, with `applied`, it is at the new place and the same move again finishes.
    """
    old_state, new_state = carrying.old, carrying.new
    like = old_state.memory.lstat()
    refuse_another_folder(old_state)
    with writing(old_state, like, carrying.options, in_move=True) as old:
        settle_leftovers(old)
        old.step("locked")
        move = _move_of(carrying)
        with folders_for(new_state.memory, like):
            _refuse_taken(new_state, old_state.memory)
            with undone_where_it_fails(old, new_state):
                note_under_way(old_state.beside, move, like)
                old.step("noted at the old place")
                with writing(new_state, like, carrying.options, in_move=True) as new:
                    snapshot = _place(carrying, old, new, move)
                    with finished_by_a_further_move():
                        return _take(carrying, old, new, _confirmed(new, move, snapshot), snapshot.data)


def _refuse_taken(new: State, old: Path) -> None:
    for path in (new.memory, new.beside, new.kept):
        if os.path.lexists(path) and not (path == new.memory and leads_to(path, old)):
            raise exists(path)


def _move_of(carrying: Carrying) -> Move:
    old = carrying.old
    source, target = str(old.memory), str(carrying.new.memory)
    run = os.urandom(4).hex()
    return Move(run, timestamp(), source, target, carrying.link, "", str(old.kept), carrying.again, carrying.archive)


def _place(carrying: Carrying, old: Session, new: Session, move: Move) -> Snapshot:
    """Copy state and file to the new place; nothing is taken from the old one."""
    state = carrying.new
    if move_under_way(state.beside) is not None or is_file(state.memory):
        raise exists(state.memory)  # another move was there before us
    note_under_way(state.beside, move, new.like)
    new.step("noted at the new place")
    copy_state(carrying.old, state, new.like)
    _make_ledger(new)
    new.step("state copied")
    snapshot = carrying.read()
    write_backup(_backup_of(new, move), snapshot.data, new.like)
    new.step("backup written")
    put_in_place(new, old, snapshot, move.run)
    return snapshot


def _make_ledger(new: Session) -> None:
    """Make the ledger before the backup, since a backup without one tells of a lost one; a lost one stays lost."""
    if archive_of(new.state):
        return
    with contextlib.suppress(LedgerLost), ledger_of(new.state, new.like, new.warn):
        pass


def _confirmed(new: Session, move: Move, snapshot: Snapshot) -> Move:
    """Note at the new place that the file there is the one that was moved: then it may be merged line by line."""
    new.step("new file in place")
    move = move._replace(digest=snapshot.digest)
    note_under_way(new.state.beside, move, new.like)
    return move


def _backup_of(new: Session, move: Move) -> Path:
    return new.state.backups / backup_name(move.run, new.started)


def _take(carrying: Carrying, old: Session, new: Session, move: Move, base: bytes) -> Carried:
    """Take the old file away, and all that was carried."""
    taking = Taking(old, new, move.run, base, move.again, carrying.read, move.link)
    return _finish(carrying, old, new, move, taking.run_it())


def resume(carrying: Carrying, move: Move) -> Carried:
    """Go on with a move that was interrupted after the new file had come to its place.

    Raises:
        MemttlError: as `carry`.
    """
    like = carrying.new.memory.lstat()
    with (
        finished_by_a_further_move(),
        writing(carrying.old, like, carrying.options, in_move=True) as old,
        writing(carrying.new, like, carrying.options, in_move=True) as new,
    ):
        base = base_of(carrying.new, move)
        if not move.digest and base != carrying.new.memory.read_bytes():
            base = None  # nobody has noted that the file there is ours
        drop_placed(new)
        names = came_out(old)
        move = move._replace(out=move.out or is_out(old, names))
        taken = Taken(base or b"", bare=move.out and not move.link)
        if is_file(carrying.old.memory) and not taken.bare:
            adds_only = move.again or base is None
            taking = Taking(old, new, os.urandom(4).hex(), base or b"", adds_only, carrying.read, move.link)
            taken = taking.run_it()
        taken = taken._replace(names=tuple(dict.fromkeys((*names, *taken.names))))
        return _finish(carrying, old, new, move, taken._replace(data=base or b""))


def bring_back(carrying: Carrying, earlier: Move) -> Carried:
    """Add what has come to the old place since an earlier move, and take that file away.

    Raises:
        MemttlError: as `carry`.
    """
    like = carrying.new.memory.lstat()
    with (
        writing(carrying.old, like, carrying.options, in_move=True) as old,
        writing(carrying.new, like, carrying.options, in_move=True) as new,
    ):
        settle_leftovers(old)
        old.step("locked")
        move = _move_of(carrying)._replace(again=True, kept="")
        base = base_of(carrying.new, earlier) or b""
        snapshot = carrying.read()
        merged = write_in(new, base, snapshot.data, {"command": "move", "from": move.source}, adds_only=True)
        write_backup(_backup_of(new, move), snapshot.data, new.like)
        move = move._replace(digest=snapshot.digest)
        note_under_way(carrying.old.beside, move, like)
        note_under_way(carrying.new.beside, move, like)
        with finished_by_a_further_move():
            if move.link:
                done = _take(carrying, old, new, move, snapshot.data)
            else:  # no server has to be held, and a busy one never is still
                done = _finish(carrying, old, new, move, Taken(snapshot.data, bare=True))
    return done._replace(merged=done.merged + merged)


def base_of(new: State, move: Move) -> bytes | None:
    """Give the bytes that a move brought to the new place; None where their backup is gone."""
    found = [path for _, run, path in list_backups(new.backups) if run == move.run]
    try:
        return read_backup(found[-1]) if found else None
    except MemttlError:
        return None


def _finish(carrying: Carrying, old: Session, new: Session, move: Move, taken: Taken) -> Carried:
    """Log the move, look at what came out again when late writers are done, and take the old place's rest away."""
    move = move._replace(out=True)
    note_under_way(new.state.beside, move, new.like)  # before what came out goes: it is the other witness
    new.step("noted as out")
    _log(new, move)
    new.step("logged")
    _sync(new)
    new.step("synced")
    known, adds_only = {versions.short_digest(taken.data)}, move.again or not taken.data
    merged = taken.merged
    merged += judge_all(old, new, taken, known, adds_only=adds_only)
    wait_for_late_writers(old, new)
    merged += judge_all(old, new, taken, known, adds_only=adds_only)
    new.step("watched")
    names = taken.names
    if not move.link:
        gone = remove_link(old, move, bare=taken.bare)
        if gone is not None:
            taken = taken._replace(names=(*names, gone))
            wait_for_late_writers(old, new)
            merged += judge_all(old, new, taken, known, adds_only=adds_only)
    for name in taken.names:
        old.beside.unlink(name)
    old.memory.sync()
    new.step("old file gone")
    carrying.before_the_end(new)
    new.step("carried along")
    note_done(new.state.beside, move, new.like)
    if not move.again or is_unused(old.state):
        drop_state(old.state)
        if move.kept and Path(move.kept) != old.state.kept:
            drop_state(old.state._replace(kept=Path(move.kept)))
    else:
        drop_under_way(old.state.beside)
    new.step("old state gone")
    drop_under_way(new.state.beside)
    new.step("done")
    backup = next((path for _, run, path in list_backups(new.state.backups) if run == move.run), None)
    returned = is_file(old.state.memory)
    warnings = tuple(dict.fromkeys((*old.warnings, *new.warnings)))
    return Carried(move, backup, merged, returned, warnings)


def _log(new: Session, move: Move) -> None:
    if any(e.get("event") == "moved" and e.get("run") == move.run for e in audit.read_events(new.state.audit)):
        return
    event = {"event": "moved", "run": move.run, "time": timestamp(), "from": move.source, "to": move.target}
    audit.append(new.state.audit, [event], new.like)


def _sync(new: Session) -> None:
    """Make the new file durable before anything of the old one goes."""
    descriptor = new.memory.open(new.state.memory.name, READ)
    try:
        if hasattr(os, "O_DIRECTORY"):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.memory.sync()
    new.beside.sync()
