"""The write of what clients of `memttl serve` want changed: several edits in one swap, from the lock to the last look.

`files/served.py` calls it from its one writing thread. What only adds is no run: no backup, and the audit log tells
only when its texts came and what it sets. What deletes is a run like a prune, so that `undo` puts it back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from memttl.core.deletions import taken_events
from memttl.core.differences import differences
from memttl.core.graph import Graph
from memttl.core.graph_draft import Taken
from memttl.core.policy import Policy
from memttl.core.records import begin_fields
from memttl.core.restore_records import deletion_events
from memttl.errors import LedgerLost, MemttlError, NoMemoryFile
from memttl.files.after_run import tidy
from memttl.files.after_write import AfterWrite
from memttl.files.commit import Change, LoggedSet
from memttl.files.knowledge import ledger_of
from memttl.files.looking import Moment
from memttl.files.rewriting import bring_together
from memttl.files.snapshot import (
    Snapshot,
    read_once,
    read_settled,
    refuse_hard_links,
    refuse_irregular,
    refuse_read_only,
)
from memttl.files.state import State, refusal
from memttl.files.writing import Options, Session, Written, writing

COMMAND = "serve"
_LOOKS_AGAIN = 100  # beside a stock server under full load three were not enough: 3 to 7 of 25 additions were lost


class Made(NamedTuple):
    """What today's graph becomes, and what is `taken` out of it. `sets` is `also_sets` of `Change`.

    `adds`: something comes in as well, so that what goes cannot be told by what is taken alone.
    """

    after: Graph
    sets: Sequence[LoggedSet] = ()
    taken: Sequence[Taken] = ()
    adds: bool = False


class Editing(NamedTuple):
    """What is written by; `make` is given today's bytes and the run's name, and called anew where a stranger wrote.

    `read` gives the graph of bytes and whether they may be half-written, and raises for what is no memory file.
    """

    state: State
    policy: Policy
    moment: Moment
    read: Callable[[bytes], tuple[Graph, bool]]
    make: Callable[[Graph, str], Made]
    options: Options = Options()


class Edited(NamedTuple):
    """What the user should be told, whether another memttl held the lock first, and the run if it made a backup."""

    warnings: tuple[str, ...] = ()
    had_to_wait: bool = False
    run: str | None = None


def write_edits(editing: Editing) -> Edited:
    """Write until it is durable; a missing memory file is made where there is something to write.

    Raises:
        MemttlError: what was not done; `applied` where the memory file had been written before.
    """
    state, run = editing.state, os.urandom(4).hex()
    if not _make_if_missing(editing):
        return Edited()
    like = os.stat(state.memory)
    refuse_irregular(state.memory, like)  # before a state folder is made beside it
    with writing(state, like, editing.options) as session:
        _make_ledger(session)
        made, written = _write(session, editing, run)
        if written is not None:
            _look_after(session, editing, written)
        else:
            session.set_ahead(made.sets)
            session.keep_set()
    has_backup = written is not None and written.backup is not None
    return Edited(tuple(session.warnings), session.had_to_wait, run if has_backup else None)


def tidy_up(editing: Editing, *, run: str | None = None) -> Edited:
    """Judge what writes have left in the state folder, once it is old enough to go.

    `run` is the last that made a backup since the last call: then log and backups are thinned, too.

    Raises:
        MemttlError: what was not done.
    """
    with writing(editing.state, os.stat(editing.state.memory), editing.options) as session:
        if run is not None:
            tidy(editing.state, editing.policy, run=run)
    return Edited(tuple(session.warnings), session.had_to_wait)


def _make_ledger(session: Session) -> None:
    """Make the ledger before anything is written: a backup without a ledger is that of a lost one.

    Where it is lost for good, what clients want kept is kept all the same: nothing is removed by what is unknown.
    """
    if session.state.ledger.exists():
        return
    try:
        with ledger_of(session.state, session.like, session.warn):
            return
    except LedgerLost as e:
        session.warn(e.message)


def _write(session: Session, editing: Editing, run: str) -> tuple[Made, Written | None]:
    made: Made | None = None

    def make() -> tuple[Change, Snapshot] | None:
        nonlocal made
        snapshot, graph = _read(editing)
        made = editing.make(graph, run)
        if made.after.data == snapshot.data:
            return None
        refuse_hard_links(snapshot, editing.state.beside, hint="Remove the other names.")
        refuse_read_only(snapshot)
        events = _events(editing, run, graph, made)
        return _change(session, editing, run, snapshot, made, events), snapshot

    written = session.write(make)
    assert made is not None
    return made, written


def _read(editing: Editing) -> tuple[Snapshot, Graph]:
    """Read the file as it is now; what looks half-written is waited for, but what was read before is believed."""
    snapshot = read_once(editing.state.memory)
    with suppress(MemttlError):  # raised again where it stays so
        graph, is_doubtful = editing.read(snapshot.data)
        if not is_doubtful:
            return snapshot, graph
    return read_settled(editing.state.memory, editing.read, proven=True)


def _look_after(session: Session, editing: Editing, written: Written) -> None:
    """Do what comes after a write. It is durable already, so that no error here may say that it is not."""
    try:
        run, look = written.change.run, AfterWrite(session, written)
        change = partial(_plain_change, run)
        bring_together(
            session, written, lambda _, both: change(both), looks=_LOOKS_AGAIN, read=look.read, is_late=look.is_late
        )
    except Exception as e:
        session.warn(e.message if isinstance(e, MemttlError) else f"{type(e).__name__} after a write: {e}")


def _plain_change(run: str, data: bytes, sets: Sequence[LoggedSet] = ()) -> Change:
    return Change(run, data, {}, lambda: (), None, with_backup=False, also_sets=sets)


def _events(editing: Editing, run: str, graph: Graph, made: Made) -> list[dict[str, Any]]:
    """Give the lines of the log on what goes; none also where what was deleted was added again."""
    with_text = editing.policy.audit_text
    if not made.taken:
        return []
    if made.adds:
        return deletion_events(graph.data, differences(graph.data, made.after.data), run, with_text=with_text)
    return taken_events(graph, made.taken, run, with_text=with_text)


def _change(
    session: Session, editing: Editing, run: str, snapshot: Snapshot, made: Made, events: list[dict[str, Any]]
) -> Change:
    data = made.after.data
    if not events:
        return _plain_change(run, data, made.sets)
    begin = begin_fields(
        COMMAND,
        session.digest(snapshot.data),
        session.digest(data),
        file=str(snapshot.path),
        now=editing.moment.now,
        policy=editing.policy,
    )
    return Change(run, data, begin, lambda: events, data, also_sets=made.sets)


def _make_if_missing(editing: Editing) -> bool:
    """Make a missing memory file as the memory server would, for whoever the umask allows; False for nothing to do."""
    memory: Path = editing.state.memory
    if os.path.lexists(memory):
        return True
    if not memory.parent.is_dir():
        raise NoMemoryFile(
            f"There is no folder {memory.parent}, so {memory} cannot be made; nothing was written.",
            hint="Make the folder, or name another memory file.",
        )
    if not editing.make(Graph(b"", ()), "").after.data:
        return False
    try:
        os.close(os.open(memory, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666))
    except FileExistsError:
        return True
    except OSError as e:
        raise refusal(e, f"{memory} cannot be made") from None
    return True
