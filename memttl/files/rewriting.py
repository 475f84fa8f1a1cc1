"""The write of new bytes that a use case makes from today's: undo, restore and repair, from the lock to the last look.

Unlike a prune they also write to a file that is missing, empty, damaged or none of the memory server's. Nothing here
decides what is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memttl.core.classify import day_reader
from memttl.core.memory import read_lines
from memttl.core.merge import is_whole, merge
from memttl.core.places import line_key
from memttl.core.policy import Policy
from memttl.core.progress import Progress, no_progress
from memttl.core.records import begin_again, begin_fields
from memttl.errors import AS_IT_WAS, Interrupted, LedgerLost, MemttlError, NoMemoryFile
from memttl.files.after_run import tidy
from memttl.files.archive_mark import archive_of
from memttl.files.backups import list_backups
from memttl.files.commit import Change
from memttl.files.knowledge import ledger_of
from memttl.files.looking import Moment, look_in_bytes
from memttl.files.snapshot import Snapshot, digest_of, read_once, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State, own_file, refusal
from memttl.files.writing import LOOKS_AGAIN, Options, Session, Written, writing

if TYPE_CHECKING:  # most policies name no archive
    from memttl.files.archiving import ToArchive


class Rewrite(NamedTuple):
    """What is to be written in place of the bytes that it was made from.

    `events` are the lines of the audit log, given the run's name; `key` is equal for rewrites that do the same; `begin`
    holds further fields of the run's `begin`; `sets`: some of the events change settings, too; `to_archive` as in
    `Change`.
    """

    data: bytes
    events: Callable[[str], Sequence[dict[str, Any]]]
    key: Any
    begin: dict[str, Any]
    sets: bool = False
    to_archive: ToArchive | None = None


class Rewriting(NamedTuple):
    """What a use case writes by: `make` gives what is to be written for today's bytes, None for nothing.

    `command` is its name in the audit log. `make` is called anew where a stranger wrote meanwhile, and keeps to what
    was approved.
    """

    state: State
    command: str
    policy: Policy
    moment: Moment
    make: Callable[[Snapshot], Rewrite | None]
    options: Options = Options()
    progress: Progress = no_progress
    break_hard_links: bool = False


class Rewritten(NamedTuple):
    """What was written, on which bytes; `run` and `backup` are None where there was nothing to write."""

    run: str | None = None
    backup: Path | None = None
    before: bytes = b""
    data: bytes = b""
    warnings: tuple[str, ...] = ()


def read_as_it_is(state: State) -> Snapshot:
    """Read the memory file settled, damaged or not; a missing one as an empty one, with the stat of our own files.

    Raises:
        NoMemoryFile: it is missing, and nothing tells that memttl has ever been here; or it is no regular file.
        NoPermission, TryAgain: as `read_settled`.
    """
    if os.path.lexists(state.memory):
        return read_settled(state.memory, _looks_whole)[0]
    return Snapshot(state.memory, b"", stat_of_missing(state))


def stat_of_missing(state: State) -> os.stat_result:
    """Give the stat that a memory file which is missing takes its owner and mode from: that of our own files.

    Raises:
        NoMemoryFile: there are none, or its folder is missing, too.
    """
    if not state.memory.parent.is_dir():
        raise NoMemoryFile(
            f"There is no folder {state.memory.parent}, so no file can be put back into it.",
            hint="Make the folder, or name the memory file with --file.",
        )
    for path in (state.audit, state.ledger, *(path for *_, path in list_backups(state.backups))):
        try:
            return path.lstat()
        except OSError:
            continue
    raise NoMemoryFile(
        f"There is no file {state.memory}, and memttl has kept nothing of it in {state.kept}.",
        hint="Name the memory file with --file.",
    )


def _looks_whole(data: bytes) -> tuple[None, bool]:
    return None, any(line.kind == "malformed" for line in read_lines(data))


def rewrite(rewriting: Rewriting, like: os.stat_result) -> Rewritten:
    """Under the lock: recover, read again, make, write, look again, and keep the look in the ledger.

    `like` is the memory file's stat. A missing file is made empty first: to the memory server the two are the same.

    Raises:
        MemttlError: what was not done; `applied` where the memory file had been written before.
    """
    state, run = rewriting.state, os.urandom(4).hex()
    with writing(state, like, rewriting.options, once_locked=lambda: _make_if_missing(state.memory, like)) as session:
        knows = _make_ledger(session)
        written = session.write(lambda: _made(rewriting, run))
        if written is None:
            return Rewritten(warnings=tuple(session.warnings))
        before, data, backup = written.snapshot.data, written.change.data, written.backup
        try:
            bring_together(session, written, lambda snapshot, both: _change_again(rewriting, run, snapshot, both))
            if knows:
                _keep_look(rewriting, like, data, run, session)
            tidy(state, rewriting.policy, run=run)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted.", hint=f"The backup is {backup}.", applied=True) from None
    return Rewritten(run, backup, before, data, tuple(session.warnings))


def _make_if_missing(memory: Path, like: os.stat_result) -> None:
    if os.path.lexists(memory):
        return
    try:
        os.close(os.open(memory, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600))
        own_file(memory, like)
    except FileExistsError:
        return  # the server was first
    except OSError as e:
        raise refusal(e, f"{memory} cannot be made") from None


def _make_ledger(session: Session) -> bool:
    """Make the ledger before anything is written, since a backup without one tells of a lost one; say whether it is.

    Where it is lost for good, what is put back matters more: nothing is removed by what is unknown. An archive has no
    ledger.
    """
    if archive_of(session.state):
        return False
    try:
        with ledger_of(session.state, session.like, session.warn):
            return True
    except LedgerLost as e:
        session.warn(e.message.removesuffix(f"; {AS_IT_WAS}.") + "; no look was recorded")
        return False


def _made(rewriting: Rewriting, run: str) -> tuple[Change, Snapshot] | None:
    snapshot, _ = read_settled(rewriting.state.memory, _looks_whole, proven=True)
    made = rewriting.make(snapshot)
    if made is None:
        return None
    if not rewriting.break_hard_links:
        refuse_hard_links(snapshot, rewriting.state.beside)
    refuse_read_only(snapshot)
    return _change(rewriting, run, snapshot, made), snapshot


def _change(rewriting: Rewriting, run: str, snapshot: Snapshot, made: Rewrite) -> Change:
    fields = begin_fields(
        rewriting.command,
        snapshot.digest,
        digest_of(made.data),
        file=str(snapshot.path),
        now=rewriting.moment.now,
        policy=rewriting.policy,
    )
    begin = {**fields, **made.begin}
    return Change(run, made.data, begin, lambda: made.events(run), made.key, sets=made.sets, to_archive=made.to_archive)


def _change_again(rewriting: Rewriting, run: str, snapshot: Snapshot, both: bytes) -> Change:
    made = Rewrite(both, lambda _: (), None, begin_again({}))
    return _change(rewriting, run, snapshot, made)._replace(with_backup=False)


def bring_together(
    session: Session,
    written: Written,
    change_of: Callable[[Snapshot, bytes], Change],
    *,
    looks: int = LOOKS_AGAIN,
    read: Callable[[], Snapshot] | None = None,
    is_late: Callable[[bytes], bool] = lambda _: True,
) -> None:
    """Where a server had read the file before the swap and wrote that version after it, bring both together.

    `change_of` gives the change that writes bytes in place of a snapshot; `looks` as in `Session.look_again`.
    `read` gives the file as it is now; `is_late` says whether a version that lacks something of what was written was
    saved by somebody who had not seen that: else it stays.
    """
    before, data = written.snapshot.data, written.change.data

    def make() -> tuple[Change, Snapshot, int] | None:
        snapshot = read() if read else read_once(session.state.memory)
        live = snapshot.data
        if live == data or not is_whole(live, before):
            return None
        both = merge(before, live, data)
        if _graph(both) == _graph(live) or not is_late(live):
            return None
        return change_of(snapshot, both), snapshot, 1

    session.look_again(
        make,
        lambda _: "saved the version of before; what this run wrote and what the server added are both there now",
        "the memory server saved the version of before this run, and what was written could not be brought back",
        looks=looks,
    )


def _graph(data: bytes) -> list[tuple[str, Any]]:
    return [(line_key(line), (line.record or {}).get("observations")) for line in read_lines(data)]


def _keep_look(rewriting: Rewriting, like: os.stat_result, data: bytes, run: str, session: Session) -> None:
    """Record the look that the run ends with; the memory file is written."""
    try:
        look_in_bytes(
            rewriting.state,
            like,
            data,
            rewriting.moment,
            session.warn,
            own_run=run,
            days_of=day_reader(rewriting.policy, rewriting.moment.now),
            progress=rewriting.progress,
        )
        rewriting.options.step("ledger written")
    except MemttlError as e:
        e.after_the_write()
        raise
