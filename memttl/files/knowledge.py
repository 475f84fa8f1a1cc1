"""What memttl knows besides the memory file, for one command: from the ledger, or rebuilt where the ledger is lost.

Read-only commands and plans take `knowledge_of`; whoever records takes `ledger_of` under the sidecar lock.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memttl.core.classify import KnownOf
from memttl.core.model import NOTHING_KNOWN, NOTHING_SET, Known
from memttl.core.progress import Progress, no_progress
from memttl.errors import AS_IT_WAS, LedgerDamaged, LedgerLost
from memttl.files.archive_mark import archive_of
from memttl.files.state import State, mark_ledger, refusal, refuse_another_folder

if TYPE_CHECKING:  # SQLite is imported where there is a ledger
    from memttl.core.known import Arrivals, Knower, Setting
    from memttl.core.sightings import Births, Sightings
    from memttl.files.ledger import Ledger
    from memttl.files.rebuild import Rebuilt


def _nothing_known(_entity: str, _text: str) -> Known:
    return NOTHING_KNOWN


def _no_sightings(_entity: str) -> Sightings:
    return {}


class Knowledge:
    """What is known of one memory file, and all that the user set, of observations that are gone included.

    `baseline` and `newest` are None before the first recorded look.

    Judge and compare inside `steady()`: then all answers come from one state of the ledger, which others may write.
    """

    def __init__(
        self, state: State, ledger: Ledger | None = None, found: Rebuilt | None = None, warnings: tuple[str, ...] = ()
    ) -> None:
        self._state, self._ledger = state, ledger
        self.warnings = warnings
        self.settings: Sequence[Setting] = found.settings if found else ()
        self.entity_pins: Sequence[str] = found.entity_pins if found else ()
        self._arrivals: Arrivals = found.arrivals if found else {}
        with self.steady():
            self.baseline = _baseline_of(ledger, state) if ledger else found.baseline if found else None
            self.newest = ledger.newest if ledger else self.baseline
            if ledger:
                self.settings, self.entity_pins, self._arrivals = _with_log(ledger, state)
        self._note_newest(self._arrivals)
        self._knower_now: Knower | None = None if ledger is None and found is None else self._knower({}, 0)
        self.known_of: KnownOf = self._knower_now.known_of if self._knower_now else _nothing_known

    def steady(self) -> AbstractContextManager[None]:
        """Read one state of the ledger throughout."""
        return self._ledger.transaction(write=False) if self._ledger else nullcontext()

    def kept(self) -> Knower:
        """Give what answers the same once this is closed: all is read now."""
        from memttl.core.known import Knower

        sightings_of = self._ledger.all_sightings() if self._ledger else _no_sightings
        days_of = self._ledger.all_days() if self._ledger else None
        return Knower(sightings_of, self.settings, self.entity_pins, days_of, self._arrivals)

    def known_with(self, births: Births, stamp: datetime) -> KnownOf:
        """Answer as the ledger will once these earlier births are recorded at `stamp`."""
        return self._knower(births, int(stamp.timestamp())).known_of

    def learn(self, settings: Iterable[Setting], arrivals: Arrivals) -> None:
        """Take over what has been set and has arrived since, for `known_of`."""
        self._note_newest(arrivals)
        if self._knower_now is not None:
            self._knower_now.put(settings, arrivals)

    def _note_newest(self, arrivals: Arrivals) -> None:
        stamps = [at for found in arrivals.values() for at in found.values()]
        self.newest = max((*stamps, *([self.newest] if self.newest else ())), default=None)

    def renew(self) -> None:
        """Take over what the ledger has recorded since, but for what `learn` is told of."""
        if self._ledger is None or self._knower_now is None:
            return
        with self.steady():
            self.baseline = _baseline_of(self._ledger, self._state)
            self.newest = self._ledger.newest
            self._knower_now.look_anew(self._ledger.days_of if self._ledger.has_days else None)

    def _knower(self, births: Births, stamp: int) -> Knower:
        from memttl.core.known import Knower
        from memttl.core.sightings import after_naming, seconds_of

        ledger = self._ledger

        def sightings_of(entity: str) -> Sightings:
            old = ledger.sightings_of(entity) if ledger else {}
            named = births.get(entity)
            return after_naming(old, seconds_of(named), stamp) if named else old

        days_of = ledger.days_of if ledger and ledger.has_days else None
        return Knower(sightings_of, self.settings, self.entity_pins, days_of, self._arrivals)

    def vanished(self, data: bytes, max_fraction: float, *, progress: Progress = no_progress) -> str:
        """Give the sentence that refuses bytes from which most of the last recorded look is gone, else ""."""
        if self._ledger is None or self.baseline is None:
            return ""
        from memttl.core.look import look_at
        from memttl.files.looking import vanished_words

        known = self._ledger.known_lines()
        found = self._ledger.compare(look_at(data, known, progress=progress), known)
        return vanished_words(self._state, found, max_fraction, log_seen=self._ledger.log_seen)


def _with_log(ledger: Ledger, state: State) -> tuple[list[Setting], list[str], Arrivals]:
    """Give the ledger's settings and pins, and on top of them what the audit log has told since the ledger knew it."""
    from memttl.files.rebuild import logged_since

    logged = logged_since(state, ledger.settings_seen)
    settings = {(s.entity, s.digest): s for s in (*ledger.settings(), *logged.settings)}
    pins = dict.fromkeys(ledger.entity_pins(), True) | logged.entity_pins
    asked = [s for s in settings.values() if s.asked != NOTHING_SET]
    return asked, [p for p, pinned in pins.items() if pinned], logged.arrivals


