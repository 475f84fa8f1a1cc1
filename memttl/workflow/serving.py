"""The use case serve: one memory file, changed and shown for the clients of `memttl serve`.

`server/writer.py` calls `apply` and `rest` from its one writing thread, `server/calls.py` `view` from a reading one.
The file stays what the stock memory server reads and writes; what a client says besides (a TTL, a tier) goes into audit
log and ledger.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from memttl.core.graph import read_graph
from memttl.core.graph_edits import Answer, Edit
from memttl.core.judge import make_judge
from memttl.core.serving_view import View, view_of
from memttl.errors import Bug, MemttlError
from memttl.files.archive_mark import refuse_archive
from memttl.files.knowledge import knowledge_of
from memttl.files.looking import Moment
from memttl.files.served import PACE, Pending, Ruling, ServedFile
from memttl.files.snapshot import read_once
from memttl.files.state import State, state_of
from memttl.files.writing import Options
from memttl.settings import Settings

_SERVED = Options(pace=PACE)


class Serving:
    """One memory file while it is served. `resolve` gives its settings as they are now; `tell` is told of warnings."""

    def __init__(
        self,
        resolve: Callable[[], Settings],
        *,
        tell: Callable[[str], None] = lambda _: None,
        options: Options = _SERVED,
    ) -> None:
        self.resolve, self._tell, self._options = resolve, tell, options
        self._served = self._file_of(resolve())
        self._view: tuple[object, View] | None = None

    @property
    def state(self) -> State:
        """The places of the memory file and its state."""
        return self._served.state

    @property
    def pending(self) -> Pending:
        """What was added and is not in the ledger yet: by entity and key of the text, with its instant."""
        return self._served.pending

    def _file_of(self, settings: Settings) -> ServedFile:
        state = state_of(settings.memory, settings.state_elsewhere)
        refuse_archive(state)
        return ServedFile(state, self._tell, self._options)

    def _ruling(self) -> Ruling:
        """Give what is judged by now; the link that was named may lead to another file by now, or be one."""
        settings = self.resolve()
        ruling = Ruling(settings.policy, Moment(settings.now, settings.clock))
        if state_of(settings.memory, settings.state_elsewhere) != self.state:
            self._served.rest(ruling, is_over=True)
            self._served = self._file_of(settings)
        return ruling

    def apply(self, edits: Sequence[Edit]) -> Sequence[Answer | MemttlError]:
        """Write edits, durable once this returns; give an answer for each, or why nothing was done of it.

        One that nobody reckoned with does not take the others down.
        """
        try:
            ruling = self._ruling()  # first of all: it may be another file that is served from now on
            return self._served.write(edits, ruling)
        except MemttlError as e:
            return [e] * len(edits)
        except Exception as e:
            if len(edits) > 1:
                return [self.apply([edit])[0] for edit in edits]
            told = f"memttl met something that it did not reckon with ({type(e).__name__}: {e})"
            self._tell(told)
            return [Bug(f"{told}.")]

    def record(self) -> None:
        """Keep in the ledger when what was added since the last call came.

        Raises:
            MemttlError: it cannot be written; the next call tries again.
        """
        self._served.record()

    def look(self) -> None:
        """Record a look at the file as it is, as `memttl scan` does; where there is none, nothing.

        Raises:
            MemttlError: it cannot be recorded.
        """
        ruling = self._ruling()
        self._served.look(ruling)

    def rest(self, *, is_over: bool = False) -> float:
        """Do what could wait, such as a look; give after how many seconds this is to be called again.

        `is_over`: it is the last time. What cannot be done is told.
        """
        try:
            ruling = self._ruling()
            return self._served.rest(ruling, is_over=is_over)
        except MemttlError as e:  # the policy cannot be read at the moment
            self._tell(e.message)
            return 60.0

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
                self._view = key, view_of(read_graph(data, known), judge, self._served.with_pending(knowledge))
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
