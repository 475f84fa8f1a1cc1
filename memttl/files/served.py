"""One memory file as `memttl serve` holds it: edits written in order, and what they mean recorded when nothing is due.

`workflow/serving.py` calls it from its one writing thread. Nothing of the file itself is kept that is not looked at
again; what is remembered only spares work.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memttl.core.arrivals import Lives, Served, Settings, arrived_events, as_before, serve_edits, set_events
from memttl.core.clock import check_stamp, stamp_of
from memttl.core.graph import Graph, read_graph
from memttl.core.graph_edits import NO_PATCH, AddObservations, Answer, CreateEntities, Edit
from memttl.core.judge import make_judge
from memttl.core.policy import Policy
from memttl.core.serving_checks import refuse_to_serve
from memttl.core.serving_notes import line_notes
from memttl.errors import AS_IT_WAS, ClockBehind, LedgerLost, Locked, MemttlError, TryAgain
from memttl.files.arriving import record_arrivals, record_look
from memttl.files.commit import LoggedSet, timestamp
from memttl.files.editing import Editing, Made, tidy_up, write_edits
from memttl.files.familiar import Familiar
from memttl.files.kept_backups import words_for_missing
from memttl.files.knowledge import Knowledge
from memttl.files.looking import Moment
from memttl.files.pace import Pace
from memttl.files.remembered import Remembered
from memttl.files.snapshot import identity, read_once
from memttl.files.state import State
from memttl.files.turns import Turns
from memttl.files.viewing import Viewing
from memttl.files.writing import Options

# a client gives up after a minute or so
PACE = Pace(patience_s=50.0, poll_s=0.005)
_AFTER_S = 2.5  # then what the last write displaced may go
_HELD_S = 5.0
_IDLE_S = 0.5
_LOOK_S = 60.0  # looks are no more frequent, nor do they take more than a fiftieth of the time
_YOUNG_S = 3.0
_UNTIDIED = 100  # backups are whole files: no more of them wait for a pause to be thinned
_LAST_PATIENCE_S = 2.0  # who stops a server waits no longer


class Ruling(NamedTuple):
    """What is judged by: the policy, and the instant that is now."""

    policy: Policy
    moment: Moment


class ServedFile:
    """One memory file. `tell` is told of each warning once."""

    def __init__(self, state: State, tell: Callable[[str], None], options: Options = Options(pace=PACE)) -> None:  # noqa: B008
        self.state = state
        self.viewing = Viewing(state)
        self._tell, self._told = tell, set[str]()
        self._options = options._replace(remembered=Remembered())
        self._familiar, self._turns = Familiar(state), Turns()
        self._graph = Graph(b"", ())  # the file as it was believed last
        self._wrote_at = self._looked_at = float("-inf")
        self._is_behind = False  # the ledger, of what the audit log was told here
        self._is_tidy, self._was_there = True, False
        self._look_s = 0.0
        # before, it is not tried again whether another program holds the ledger, or what failed at rest
        self._held_until = self._record_at = float("-inf")
        self._looked: tuple[int, ...] = ()
        self._backed_up: list[str] = []  # runs that made a backup since the last tidying

    def write(self, edits: Sequence[Edit], ruling: Ruling) -> Sequence[Answer]:
        """Write edits, durable once this returns; give an answer for each.

        Raises:
            MemttlError: what was not done; then none of them was, unless it says `applied`.
        """
        served: Served | None = None
        stamp: datetime | None = None
        before: Settings = {}  # what was set of what a further try finds in the log already, set by the one before

        def make(graph: Graph, run: str) -> Made:
            nonlocal served
            self._graph = graph  # believed

            def by(knowledge: Knowledge) -> Served:
                nonlocal stamp
                stamp = _stamp(ruling.moment, knowledge)
                judge = make_judge(ruling.policy, ruling.moment.now, baseline=knowledge.baseline)
                return serve_edits(graph, edits, Lives(judge, as_before(before, knowledge.known_of), stamp))

            served = self._judged(edits, by)
            before.update(served.before)
            now, with_text = timestamp(), ruling.policy.audit_text
            lines, backs = (
                set_events(found, run, now, with_text=with_text) for found in (served.settings, served.before)
            )
            arrived = [(line, None) for line in arrived_events(served.arrived, stamp, run, now)]
            sets: tuple[LoggedSet, ...] = (*arrived, *zip(lines, backs, strict=True))
            self._is_behind = self._is_behind or bool(sets)
            return Made(served.graph, sets, served.taken, served.adds)

        self._turns.begin()
        had_to_wait = False
        try:
            edited = write_edits(self._editing(ruling, make))
            had_to_wait = edited.had_to_wait
            self._backed_up += [edited.run] if edited.run else []
        finally:
            self._turns.end(has_rivals=had_to_wait)
        self._say(edited.warnings)
        assert served is not None
        self._graph, self._wrote_at, self._is_tidy = served.graph, time.monotonic(), False
        self.viewing.wrote(served.graph)
        if len(self._backed_up) >= _UNTIDIED:  # without a pause in between
            with self._quietly():
                self._look_after(ruling)
        lines = tuple(line_notes(served.graph))
        return [answer._replace(notes=(*answer.notes, *lines)) for answer in served.answers]

    def gone_words(self, named: str, elsewhere: Path | None) -> str:
        """Say that the file is gone, and how it comes back; nothing while it is there, or where it never was."""
        if os.path.lexists(self.state.memory):
            self._was_there = True
            return ""
        if not (self._was_there or self.state.ledger.exists()):
            return ""
        back = words_for_missing(self.state.memory, elsewhere, named)
        return f"The memory file {self.state.memory} is gone: the memory begins anew, empty. {back}".rstrip()

    def _editing(self, ruling: Ruling, make: Callable[[Graph, str], Made]) -> Editing:
        return Editing(self.state, ruling.policy, ruling.moment, self._read, make, self._options)

    def _read(self, data: bytes) -> tuple[Graph, bool]:
        """Give the graph of bytes, and whether they may be half-written: what was believed before is not."""
        known = self._graph
        graph = read_graph(data, known)
        if graph is known:
            return graph, False
        refuse_to_serve(graph)
        return graph, not data or bool(_broken(graph) - _broken(known))

    def _judged(self, edits: Sequence[Edit], by: Callable[[Knowledge], Served]) -> Served:
        """Judge by what is known, also while another program holds the ledger, which then catches up from the log."""
        if time.monotonic() >= self._held_until:
            try:
                with self._knowledge(edits) as knowledge:
                    return by(knowledge)
            except TryAgain as e:
                self._note_held(e)
        return by(self._familiar.without_ledger(self.viewing.known.knower))

    def _note_held(self, e: TryAgain) -> None:
        self._held_until = time.monotonic() + _HELD_S
        self._warn(e.message.replace(f"; {AS_IT_WAS}", ""))

    @contextmanager
    def _knowledge(self, edits: Sequence[Edit]) -> Iterator[Knowledge]:
        """Give what is known; where that is lost for good, edits that set nothing go on without it."""
        with ExitStack() as stack:
            try:
                knowledge = stack.enter_context(self._familiar.knowledge())
            except LedgerLost as e:
                if any(map(_sets, edits)):
                    raise
                self._say([e.message])
                knowledge = stack.enter_context(self._familiar.knowledge(must_know=False))
            yield knowledge

    def record(self) -> None:
        """Keep in the ledger what the audit log was told here since; later, while another program holds it.

        Raises:
            MemttlError: it cannot be written; the next call tries again.
        """
        if time.monotonic() < self._held_until or not self._is_behind or not os.path.isfile(self.state.memory):
            return
        try:
            record_arrivals(self.state, self._options.pace, self._warn, around=self.viewing.known.own_write)
        except Locked:
            raise
        except TryAgain as e:
            self._note_held(e)
            return
        self._is_behind = False

    def look(self, ruling: Ruling) -> None:
        """Record a look at the file as it is, as `memttl scan` does; where there is none, nothing.

        Raises:
            MemttlError: it cannot be recorded.
        """
        begun = self._looked_at = time.monotonic()  # also of one that fails
        self.record()  # before the look, which would have them come now
        if not os.path.isfile(self.state.memory):
            if not os.path.lexists(self.state.memory) and (self._looked or self.state.ledger.exists()):
                self._warn(f"there is no file {self.state.memory}: to clients the memory is empty")
            return
        snapshot = read_once(self.state.memory)
        graph, _ = self._read(snapshot.data)
        is_young = time.time() - snapshot.stat.st_mtime < _YOUNG_S
        if _broken(graph) or (is_young and not graph.entities):
            return  # what is damaged says nothing of what is gone
        self._looked = record_look(self.state, ruling.policy, ruling.moment, self._options.pace, self._warn)
        self._look_s = time.monotonic() - begun

    def rest(self, ruling: Ruling, *, is_over: bool = False) -> float:
        """Do what could wait; give after how many seconds this is to be called again, where nothing comes before.

        `is_over`: it is the last time. What cannot be done is told.
        """
        if is_over:
            self._held_until, pace = float("-inf"), self._options.pace
            self._options = self._options._replace(
                pace=pace._replace(patience_s=min(_LAST_PATIENCE_S, pace.patience_s))
            )
        if is_over or time.monotonic() >= self._record_at:
            self._record_at = time.monotonic() + _LOOK_S  # what fails is not tried again at each rest
            with self._quietly():
                self.record()
                self._record_at = float("-inf")
        left_s = 0.0 if is_over else self._wrote_at + _AFTER_S - time.monotonic()
        if left_s > 0:
            return min(left_s, self._record_is_due_in())
        with self._quietly():
            self._look_after(ruling)
        with self._quietly():
            if self._is_new_to_look_at() and (is_over or self._look_is_due_in() <= 0):
                self.look(ruling)
        self._familiar.close()
        return max(1.0, min(self._look_is_due_in(), self._record_is_due_in()))

    def _record_is_due_in(self) -> float:
        return max(_IDLE_S, max(self._held_until, self._record_at) - time.monotonic()) if self._is_behind else _LOOK_S

    def _look_after(self, ruling: Ruling) -> None:
        if not self._is_tidy and os.path.isfile(self.state.memory):
            self._is_tidy = True
            run = self._backed_up[-1] if self._backed_up else None
            self._say(tidy_up(self._editing(ruling, _nothing), run=run).warnings)
            self._backed_up.clear()

    def _is_new_to_look_at(self) -> bool:
        try:
            return identity(os.stat(self.state.memory)) != self._looked
        except OSError:
            return True

    def _look_is_due_in(self) -> float:
        return self._looked_at + max(_LOOK_S, 50 * self._look_s) - time.monotonic()

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Tell of what fails here, and go on: no client asked for it."""
        try:
            yield
        except MemttlError as e:
            self._warn(e.message)
        except OSError as e:  # the file went away meanwhile
            self._warn(f"{self.state.memory}: {e.strerror}")

    def _say(self, warnings: Sequence[str]) -> None:
        for warning in warnings:
            self._warn(warning)

    def _warn(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def _nothing(graph: Graph, _run: str) -> Made:
    return Made(graph)


def _broken(graph: Graph) -> set[bytes]:
    lines = (graph.rows[number - 1].line for number, _ in graph.odd)
    return {line.raw for line in lines if line.kind == "malformed"}


def _sets(edit: Edit) -> bool:
    match edit:
        case CreateEntities(entities):
            return any(entity.patch != NO_PATCH for entity in entities)
        case AddObservations(additions):
            return any(addition.patch != NO_PATCH for addition in additions)
    return False


def _stamp(moment: Moment, knowledge: Knowledge) -> datetime | None:
    """Give the second of what arrives now; None where the clock stands before there was any memory server."""
    try:
        return check_stamp(stamp_of(moment.now, moment.clock, knowledge.newest)).replace(microsecond=0)
    except ClockBehind:
        return None
