"""The use case backfill: earlier births out of git history and old copies, into the ledger.

Called by `commands/backfill.py`. The memory file is read, never written.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memttl.core.ages import ages_of
from memttl.core.backfill_outcome import BackfillOutcome
from memttl.core.clock import check_stamp, stamp_of
from memttl.core.history import BirthFinder, Wanted, wanted_of
from memttl.core.judge import make_judge
from memttl.core.look import look_at
from memttl.core.plan import make_plan, refuse_unsound
from memttl.core.progress import Progress
from memttl.core.sightings import Births
from memttl.core.wording import day_words, plural
from memttl.files import audit
from memttl.files.archive_mark import refuse_archive
from memttl.files.commit import timestamp
from memttl.files.githistory import git_versions
from memttl.files.knowledge import Knowledge, knowledge_of, ledger_of
from memttl.files.ledger_open import ledger_errors
from memttl.files.leftovers import unfinished
from memttl.files.lock import locked
from memttl.files.old_copy import copy_version
from memttl.files.snapshot import read_settled
from memttl.files.state import State, prepare, state_of
from memttl.settings import Settings

_SHOWN = 5  # labels of versions in one warning


class Sources(NamedTuple):
    """Where old versions are: the file's git history, and old copies, dated `date` or by their mtime."""

    git: bool = False
    copies: tuple[str, ...] = ()
    date: datetime | None = None


def backfill(settings: Settings, sources: Sources, *, dry_run: bool = False) -> BackfillOutcome:
    """Find earlier births of one memory file's observations, and record them unless it is a dry run.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
    snapshot, _ = read_settled(settings.memory, _sound)
    finder = _finder(settings, snapshot.data)
    warnings = [*settings.warnings, *unfinished(state)]
    versions = _meet_all(finder, sources, settings.memory, warnings, settings.progress)
    births = _births_of(finder)
    with knowledge_of(state, must_know=True) as knowledge, knowledge.steady():
        outcome = _planned(settings, snapshot.data, finder, births, knowledge)
    outcome = outcome._replace(dry_run=dry_run, versions=versions)
    warnings += knowledge.warnings
    if outcome.moved and not dry_run:
        _record(settings, state, snapshot.stat, births, warnings)
        outcome = outcome._replace(recorded=True)
    return outcome._replace(warnings=tuple(dict.fromkeys(warnings)))


def births_in_history(settings: Settings) -> Births:
    """Give the births that the file's git history tells, as `backfill` would record them; nothing is written.

    Raises:
        MemttlError: the file or its history cannot be read.
    """
    snapshot, _ = read_settled(settings.memory, _sound)
    finder = _finder(settings, snapshot.data)
    _meet_all(finder, Sources(git=True), settings.memory, [], settings.progress)
    return _births_of(finder)


def _finder(settings: Settings, data: bytes) -> BirthFinder:
    return BirthFinder(wanted_of(data, progress=settings.progress), min(settings.now, settings.clock))


def _births_of(finder: BirthFinder) -> Births:
    births: dict[str, dict[bytes, datetime | None]] = {}
    for (entity, key), birth in finder.births.items():
        births.setdefault(entity, {})[key] = birth.when
    return births


def _planned(
    settings: Settings, data: bytes, finder: BirthFinder, births: Births, knowledge: Knowledge
) -> BackfillOutcome:
    """Say what these births change: ages before and after, and what a prune would then remove."""
    stamp = check_stamp(stamp_of(settings.now, settings.clock, knowledge.newest))
    judge = make_judge(settings.policy, settings.now, baseline=knowledge.baseline)
    progress = settings.progress
    wanted, later = wanted_of(data, progress=progress), knowledge.known_with(births, stamp)
    vanished = knowledge.vanished(data, settings.policy.max_vanished_fraction, progress=progress)
    return BackfillOutcome(
        file=settings.named,
        now=settings.now_here,
        dry_run=False,
        recorded=False,
        versions=0,
        wanted=sum(map(len, wanted.values())),
        found=len(finder.births),
        moved=_moved(wanted, finder, knowledge),
        not_taken=tuple(finder.not_taken),
        before=ages_of(data, judge, knowledge.known_of, progress=progress),
        after=ages_of(data, judge, later, progress=progress),
        plan=make_plan(data, judge, known_of=later, vanished=vanished, progress=progress),
    )


def _sound(data: bytes) -> tuple[None, bool]:
    look = look_at(data)
    refuse_unsound(data, look.census, look.malformed)
    return None, False


def _meet_all(finder: BirthFinder, sources: Sources, memory: Path, warnings: list[str], progress: Progress) -> int:
    """Let the finder meet every old version; give how many there were."""
    copies = sorted((copy_version(Path(c), sources.date) for c in sources.copies), key=lambda v: v.when)
    for copy in copies:
        finder.meet(copy)
    count = len(copies)
    if sources.git:
        progress("walking the history", 0, None)
        history = git_versions(memory, on_progress=lambda n, m: progress(f"reading version {n} of {m}", n, m))
        for version in history:
            finder.meet(version)
        count += len(history)
        if history.is_shallow:
            warnings.append(
                f"the repository is a shallow clone that reaches back to {day_words(history.oldest)}: what was there "
                "by then may be older"
            )
        if history.missing:
            warnings.append(f"{len(history.missing)} versions are missing in this clone; nothing was fetched")
    if finder.unreadable:
        shown = ", ".join(finder.unreadable[:_SHOWN]) + (", …" if len(finder.unreadable) > _SHOWN else "")
        many = plural(len(finder.unreadable), "version")
        warnings.append(f"no line can be read (Git LFS, gzip, or damage) of {many}: {shown}")
    return count


def _moved(wanted: Wanted, finder: BirthFinder, knowledge: Knowledge) -> int:
    """Count the births that are earlier than what is known, to the second."""
    moved = 0
    for entity, texts in wanted.items():
        for text, key in texts.items():
            birth = finder.births.get((entity, key))
            if birth is None:
                continue
            known = knowledge.known_of(entity, text)
            seen = known.first_seen
            moved += not known.arrived and (seen is None or int(birth.when.timestamp()) < seen.timestamp())
    return moved


def _record(settings: Settings, state: State, like: os.stat_result, births: Births, warnings: list[str]) -> None:
    """Write the births under the lock, and a line of it into the audit log."""
    settings.progress("recording", 0, None)
    prepare(state, like)
    with locked(state, like), ledger_of(state, like, warnings.append) as ledger, ledger_errors(state.ledger):
        stamp = check_stamp(stamp_of(settings.now, settings.clock, ledger.newest))
        with ledger.transaction(write=True):
            moved = ledger.name(births, stamp)
            event = {"event": "backfill", "run": os.urandom(4).hex(), "time": timestamp(), "moved": moved}
            audit.append(state.audit, [event], like)
