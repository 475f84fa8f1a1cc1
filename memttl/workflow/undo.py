"""The use case undo: find the run in the log, plan on today's bytes, show and ask, plan again under the lock, write.

`commands/undo.py` calls it for each memory file. A dry run ends with the plan: no lock, no folder, nothing written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memttl import trace
from memttl.core.changes import Key as SettingKey
from memttl.core.inverse import Key
from memttl.core.model import UserSettings
from memttl.core.past_runs import PastRun, refuse_thinned, run_named, runs_of
from memttl.core.undo import UndoPlan, damage_words, plan_undo, plan_whole, undo_events
from memttl.core.undo_choice import can_be_undone, items_filter, run_meant, why_nothing
from memttl.core.undo_items import UndoItems, undo_items
from memttl.core.undo_outcome import UndoOutcome
from memttl.core.undo_whole import is_whole, undone_whole, was_forgotten_since
from memttl.errors import AS_IT_WAS, Foreign, TryAgain, UnknownBackup, UsageError
from memttl.files import audit
from memttl.files.archive_mark import refuse_archive
from memttl.files.backups import backup_of_run, list_backups
from memttl.files.before_run import settled
from memttl.files.kept_backups import kept_backups, newest_that_holds_something
from memttl.files.knowledge import knowledge_of
from memttl.files.looking import Moment
from memttl.files.pace import DEFAULT_PACE, Pace
from memttl.files.rewriting import Rewrite, Rewriting, read_as_it_is, rewrite
from memttl.files.snapshot import Snapshot, read_only_warning, refuse_hard_links, refuse_read_only
from memttl.files.state import State, state_of
from memttl.files.writing import Options
from memttl.settings import Settings

if TYPE_CHECKING:
    from memttl.files.archiving import ToArchive


class Request(NamedTuple):
    """What the user asked of an undo: `run` None means the last that removed something and is not undone.

    `commands` are those whose runs may be meant then, all if empty. `entities` and `tiers` narrow what is undone;
    `pace` is for tests.
    """

    run: str | None = None
    commands: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    pin: bool = True
    dry_run: bool = False
    break_hard_links: bool = False
    pace: Pace = DEFAULT_PACE


def undo(
    settings: Settings,
    request: Request,
    *,
    ask: Callable[[UndoOutcome], bool] | None = None,
    step: Callable[[str], None] = trace.step,
) -> UndoOutcome:
    """Plan the undo of one run on today's memory file and, unless it is a dry run, apply what `ask` approves.

    `ask` is shown the outcome as planned (None: it is approved beforehand); `step` is called with the name of each
    step of the write.

    Raises:
        UnknownRun: the audit log knows no such run.
        MemttlError: what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
    options = Options(pace=request.pace, step=step)
    told = [*settings.warnings, *settled(state, lambda: options, writes=not request.dry_run)]
    snapshot = read_as_it_is(state)
    chosen, plan, warnings = _planned(state, request, snapshot.data)
    told += warnings
    if not snapshot.data:
        told += _of_an_empty_file(state)
    outcome = UndoOutcome(settings.named, settings.now_here, plan, dry_run=request.dry_run, warnings=tuple(told))
    if plan is None:
        return outcome._replace(nothing=why_nothing(chosen))
    outcome = outcome._replace(warnings=(*told, *plan.warnings, *damage_words(snapshot.data)))
    if plan.does_nothing:
        _refuse_lost(plan)
        return outcome
    if not request.break_hard_links:
        refuse_hard_links(snapshot, state.beside)
    if request.dry_run:
        return outcome._replace(warnings=(*outcome.warnings, *read_only_warning(snapshot)))
    refuse_read_only(snapshot)
    if ask is not None and not ask(outcome):
        return outcome._replace(declined=True)
    return _write(settings, request, state, snapshot, outcome, plan, options)


