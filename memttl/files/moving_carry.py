"""One memory file and its state carried to another place, from both locks to the last look at the old one.

`workflow/move.py` calls it for the memory file, and for an archive that goes along. At every instant the whole memory
lies at the old place or at the new one; the notes in both state folders tell a later move how far this one came.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from memttl.core.merge import is_whole
from memttl.core.moving import Move
from memttl.errors import AS_IT_WAS, Interrupted, MemttlError, NoMemoryFile
from memttl.files import audit, versions
from memttl.files.backups import backup_name, list_backups, read_backup, write_backup
from memttl.files.commit import timestamp
from memttl.files.folder import READ
from memttl.files.ladder import Rung
from memttl.files.leftovers import RESCUED
from memttl.files.moving import drop_under_way, move_under_way, note_done, note_under_way
from memttl.files.moving_place import exists, folders_for, put_in_place
from memttl.files.moving_state import copy_state, drop_state, has_leftovers, is_unused, settle_leftovers
from memttl.files.moving_swap import BringIn, Taken, Taking, additions, three_ways, write_in
from memttl.files.recover import recover
from memttl.files.snapshot import Snapshot, read_whole
from memttl.files.state import State, refusal, refuse_another_folder, sync_folder
from memttl.files.syscalls import take_lease
from memttl.files.writing import Options, Session, writing

# every name that `step` is called with in an undisturbed move by leases, in order
STEPS = (
    *("locked", "noted at the old place", "noted at the new place", "state copied", "backup written"),
    *("new file written", "new file in place", "old file read", "leased", "before exchange", "exchanged"),
    *("settled", "released", "logged", "synced", "watched", "old file gone", "carried along", "old state gone", "done"),
)
_MOVED = ".moved"


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
            _refuse_taken(new_state)
            with _undone_where_it_fails(old, new_state):
                note_under_way(old_state.beside, move, like)
                old.step("noted at the old place")
                with writing(new_state, like, carrying.options, in_move=True) as new:
                    snapshot = _place(carrying, old, new, move)
                    with _finished_by_a_further_move():
                        return _take(carrying, old, new, _confirmed(new, move, snapshot), snapshot.data)


def _refuse_taken(new: State) -> None:
    for path in (new.memory, new.beside, new.kept):
        if os.path.lexists(path):
            raise exists(path)


def _move_of(carrying: Carrying) -> Move:
    old = carrying.old
    source, target = str(old.memory), str(carrying.new.memory)
    run = os.urandom(4).hex()
    return Move(run, timestamp(), source, target, carrying.link, "", str(old.kept), carrying.again, carrying.archive)


@contextlib.contextmanager
def _undone_where_it_fails(old: Session, new: State) -> Iterator[None]:
    """Take away what was begun at the new place where the file has not come there; the old place is as it was."""
    try:
        yield
    except BaseException as e:
        if not getattr(e, "keeps_the_notes", False):
            with contextlib.suppress(OSError):
                other = move_under_way(new.beside)
                if other is None or other.source == str(old.state.memory):
                    drop_state(new)
                drop_under_way(old.state.beside)
            if is_unused(old.state):
                drop_state(old.state)
        if isinstance(e, KeyboardInterrupt):
            raise Interrupted(f"Interrupted; {AS_IT_WAS}.") from None
        if isinstance(e, OSError):
            raise refusal(e, f"{new.memory} cannot be made") from None
        raise


@contextlib.contextmanager
def _finished_by_a_further_move() -> Iterator[None]:
    """From here on the file is at the new place: what fails leaves the notes, by which the same move goes on."""
    hint = "Run the same `memttl move` again: it goes on from there."
    try:
        yield
    except KeyboardInterrupt:
        raise _kept(Interrupted("Interrupted in the middle of the move.", hint=hint, applied=True)) from None
    except OSError as e:
        error = refusal(e, "The move could not be finished")
        error.hint = hint
        error.after_the_write()
        raise _kept(error) from None
    except MemttlError as e:
        e.after_the_write()
        e.hint = f"{e.hint} {hint}".strip()
        raise _kept(e) from None


def _kept(error: MemttlError) -> MemttlError:
    error.keeps_the_notes = True  # type: ignore[attr-defined]
    return error


def _place(carrying: Carrying, old: Session, new: Session, move: Move) -> Snapshot:
    """Copy state and file to the new place; nothing is taken from the old one."""
    state = carrying.new
    if move_under_way(state.beside) is not None or os.path.lexists(state.memory):
        raise exists(state.memory)  # another move was there before us
    note_under_way(state.beside, move, new.like)
    new.step("noted at the new place")
    copy_state(carrying.old, state, new.like)
    new.step("state copied")
    snapshot = carrying.read()
    write_backup(_backup_of(new, move), snapshot.data, new.like)
    new.step("backup written")
    put_in_place(new, old, snapshot, move.run)
    return snapshot


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
    bring_in: BringIn = additions if move.again else three_ways
    taking = Taking(old, new, move.run, base, bring_in, carrying.read, move.link, old.step)
    taken = taking.run_it()
    return _finish(carrying, old, new, move, taken, bring_in)


def resume(carrying: Carrying, move: Move) -> Carried:
    """Go on with a move that was interrupted after the new file had come to its place.

    Raises:
        MemttlError: as `carry`.
    """
    like = carrying.new.memory.lstat()
    with (
        _finished_by_a_further_move(),
        writing(carrying.old, like, carrying.options, in_move=True) as old,
        writing(carrying.new, like, carrying.options, in_move=True) as new,
    ):
        base = base_of(carrying.new, move) if move.digest else None
        bring_in = additions if move.again or base is None else three_ways
        names = [name for name in old.beside.names() if name.endswith(_MOVED)]
        taken = Taken(base or b"")
        if _is_file(carrying.old.memory):
            taking = Taking(old, new, os.urandom(4).hex(), base or b"", bring_in, carrying.read, move.link, old.step)
            taken = taking.run_it()
        names = [name for name in names if _is_file(old.beside.path / name)]
        for name in old.beside.names():
            if name.endswith(_MOVED) and not _is_file(old.beside.path / name):
                old.beside.unlink(name)
        taken = taken._replace(names=tuple(dict.fromkeys((*names, *taken.names))))
        return _finish(carrying, old, new, move, taken._replace(data=base or b""), bring_in)


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
        merged = write_in(new, base, snapshot.data, additions, {"command": "move", "from": move.source})
        write_backup(_backup_of(new, move), snapshot.data, new.like)
        move = move._replace(digest=snapshot.digest)
        note_under_way(carrying.old.beside, move, like)
        note_under_way(carrying.new.beside, move, like)
        with _finished_by_a_further_move():
            done = _take(carrying, old, new, move, snapshot.data)
    return done._replace(merged=done.merged + merged)


def base_of(new: State, move: Move) -> bytes | None:
    """Give the bytes that a move brought to the new place; None where their backup is gone."""
    found = [path for _, run, path in list_backups(new.backups) if run == move.run]
    try:
        return read_backup(found[-1]) if found else None
    except MemttlError:
        return None


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _finish(carrying: Carrying, old: Session, new: Session, move: Move, taken: Taken, bring_in: BringIn) -> Carried:
    """Log the move, look at what came out again when late writers are done, and take the old place's rest away."""
    _log(new, move)
    new.step("logged")
    _sync(new)
    new.step("synced")
    known = {versions.short_digest(taken.data)}
    merged = taken.merged
    merged += _judge_all(old, new, taken, bring_in, known)
    _wait_for_late_writers(old, new)
    merged += _judge_all(old, new, taken, bring_in, known)
    new.step("watched")
    names = taken.names
    if not move.link:
        gone = _remove_link(old, move)
        if gone is not None:
            taken = taken._replace(names=(*names, gone))
            _wait_for_late_writers(old, new)
            merged += _judge_all(old, new, taken, bring_in, known)
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
    returned = _is_file(old.state.memory)
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


