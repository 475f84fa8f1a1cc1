"""What is known of one memory file, kept open from write to write, so that `memttl serve` need not read it anew.

`files/served.py` asks under the sidecar lock, in one thread. What others have recorded since is taken over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from memttl.core.known import Knower
from memttl.files import audit
from memttl.files.arriving import LEDGER_S
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.ledger_open import ledger_errors
from memttl.files.rebuild import Rebuilt, baseline_in_log, logged_since
from memttl.files.state import State

_Stamp = tuple[int, int, int] | None


class Familiar:
    """The knowledge of one memory file. Close it when nothing has come for a while."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._open: tuple[ExitStack, Knowledge] | None = None
        self._stamps: tuple[_Stamp, _Stamp] = None, None
        self._log_bytes = 0

    @contextmanager
    def knowledge(self, *, must_know: bool = True) -> Iterator[Knowledge]:
        """Give what is known now, for as long as the block lasts.

        Raises:
            MemttlError: as `knowledge_of`.
        """
        try:
            with ledger_errors(self._state.ledger):
                yield self._up_to_date(must_know=must_know)
            if not must_know:
                self.close()  # what is known without the ledger is for this once: it would let settings through
        except BaseException:
            self.close()
            raise

    def without_ledger(self, knower: Knower) -> Knowledge:
        """Give what is known while another program holds the ledger: what the log tells, and the ages of `knower`.

        Raises:
            MemttlError: the audit log cannot be read.
        """
        logged = logged_since(self._state, 0)
        found = Rebuilt(
            baseline_in_log(self._state),
            logged.settings,
            tuple(p for p, pinned in logged.entity_pins.items() if pinned),
            logged.arrivals,
        )
        knowledge = Knowledge(self._state, found=found)
        knowledge.known_of = knower.beside(found.settings, found.entity_pins, found.arrivals).known_of
        return knowledge

    def close(self) -> None:
        """Let go of the ledger."""
        found, self._open = self._open, None
        if found is not None:
            found[0].close()

    def _up_to_date(self, *, must_know: bool) -> Knowledge:
        ledger, log = stamps = _stamp(self._state.ledger), _stamp(self._state.audit)
        known = self._open[1] if self._open is not None else None
        if known is None or ledger is None or not self._are_the_same(stamps):
            return self._anew(must_know=must_know, stamps=stamps)
        if log != self._stamps[1]:
            size = audit.size_of(self._state.audit)
            logged = logged_since(self._state, self._log_bytes)
            if logged.entity_pins:
                return self._anew(must_know=must_know, stamps=stamps)
            known.learn(logged.settings, logged.arrivals)
            self._log_bytes = size
        if ledger != self._stamps[0]:
            known.renew()
        self._stamps = stamps
        return known

    def _are_the_same(self, stamps: tuple[_Stamp, _Stamp]) -> bool:
        """Say whether ledger and log are still those files: a log that was rewritten holds less than it did."""
        return all(a is not None and b is not None and a[0] == b[0] for a, b in zip(stamps, self._stamps, strict=True))

    def _anew(self, *, must_know: bool, stamps: tuple[_Stamp, _Stamp]) -> Knowledge:
        self.close()
        self._log_bytes = audit.size_of(self._state.audit)
        stack = ExitStack()
        try:
            known = stack.enter_context(knowledge_of(self._state, must_know=must_know, patience_s=LEDGER_S))
        except BaseException:
            stack.close()
            raise
        self._open, self._stamps = (stack, known), stamps
        return known


def _stamp(path: Path) -> _Stamp:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
