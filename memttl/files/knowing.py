"""What is known of one memory file, held in memory by `memttl serve` and kept up with ledger and audit log.

`viewing.py` asks before each read which entities to judge anew. No lock is waited for: what cannot be read now is read
at the next call, and what was known before stays in use.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from memttl.core.known import Knower
from memttl.core.model import NOTHING_KNOWN, Known
from memttl.errors import AS_IT_WAS, MemttlError, TryAgain
from memttl.files.audit import size_of
from memttl.files.knowledge import knowledge_of
from memttl.files.rebuild import logged_since
from memttl.files.state import State, open_own

_FIRST_S = 1.0  # the first time there is nothing to go on with
_RETRY_S = 1.0  # a ledger that is damaged for good is not opened at each read
_HELD_S = 5.0  # a look or a prune holds it for a moment, also that of this process: nothing is amiss then
_HELD_RETRY_S = 0.05
_MOST_ARRIVED = 20_000  # then all is read anew, which lets go of what was deleted again
_LONGEST_LINE = 1 << 20
_HEAD_BYTES = 28  # up to the counter of changes in a file of SQLite
Stamp = tuple[object, ...] | None
Keys = dict[str, set[bytes]]  # by entity, the keys of some of its texts


class Knowing:
    """Knowledge of one memory file, for one reading thread; `own_write` is for the writing one.

    `problem` says in whole sentences why it may be out of date, "" where it is not. `is_known` is false until it could
    be read once.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.problem, self.is_known = "", False
        self.baseline: datetime | None = None
        self._knower = Knower(lambda _: {}, (), ())
        self._arrived = 0  # how many arrivals were read from the log since the ledger was
        self._own: dict[Stamp, Stamp] = {}  # the ledger before and after what this process has recorded
        self._ledger: Stamp = None
        self._log: Stamp = None
        self._log_seen = self._log_seen_before = 0
        self._retry_at = 0.0
        self._held_since: float | None = None
        self._patience_s = _FIRST_S

    @property
    def knower(self) -> Knower:
        """What was read last; another thread asks one `beside` it."""
        return self._knower

    def known_of(self, entity: str, text: str) -> Known:
        """Give what is known of one observation, as the ledger will once it has what the audit log tells."""
        return self._knower.known_of(entity, text) if self.is_known else NOTHING_KNOWN

    @contextmanager
    def own_write(self) -> Iterator[None]:
        """Take what the ledger is given inside, under the lock, for what the audit log has told already."""
        before = _ledger_stamp(self._state)
        yield
        self._own[before] = _ledger_stamp(self._state)

    def update(self) -> Keys | None:
        """Read what is new; give the texts of which more is known than before, None where that may be any."""
        ledger, log = _ledger_stamp(self._state), _log_stamp(self._state)
        while self._ledger in self._own and self._ledger != ledger:
            self._ledger = self._own.pop(self._ledger)
        is_behind = self.problem or ledger != self._ledger or self._arrived > _MOST_ARRIVED
        if not self.is_known or is_behind or not _has_grown(self._log, log):
            if time.monotonic() >= self._retry_at and self._load(ledger, log):
                return None
            if not (self.is_known and _has_grown(self._log, log)):
                return {}
        return {} if log == self._log else self._follow(log)

    def _load(self, ledger: Stamp, log: Stamp) -> bool:
        """Read all; say whether it came to something. The first time there is nothing to go on with, so it waits."""
        patience_s, self._patience_s = self._patience_s, 0.0
        self._retry_at = time.monotonic() + _RETRY_S
        try:
            seen, begun = size_of(self._state.audit), _last_end(self._state)
            with (
                knowledge_of(self._state, must_know=True, patience_s=patience_s) as knowledge,
                knowledge.steady(),
            ):
                warnings, knower, baseline = knowledge.warnings, knowledge.kept(), knowledge.baseline
        except MemttlError as e:
            if not (isinstance(e, TryAgain) and self._is_held_for_a_moment()):
                self.problem = self._instead(e.message.replace(f"; {AS_IT_WAS}", ""))
            return False
        self._held_since = None
        self.problem = _sentence("; ".join(warnings))
        if warnings and self.is_known:
            self.problem = self._instead(self.problem)
            return False
        self._knower, self.baseline, self.is_known = knower, baseline, True
        self._ledger, self._log = ledger, log
        self._log_seen, self._log_seen_before = seen, begun
        self._own.clear()
        self._arrived = 0
        if not self.problem:
            self._retry_at = 0.0
        return True

    def _is_held_for_a_moment(self) -> bool:
        now = time.monotonic()
        self._held_since = self._held_since or now
        if not self.is_known or now - self._held_since >= _HELD_S:
            return False
        self._retry_at = now + _HELD_RETRY_S
        return True

    def _instead(self, problem: str) -> str:
        instead = "What was known before stays in use" if self.is_known else "Until it can, nothing counts as expired"
        return f"{_sentence(problem)} {instead}."

    def _follow(self, log: Stamp) -> Keys | None:
        """Read what the audit log has told since the last time."""
        try:
            size = size_of(self._state.audit)
            # from a step further back: the last line may have been half-written then
            logged = logged_since(self._state, self._log_seen_before)
        except MemttlError as e:
            self.problem = self._instead(e.message.replace(f"; {AS_IT_WAS}", ""))
            return {}
        if logged.entity_pins:
            return None if self._load(self._ledger, log) else {}
        self._knower.put(logged.settings, logged.arrivals)
        changed: Keys = {entity: set(found) for entity, found in logged.arrivals.items()}
        self._arrived += sum(map(len, changed.values()))
        for setting in logged.settings:
            changed.setdefault(setting.entity, set()).add(setting.key)
        self._log, self._log_seen_before, self._log_seen = log, self._log_seen, size
        return changed


def _sentence(problem: str) -> str:
    return f"{problem[0].upper()}{problem[1:].rstrip('.')}." if problem else ""


def _has_grown(before: Stamp, after: Stamp) -> bool:
    """Say whether a log is the same as before but for what was added to it."""
    if before is None or after is None:
        return before == after
    return before[0] == after[0] and before[1] <= after[1]  # type: ignore[operator]


def _log_stamp(state: State) -> Stamp:
    try:
        about = os.stat(state.audit)
    except OSError:
        return None
    return about.st_ino, about.st_size


def _last_end(state: State) -> int:
    """Give the size of the log, or where to read on from where its last line is being written."""
    try:
        with open_own(state.audit) as f:
            if f.seek(0, os.SEEK_END):
                f.seek(-1, os.SEEK_END)
                is_torn = f.read(1) != b"\n"
                return max(0, size_of(state.audit) - (_LONGEST_LINE if is_torn else 0))
    except FileNotFoundError:
        pass
    return 0


def _ledger_stamp(state: State) -> Stamp:
    """Give what changes with every write of the ledger: in the rollback journal's mode SQLite counts them."""
    try:
        descriptor = os.open(state.ledger, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            about = os.fstat(descriptor)
            return about.st_ino, about.st_size, os.read(descriptor, _HEAD_BYTES)[-4:]
        finally:
            os.close(descriptor)
    except OSError:
        return None
