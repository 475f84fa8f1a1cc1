"""The write of what clients of `memttl serve` want changed: several edits in one swap, from the lock to the last look.

`workflow/serving.py` calls it from its one writing thread. What only adds is no run: no backup, and the audit log tells
of what it sets alone. What deletes is a run like a prune, so that `undo` puts it back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from memttl.core.differences import differences
from memttl.core.policy import Policy
from memttl.core.records import begin_fields
from memttl.core.restore_records import deletion_events
from memttl.errors import NoMemoryFile
from memttl.files import audit
from memttl.files.after_run import tidy
from memttl.files.commit import Change
from memttl.files.knowledge import ledger_of
from memttl.files.looking import Moment
from memttl.files.rewriting import bring_together
from memttl.files.snapshot import Snapshot, read_settled, refuse_hard_links, refuse_read_only
from memttl.files.state import State, refusal
from memttl.files.writing import Options, Session, writing

COMMAND = "serve"
_LOOKS_AGAIN = 100  # beside a stock server under full load three were not enough: 3 to 7 of 25 additions were lost


class Made(NamedTuple):
    """What today's bytes become. `deletes`: something is taken out. `sets`: lines for the audit log."""

    data: bytes
    deletes: bool
    sets: Sequence[dict[str, Any]]


class Editing(NamedTuple):
    """What is written by; `make` is given today's bytes and the run's name, and called anew where a stranger wrote."""

    state: State
    policy: Policy
    moment: Moment
    make: Callable[[bytes, str], Made]
    options: Options = Options()


def write_edits(editing: Editing) -> tuple[str, ...]:
    """Write until it is durable; a missing memory file is made. Gives what the user should be told.

    Raises:
        MemttlError: what was not done.
    """
    state, run = editing.state, os.urandom(4).hex()
    _make_if_missing(state)
    like = os.stat(state.memory)
    with writing(state, like, editing.options) as session:
        if not state.ledger.exists():
            with ledger_of(state, like, session.warn):
                pass  # made before anything is written: a backup without a ledger is that of a lost one
        made = _write(session, editing, run)
        if made is not None and made.deletes:
            tidy(state, editing.policy, run=run)
    return tuple(session.warnings)


def _write(session: Session, editing: Editing, run: str) -> Made | None:
    made: Made | None = None

    def make() -> tuple[Change, Snapshot] | None:
        nonlocal made
        snapshot, _ = read_settled(editing.state.memory, lambda _: (None, False), proven=True)
        made = editing.make(snapshot.data, run)
        if made.data == snapshot.data:
            return None
        refuse_hard_links(snapshot, editing.state.beside)
        refuse_read_only(snapshot)
        return _change(editing, run, snapshot, made), snapshot

    written = session.write(make)
    if written is not None:
        bring_together(
            session,
            written,
            lambda _, both: Change(run, both, {}, lambda: (), None, with_backup=False),
            looks=_LOOKS_AGAIN,
        )
    elif made is not None and made.sets:
        audit.append(editing.state.audit, made.sets, session.like)
    return made


def _change(editing: Editing, run: str, snapshot: Snapshot, made: Made) -> Change:
    if not made.deletes:
        return Change(run, made.data, {}, lambda: (), None, with_backup=False, also_sets=made.sets)
    begin = begin_fields(
        COMMAND,
        snapshot.digest,
        made.data,
        file=str(snapshot.path),
        now=editing.moment.now,
        policy=editing.policy,
    )

    def events() -> Sequence[dict[str, Any]]:
        found = differences(snapshot.data, made.data)
        return deletion_events(snapshot.data, found, run, with_text=editing.policy.audit_text)

    return Change(run, made.data, begin, events, made.data, also_sets=made.sets)


def _make_if_missing(state: State) -> None:
    """Make the memory file as the memory server would, for whoever the umask allows."""
    if os.path.lexists(state.memory):
        return
    if not state.memory.parent.is_dir():
        raise NoMemoryFile(
            f"There is no folder {state.memory.parent}, so {state.memory} cannot be made; nothing was written.",
            hint="Make the folder, or name another memory file.",
        )
    try:
        os.close(os.open(state.memory, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666))
    except FileExistsError:
        return
    except OSError as e:
        raise refusal(e, f"{state.memory} cannot be made") from None
