"""Keeping what a run removes in the archive, and taking it out again: through the write path, as on any memory file.

`commit.py` calls `keep` once the `begin` is logged and before the memory file is cut; `give_up` follows where a run is
not applied, and `take_out` where an undo puts something back.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memttl.core.archive import Entry, put_in
from memttl.core.archive_update import Arrival, Claim, Update, archived, held_by, taken_out
from memttl.core.durations import Duration
from memttl.errors import MemttlError, TryAgain
from memttl.files import audit
from memttl.files.archive_file import archive_state, cannot, check_writable, make_if_missing, read_archive, told
from memttl.files.archive_mark import archive_of, former_names, mark_archive
from memttl.files.moving import former_folders
from memttl.files.snapshot import Snapshot, refuse_hard_links, refuse_read_only
from memttl.files.state import State, narrow

if TYPE_CHECKING:  # at work `commit.py` imports this module, and `writing.py` imports that
    from memttl.files.commit import Change
    from memttl.files.writing import Session


class Archive(NamedTuple):
    """One memory file's archive: its path (links resolved), when this run archives, and how long entries stay."""

    path: Path
    at: datetime
    max_age: Duration


class ToArchive(NamedTuple):
    """What a run wants kept, and where."""

    archive: Archive
    entries: Callable[[], Sequence[Entry]]


def name_in_log(archive: Path, memory: Path) -> str:
    """Give an archive as the `begin` of a run names it: its path from the memory file's folder."""
    return os.path.relpath(archive, memory.parent)


def keep(session: Session, to: ToArchive, run: str) -> None:
    """Put what `run` is about to remove into the archive, in place of what an earlier try of it had put there.

    Raises:
        CannotCreate, NoPermission, TryAgain: the archive is as it was, and so is the memory file.
    """
    archive, memory = to.archive, session.state.memory
    check_writable(archive.path, session.state)
    arrival = Arrival(to.entries(), _of(archive.path, memory), run, archive.at, archive.max_age)

    def update(data: bytes, events: Iterable[dict[str, Any]]) -> Update:
        session.archived_in = archive.path  # from here on there may be something to give up
        return archived(data, held_by(events), arrival)

    with told(cannot(archive.path)):
        make_if_missing(archive.path, session.like)
        narrow(archive.path, session.like)
        with _writing(session, archive.path) as inner:
            mark_archive(inner.state, arrival.of, inner.like)
            _write(inner, update, arrival.entries)


def give_up(session: Session, archive: Path, run: str) -> None:
    """Take out what `run` put into the archive and did not remove: it was not applied.

    Raises:
        CannotCreate, NoPermission, TryAgain: it is there still.
    """
    names = _names(session, archive)
    _take(session, archive, run, lambda claim: claim.of in names and claim.by == run)


def take_out(session: Session, archive: Path, run: str, put_back: Iterable[tuple[str, str]]) -> None:
    """Take out what an undo of `run` has put back: (entity, `raw_digest`) of each, as the `restored` events say it.

    What another run removed as well stays. What cannot be done is a warning of the session.
    """
    names, left = _names(session, archive), Counter(put_back)

    def chosen(claim: Claim) -> bool:
        if claim.of not in names or claim.by != run:
            return False
        key = (claim.place.entity, claim.raw_digest)
        if claim.place.kind == "relation":  # whatever entity its event names
            key = next((k for k in left if k[1] == claim.raw_digest and left[k] > 0), key)
        if left[key] <= 0:
            return False
        left[key] -= 1
        return True

    try:
        _take(session, archive, run, chosen)
    except MemttlError as e:
        session.warn(f"what was put back is still in the archive: {e.message}")


def _take(session: Session, archive: Path, run: str, chosen: Callable[[Claim], bool]) -> None:
    state = archive_state(archive, session.state)
    # a log from elsewhere must not lead this to a file that never was an archive of this one
    if not os.path.isfile(archive) or _of(archive, session.state.memory) not in archive_of(state):
        return
    if all(event.get("by") != run for event in audit.read_events(state.audit)):
        return
    words = f"What the run {run} archived in {archive} cannot be taken out of it"
    with told(words), _writing(session, archive) as inner:
        _write(inner, lambda data, events: taken_out(data, held_by(events), chosen), ())


