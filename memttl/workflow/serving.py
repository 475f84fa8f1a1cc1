"""The use case serve: one memory file, changed and shown for the clients of `memttl serve`.

`server/calls.py` calls `apply` from its one writing thread and `view` from a reading one. The file stays what the stock
memory server reads and writes; what a client says besides (a TTL, a tier) goes into audit log and ledger.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime

from memttl.core.arrivals import hidden_texts, set_event, settings_of
from memttl.core.classify import KnownOf
from memttl.core.digests import text_key
from memttl.core.graph import Graph, read_graph
from memttl.core.graph_edits import Answer, Arrival, Edit, Edited, apply_edits
from memttl.core.judge import Judge, make_judge
from memttl.core.model import Known, Verdict
from memttl.core.serving_view import View, view_of
from memttl.files.archive_mark import refuse_archive
from memttl.files.commit import timestamp
from memttl.files.editing import Editing, Made, write_edits
from memttl.files.knowledge import Knowledge, knowledge_of, ledger_of
from memttl.files.ledger_open import ledger_errors
from memttl.files.lock import locked
from memttl.files.looking import Moment, look_in_bytes
from memttl.files.snapshot import read_once
from memttl.files.state import State, prepare, state_of
from memttl.settings import Settings

Pending = dict[str, dict[bytes, datetime]]  # what was added and is not in the ledger yet, with its instant


class Serving:
    """One memory file while it is served. `resolve` gives its settings as they are now."""

    def __init__(self, resolve: Callable[[], Settings]) -> None:
        self.resolve = resolve
        settings = resolve()
        self.state: State = state_of(settings.memory, settings.state_elsewhere)
        refuse_archive(self.state)
        self.pending: Pending = {}
        self._graph = Graph(b"", ())
        self._view: tuple[object, View] | None = None

    def apply(self, edits: Sequence[Edit]) -> tuple[Answer, ...]:
        """Write edits, durable once this returns; give an answer for each.

        Raises:
            MemttlError: what was not done; then none of them was.
        """
        settings = self.resolve()
        answers: tuple[Answer, ...] = ()
        with knowledge_of(self.state, must_know=True) as knowledge:
            judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
            known_of = self._with_pending(knowledge)

            def make(data: bytes, run: str) -> Made:
                nonlocal answers
                graph = read_graph(data, self._graph)
                edited, events = _edited(graph, edits, judge, known_of, run, with_text=settings.policy.audit_text)
                answers, self._graph = edited.answers, edited.graph
                return Made(edited.graph.data, edited.deletes, events)

            write_edits(Editing(self.state, settings.policy, Moment(settings.now, settings.clock), make))
        self._note(answers, settings.now)
        return answers

    def _note(self, answers: Sequence[Answer], now: datetime) -> None:
        for arrival in (a for answer in answers for a in answer.arrivals if a.is_new):
            self.pending.setdefault(arrival.entity, {}).setdefault(text_key(arrival.text), now)

    def _with_pending(self, knowledge: Knowledge) -> KnownOf:
        """Answer as the ledger will once it has what was added."""
        pending = {entity: dict(found) for entity, found in list(self.pending.items())}

        def known_of(entity: str, text: str) -> Known:
            known = knowledge.known_of(entity, text)
            born = pending.get(entity, {}).get(text_key(text)) if pending else None
            return known._replace(first_seen=born) if born and known.first_seen is None else known

        return known_of

    def record(self) -> None:
        """Keep in the ledger when what was added since the last call came.

        Raises:
            MemttlError: it cannot be written; the next call tries again.
        """
        taken = {entity: dict(found) for entity, found in self.pending.items()}
        if not taken:
            return
        like = os.stat(self.state.memory)
        prepare(self.state, like)
        with (
            locked(self.state, like),
            ledger_of(self.state, like, lambda _: None) as ledger,
            ledger_errors(self.state.ledger),
            ledger.transaction(write=True),
        ):
            for entity, found in taken.items():
                ledger.name({entity: dict.fromkeys(found)}, min(found.values()))
        for entity, found in taken.items():
            for key in found:
                self.pending.get(entity, {}).pop(key, None)
            if not self.pending.get(entity):
                self.pending.pop(entity, None)

    def look(self) -> None:
        """Record a look at the file as it is, as `memttl scan` does; where there is none, nothing.

        Raises:
            MemttlError: it cannot be recorded.
        """
        if not os.path.isfile(self.state.memory):
            return
        snapshot, settings = read_once(self.state.memory), self.resolve()
        prepare(self.state, snapshot.stat)
        with locked(self.state, snapshot.stat):
            moment = Moment(settings.now, settings.clock)
            look_in_bytes(self.state, snapshot.stat, snapshot.data, moment, lambda _: None)

    def view(self) -> View:
        """Give the memory as it is now, judged.

        Raises:
            MemttlError: it cannot be read.
        """
        data = read_once(self.state.memory).data if os.path.lexists(self.state.memory) else b""
        settings = self.resolve()
        key = data, _stamps(self.state), settings.policy, settings.now.replace(minute=0, second=0, microsecond=0)
        if self._view is None or self._view[0] != key:
            with knowledge_of(self.state, must_know=False) as knowledge, knowledge.steady():
                judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
                known = self._view[1].graph if self._view else None
                self._view = key, view_of(read_graph(data, known), judge, self._with_pending(knowledge))
        return self._view[1]


def _stamps(state: State) -> tuple[object, ...]:
    """Give what changes when somebody records something."""
    found: list[object] = []
    for path in (state.ledger, state.audit):
        try:
            about = os.stat(path)
        except OSError:
            found.append(None)
        else:
            found.append((about.st_ino, about.st_size, about.st_mtime_ns))
    return tuple(found)


def _edited(
    graph: Graph, edits: Sequence[Edit], judge: Judge, known_of: KnownOf, run: str, *, with_text: bool
) -> tuple[Edited, list[dict[str, object]]]:
    hidden: dict[str, dict[str, Verdict]] = {}

    def hidden_in(entity: str) -> dict[str, Verdict]:
        if entity not in hidden:
            row = next((row for row in graph.rows if row.entity is not None and row.entity.name == entity), None)
            hidden[entity] = hidden_texts(row, judge, known_of) if row else {}
        return hidden[entity]

    edited = apply_edits(graph, edits, lambda entity, text: text in hidden_in(entity))
    arrivals: list[Arrival] = [a for answer in edited.answers for a in answer.arrivals]
    events, time = [], timestamp()
    for arrival in arrivals:
        verdict = hidden_in(arrival.entity).get(arrival.text) if arrival.is_renewed else None
        after = settings_of(arrival, judge, known_of, verdict)
        if after is not None:
            events.append(set_event(arrival, after, run, time, with_text=with_text))
    return edited, events
