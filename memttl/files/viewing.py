"""The memory file as reads of `memttl serve` see it: read settled, judged by what is known, kept from call to call.

`workflow/serving.py` asks for a view before each read, in one thread. No lock is waited for, but a file that is
half-written is; one that is damaged for good is shown without its damaged lines.
"""

from __future__ import annotations

import os
from datetime import datetime

from memttl.core.graph import Graph, read_graph
from memttl.core.judge import make_judge
from memttl.core.policy import Policy
from memttl.core.serving_checks import refuse_to_serve
from memttl.core.serving_view import View, view_of
from memttl.errors import Foreign, Malformed, MemttlError, NoMemoryFile
from memttl.files.knowing import Knowing
from memttl.files.snapshot import read_once, read_settled
from memttl.files.state import State


class Viewing:
    """The views of one memory file, for one reading thread; `wrote` and parts of `known` are for the writing one."""

    def __init__(self, state: State) -> None:
        self._memory = state.memory
        self.known = Knowing(state)
        self._graph = self._own = Graph(b"", ())
        self._refused: tuple[bytes, MemttlError] | None = None
        self._view: tuple[tuple[object, ...], View] | None = None

    def wrote(self, graph: Graph) -> None:
        """Take what this process has written for whole, should the file still be so."""
        self._own = graph

    def view(self, policy: Policy, now: datetime) -> View:
        """Give the memory as it is now, judged.

        Raises:
            Foreign: it is none of the memory server's files.
            MemttlError: it cannot be read.
        """
        graph = self._read()
        changed = self.known.update()
        # a date that was still to come may have come; what has expired is told at each read
        by = policy, self.known.baseline, now.replace(minute=0, second=0, microsecond=0)
        old = self._view[1] if self._view and self._view[0] == by and changed is not None else None
        if old is None or old.graph is not graph or changed:
            judge = make_judge(policy, now, baseline=self.known.baseline)
            known_of = self.known.known_of if self.known.is_known else None
            self._view = by, view_of(graph, judge, known_of, before=old, changed=changed or {})
        assert self._view is not None
        return self._view[1]

    def _read(self) -> Graph:
        try:
            data = read_once(self._memory).data
        except NoMemoryFile:
            if os.path.lexists(self._memory):
                raise
            self._graph = Graph(b"", ())  # as the memory server takes it
            return self._graph
        for known in (self._graph, self._own):
            if known.data == data and (data or known is self._graph):
                self._graph = known
                return known
        if self._refused and self._refused[0] == data:
            raise self._refused[1].with_traceback(None)  # else the frames of each read, and its bytes, stay with it
        return self._read_settled()

    def _read_settled(self) -> Graph:
        seen = b""

        def look(data: bytes) -> tuple[Graph, bool]:
            nonlocal seen
            seen = data
            graph = read_graph(data, self._graph)
            refuse_to_serve(graph)
            return graph, any(graph.rows[number - 1].line.kind == "malformed" for number, _ in graph.odd)

        try:
            _, self._graph = read_settled(self._memory, look)
        except (Foreign, Malformed) as e:
            self._refused = seen, e
            raise
        return self._graph
