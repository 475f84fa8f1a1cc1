"""Which run an undo means, which of its observations, and in words why there is nothing to undo. Pure.

`workflow/undo.py` asks, with the runs and events of the audit log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memttl.core.near import near
from memttl.core.oddities import some
from memttl.core.past_runs import Event, PastRun, run_named
from memttl.core.selection import match_names
from memttl.core.undo_items import Item
from memttl.core.undo_whole import is_whole
from memttl.errors import UnknownEntity, UnknownRun, UsageError


def run_meant(runs: Sequence[PastRun], name: str, events: Sequence[Event]) -> PastRun:
    """Give the run of this name, or whose name begins so.

    Raises:
        UnknownRun: there is none, or several; or it is one that only set something.
    """
    try:
        return run_named(runs, name)
    except UnknownRun:
        found = {(str(e.get("run")), str(e.get("command"))) for e in events if e.get("event") == "set"}
        meant = [(run, command) for run, command in found if name and run.startswith(name)]
        if len(meant) != 1:
            raise
        run, command = meant[0]
        raise UnknownRun(
            f"{run} is a {command}, which wrote nothing into the memory file; nothing was done.",
            hint=f"`memttl log --run {run}` shows what it set; `memttl unpin` and `memttl set --clear` take that away.",
        ) from None


def can_be_undone(run: PastRun) -> bool:
    """Say whether a run has changed anything that can be taken back.

    Raises:
        UsageError: it is a forget.
    """
    if run.command == "forget":
        raise UsageError(f"The run {run.run} forgot something for good, which cannot be undone; nothing was done.")
    return bool(run.removed or run.restored) or is_whole(run)


def why_nothing(run: PastRun | None) -> str:
    """Say why there is nothing to undo: of a run that was named, or of all (None)."""
    if run is None:
        return "no run in the audit log has removed anything that is not undone already"
    if run.applied is None:
        return f"the run {run.run} ({run.command}) has not ended; the next one that writes settles it"
    if not run.applied:
        return f"the run {run.run} ({run.command}) was not applied, so that it changed nothing"
    return f"the run {run.run} ({run.command}) removed nothing"


def items_filter(items: Sequence[Item], entities: Sequence[str], tiers: Sequence[str]) -> Callable[[Item], bool]:
    """Give what tells the observations that --entity and --tier mean, among those of the run.

    Raises:
        UnknownEntity, UsageError: it moved nothing of such an entity or tier.
    """
    names = frozenset(item.entity for item in items)
    known = sorted({item.tier for item in items if item.tier is not None})
    for tier in tiers:
        if tier not in known:
            raise UsageError(
                f"This run moved nothing of a tier {tier!r}{near(tier, known)}; nothing was done.",
                hint=f"It moved: {', '.join(known) or 'nothing that has a tier'}.",
            )
    chosen = frozenset[str]().union(*(_moved_names(name, names) for name in entities))

    def is_meant(item: Item) -> bool:
        return (not entities or item.entity in chosen) and (not tiers or item.tier in tiers)

    return is_meant


def _moved_names(name: str, names: frozenset[str]) -> frozenset[str]:
    try:
        return match_names(name, names)
    except UnknownEntity:
        raise UnknownEntity(
            f"This run moved nothing of an entity {name!r}{near(name, sorted(names))}; nothing was done.",
            hint=f"It moved something of: {some(sorted(names))}.",
        ) from None
