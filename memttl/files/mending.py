"""The state folder mended: stamps after the clock, a lost ledger, a log that was edited, cut or torn in the middle.

`workflow/repair.py` calls `mend` once its plan is approved. The log is begun anew first, in one step; the ledger is
then made from it as any lost one is, so that a kill leaves each of them old or new.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from memttl import trace
from memttl.core.asked import asked_document
from memttl.core.clock import EARLIEST
from memttl.core.kept_lines import KeptLines, chained_anew, cleaned
from memttl.core.known import Setting
from memttl.core.model import NOTHING_SET
from memttl.core.state_mendings import StateMending
from memttl.core.told_by_log import logged_in
from memttl.core.wording import instant_text
from memttl.errors import AS_IT_WAS, TryAgain
from memttl.files import audit
from memttl.files.backups import list_backups, write_whole
from memttl.files.commit import timestamp
from memttl.files.knowledge import ledger_of
from memttl.files.ledger_open import ledger_errors
from memttl.files.lock import locked
from memttl.files.looking import removed_since
from memttl.files.mending_plan import TOLERANCE, MendPlan, is_elsewhere, plan_mending
from memttl.files.state import State, prepare, read_own

STEPS = ("log set aside", "new log written", "log replaced", "ledger ready", "stamps logged", "stamps lowered")
ASIDE = ".damaged-"


class Mended(NamedTuple):
    """What was done in the end."""

    mendings: tuple[StateMending, ...]
    warnings: tuple[str, ...]


def mend(
    state: State,
    like: os.stat_result,
    clock: datetime,
    approved: MendPlan,
    *,
    with_text: bool = True,
    step: Callable[[str], None] = trace.step,
) -> Mended:
    """Mend what is wrong by now, under the lock; `approved` is the most that is done. `like` is the memory file's stat.

    `with_text`: texts may stand in the log. `step` is called with the name of each step.

    Raises:
        TryAgain: something else is wrong by now.
        MemttlError: ledger or log cannot be written; each is as it was, or mended.
    """
    prepare(state, like, anew=is_elsewhere(state) and bool(approved.mendings))
    told = list[str]()
    with locked(state, like):
        plan = plan_mending(state, clock)
        if {m.kind for m in plan.mendings} - {m.kind for m in approved.mendings}:
            raise TryAgain(f"The state in {state.kept} was damaged anew meanwhile; {AS_IT_WAS}.")
        if not plan.mendings:
            return Mended((), ())
        run, removed = os.urandom(4).hex(), 0
        if plan.kept is not None:
            removed = removed_since(state, plan.ledger.log_seen) if plan.ledger.is_sound else 0
            _begin_log(state, like, clock, plan, run, with_text=with_text, step=step)
        with ledger_of(state, like, told.append) as ledger, ledger_errors(state.ledger):
            step("ledger ready")
            with ledger.transaction(write=True):
                # logged before the commit: a kill here leaves a log that is ahead, and the next repair lowers them
                if clock >= EARLIEST and ledger.late_stamps(clock + TOLERANCE):
                    was = ledger.baseline
                    ledger.lower_stamps(clock)
                    audit.append(state.audit, _lowered(run, ledger.baseline if ledger.baseline != was else None), like)
                    step("stamps logged")
                size = audit.size_of(state.audit)
                # what a killed run removed since the last look is still counted, and then all of the log is read for it
                seen = size if plan.kept is not None and not removed else ledger.log_seen
                ledger.put_log_offsets(seen=seen, settings_seen=size)
        step("stamps lowered")
    return Mended(plan.mendings, (*plan.warnings, *told))


def _begin_log(
    state: State,
    like: os.stat_result,
    clock: datetime,
    plan: MendPlan,
    run: str,
    *,
    with_text: bool,
    step: Callable[[str], None],
) -> None:
    """Put the old log aside and a new one in its place, which tells all that a lost ledger is made from."""
    assert plan.kept is not None
    kept, old = plan.kept, read_own(state.audit)
    aside = _set_aside(state, old, run, like) if old.strip() else None
    step("log set aside")
    head = {"event": "repaired", "run": run, "time": timestamp(), "what": [m.what for m in plan.mendings]}
    if aside is not None:
        head |= {"aside": aside.name, "digest": hashlib.sha256(old).hexdigest()}
    baseline = _baseline(state, clock, plan)
    settings, pins = _set_by_now(state, plan)
    anew = _differing(kept, settings, pins, {"event": "set", "run": run, "command": "repair", "time": timestamp()})
    first = [_baseline_line(baseline)] if kept.baseline != baseline else []
    events = [*kept.events, head, *first, *(e if with_text else _textless(e) for e in anew)]
    audit.drop_part(state.audit)
    beyond = max(plan.ledger.log_seen, plan.ledger.settings_seen)
    audit.rewrite(state.audit, chained_anew(events), time=timestamp(), beyond=beyond, step=step)
    audit.note_end(state.audit, like)


def _set_aside(state: State, old: bytes, run: str, like: os.stat_result) -> Path:
    """Keep the log as it is under a name of its own; one that a killed repair has kept already is enough."""
    for path in sorted(state.audit.parent.glob(f"{state.audit.name}{ASIDE}*")):
        if path.suffix == ".part":
            path.unlink(missing_ok=True)
        elif read_own(path) == old:
            return path
    path = state.audit.with_name(f"{state.audit.name}{ASIDE}{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{run}")
    write_whole(path, old, like, failure=f"The damaged audit log {state.audit} cannot be set aside")
    return path


def _baseline(state: State, clock: datetime, plan: MendPlan) -> datetime:
    """Give the earliest baseline that anything tells: without one, nothing new would have its days of grace."""
    assert plan.kept is not None
    if plan.ledger.baseline is not None:
        return min(plan.ledger.baseline, clock)
    told = (plan.kept.baseline, *(at for at, *_ in list_backups(state.backups)[:1]))
    # a second ago: what is first seen from now on came after it
    latest = max(clock - timedelta(seconds=1), EARLIEST)
    return min((latest, *(at for at in told if at is not None)))


def _baseline_line(baseline: datetime) -> dict[str, Any]:
    return {"event": "baseline", "time": timestamp(), "baseline": instant_text(baseline)}


def _set_by_now(state: State, plan: MendPlan) -> tuple[dict[tuple[str, str], Setting], set[str]]:
    """Give what is set: by the ledger where it is sound, and by what the log has set since; else by the log alone."""
    assert plan.kept is not None
    if not plan.ledger.is_sound:
        return {(s.entity, s.digest): s for s in plan.kept.settings}, set(plan.kept.entity_pins)
    # where the log lost bytes, its lines moved; a longer end of it tells nothing else: its last word is the newest
    later = audit.read_events(state.audit, after=max(0, plan.ledger.settings_seen - audit.lost_bytes(state.audit)))
    logged = logged_in(found for event in later if (found := cleaned(event)) is not None)
    pins = dict.fromkeys(plan.ledger.entity_pins, True) | logged.entity_pins
    settings = {(s.entity, s.digest): s for s in (*plan.ledger.settings, *logged.settings)}
    return settings, {pin for pin, pinned in pins.items() if pinned}


def _differing(
    kept: KeptLines, settings: dict[tuple[str, str], Setting], pins: set[str], head: dict[str, Any]
) -> list[dict[str, Any]]:
    """Give a line for each setting that the kept lines alone would tell otherwise."""
    logged = logged_in(kept.events)
    told = {(s.entity, s.digest): s for s in logged.settings}
    events = []
    for key in dict.fromkeys((*told, *settings)):
        now = settings.get(key) or told[key]._replace(asked=NOTHING_SET)
        was = told.get(key)
        if now == was or (now.asked == NOTHING_SET and (was is None or was.asked == NOTHING_SET)):
            continue
        raw = {"raw": json.dumps(now.text)} if now.text is not None else {}
        named = {"entity": now.entity, "digest": now.digest, **raw}
        events.append({**head, **named, "settings": asked_document(now.asked)})
    told_pins = {pin for pin, pinned in logged.entity_pins.items() if pinned}
    for pin in sorted(told_pins ^ pins):
        events.append({**head, "entity_pin": pin, "settings": {"pinned": True} if pin in pins else {}})
    return events


def _textless(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key != "raw"}


def _lowered(run: str, baseline: datetime | None) -> list[dict[str, Any]]:
    head = {"event": "repaired", "run": run, "time": timestamp(), "what": ["stamps"]}
    return [head, *([_baseline_line(baseline)] if baseline is not None else [])]
