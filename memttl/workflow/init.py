"""The use case init: look at a memory file, propose a policy for it, say what that would do, and write it.

`commands/init.py` calls `draft`, asks, and calls `write`; the other steps are use cases of their own. Nothing but
`write` writes.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

from memttl.core.classify import KnownOf
from memttl.core.clock import clock_warning, stamp_of
from memttl.core.first_steps import Draft, Forecast
from memttl.core.habits import Habits, habits_of
from memttl.core.judge import make_judge
from memttl.core.model import Known
from memttl.core.plan import make_plan
from memttl.core.policy import BUILT_IN, Policy
from memttl.core.policy_load import load_policy, refuse_newer
from memttl.core.proposal import NOTHING_PROPOSED, Proposal, propose
from memttl.core.proposal_text import Places, policy_text
from memttl.core.proposal_words import WORDS
from memttl.core.report import Query, Report
from memttl.core.sightings import Births
from memttl.core.survey import survey
from memttl.core.zones import in_zone, read_zone
from memttl.errors import BadPolicy, TryAgain, UsageError
from memttl.files.archive_mark import refuse_archive
from memttl.files.gitwalk import commits_of
from memttl.files.knowledge import Knowledge, knowledge_of
from memttl.files.leftovers import unfinished
from memttl.files.policy_write import read_existing, write_policy
from memttl.files.snapshot import read_with_damage
from memttl.files.state import FOLDER, state_of
from memttl.settings import Settings

LATER_DAYS = 90


class Wish(NamedTuple):
    """What the policy is to be: where it goes, and in which time zone; `zone_note` is a comment on that.

    `beside`: it lies beside the memory file. `rules`: take what is proposed. `scan`: ages are to begin now.
    `schema`: what the policy's first line names, "" for none. `notes` are for people. `births` are those that the
    file's git history tells, None where they are not to be taken. `counting` is the policy that will count, where it
    is not the proposed one.
    """

    target: Path
    timezone: str
    zone_note: str = ""
    beside: bool = False
    rules: bool = True
    scan: bool = True
    schema: str = ""
    notes: tuple[str, ...] = ()
    births: Births | None = None
    counting: Policy | None = None


class _Seen(NamedTuple):
    habits: Habits
    report: Report | None
    proposal: Proposal
    text: str
    forecasts: tuple[Forecast, ...]


def draft(settings: Settings | None, wish: Wish, now: datetime) -> Draft:
    """Look at the memory file and draft a policy for it; `settings` None is for no file in particular.

    Raises:
        UsageError: the target is no place for a policy, or there is no such time zone.
        Foreign: it is no file of the memory server.
        BadPolicy: a newer memttl wrote the policy that is there.
    """
    _check_zone(wish.timezone)
    _check_target(wish.target, settings)
    existing = read_existing(wish.target)
    if existing is not None:
        refuse_newer(existing.decode("utf-8", "replace"), str(wish.target))
    seen = _nothing_seen(wish, settings)
    commits = 0
    begun: datetime | None = None
    warnings: tuple[str, ...] = ()
    if settings is not None:
        state = state_of(settings.memory, settings.state_elsewhere)
        refuse_archive(state)
        warnings = (*settings.warnings, *_bad_words(settings))
        if os.path.lexists(settings.memory):
            with knowledge_of(state, must_know=False) as knowledge:
                seen = _look(settings, wish, knowledge)
                begun, commits = knowledge.baseline, commits_of(settings.memory)
                behind = clock_warning(settings.now, knowledge.newest)
                told = () if seen.report is None else seen.report.warnings
                warnings = (*warnings, *knowledge.warnings, *behind, *told, *unfinished(state))
    before, difference = _compared(existing, seen.text, wish.target)
    return Draft(
        file=settings.named if settings else None,
        now=in_zone(now, read_zone(wish.timezone)),
        habits=seen.habits,
        report=seen.report,
        proposal=seen.proposal,
        timezone=wish.timezone,
        text=seen.text,
        target=str(wish.target),
        before=before,
        replaces=_digest(existing) if existing is not None else "",
        difference=difference,
        in_force=_in_force(settings),
        forecasts=seen.forecasts,
        commits=commits,
        begun=begun,
        ages_begin=wish.scan,
        with_history=wish.births is not None,
        judged_by=wish.counting.where if wish.counting else "",
        notes=wish.notes,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def write(settings: Settings | None, planned: Draft) -> str | None:
    """Write the drafted policy; give where the one that it replaces lies now.

    Raises:
        TryAgain: the policy that is there is not the one of the draft any more.
        NoPermission, CannotCreate: it cannot be written.
    """
    like = os.stat(settings.memory) if settings and os.path.exists(settings.memory) else None
    target = Path(planned.target)
    over = read_existing(target) if planned.before else None
    if planned.before and (over is None or _digest(over) != planned.replaces):
        raise TryAgain(f"{target} is not the policy any more that was shown; it is as it was left.")
    kept = write_policy(target, planned.text, over=over, like=like)
    return str(kept) if kept else None


def _check_zone(name: str) -> None:
    try:
        read_zone(name)
    except ValueError as e:
        raise UsageError(f"--timezone {name!r}: {e}; nothing was done.") from None


def _check_target(target: Path, settings: Settings | None) -> None:
    real = Path(os.path.realpath(target))
    hint = "Name a file that ends in .toml with --output."
    if os.path.isdir(real):
        raise UsageError(f"{target} is a folder; nothing was done.", hint=hint)
    if real.suffix != ".toml":  # so that no slip of the keyboard names something precious
        raise UsageError(f"{target} does not end in .toml, as a policy's name does; nothing was done.", hint=hint)
    if FOLDER in real.parts:
        raise UsageError(f"{target} lies where memttl keeps its own state; nothing was done.", hint=hint)
    if settings is not None and real == settings.memory:
        raise UsageError(f"{target} is the memory file itself; nothing was done.", hint=hint)


def _nothing_seen(wish: Wish, settings: Settings | None) -> _Seen:
    proposal = NOTHING_PROPOSED
    text = _text(proposal, wish, settings)
    _loaded(text, wish)
    return _Seen(Habits((), 0, 0, (), (), {}, (), ()), None, proposal, text, ())


def _look(settings: Settings, wish: Wish, knowledge: Knowledge) -> _Seen:
    now = in_zone(settings.now, read_zone(wish.timezone))
    report_now = settings.progress

    def look(data: bytes) -> _Seen:
        with knowledge.steady():
            habits = habits_of(data, WORDS, now, progress=report_now)
            proposal = propose(habits) if wish.rules else NOTHING_PROPOSED
            text = _text(proposal, wish, settings)
            policy = _loaded(text, wish)
            judge = make_judge(policy, settings.now, baseline=knowledge.baseline)
            vanished = knowledge.vanished(data, policy.max_vanished_fraction, progress=report_now)
            found = survey(data, judge, Query(), known_of=knowledge.known_of, vanished=vanished, progress=report_now)
            forecasts = _forecasts(data, wish.counting or policy, settings, wish, knowledge)
            return _Seen(habits, found, proposal, text, forecasts)

    return read_with_damage(settings.memory, look, is_damaged=lambda s: bool(s.report and s.report.damaged))


def _text(proposal: Proposal, wish: Wish, settings: Settings | None) -> str:
    """Write the policy; where state and archive lie by the policy in force is not for a proposal to change."""
    policy = settings.policy if settings else Policy()
    return policy_text(
        proposal,
        wish.timezone,
        zone_note=wish.zone_note,
        schema=wish.schema,
        places=Places(policy.state_dir, policy.archive_path),
    )


def _loaded(text: str, wish: Wish) -> Policy:
    try:
        return load_policy(text, str(wish.target), beside=wish.beside)
    except BadPolicy as e:
        raise UsageError(
            f"The policy in force names a place for archive or state that a policy at {wish.target} may not name: "
            f"{'; '.join(e.problems)}. Nothing was done.",
            hint="Give --user, to write the policy into your own config folder.",
        ) from None


def _forecasts(
    data: bytes, policy: Policy, settings: Settings, wish: Wish, knowledge: Knowledge
) -> tuple[Forecast, ...]:
    """Plan as `prune` plans, now and later, as the ledger will know it then: ages begun, the history's births named."""
    begun = stamp_of(settings.now, settings.clock, knowledge.newest)
    known_of: KnownOf = knowledge.known_with(wish.births, begun) if wish.births else knowledge.known_of

    def known_later(entity: str, text: str) -> Known:
        known = known_of(entity, text)
        return known if known.first_seen or not wish.scan else known._replace(first_seen=begun)

    found = []
    for days in (0, LATER_DAYS):
        try:
            at = settings.now + timedelta(days=days)
        except OverflowError:  # there is no later day: the calendar ends with the year 9999
            break
        baseline = knowledge.baseline or (begun if wish.scan else None)
        judge = make_judge(policy, at, baseline=baseline if days else knowledge.baseline)
        known = known_later if days else known_of
        vanished = "" if days else knowledge.vanished(data, policy.max_vanished_fraction)
        plan = make_plan(
            data, judge, keep_malformed=True, known_of=known, vanished=vanished, progress=settings.progress
        )
        found.append(Forecast(days, in_zone(at, policy.zone), plan))
    return tuple(found)


def _compared(existing: bytes | None, text: str, target: Path) -> tuple[Literal["", "same", "other"], tuple[str, ...]]:
    if existing is None:
        return "", ()
    old = existing.decode("utf-8", "replace")
    if existing == text.encode():
        return "same", ()
    lines = difflib.unified_diff(old.splitlines(), text.splitlines(), str(target), "proposed", lineterm="", n=1)
    return "other", tuple(lines)


def _in_force(settings: Settings | None) -> str:
    if settings is None:
        return BUILT_IN
    if settings.bad_policy is None:
        return settings.policy.where
    return settings.bad_policy.where if os.path.lexists(settings.bad_policy.where) else BUILT_IN


def _bad_words(settings: Settings) -> tuple[str, ...]:
    bad = settings.bad_policy
    if bad is None or not os.path.lexists(bad.where):
        return ()
    return (
        f"the policy {bad.where} cannot be used ({'; '.join(bad.problems)}): what follows is by the proposal alone",
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
