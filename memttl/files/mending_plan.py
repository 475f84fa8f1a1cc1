"""Ledger and log of a memory file into what is wrong with them and what `doctor --repair` does about it. Only reads.

`workflow/repair.py` shows the plan; `mending.py` makes it anew under the lock and does it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from memttl.core.chain import check
from memttl.core.clock import EARLIEST
from memttl.core.kept_lines import KeptLines, kept_lines
from memttl.core.known import Setting
from memttl.core.model import NOTHING_SET
from memttl.core.state_mendings import StateMending
from memttl.core.told_by_log import logged_in
from memttl.core.wording import instant_text, plural
from memttl.errors import AS_IT_WAS, LedgerDamaged, LedgerLost
from memttl.files import audit
from memttl.files.archive_mark import archive_of
from memttl.files.ledger_open import ledger_errors, ledger_to_read
from memttl.files.rebuild import lost_ages, rebuilt
from memttl.files.state import State, refuse_another_folder

TOLERANCE = timedelta(minutes=1)  # as `doctor` has it: what another memttl stamps this moment is not late


class KnownLedger(NamedTuple):
    """What the ledger holds that a new log must tell; `damage` says why it cannot be read, "" where there is none."""

    is_sound: bool = False
    damage: str = ""
    baseline: datetime | None = None
    settings: tuple[Setting, ...] = ()
    entity_pins: tuple[str, ...] = ()
    log_seen: int = 0
    settings_seen: int = 0
    late: int = 0


class MendPlan(NamedTuple):
    """What is wrong and what is done about it. `kept` is what a new log begins with, None where the log stays."""

    mendings: tuple[StateMending, ...] = ()
    warnings: tuple[str, ...] = ()
    kept: KeptLines | None = None
    ledger: KnownLedger = KnownLedger()
    problem: str = ""


def plan_mending(state: State, clock: datetime) -> MendPlan:
    """Look at ledger and log, and plan what is to be mended; nothing is written. `clock` is the machine's.

    Raises:
        CannotCreate, NoPermission: they cannot be read, or a newer memttl wrote them.
    """
    if archive_of(state):  # it has no ledger, and its log is of another kind
        return MendPlan()
    elsewhere = is_elsewhere(state)
    if not (elsewhere or os.path.lexists(state.kept)):
        return MendPlan()
    ledger = _read_ledger(state, clock)
    audit.read_events(state.audit)  # refuses the log of a newer memttl
    log = audit.read_log(state.audit)
    problem = _problem(state, ledger, log, is_elsewhere=elsewhere)
    mendings, kept = list[StateMending](), None
    if problem:
        kept = kept_lines(log.data, is_held=log.is_held and not elsewhere)
        mendings.append(StateMending("log", _log_words(problem, kept, has_log=bool(log.data.strip()))))
    if not ledger.is_sound:
        mendings += _of_lost_ledger(state, ledger, kept)
    elif ledger.late and clock >= EARLIEST:
        words = f"{plural(ledger.late, 'stamp')} after the machine's clock, {instant_text(clock)}: lowered to it"
        mendings.append(StateMending("stamps", words))
    return MendPlan(tuple(mendings), _clock_words(ledger, clock), kept, ledger, problem)


def is_elsewhere(state: State) -> bool:
    """Say whether the file was used with another state folder, or this one was emptied; raises as that check."""
    try:
        refuse_another_folder(state)
    except LedgerLost:
        return True
    return False


def _read_ledger(state: State, clock: datetime) -> KnownLedger:
    try:
        with ledger_to_read(state.ledger) as ledger, ledger_errors(state.ledger):
            if ledger is None:
                return KnownLedger()
            late = ledger.late_stamps(clock) if ledger.late_stamps(clock + TOLERANCE) else 0
            settings, pins = tuple(ledger.settings()), tuple(ledger.entity_pins())
            return KnownLedger(
                is_sound=True,
                baseline=ledger.baseline,
                settings=settings,
                entity_pins=pins,
                log_seen=ledger.log_seen,
                settings_seen=ledger.settings_seen,
                late=late,
            )
    except LedgerDamaged as e:
        return KnownLedger(damage=e.message.removesuffix(f"; {AS_IT_WAS}."))


def _problem(state: State, ledger: KnownLedger, log: audit.Log, *, is_elsewhere: bool) -> str:
    """Say why the log cannot be relied on, "" where it can."""
    if is_elsewhere:
        return "neither it nor the ledger is here, though memttl has been used on this file"
    broken = check(log.data).broken
    if broken is not None:
        return f"line {broken.line} is {broken.what} ({broken.why})" if broken.line else broken.why
    if not log.is_held:
        return "lines at its end are gone"
    if ledger.is_sound and audit.size_of(state.audit) < ledger.settings_seen:
        return "lines that the ledger has seen are gone" if log.data.strip() else "it is gone or empty"
    if not ledger.is_sound:
        try:
            rebuilt(state, damaged=bool(ledger.damage))
        except LedgerLost:
            return "it tells of no run, though memttl has been here"
    return ""


def _log_words(problem: str, kept: KeptLines, *, has_log: bool) -> str:
    if not has_log:
        return f"{problem}: begun anew"
    words = [
        f"{problem}: set aside as it is, and begun anew with what can be read of it, "
        f"{plural(kept.runs, 'whole run')} included"
    ]
    if kept.left_out:
        words.append(f"{plural(kept.left_out, 'line')} cannot be relied on and only stay in the one set aside")
    if kept.torn_apart:
        words.append(f"the runs that were torn apart cannot be undone any more: {', '.join(kept.torn_apart)}")
    if kept.lacking:
        words.append(f"of some runs an undo can only put back a part: {', '.join(kept.lacking)}")
    return "; ".join(words)


def _of_lost_ledger(state: State, ledger: KnownLedger, kept: KeptLines | None) -> Iterable[StateMending]:
    how = "damaged" if ledger.damage else "missing"
    if kept is None:
        found = rebuilt(state, damaged=bool(ledger.damage))
        if found is not None:
            yield StateMending("ledger", f"{how}: made anew, {found.words()}")
        return
    count = len([s for s in kept.settings if s.asked != NOTHING_SET]) + len(kept.entity_pins)
    ages = lost_ages(logged_in(kept.events).arrivals)
    words = [f"{how}: begun anew with {plural(count, 'setting')} that the audit log still tells, {ages}"]
    words += [kept.gap] if kept.gap else []
    if kept.unsure:
        words.append(f"{plural(kept.unsure, 'setting')} may have been edited: look at `memttl set --list`")
    yield StateMending("ledger", "; ".join(words))


def _clock_words(ledger: KnownLedger, clock: datetime) -> tuple[str, ...]:
    if not ledger.late:
        return ()
    if clock < EARLIEST:
        return (
            f"the clock says {instant_text(clock)}, when there was no memory server yet: no stamp was lowered to it",
        )
    return ("what was first seen after the clock counts as first seen now: set the clock first if it is wrong",)
