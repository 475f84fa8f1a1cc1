"""Keeping a look at the memory file in the ledger: first sightings, what is gone, and at the first one the baseline.

`scan` looks in passing over a file of any size; an applied `prune` keeps a look at the bytes that it has read or
written. Whoever calls holds the sidecar lock.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memttl.core.clock import check_stamp, stamp_of
from memttl.core.look import Comparison, Days, DaysOf, KnownLines, Look, begin_look, look_at, note_days
from memttl.core.memory import BOM
from memttl.core.plan import refuse_foreign, refuse_unsound
from memttl.core.progress import Progress, Tick, no_progress, ticks_of
from memttl.core.vanished import vanished
from memttl.core.wording import instant_text
from memttl.errors import ClockBehind, NoPermission, TryAgain
from memttl.files import audit
from memttl.files.commit import timestamp
from memttl.files.knowledge import ledger_of
from memttl.files.ledger import Ledger
from memttl.files.ledger_open import ledger_errors
from memttl.files.rebuild import baseline_in_log
from memttl.files.snapshot import Snapshot, identity, open_memory, read_settled, refuse_irregular
from memttl.files.state import State

_PIECE = 1 << 20
_TRIES = 200


class Moment(NamedTuple):
    """The instant that is now for the command (`--now`), and that of the machine's clock."""

    now: datetime
    clock: datetime


class _Refused(Exception):
    """Rolls the transaction back; it never leaves this module."""


def keep_look(
    ledger: Ledger,
    state: State,
    like: os.stat_result,
    look: tuple[Look, KnownLines],
    moment: Moment,
    *,
    refuse: Callable[[Comparison], str] = lambda _: "",
) -> tuple[Comparison, str]:
    """Record a look; `refuse` may give a sentence for which the ledger stays as it is. Gives what was found, and that.

    Raises:
        ClockBehind: the clock stands before there was any memory server.
        MemttlError: ledger or audit log cannot be written.
    """
    stamp = check_stamp(stamp_of(moment.now, moment.clock, ledger.newest))
    refusal = ""
    try:
        with ledger.transaction(write=True):
            # before the commit: a log with a baseline and no ledger is rebuilt, the other way round it is lost
            if ledger.baseline is None:
                stamp = _begin_ledger(ledger, state, like, stamp)
            size = audit.size_of(state.audit)
            found = ledger.record(*look, stamp, log_size=size)
            refusal = refuse(found)
            if refusal:
                raise _Refused
    except _Refused:
        pass
    return found, refusal


def _begin_ledger(ledger: Ledger, state: State, like: os.stat_result, stamp: datetime) -> datetime:
    """Log the baseline, or take that of a run which logged it and was killed before its ledger was; give the stamp."""
    told = baseline_in_log(state)
    if told is None:
        event = {"event": "baseline", "time": timestamp(), "baseline": instant_text(stamp)}
        audit.append(state.audit, [event], like)
        return stamp
    ledger.put_baseline(told)
    return max(stamp, told)


def look_in_bytes(
    state: State,
    like: os.stat_result,
    data: bytes,
    moment: Moment,
    warn: Callable[[str], None],
    *,
    own_run: str | None = None,
    days_of: DaysOf | None = None,
    days_removed: Days | None = None,
    progress: Progress = no_progress,
) -> Comparison | None:
    """Record a look at bytes that the caller knows to be the memory file's; None where the clock forbids it.

    `own_run` is the run that has just written them, `days_removed` the days that were written in what it removed;
    `days_of` as in `Look`.

    Raises:
        MemttlError: ledger or audit log cannot be written.
    """
    with ledger_of(state, like, warn, own_run=own_run) as ledger, ledger_errors(state.ledger):
        known = ledger.known_lines(with_days=days_of is not None)
        look = look_at(data, known, days_of, progress=progress)
        progress("recording", 0, None)
        note_days(look, days_removed or {})
        try:
            return keep_look(ledger, state, like, (look, known), moment)[0]
        except ClockBehind as e:
            warn(e.message)
            return None


