"""Erasing what is to be forgotten from one memory file and all of its state, in an order that a kill may cut anywhere.

`workflow/forget.py` calls it once for each file. The copies go last: until then they tell a second try what was meant.
Each file is replaced in one step, so that it is the old or the new one.
"""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memttl.core.forget_outcome import PlaceCount
from memttl.core.forgetting import Targets, Without, without
from memttl.core.forgetting_copies import copy_without
from memttl.core.forgetting_log import log_without
from memttl.core.policy import Policy
from memttl.core.progress import Progress, no_progress
from memttl.core.records import begin_again, begin_fields
from memttl.errors import Interrupted, MemttlError, NoPermission
from memttl.files import audit, versions
from memttl.files.archive_mark import archive_of
from memttl.files.commit import Change, timestamp
from memttl.files.erasing_places import places_of, read_place, remove_file, replace_file
from memttl.files.forget_survey import count
from memttl.files.knowledge import ledger_of
from memttl.files.ledger_open import ledger_errors
from memttl.files.looking import removed_since
from memttl.files.recover import recover
from memttl.files.rewriting import stat_of_missing
from memttl.files.snapshot import Snapshot, digest_of, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State
from memttl.files.writing import Options, Session, writing

# every name that `step` is called with besides those of the write path, in order
STEPS = (
    *("memory done", "leftovers gone", "damaged gone", "new log written", "log replaced", "log written"),
    *("rows gone", "ledger wiped"),
)
COPY = "copy written"  # once for each copy
_AGAIN_HINT = "Run the same command again: it goes on with what is left."
_LOOKS = 2


class Erasing(NamedTuple):
    """What a forget erases by; `digests` are those of the texts that go, for the one line that stays in the log.

    `archive_of`: the state of the memory file whose archive `state` is.
    """

    state: State
    targets: Targets
    policy: Policy
    now: datetime
    options: Options = Options()
    progress: Progress = no_progress
    archive_of: State | None = None

    @property
    def home(self) -> Path:
        """The memory file's folder, from which places are named."""
        return (self.archive_of or self.state).memory.parent

    @property
    def has_ledger(self) -> bool:
        """Whether there is a ledger to open, or one to make: an archive has none, and with one it could be none."""
        return os.path.lexists(self.state.ledger) or not (self.archive_of or archive_of(self.state))

    @property
    def digests(self) -> list[str]:
        """SHA-256 of each text that goes."""
        return sorted({digest for found in self.targets.digests.values() for digest in found})


class Erased(NamedTuple):
    """What was done; `applied`: the memory file was written."""

    run: str
    applied: bool
    places: tuple[PlaceCount, ...]
    warnings: tuple[str, ...]


def erase(erasing: Erasing) -> Erased:
    """Under the lock: recover, write the memory file without it, and then log, ledger and every copy.

    Raises:
        MemttlError: what was not done; `applied` where the memory file had been written before.
    """
    state, run, applied = erasing.state, os.urandom(4).hex(), False
    is_there = os.path.lexists(state.memory)
    like = state.memory.lstat() if is_there else stat_of_missing(state)
    with writing(state, like, erasing.options) as session:
        if erasing.has_ledger:
            with ledger_of(state, like, session.warn):
                pass  # made, rebuilt and up to date with the log before anything is erased
        try:
            counted = count([state], erasing.targets, erasing.home)
            applied = is_there and _write_memory(session, erasing, run)
            _erase_the_rest(session, erasing, run, counted.places)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted; not all of it is erased.", hint=_AGAIN_HINT, applied=applied) from None
        except MemttlError as e:
            e.hint = f"{e.hint} {_AGAIN_HINT}".strip()
            if applied:
                e.after_the_write()
            raise
    return Erased(run, applied, counted.places, (*counted.warnings, *session.warnings))


def _erase_the_rest(session: Session, erasing: Erasing, run: str, places: tuple[PlaceCount, ...]) -> None:
    step = erasing.options.step
    _clear_leftovers(session)
    step("leftovers gone")
    for place in places_of(erasing.state):
        if place.kind == "damaged" or place.path.name.endswith(versions.PART):
            remove_file(place.path)
    step("damaged gone")
    _erase_from_log_and_ledger(session, erasing, run, places)
    for place in places_of(erasing.state):
        if place.kind not in ("copy", "old log"):
            continue
        try:
            data = read_place(place.path)
        except MemttlError:
            continue  # a damaged compressed backup: it was told of
        left = _left_of(data, place.kind == "old log", erasing.targets)
        if left != data:
            if place.path.lstat().st_nlink > 1:
                session.warn(f"{place.path} has another name (a hard link), and that one keeps the text")
            erasing.progress("erasing", 0, None)
            replace_file(place.path, left)
            step(COPY)