def _names(session: Session, archive: Path) -> frozenset[str]:
    return former_names(archive_state(archive, session.state), _of(archive, session.state.memory))


def archive_in_log(state: State, name: str) -> Path:
    """Give the archive that the log of a memory file names, which was moved since, perhaps: as seen from there, too."""
    places = [Path(os.path.realpath(f / name)) for f in (state.memory.parent, *former_folders(state))]
    own = (path for path in places if _of(path, state.memory) in archive_of(archive_state(path, state)))
    return next(own, places[0])


def _of(archive: Path, memory: Path) -> str:
    return os.path.relpath(memory, archive.parent)


def _change(run: str, data: bytes, events: Sequence[dict[str, Any]]) -> Change:
    from memttl.files.commit import Change

    lines = _named(events, run)
    return Change(run, data, {"command": "archive"}, lambda: lines, repr(lines), with_backup=False)


def _begin(run: str) -> dict[str, Any]:
    from memttl.files.commit import timestamp

    return {"event": "begin", "run": run, "time": timestamp(), "command": "archive"}


def _named(events: Iterable[dict[str, Any]], run: str) -> list[dict[str, Any]]:
    return [{"event": event["event"], "run": run, **event} for event in events]


@contextmanager
def _writing(session: Session, archive: Path) -> Iterator[Session]:
    """Open a session on the archive, within the memory file's: always in this order, so that none waits for ever."""
    from memttl.files.writing import Options, writing

    def step(name: str) -> None:
        session.step(f"archive {name}")

    options = Options(session.write_path, session.pace, step)
    with writing(archive_state(archive, session.state), archive.stat(), options) as inner:
        yield inner
    for text in inner.warnings:
        session.warn(f"the archive {archive.name}: {text}")


def _write(
    inner: Session, update: Callable[[bytes, Iterable[dict[str, Any]]], Update], entries: Sequence[Entry]
) -> None:
    """Write an update, made anew where a stranger wrote meanwhile; then look again whether all that came is there."""
    run = os.urandom(4).hex()

    def make() -> tuple[Change, Snapshot] | None:
        snapshot = read_archive(inner.state.memory)
        refuse_hard_links(snapshot, inner.state.beside)
        refuse_read_only(snapshot)
        made = update(snapshot.data, audit.read_events(inner.state.audit))
        if made.data != snapshot.data:
            return _change(run, made.data, made.events), snapshot
        if made.events:
            inner.log_begin((run, None), [_begin(run), *_named(made.events, run)])
            inner.log_end({"applied": True, "backup": None})
        return None

    def make_again() -> tuple[Change, Snapshot, int] | None:
        snapshot = read_archive(inner.state.memory)
        data, made = put_in(snapshot.data, entries)
        again = _change(run, data, ())
        return (again._replace(begin={**again.begin, "again": True}), snapshot, len(made)) if made else None

    if inner.write(make) is not None and entries:
        inner.look_again(
            make_again,
            lambda count: f"saved it after; {count} of what was archived had to be put in again",
            "what was archived could not be put in again after the memory server's write",
        )


def settle(session: Session, begin: dict[str, Any], *, applied: bool, events: Iterable[dict[str, Any]]) -> None:
    """After a kill: what a run archived and did not remove goes, and so does what an undo has put back.

    `begin` is the killed run's, `events` are the lines that follow it. What cannot be done is a warning.

    Raises:
        TryAgain: another memttl holds the archive, or it would not stay still.
    """
    if not isinstance(begin.get("archive"), str):
        return
    archive = archive_in_log(session.state, begin["archive"])
    if not applied:
        try:
            give_up(session, archive, str(begin.get("run")))
        except TryAgain:
            raise
        except MemttlError as e:
            session.warn(e.message)
    elif begin.get("undoes"):
        back = [e for e in events if e.get("event") in ("restored", "restored_relation")]
        put_back = [(str(e.get("entity")), str(e.get("raw_digest"))) for e in back]
        take_out(session, archive, str(begin["undoes"]), put_back)