def _refuse_lost(plan: UndoPlan) -> None:
    """Say no where nothing can be put back for want of its text, rather than that there is nothing to do."""
    if plan.lost and not plan.inverse.there:
        raise UnknownBackup(
            f"The run {plan.run.run} cannot be undone: {len(plan.lost)} of what it removed stand in no log and no "
            "backup (forgotten, or not kept); nothing was done.",
            hint=f"`memttl log --run {plan.run.run}` tells what it was about.",
        )


def _of_an_empty_file(state: State) -> list[str]:
    """Say of a file that was wiped that there is more to be had than an undo puts back."""
    backups = kept_backups(state).backups
    if not backups:
        return []
    newest = newest_that_holds_something(backups)
    if not newest.path.stat().st_size:
        return []
    run = newest.source.run
    return [f"the file is empty or missing: `memttl backups restore {run}` puts back all that it held before that run"]


def _planned(state: State, request: Request, data: bytes) -> tuple[PastRun | None, UndoPlan | None, list[str]]:
    """Give the run that is meant, the plan of its undo (None where there is nothing to undo), and warnings."""
    _refuse_encoded(data)
    events = audit.read_events(state.audit)
    runs = runs_of(events)
    with knowledge_of(state, must_know=False) as knowledge:
        asked = {(s.entity, s.digest): s.asked for s in knowledge.settings}
        warnings = list(knowledge.warnings)
    if request.run is not None:
        run = run_meant(runs, request.run, events)
        names = [path.name for _, of_run, path in list_backups(state.backups) if of_run == run.run]
        refuse_thinned(run, backup=names[-1] if names else None)
        return run, _plan_of(state, run, request, data, asked) if can_be_undone(run) else None, warnings
    refusal: UsageError | None = None
    for run in reversed(runs):
        # what a recover brought in another program had removed on purpose: that comes back by its name alone
        if not run.removed or run.undone_by or (request.commands and run.command not in request.commands):
            continue
        if run.command in ("recover", "move"):
            warnings.append(f"`memttl undo {run.run}` puts back what another program had removed")
            continue
        try:
            plan = _plan_of(state, run, request, data, asked)
        except UsageError as e:  # it moved nothing of the entity or tier that is meant; an earlier one may have
            refusal = refusal or e
            continue
        if not (plan.does_nothing and run.partly_undone_by) or plan.lost:  # else its parts are all back
            return run, plan, warnings
    if refusal is not None:
        raise refusal
    return None, None, warnings


def _plan_of(
    state: State,
    run: PastRun,
    request: Request,
    data: bytes,
    asked: dict[SettingKey, UserSettings],
    approved: Counter[Key] | None = None,
) -> UndoPlan:
    new = _whole(state, run, request, data) if is_whole(run) else None
    if new is None:
        return plan_undo(data, run, _items(state, run, request), asked, pin=request.pin, approved=approved)
    plan = plan_whole(data, new, run, asked, pin=request.pin)
    if approved is not None and plan.inverse.keys - approved:
        raise TryAgain(f"{state.memory} was changed while the question waited; {AS_IT_WAS}.")
    return plan


def _whole(state: State, run: PastRun, request: Request, data: bytes) -> bytes | None:
    """Give the bytes with which a restore or repair is undone; None where the log alone must tell."""
    if request.entities or request.tiers:
        if run.command == "repair":
            raise UsageError(f"The repair {run.run} can only be undone whole; nothing was done.")
        return None
    restored = str(run.begin.get("restores", ""))
    after = backup_of_run(state.backups, restored.removesuffix(".jsonl").rpartition("-")[2]) if restored else None
    before = backup_of_run(state.backups, run.run)
    new = undone_whole(run, before, after, data)
    if new is None and run.command == "repair":
        if was_forgotten_since(run, before, audit.read_events(state.audit)):
            raise UsageError(
                f"The repair {run.run} can no longer be undone: what it held was forgotten since; nothing was done.",
                hint=f"`memttl backups restore {run.run}` puts back what it found, without what was forgotten.",
            )
        raise UsageError(
            f"The repair {run.run} can no longer be undone: its backup is gone, or too much has come since.",
            hint=f"`memttl backups restore {run.run}` puts the file back that it found, if that is still kept.",
        )
    return new