def _left_of(data: bytes, is_log: bool, targets: Targets) -> bytes:  # noqa: FBT001  # internal
    return log_without(data, targets).data if is_log else copy_without(data, targets).data


def _write_memory(session: Session, erasing: Erasing, run: str) -> bool:
    """Write the memory file without it, and again where a server brought it back; say whether it was written."""

    def make() -> tuple[Change, Snapshot] | None:
        made = _made(erasing, run)
        return made[:2] if made is not None else None

    written = session.write(make)
    if written is not None:
        for _ in range(_LOOKS):  # once more when what was displaced is gone: a late writer's update was merged by then
            _keep_away(session, erasing, run)
            _clear_leftovers(session)
    erasing.options.step("memory done")
    return written is not None


def _keep_away(session: Session, erasing: Erasing, run: str) -> None:
    """Erase again what a server puts back, until it stays away: one that writes without pause does so many times."""
    session.deadline = time.monotonic() + session.pace.patience_s
    while True:
        session.look_again(
            lambda: _made(erasing, run, again=True),
            lambda found: f"put {found} of the observations back; they were erased again",
            "what the memory server put back could not be erased again",
        )
        time.sleep(session.pace.settle_s)
        if _made(erasing, run) is None or time.monotonic() > session.deadline:
            return


def _made(erasing: Erasing, run: str, *, again: bool = False) -> tuple[Change, Snapshot, int] | None:
    snapshot, left = _look(erasing)
    if not left.gone:
        return None
    try:
        refuse_hard_links(snapshot, erasing.state.beside)
    except NoPermission as e:
        e.hint = "Remove the other names first: they would keep what is to be forgotten."
        raise
    refuse_read_only(snapshot)
    begin: dict[str, Any] = begin_fields(
        "forget",
        snapshot.digest,
        digest_of(left.data),
        file=str(snapshot.path),
        now=erasing.now,
        policy=erasing.policy,
    )
    begin["forgets"] = left.observations  # so many are no loss, though no line of the log says which
    begin = begin_again(begin) if again else begin
    key = ("forget", left.observations, left.lines)
    return Change(run, left.data, begin, list, key, with_backup=False), snapshot, left.observations or left.lines


def _look(erasing: Erasing) -> tuple[Snapshot, Without]:
    def look(data: bytes) -> tuple[Without, bool]:
        left = without(data, erasing.targets)
        return left, bool(left.broken)

    return read_settled(erasing.state.memory, look, proven=True)


def _clear_leftovers(session: Session) -> None:
    """Wait until what the write displaced is old enough to be judged, and let it be dropped: it holds the text."""
    end = time.monotonic() + session.pace.keep_s + session.pace.patience_s
    while True:
        recover(session)
        names = [name for name in session.beside.names() if versions.is_leftover(name)]
        if not names or time.monotonic() > end:
            break
        time.sleep(min(0.1, session.pace.keep_s))
    for name in names:
        session.warn(f"{session.beside.path / name} could not be judged and is still there; it may hold the text")


def _erase_from_log_and_ledger(session: Session, erasing: Erasing, run: str, places: tuple[PlaceCount, ...]) -> None:
    """Rewrite the log, and take the rows out of the ledger, which knows how much of the log it has seen.

    Until it is told that it has seen all of the new log, the ledger reads the settings in it again: none is missed.
    """
    if not erasing.has_ledger:
        _erase_from_log(session, erasing, run, places)
        return
    state, step = erasing.state, erasing.options.step
    with ledger_of(state, session.like, session.warn) as ledger, ledger_errors(state.ledger):
        removed = removed_since(state, ledger.log_seen)
        _erase_from_log(session, erasing, run, places)
        size = audit.size_of(state.audit)
        with ledger.transaction(write=True):
            ledger.forget(erasing.targets)
            # what a killed run removed since the last look is still counted, and then all of the log is read for it
            ledger.put_log_offsets(seen=ledger.log_seen if removed else size, settings_seen=size)
        step("rows gone")
        ledger.wipe()
        step("ledger wiped")


def _erase_from_log(session: Session, erasing: Erasing, run: str, places: tuple[PlaceCount, ...]) -> None:
    state, step = erasing.state, erasing.options.step
    log = audit.read_log(state.audit).data
    new = log_without(log[audit.segment_in(log).length :], erasing.targets)
    if new.changed:
        audit.rewrite(state.audit, new.data, time=timestamp(), step=step)
    audit.append(state.audit, [_forgotten(erasing, run, places)], session.like)
    step("log written")


def _forgotten(erasing: Erasing, run: str, places: tuple[PlaceCount, ...]) -> dict[str, Any]:
    """Give the line that says that something was forgotten, how much and where; of the texts nothing but digests."""
    return {
        "event": "forgotten",
        "run": run,
        "time": timestamp(),
        "places": {place.place: place.number for place in places},
        "digests": erasing.digests,
    }
