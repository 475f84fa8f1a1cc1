"""What a killed run, or a late writer, left in the state folder: judged by content, then merged, kept or dropped.

One rule: nothing that came out of the memory file's place is removed before its content is proven redundant. Called by
`writing.py` at the start of every writing command, and again wherever a stranger's version came out of a swap.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memttl.core.bring_in import bring_in
from memttl.core.merge import is_whole
from memttl.core.records import settings_logged
from memttl.files import audit, versions
from memttl.files.backups import stored_as, write_backup
from memttl.files.bringing_in import change_of, tell_what_stayed, tell_what_went
from memttl.files.commit import Change, timestamp
from memttl.files.folder import READ
from memttl.files.ladder import Rung
from memttl.files.leftovers import RESCUED
from memttl.files.snapshot import Snapshot, read_settled, read_whole
from memttl.files.state import own_file, refusal
from memttl.files.syscalls import take_lease
from memttl.files.writing import Session

_PAUSE_S = 0.02


class _Kind(enum.Enum):
    OLD = "what was read"  # it came out, and holds nothing new
    OURS = "what was written"
    ELSEWHERE = "a second name"  # the same file has another name, so nothing hangs on this one
    FOREIGN = "somebody else's"


class _Found(NamedTuple):
    kind: _Kind
    data: bytes
    stat: os.stat_result


def recover(session: Session) -> None:
    """Settle the log, and judge every leftover until none holds anything that the memory file lacks.

    Raises:
        Changed, TryAgain: an update must be merged, and the file would not stay still.
    """
    session.is_recovering = True
    try:
        if session.begun is None:  # else the log's open end is this run's own
            _settle_log(session)
        for name in session.beside.names():
            if name.endswith((versions.PART, versions.NEW)):
                session.beside.unlink(name)  # half-written, or never in the memory file's place
        while _judge_all(session):
            pass
        _drop_bases(session)
    except OSError as e:
        raise refusal(e, f"What an earlier run left in {session.beside.path} cannot be judged") from None
    finally:
        session.is_recovering = False
    if session.remembered is not None:
        if session.remembered.is_swept:
            return
        session.remembered.is_swept = True
    for part in session.state.backups.glob(f"*{versions.PART}"):
        with contextlib.suppress(OSError):  # one that cannot be removed does no harm
            part.unlink()


def _judge_all(session: Session) -> bool:
    """Judge each leftover once; say whether something was merged, which may have left new ones."""
    merged = False
    for name in session.beside.names():
        journal = versions.Journal.read(name)
        if journal is not None and not name.endswith(versions.NEW) and not _may_rest(session, name):
            merged = _judge(session, name, journal) or merged
    return merged


def _may_rest(session: Session, name: str) -> bool:
    """Say whether a leftover is left alone for now: this process knows it, and it is too young to go."""
    if session.remembered is None:
        return False
    found = session.beside.stat(name)
    return session.remembered.may_rest(name, found) and _is_young(session, found)


def _judge(session: Session, name: str, journal: versions.Journal) -> bool:
    """Drop, keep, merge or set aside one leftover; say whether it was merged."""
    found = _look(session, name, journal)
    base = _base_of(session, journal) if found is not None and found.kind is _Kind.FOREIGN else b""
    while found is not None and found.kind is _Kind.FOREIGN:
        if not is_whole(found.data, base):
            found = _wait_for_more(session, name, journal, found)
            continue
        if not _merge(session, name, base, found.data):
            return False
        again = _look(session, name, journal)
        if again is not None and again[:2] == found[:2]:
            session.beside.unlink(name)
            return True
        found = again
    if found is not None and (found.kind is _Kind.ELSEWHERE or not _is_young(session, found.stat)):
        session.beside.unlink(name)
    elif found is not None and session.remembered is not None:
        session.remembered.note_redundant(name, found.stat)
    return False


def _base_of(session: Session, journal: versions.Journal) -> bytes:
    base = versions.slurp(session.beside, journal.old + versions.BASE)
    if base is None or versions.short_digest(base) != journal.old:
        return b""  # then all that the leftover holds counts as added
    return base


def _look(session: Session, name: str, journal: versions.Journal) -> _Found | None:
    """Read one leftover while nobody has it open to write; None where somebody keeps it open."""
    deadline = min(session.deadline, time.monotonic() + session.pace.rest_s)
    while True:
        descriptor = session.beside.open(name, READ)
        try:
            if session.rung is Rung.LEASES:
                take_lease(descriptor, write=False)
            stat = os.fstat(descriptor)
            data = read_whole(descriptor)
            return _Found(_kind_of(data, journal, stat.st_nlink), data, stat)
        except OSError as e:
            if e.errno != errno.EAGAIN:
                if session.rung is not Rung.LEASES:
                    raise
                session.rung = Rung.EXCHANGE  # no leases for this user, or here
                continue
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            session.warn(f"{session.beside.path / name} is held open by another program; the next run looks again")
            return None
        time.sleep(_PAUSE_S)


def _kind_of(data: bytes, journal: versions.Journal, names: int) -> _Kind:
    if names > 1:
        return _Kind.ELSEWHERE
    digest = versions.short_digest(data)
    return {journal.new: _Kind.OURS, journal.old: _Kind.OLD}.get(digest, _Kind.FOREIGN)


def _is_young(session: Session, found: os.stat_result) -> bool:
    """A writer may have looked the name up just before the swap, and not have opened it yet."""
    return time.time() - found.st_ctime < session.pace.keep_s


def _wait_for_more(session: Session, name: str, journal: versions.Journal, found: _Found) -> _Found | None:
    """Give a half-written leftover time to become whole; one that stays as it is is set aside, and said."""
    end = min(session.deadline, time.monotonic() + session.pace.rest_s)
    while time.monotonic() < end:
        time.sleep(_PAUSE_S)
        again = _look(session, name, journal)
        if again is None or again[:2] != found[:2]:
            return again
    aside = RESCUED + name
    session.beside.rename(name, aside)
    session.warn(
        f"a version that cannot be read came out of the memory file's place; it lies in {_path(session, aside)}"
    )
    return None


def _path(session: Session, name: str) -> Path:
    return session.beside.path / name


def _merge(session: Session, name: str, base: bytes, theirs: bytes) -> bool:
    """Bring what a stranger changed into the memory file; say whether it is there now."""
    run = os.urandom(4).hex()
    readable, kept = True, False

    def make() -> tuple[Change, Snapshot] | None:
        nonlocal readable, kept
        snapshot, readable = read_settled(session.state.memory, _is_readable, proven=True)
        if not readable:
            return None
        merged, kept = bring_in(base, theirs, snapshot.data)
        if merged == snapshot.data:
            return None
        return change_of(snapshot, merged, run, {"command": "recover", "from": name}, name), snapshot

    written = session.write(make)
    if written is not None:
        session.warn("an update that another program wrote during a swap was merged into the memory file")
        tell_what_went(session, written)
    if kept:
        tell_what_stayed(session, "the memory file's place")
    if not readable:
        session.warn(f"the memory file is damaged, so the update in {_path(session, name)} was not merged into it yet")
    return readable


def _is_readable(data: bytes) -> tuple[bool, bool]:
    readable = not data or is_whole(data, b"")
    return readable, not readable


def _drop_bases(session: Session) -> None:
    names = session.beside.names()
    if session.remembered is not None:
        session.remembered.forget_others(names)
    needed = {journal.old for name in names if (journal := versions.Journal.read(name.removeprefix(RESCUED)))}
    for name in names:
        if name.endswith(versions.BASE) and name.removesuffix(versions.BASE) not in needed:
            session.beside.unlink(name)


def _settle_log(session: Session) -> None:
    """Write the `end` of a run that was killed, judged by the names and contents that it left."""
    settled = session.remembered.log_settled(session.state.audit) if session.remembered is not None else 0
    if settled is None:
        return
    events = audit.read_events(session.state.audit, after=settled)
    begin = audit.unfinished_run(events)
    if begin is None:
        return
    old = _what_came_out(session, begin)
    applied = old is not None
    if old is not None and begin.get("backup"):
        _secure_backup(session, session.state.backups / Path(str(begin["backup"])).name, old)
    if begin.get("archive"):
        from memttl.files.archiving import settle  # here: most policies name no archive

        settle(session, begin, applied=applied, events=events[events.index(begin) :])
    backup = begin.get("backup") if applied else None
    end = {"event": "end", "run": begin.get("run"), "time": timestamp(), "applied": applied, "backup": backup}
    settings = settings_logged(_lines_of(events, begin), str(begin.get("command")), timestamp()) if applied else ()
    audit.append(session.state.audit, [*settings, {**end, "settled": True}], session.like)
    outcome = "after it had written the memory file" if applied else "before it wrote anything"
    session.warn(f"the run {begin.get('run')} was killed {outcome}; the audit log now says so")


def _lines_of(events: Sequence[dict[str, Any]], begin: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the lines of the unfinished run that has begun so."""
    after = next(at for at in range(len(events) - 1, -1, -1) if events[at].get("event") == "begin")
    return (event for event in events[after + 1 :] if event.get("run") == begin.get("run"))


def _what_came_out(session: Session, begin: dict[str, Any]) -> bytes | None:
    """Give what the unfinished write displaced, None where it displaced nothing."""
    run, first = begin.get("run"), begin.get("write", 0)
    names = session.beside.names()
    # a later write of one run may have begun with the same lines, but never an earlier one
    own = {name: j for name in names if (j := versions.Journal.read(name)) and j.run == run and j.n >= first}
    if any(name.endswith(versions.NEW) for name in own):
        return None  # on the last rung the new version still waits
    for name, journal in own.items():
        data = versions.slurp(session.beside, name)
        if data is not None and versions.short_digest(data) != journal.new:
            return data
    return None


def _secure_backup(session: Session, backup: Path, old: bytes) -> None:
    """Make the backup again where a power cut took it before it was synced."""
    if stored_as(backup) != backup:
        return  # it was compressed meanwhile, and so was whole
    if not backup.exists() or backup.stat().st_size == 0 < len(old):
        write_backup(backup, old, session.like)
        own_file(backup, session.like)