def _wait_for_late_writers(old: Session, new: Session) -> None:
    """A writer may have looked the old file up just before it came out, and not have opened it yet."""
    end = time.monotonic() + old.pace.keep_s
    time.sleep(old.pace.keep_s)
    while has_leftovers(new) and time.monotonic() < end + old.pace.keep_s:
        recover(new)
        time.sleep(0.01)


def _judge_all(old: Session, new: Session, taken: Taken, bring_in: BringIn, known: set[str]) -> int:
    """Bring in what came out and is not in the new file yet; give how many versions that were."""
    return sum(_judge(old, new, name, taken.data, bring_in, known) for name in taken.names)


def _judge(old: Session, new: Session, name: str, base: bytes, bring_in: BringIn, known: set[str]) -> bool:
    end = time.monotonic() + old.pace.rest_s
    while True:
        data = _read_closed(old, name, end)
        if data is None or versions.short_digest(data) in known:
            return False
        if is_whole(data, base):
            break
        if time.monotonic() > end:
            _rescue(old, new, name, data)
            known.add(versions.short_digest(data))
            return False
        time.sleep(0.02)
    known.add(versions.short_digest(data))
    return write_in(new, base, data, bring_in, {"command": "recover", "from": str(old.state.memory)})


def _read_closed(old: Session, name: str, end: float) -> bytes | None:
    """Read a displaced file while nobody has it open to write, if that can be told; None where it is a link or gone."""
    while True:
        try:
            descriptor = old.beside.open(name, READ)
        except OSError:
            return None
        try:
            if old.rung is Rung.LEASES:
                take_lease(descriptor, write=False)
            return read_whole(descriptor)
        except OSError:
            if time.monotonic() > end:
                return read_whole(descriptor)
        finally:
            os.close(descriptor)
        time.sleep(0.01)


def _rescue(old: Session, new: Session, name: str, data: bytes) -> None:
    if not data:
        return
    path = new.beside.path / f"{RESCUED}{name}"
    write_backup(path, data, new.like)
    new.warn(f"a version that cannot be read came out of {old.state.memory}; it lies in {path}")


def _remove_link(old: Session, move: Move) -> str | None:
    """Take the link away from the old place; give the name of what else lay there by then, to be brought in."""
    name = f"{os.urandom(4).hex()}{_MOVED}"
    try:
        old.beside.replace_from(old.memory, old.state.memory.name, name)
    except FileNotFoundError:
        return None
    if _is_file(old.beside.path / name):
        return name
    if os.readlink(old.beside.path / name) != move.target:  # somebody else's
        with contextlib.suppress(OSError):
            os.rename(old.beside.path / name, old.state.memory)
        return None
    old.beside.unlink(name)
    return None


def remove_old_link(old: Path, target: Path) -> bool:
    """Take away the link that an earlier move left; say whether there was one.

    Raises:
        NoPermission, CannotCreate: it cannot be removed.
        NoMemoryFile: it leads elsewhere by now.
    """
    try:
        if os.readlink(old) != str(target):
            raise NoMemoryFile(f"{old} is a link to another place; nothing was done.")
        old.unlink()
        sync_folder(old.parent)
    except OSError as e:
        raise refusal(e, f"The link {old} cannot be removed") from None
    return True