def _catch_up(ledger: Ledger, state: State) -> None:
    """Take over what the audit log tells and the ledger lacks: the log is written first, and a kill may come."""
    from memttl.files.audit import size_of
    from memttl.files.rebuild import logged_since

    logged = logged_since(state, ledger.settings_seen)
    if logged.is_nothing:
        return
    with ledger.transaction(write=True):
        for setting in logged.settings:
            ledger.put_setting(setting)
        for pattern, pinned in logged.entity_pins.items():
            ledger.put_entity_pin(pattern, pinned=pinned)
        ledger.meet(logged.arrivals)
        ledger.put_settings_seen(size_of(state.audit))


def _baseline_of(ledger: Ledger, state: State) -> datetime | None:
    from memttl.files.rebuild import baseline_in_log

    return ledger.baseline or baseline_in_log(state)


@contextmanager
def knowledge_of(state: State, *, must_know: bool, patience_s: float | None = None) -> Iterator[Knowledge]:
    """Read what is known; nothing is written. `must_know`: what is lost for good is an error, not a warning.

    `patience_s` is how long to wait for another program that writes the ledger (None: as long as every command).

    Raises:
        LedgerLost: the ledger is lost and cannot be rebuilt (with `must_know`).
        MemttlError: the ledger or the audit log cannot be opened, or a newer memttl wrote it.
    """
    if archive_of(state):  # it has no ledger, and its log is of another kind
        yield Knowledge(state)
        return
    try:
        refuse_another_folder(state)
    except LedgerLost as e:
        if must_know:
            raise
        yield Knowledge(state, warnings=(e.message,))
        return
    if not _lies_there(state.kept):
        yield Knowledge(state)
        return
    with ExitStack() as stack:
        yield _known(state, stack, must_know=must_know, patience_s=patience_s)


def _known(state: State, stack: ExitStack, *, must_know: bool, patience_s: float | None) -> Knowledge:
    ledger, damage = _opened(state, stack, patience_s)
    if ledger is not None:
        return Knowledge(state, ledger)
    found, lost = _told_without_ledger(state, damage)
    if not damage and (found or lost):
        # a ledger is made before all that tells of one: another memttl may have made both since the first look
        ledger, damage = _opened(state, stack, patience_s)
        if ledger is not None:
            return Knowledge(state, ledger)
        if damage:
            found, lost = _told_without_ledger(state, damage)
    if lost and must_know:
        raise lost
    if lost:
        return Knowledge(state, warnings=(lost.message,))
    return Knowledge(state, found=found, warnings=(_lost_words(damage, found),)) if found else Knowledge(state)