def look_in_passing(
    path: Path, known: KnownLines, days_of: DaysOf | None = None, *, progress: Progress = no_progress
) -> tuple[Look, os.stat_result]:
    """Look at the memory file at rest, piece by piece, so that one of any size needs little memory. Gives its stat too.

    Raises:
        Malformed, Foreign: as a prune would refuse it.
        NoMemoryFile, NoPermission, TryAgain: as `read_settled`.
    """
    look = begin_look(known)

    def read(at: Path) -> Snapshot:
        nonlocal look
        look, snapshot = _pass_over(at, known, days_of, progress)
        return snapshot

    def is_whole(_digest: bytes) -> tuple[Look, bool]:
        return look, bool(look.malformed) or not look.census.entities

    snapshot, found = read_settled(path, is_whole, read=read)
    if found.malformed or not found.census.entities:
        _refuse_whole(path)
        if found.malformed:
            raise TryAgain(f"{path} is being written; nothing was done.")
    elif snapshot.data:
        refuse_foreign(b"", found.census, malformed=False)
    return found, snapshot.stat


def _pass_over(path: Path, known: KnownLines, days_of: DaysOf | None, progress: Progress) -> tuple[Look, Snapshot]:
    """Look at each line once; the snapshot holds the digest of the bytes in their place, nothing for an empty file."""
    for _ in range(_TRIES):
        look, digest = begin_look(known, days_of), hashlib.sha256()
        descriptor = open_memory(path)
        try:
            before = os.fstat(descriptor)
            refuse_irregular(path, before)
            look.has_bom = os.read(descriptor, len(BOM)) == BOM
            os.lseek(descriptor, 0, os.SEEK_SET)
            met = _telling(digest.update, ticks_of(progress, "reading", before.st_size))
            for number, raw in enumerate(_lines_of(descriptor, met), start=1):
                look.add(raw, number)
            after = os.fstat(descriptor)
        except OSError as e:  # a disk that fails; a network folder that went away
            raise NoPermission(f"{path} cannot be read ({e.strerror}).") from None
        finally:
            os.close(descriptor)
        if identity(before) == identity(after):
            return look, Snapshot(path, digest.digest() if after.st_size else b"", after)
    raise TryAgain(f"{path} changed under every one of {_TRIES} readings; nothing was done.")


def _telling(met: Callable[[bytes], None], tick: Tick) -> Callable[[bytes], None]:
    """Give what meets every piece of a file, and tells how many bytes went by before it."""
    done = 0

    def meet(piece: bytes) -> None:
        nonlocal done
        tick(done)
        done += len(piece)
        met(piece)

    return meet


def _lines_of(descriptor: int, met: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield each line of an open file without its LF, as `line_spans` tells them; `met` is given every piece."""
    begun, is_first = [b""], True
    while piece := os.read(descriptor, _PIECE):
        met(piece)
        lines = [piece] if b"\n" not in piece else b"".join((*begun, piece)).split(b"\n")
        if len(lines) > 1:
            if is_first:
                lines[0], is_first = lines[0].removeprefix(BOM), False
            begun = [lines.pop()]
            yield from lines
        else:
            begun += lines
    last = b"".join(begun)
    if last:
        yield last.removeprefix(BOM) if is_first else last


def _refuse_whole(path: Path) -> None:
    """Refuse a file that is no sound memory file, in the words that need all of it."""

    def judge(data: bytes) -> tuple[None, bool]:
        look = look_at(data)
        refuse_unsound(data, look.census, look.malformed)
        return None, False

    read_settled(path, judge)


def vanished_words(state: State, found: Comparison, max_fraction: float, *, log_seen: int) -> str:
    """Give the sentence that refuses a file from which most of the last look is gone, "" where all is well.

    `log_seen` is the size that the audit log had at that look, in bytes: what runs removed since is no loss.
    """
    words = vanished(found, removed=0, max_fraction=max_fraction)
    if not words:
        return ""
    # a run that was killed before it could record what it removed
    return vanished(found, removed=removed_since(state, log_seen), max_fraction=max_fraction)


def removed_since(state: State, seen: int) -> int:
    """Count what runs removed since the audit log had `seen` bytes, one that was killed included."""
    count, going, forgotten = 0, set[tuple[str, str]](), 0  # a text counts once an entity, as in a look
    for event in audit.read_events(state.audit, after=seen):
        kind = event.get("event")
        if kind == "begin":
            going, forgotten = set(), _whole(event.get("forgets"))  # its log names nothing that went
        elif kind == "removed":
            going.add((str(event.get("entity")), str(event.get("raw_digest"))))
        elif kind == "end":
            count += len(going) + forgotten if event.get("applied") is True else 0
            going, forgotten = set(), 0
    return count + len(going) + forgotten  # a run without an end may have written; the next one that writes settles it


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
