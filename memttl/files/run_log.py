"""What a session tells the audit log of its writes: begin, end, and what is set ahead of a swap; and its warnings.

`writing.py` makes its session of it. A run that has begun is ended here, whatever becomes of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memttl import trace
from memttl.errors import AS_IT_WAS, MemttlError
from memttl.files import audit
from memttl.files.commit import LoggedSet, timestamp
from memttl.files.state import State

if TYPE_CHECKING:
    from memttl.files.writing import Session


class RunLog:
    """The log of one session. `warnings` gathers what the user should be told."""

    def __init__(self, state: State, like: os.stat_result) -> None:
        self.state, self.like = state, like
        self.warnings: list[str] = []
        self.begun: tuple[str, object] | None = None  # the run whose `begin` has no `end` yet, and what it removes
        self.archived_in: Path | None = None  # the archive that holds what that run removes
        # by entity and digest ("": arrivals), of a write that is under way
        self._set_ahead: dict[tuple[str, str], LoggedSet] = {}

    def log_begin(
        self, begun: tuple[str, object], events: list[dict[str, Any]], sets: Sequence[LoggedSet] = ()
    ) -> None:
        """Log the begin of a write, synced, and what it sets; one of a try that came to nothing is ended by the way.

        Raises:
            MemttlError: the audit log cannot be written, or the archive where such a try had put something in.
        """
        if self.begun is not None and self.begun[0] != begun[0]:
            self._give_up()
        lines, wanted = self._new_sets(sets)
        audit.append(self.state.audit, [*self._end({"applied": False}), *events, *lines], self.like)
        self.begun, self._set_ahead = begun, wanted

    def set_ahead(self, sets: Sequence[LoggedSet]) -> None:
        """Log what the write that comes sets, and take back what an earlier try of it has set besides; raises as above.

        Where arrivals alone cannot be logged it only warns.

        Before the swap: a log that cannot be written then leaves all as it was, and a kill no text without its TTL.
        """
        lines, wanted = self._new_sets(sets)
        try:
            if lines:
                audit.append(self.state.audit, lines, self.like)
        except MemttlError as e:
            if any("settings" in line for line in lines):
                raise
            self.warn(e.message.replace(f"; {AS_IT_WAS}", ""))  # then a later look tells how old it is
        self._set_ahead = wanted

    def keep_set(self) -> None:
        """Let what was set ahead stand, since the write is done."""
        self._set_ahead = {}

    def _new_sets(self, sets: Sequence[LoggedSet]) -> tuple[list[dict[str, Any]], dict[tuple[str, str], LoggedSet]]:
        wanted = {(line["entity"], line.get("digest", "")): (line, back) for line, back in sets}
        old = self._set_ahead
        new = [line for key, (line, _) in wanted.items() if key not in old or _told(old[key][0]) != _told(line)]
        return [*new, *(back for key, (_, back) in old.items() if key not in wanted and back is not None)], wanted

    def log_end(self, fields: dict[str, Any], settings: Sequence[dict[str, Any]] = ()) -> None:
        """Log the end of the write that has begun, if one has, and what it set; raises as `log_begin`."""
        events = self._end(fields)
        if events:
            if fields.get("applied") is not True:
                self._give_up()
            audit.append(self.state.audit, [*settings, *events], self.like)  # a torn write must not lose a pin
            self.begun = self.archived_in = None

    def _give_up(self) -> None:
        """Before a run is said to have come to nothing: what it has archived goes again."""
        if self.archived_in is None or self.begun is None:
            return
        from memttl.files.archiving import give_up

        give_up(cast("Session", self), self.archived_in, self.begun[0])
        self.archived_in = None

    def _end(self, fields: dict[str, Any]) -> list[dict[str, Any]]:
        if self.begun is None:
            return []
        return [{"event": "end", "run": self.begun[0], "time": timestamp(), **fields}]

    def warn(self, text: str) -> None:
        """Tell the user something, once."""
        if text not in self.warnings:
            trace.note(f"warned: {text}")
            self.warnings.append(text)


def _told(line: dict[str, Any]) -> object:
    """Give what a line sets, or which texts have arrived by it."""
    return line.get("settings", line.get("digests"))