def _lies_there(folder: Path) -> bool:
    """Say whether there is a folder of state; one that may not be looked into is not "unknown age" but an error."""
    try:
        folder.lstat()
    except OSError as e:
        if e.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            return False
        raise refusal(e, f"The state folder {folder} cannot be read") from None
    return True


def _opened(state: State, stack: ExitStack, patience_s: float | None) -> tuple[Ledger | None, str]:
    """Open the ledger to read: None where there is none, or where it is damaged, and then also in which way."""
    from memttl.files.ledger_open import PATIENCE_S, ledger_to_read

    try:
        opened = ledger_to_read(state.ledger, patience_s=PATIENCE_S if patience_s is None else patience_s)
        return stack.enter_context(opened), ""
    except LedgerDamaged as e:
        return None, e.message


def _told_without_ledger(state: State, damage: str) -> tuple[Rebuilt | None, LedgerLost | None]:
    """Give what the audit log tells, or why it cannot; neither where no run has been."""
    from memttl.files.rebuild import rebuilt

    try:
        return rebuilt(state, damaged=bool(damage)), None
    except LedgerLost as e:
        return None, e


def _lost_words(damage: str, found: Rebuilt) -> str:
    return f"the ledger is {'damaged' if damage else 'missing'}: {found.words()}"


@contextmanager
def ledger_of(
    state: State,
    like: os.stat_result,
    warn: Callable[[str], None],
    *,
    own_run: str | None = None,
    patience_s: float | None = None,
) -> Iterator[Ledger]:
    """Open the ledger to write, made or rebuilt where it must be; the caller holds the lock and has made the folders.

    `own_run` is the run that is at work and has logged something already; `patience_s` as in `knowledge_of`.

    Raises:
        LedgerLost: it is lost, a run has been before, and settings cannot be rebuilt.
        MemttlError: it cannot be opened or written, or a newer memttl wrote it.
    """
    from memttl.files.ledger_open import PATIENCE_S, ledger_errors, ledger_to_write

    with ExitStack() as stack:
        ledger, damage = None, ""
        wait_s = PATIENCE_S if patience_s is None else patience_s
        try:
            ledger = stack.enter_context(ledger_to_write(state.ledger, patience_s=wait_s))
        except LedgerDamaged as e:
            damage = e.message
        if ledger is None:
            _make(state, like, warn, damage, own_run)
            ledger = stack.enter_context(ledger_to_write(state.ledger))
            assert ledger is not None
        with ledger_errors(state.ledger):
            _catch_up(ledger, state)
        mark_ledger(state)
        yield ledger


def _make(state: State, like: os.stat_result, warn: Callable[[str], None], damage: str, own_run: str | None) -> None:
    """Make a ledger, with what the audit log tells of a lost one; a damaged one is moved aside, never removed."""
    from memttl.files.ledger_open import new_ledger, set_aside
    from memttl.files.rebuild import rebuilt

    found = rebuilt(state, damaged=bool(damage), own_run=own_run)
    if damage:
        warn(f"{damage.removesuffix(f'; {AS_IT_WAS}.')}; it now lies in {set_aside(state.ledger)}")
    with new_ledger(state.ledger, like) as ledger:
        if found is not None:
            if found.baseline is not None:
                ledger.put_baseline(found.baseline)
            for setting in found.settings:
                ledger.put_setting(setting)
            for pattern in found.entity_pins:
                ledger.put_entity_pin(pattern, pinned=True)
            ledger.meet(found.arrivals)
    if found is not None:
        warn(_lost_words(damage, found))