def _items(state: State, run: PastRun, request: Request) -> UndoItems:
    found = undo_items(run, partial(backup_of_run, state.backups, run.run), lambda _: True)
    if not (request.entities or request.tiers):
        return found
    all_items = (*found.back.observations, *found.out.observations)
    return undo_items(
        run, partial(backup_of_run, state.backups, run.run), items_filter(all_items, request.entities, request.tiers)
    )


def _refuse_encoded(data: bytes) -> None:
    """Refuse bytes that are no lines of UTF-8 at all: what is put back would be lost among them."""
    from memttl.core.foreign import foreign_encoding

    found = foreign_encoding(data)
    if found is not None:
        raise Foreign(
            f"The memory file {found[0]}, so nothing can be put back into it; nothing was done.", hint=found[1]
        )


def _write(
    settings: Settings,
    request: Request,
    state: State,
    snapshot: Snapshot,
    outcome: UndoOutcome,
    shown: UndoPlan,
    options: Options,
) -> UndoOutcome:
    """Write what was approved, planned again on what is there and known by then."""
    plan = shown
    is_partial = bool(request.entities or request.tiers)

    def make(now: Snapshot) -> Rewrite | None:
        nonlocal plan
        plan = _plan_again(state, request, now.data, shown)
        if plan.does_nothing:
            return None
        flags = {name: True for name, is_set in (("partial", is_partial), ("whole", plan.is_whole)) if is_set}
        begin = {"undoes": plan.run.run, **flags, **_archive_of(plan.run)}
        events = partial(undo_events, plan, with_text=settings.policy.audit_text)
        archive = _to_archive(settings, plan)
        return Rewrite(
            plan.inverse.data, events, plan.inverse.keys, begin, sets=bool(plan.settings), to_archive=archive
        )

    done = rewrite(
        Rewriting(
            state=state,
            command="undo",
            policy=settings.policy,
            moment=Moment(settings.now, settings.clock),
            make=make,
            options=options,
            progress=settings.progress,
            break_hard_links=request.break_hard_links,
        ),
        snapshot.stat,
    )
    backup = str(done.backup) if done.run is not None else None
    warnings = tuple(dict.fromkeys((*outcome.warnings, *done.warnings)))
    return outcome._replace(plan=plan, run=done.run, backup=backup, warnings=warnings)


def _archive_of(run: PastRun) -> dict[str, str]:
    """Give the field that names the archive from which goes what is put back; none where the run archived nothing."""
    name = run.begin.get("archive")
    return {"archive": name} if isinstance(name, str) else {}


def _to_archive(settings: Settings, plan: UndoPlan) -> ToArchive | None:
    """An undo of an undo takes away what that one put back, and the archive holds it again."""
    if settings.archive is None or not (plan.inverse.out or plan.inverse.lines_out):
        return None
    from memttl.core.archive import entries_of
    from memttl.files.archiving import Archive, ToArchive, archive_in_log  # here: most policies name none

    named = _archive_of(plan.run).get("archive")
    state = state_of(settings.memory, settings.state_elsewhere)
    if named is None or archive_in_log(state, named) != settings.archive:
        return None
    archive = Archive(settings.archive, settings.clock, settings.policy.archive_max_age)
    return ToArchive(archive, lambda: entries_of(undo_events(plan, "", with_text=True)))


def _plan_again(state: State, request: Request, data: bytes, shown: UndoPlan) -> UndoPlan:
    """Plan on what is there and known under the lock: a text may have been forgotten while the question waited."""
    _refuse_encoded(data)
    run = run_named(runs_of(audit.read_events(state.audit)), shown.run.run)
    with knowledge_of(state, must_know=False) as knowledge:
        asked = {(s.entity, s.digest): s.asked for s in knowledge.settings}
    return _plan_of(state, run, request, data, asked, shown.inverse.keys)
