"""The use case repair: settled read, plan, show and ask, mend the state, plan again, quarantine, write.

`commands/repair.py` calls it for each memory file. A dry run ends with the plan: no lock, no folder, nothing written.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memttl import trace
from memttl.core.quarantine import quarantine_text, quarantined_events
from memttl.core.repair import RepairPlan, plan_repair
from memttl.core.repair_outcome import RepairOutcome
from memttl.core.wording import instant_text
from memttl.errors import AS_IT_WAS, LedgerLost, MemttlError, NoMemoryFile, TryAgain
from memttl.files.before_run import settled
from memttl.files.looking import Moment
from memttl.files.mending import mend
from memttl.files.mending_plan import MendPlan, plan_mending
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.quarantine import quarantine_path, write_quarantine
from memttl.files.rewriting import Rewrite, Rewriting, read_as_it_is, rewrite
from memttl.files.snapshot import Snapshot, read_only_warning, refuse_hard_links, refuse_read_only
from memttl.files.state import State, state_of
from memttl.files.writing import Options
from memttl.settings import Settings


class Request(NamedTuple):
    """What the user asked of a repair; `pace` is for tests."""

    dry_run: bool = False
    break_hard_links: bool = False
    pace: Pace = DEFAULT_PACE


def repair(
    settings: Settings,
    request: Request,
    *,
    ask: Callable[[RepairOutcome], bool] | None = None,
    step: Callable[[str], None] = trace.step,
) -> RepairOutcome:
    """Plan the repair of one memory file and, unless it is a dry run, apply what `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand); `step` is called with the name of each
    step of the write.

    Raises:
        NoMemoryFile: it is missing.
        Foreign: it is another tool's, or compressed.
        MemttlError: what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    _refuse_missing(settings.memory)
    options = Options(pace=request.pace, step=step)
    told = [*settings.warnings, *_settled(state, options, writes=not request.dry_run)]
    snapshot = read_as_it_is(state)
    plan, mending = plan_repair(snapshot.data), plan_mending(state, settings.clock)
    warnings = (*told, *plan.warnings, *mending.warnings)
    outcome = RepairOutcome(
        settings.named, settings.now_here, plan, request.dry_run, state=mending.mendings, warnings=warnings
    )
    if not outcome.is_needed:
        return outcome
    if plan.is_needed and not request.break_hard_links:
        refuse_hard_links(snapshot, state.beside)
    if request.dry_run:
        read_only = read_only_warning(snapshot) if plan.is_needed else ()
        return outcome._replace(warnings=(*outcome.warnings, *read_only))
    if plan.is_needed:
        refuse_read_only(snapshot)
    if ask is not None and not ask(outcome):
        return outcome._replace(declined=True)
    outcome = _with_state(settings, state, outcome, mending, snapshot, options)
    return _Repair(settings, request, state, outcome, options).written(snapshot) if plan.is_needed else outcome


def _settled(state: State, options: Options, *, writes: bool) -> tuple[str, ...]:
    """Recover before planning, as every run does; where the state is lost, that is what is mended first."""
    try:
        return settled(state, lambda: options, writes=writes)
    except LedgerLost:
        return ()


def _with_state(
    settings: Settings, state: State, outcome: RepairOutcome, mending: MendPlan, snapshot: Snapshot, options: Options
) -> RepairOutcome:
    """Mend the state before the file: that one's run is then logged, and its look kept, by what is whole."""
    if not mending.mendings:
        return outcome
    text = settings.policy.audit_text
    done = mend(state, snapshot.stat, settings.clock, mending, with_text=text, step=options.step)
    warnings = tuple(dict.fromkeys((*outcome.warnings, *done.warnings)))
    return outcome._replace(state=done.mendings, is_state_mended=bool(done.mendings), warnings=warnings)


def _refuse_missing(memory: Path) -> None:
    if not os.path.lexists(memory):
        raise NoMemoryFile(
            f"There is no file {memory}, so there is nothing to repair.",
            hint="`memttl undo` and `memttl backups restore` put back what memttl keeps of it; or name it with --file.",
        )


class _Repair:
    """One repair as approved: what it writes, and where what it takes out lies."""

    def __init__(
        self, settings: Settings, request: Request, state: State, outcome: RepairOutcome, options: Options
    ) -> None:
        self.settings, self.request, self.state = settings, request, state
        self.outcome, self.options = outcome, options
        self.plan = outcome.plan
        self.snapshot: Snapshot | None = None
        self.quarantine: Path | None = None

    def written(self, snapshot: Snapshot) -> RepairOutcome:
        rewriting = Rewriting(
            state=self.state,
            command="repair",
            policy=self.settings.policy,
            moment=Moment(self.settings.now, self.settings.clock),
            make=self._make,
            options=self.options,
            progress=self.settings.progress,
            break_hard_links=self.request.break_hard_links,
        )
        try:
            done = rewrite(rewriting, snapshot.stat)
        except MemttlError as e:
            if not e.applied:
                self._drop()
            raise
        warnings = tuple(dict.fromkeys((*self.outcome.warnings, *done.warnings)))
        outcome = self.outcome._replace(plan=self.plan, warnings=warnings)
        if done.run is None:
            return outcome
        kept = str(self.quarantine) if self.quarantine else None
        return outcome._replace(run=done.run, backup=str(done.backup), quarantine=kept)

    def _make(self, now: Snapshot) -> Rewrite | None:
        """Plan on what is there by now; what was approved is the most that goes."""
        self.plan, self.snapshot = plan_repair(now.data), now
        if not self.plan.is_needed:
            return None
        if self._taken(self.plan) - self._taken(self.outcome.plan):
            raise TryAgain(f"{now.path} was damaged anew meanwhile; {AS_IT_WAS}.")
        return Rewrite(self.plan.data, self._kept, tuple(self.plan.pieces), {})

    @staticmethod
    def _taken(plan: RepairPlan) -> Counter[tuple[bytes, str]]:
        return Counter((piece.raw, piece.reason) for piece in plan.pieces)

    def _kept(self, run: str) -> Sequence[dict[str, Any]]:
        """Put what goes into quarantine, and give the lines of the log, which is written next, before the swap."""
        self._drop()
        if self.plan.pieces:
            assert self.snapshot is not None
            at = datetime.now(UTC)
            path = quarantine_path(self.state, run, at)
            text = quarantine_text(self.plan.pieces, file=str(self.snapshot.path), run=run, time=instant_text(at))
            write_quarantine(path, text, self.snapshot.stat)
            self.quarantine = path
            self.options.step("quarantine written")
        return quarantined_events(self.plan.pieces, run, with_text=self.settings.policy.audit_text)

    def _drop(self) -> None:
        """Take away the quarantine of an attempt that wrote nothing."""
        if self.quarantine is not None:
            self.quarantine.unlink(missing_ok=True)
            self.quarantine = None
