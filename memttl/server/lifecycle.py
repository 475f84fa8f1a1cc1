"""Each call of a tool that the stock server lacks into its answer: prune, report_stale, set_lifecycle, undo_prune.

`calls.py` hands the calls over, their arguments checked. What writes is done in the writing thread, so that it never
meets the edits of the same process.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Literal, TypeVar

import anyio

from memttl.core.changes import Before, Changes
from memttl.core.durations import Duration
from memttl.core.judge import Judge, make_judge
from memttl.core.lifecycle_plan import Item, Planning, plan_items
from memttl.core.listing import read_expire_before
from memttl.core.normal import normalise
from memttl.core.outcome import PruneOutcome
from memttl.core.past_runs import PastRun, runs_of
from memttl.core.plan import Counts, Plan
from memttl.core.report import Query, ReportOutcome
from memttl.core.settings_outcome import ChangeOutcome
from memttl.core.survey import survey
from memttl.core.undo_choice import why_nothing
from memttl.core.undo_outcome import UndoOutcome
from memttl.core.wish import Patch, patch_of
from memttl.errors import NoMemoryFile, UnknownEntity, UnknownRun, UsageError
from memttl.files import audit
from memttl.files.state import state_of
from memttl.server.answers import succeeded
from memttl.server.lifecycle_answers import change_answer, prune_answer, report_answer, undo_answer, undoable_words
from memttl.server.writer import Writer
from memttl.settings import Settings
from memttl.workflow import prune as pruning
from memttl.workflow import undo as undoing
from memttl.workflow.change_settings import change_by
from memttl.workflow.report import report
from memttl.workflow.serving import Serving

Arguments = dict[str, Any]
Result = dict[str, Any]
R = TypeVar("R")
_REMOVERS = ("prune", "serve")  # what an undo means that names no run: neither a person's review nor a repair
_CHOICE = "Name it by observation (the whole text), or several by contains (a part); give pin alone to pin the entity."
_GIVE = "Give ttl, decay, expires, review_by, pin, renew or clear."


class Lifecycle:
    """Answers the calls of one client. `changed` is called after each call that has changed what reads show."""

    def __init__(self, serving: Serving, writer: Writer, changed: Callable[[], Awaitable[None]]) -> None:
        self._serving, self._writer, self._changed = serving, writer, changed
        self._one_reader = anyio.CapacityLimiter(1)
        self.handlers: dict[str, Callable[[Arguments], Awaitable[Result]]] = {
            "prune": self._prune,
            "report_stale": self._report_stale,
            "set_lifecycle": self._set_lifecycle,
            "undo_prune": self._undo_prune,
        }

    async def _prune(self, given: Arguments) -> Result:
        entities, types, tiers = _narrowed(given)
        request = pruning.Request(
            dry_run=not given.get("confirm"), keep_malformed=True, entities=entities, types=types, tiers=tiers
        )
        outcome = await self._write(lambda settings: _pruned(settings, request))
        if outcome.applied:
            await self._changed()
        return succeeded(prune_answer(outcome))

    async def _report_stale(self, given: Arguments) -> Result:
        outcome = await anyio.to_thread.run_sync(
            lambda: _reported(self._serving.resolve(), given), limiter=self._one_reader
        )
        return succeeded(report_answer(outcome))

    async def _set_lifecycle(self, given: Arguments) -> Result:
        outcome, matched = await self._write(lambda settings: _set(settings, given))
        if outcome.run is not None:
            await self._changed()
        return succeeded(change_answer(outcome, matched))

    async def _undo_prune(self, given: Arguments) -> Result:
        request = undoing.Request(given.get("run"), _REMOVERS, dry_run=bool(given.get("dry_run")))
        outcome = await self._write(lambda settings: _undone(settings, request))
        if outcome.dry_run:
            _only_adds(outcome)
        if outcome.applied:
            await self._changed()
        return succeeded(undo_answer(outcome))

    async def _write(self, work: Callable[[Settings], R]) -> R:
        """Do work in the writing thread, on a ledger that knows all that was added before."""

        def recorded() -> R:
            self._serving.record()
            return work(self._serving.resolve())

        return await self._writer.run(recorded)


def _narrowed(given: Arguments) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    return tuple(given.get("entities") or ()), tuple(given.get("types") or ()), tuple(given.get("tiers") or ())


def _is_missing(settings: Settings) -> bool:
    """A missing memory file is an empty memory, as the stock server has it."""
    return not os.path.lexists(settings.memory)


def _pruned(settings: Settings, request: pruning.Request) -> PruneOutcome:
    if settings.bad_policy is not None:
        raise settings.bad_policy.with_traceback(
            None
        )  # the last good one may keep less than what somebody is about to write
    if _is_missing(settings):
        return PruneOutcome(settings.named, settings.now_here, Plan("", Counts(), ()), request.dry_run)
    return pruning.prune(settings, request)


def _reported(settings: Settings, given: Arguments) -> ReportOutcome:
    within, before = given.get("within"), given.get("expire_before")
    if within is not None and before is not None:
        raise UsageError("within and expire_before both say what counts as soon; nothing was read.", hint="Give one.")
    if before is not None:
        read_expire_before(before, settings.policy, name="expire_before", undone="nothing was read")
    soon = None if within is None else _duration(settings, "within", within).short
    entities, types, tiers = _narrowed(given)
    query = Query(soon, before, entities=entities, types=types, tiers=tiers)
    if _is_missing(settings):
        return ReportOutcome(
            settings.named, settings.now_here, query, survey(b"", make_judge(settings.policy, settings.now), query)
        )
    return report(settings, query)


def _duration(settings: Settings, name: str, value: object) -> Duration:
    found = patch_of(settings.policy, settings.now, ttl=value, names={"ttl": name}).ttl
    assert found is not None
    return found


def _set(settings: Settings, given: Arguments) -> tuple[ChangeOutcome, tuple[int, ...]]:
    items = [_item(settings, f"items[{at}]", item) for at, item in enumerate(given["items"])]
    matched: tuple[int, ...] = ()

    def plan(data: bytes, before: Before, judge: Judge, stamp: datetime) -> tuple[Changes, bool]:
        nonlocal matched
        changes, matched, is_damaged = plan_items(data, items, Planning(before, judge, stamp))
        return changes, is_damaged

    if _is_missing(settings) and items:
        name = items[0].entity
        raise UnknownEntity(f"No entity is named {name!r}: the memory holds nothing yet; nothing was done.")
    return change_by(settings, "serve", plan, dry_run=bool(given.get("dry_run"))), matched


def _item(settings: Settings, at: str, given: Arguments) -> Item:
    """Read one item; `at` says in messages which it is."""
    told = {name: value for name, value in given.items() if value is not None}
    text, part, renew = told.get("observation"), told.get("contains"), told.get("renew")
    patch = _patch(settings, at, told)
    if text is not None and part is not None:
        raise UsageError(f"{at} names one observation and a part of several; nothing was done.", hint=_CHOICE)
    if part == "":
        raise UsageError(f"{at}.contains is empty, which every text contains; nothing was done.", hint=_CHOICE)
    keep_for = _renewal(settings, f"{at}.renew", renew)
    both = [name for name in ("ttl", "expires", "review_by") if name in told]
    if keep_for is not None and both:
        raise UsageError(
            f"{at}: renew and {both[0]} both say when it ends; nothing was done.", hint="Give one of them."
        )
    if patch == Patch() and keep_for is None:
        raise UsageError(f"{at} sets nothing; nothing was done.", hint=_GIVE)
    item = Item(given["entityName"], patch, text, part, keep_for)
    if item.is_whole and (patch._replace(pinned=None) != Patch() or keep_for is not None):
        raise UsageError(
            f"{at} names no observation, and an entity can only be pinned; nothing was done.", hint=_CHOICE
        )
    return item


def _renewal(settings: Settings, name: str, value: object) -> Duration | Literal["tier"] | None:
    if isinstance(value, bool):
        return "tier" if value else None
    return None if value is None else _duration(settings, name, value)


def _patch(settings: Settings, at: str, told: Arguments) -> Patch:
    tiers = {normalise(told[name].strip()): told[name] for name in ("tier", "decay") if name in told}
    if len(tiers) > 1:
        raise UsageError(f"{at}: tier and decay are one thing, and differ; nothing was done.", hint="Give one of them.")
    life = {name: told.get(name) for name in ("ttl", "expires", "review_by", "pin")}
    names = {name: f"{at}.{name}" for name in (*life, "decay")} | ({"decay": f"{at}.tier"} if "tier" in told else {})
    patch = patch_of(settings.policy, settings.now, decay=next(iter(tiers.values()), None), **life, names=names)
    return patch._replace(clear=bool(told.get("clear")))


def _undone(settings: Settings, request: undoing.Request) -> UndoOutcome:
    try:
        return undoing.undo(settings, request, ask=_only_adds)
    except UnknownRun as e:
        raise UnknownRun(e.message, hint=undoable_words(_undoable(settings))) from None
    except NoMemoryFile:
        if not (_is_missing(settings) and request.run is None):
            raise
        return UndoOutcome(settings.named, settings.now_here, nothing=why_nothing(None), dry_run=request.dry_run)


def _undoable(settings: Settings) -> list[PastRun]:
    """Give the runs that an undo by a client may mean, oldest first."""
    runs = runs_of(audit.read_events(state_of(settings.memory, settings.state_elsewhere).audit))
    return [run for run in runs if run.command in _REMOVERS and run.removed and not run.undone_by]


def _only_adds(outcome: UndoOutcome) -> bool:
    """Refuse the undo of what put something in (a restore, an undo): a client asks to get something back.

    Raises:
        UsageError: it would take something out, too.
    """
    plan = outcome.plan
    if plan is not None and (plan.is_whole or plan.inverse.out or plan.inverse.lines_out):
        run = plan.run
        raise UsageError(
            f"The undo of the run {run.run} ({run.command}) would not only put something back; nothing was done.",
            hint=f"A person can do it with `memttl undo {run.run}`, which shows first all that it changes.",
        )
    return True
