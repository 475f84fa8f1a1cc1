"""A wish, what was set before and the file's bytes into changes: which observations get which settings. Pure.

The workflow plans, shows, and under the lock calls `merged`, which puts the same patches on what is set by then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from memttl.core.change_warnings import idle, sooner, stay_pinned
from memttl.core.changes import Before, Change, Changes
from memttl.core.classify import KnownOf, judge_entity
from memttl.core.digests import text_digest
from memttl.core.durations import Duration, expires_after
from memttl.core.entities import Entities, name_of, read_entities
from memttl.core.entity_pins import pins_of, unpins_of
from memttl.core.judge import Judge
from memttl.core.known import EntityPins, Setting
from memttl.core.model import NOTHING_SET, Known, UserSettings, Verdict
from memttl.core.oddities import plan_warnings, some
from memttl.core.progress import Progress, no_progress, size_of, ticking, ticks_of
from memttl.core.selection import Choice, match_names
from memttl.core.wish import Patch, Wish, read_duration, read_patch
from memttl.core.wording import head_of
from memttl.errors import UnknownEntity, UsageError


class _Target(NamedTuple):
    """One observation that is meant, with the verdict on each of its copies; none where it is gone."""

    entity: str
    digest: str
    text: str | None
    copies: Sequence[Verdict]


_Verdicts = Mapping[tuple[str, str], Sequence[Verdict]]  # by entity and text, one a copy


def plan_changes(
    data: bytes, wish: Wish, before: Before, judge: Judge, stamp: datetime, *, progress: Progress = no_progress
) -> Changes:
    """Plan what `wish` changes in what was set `before`; `stamp` is the instant at which it would be recorded.

    Raises:
        Foreign, Malformed: the file is refused as a prune refuses it.
        UnknownEntity: nothing matches.
        UsageError: a word of the wish cannot be read; a renewal of what never expires.
    """
    patch = read_patch(wish, judge.policy, judge.now)
    entities = read_entities(data, sound=True, progress=progress)
    if wish.entity_pins:
        changes, verdicts = _of_entities(entities, wish, before, judge, stamp, progress)
    else:
        changes, verdicts = _of_observations(entities, wish, patch, before, judge, stamp, progress)
    held = () if wish.command == "pin" else stay_pinned(verdicts)
    other = sooner(changes) if wish.command == "renew" else idle(changes)
    return changes._replace(warnings=(*plan_warnings(data, judge.policy, entities.odd), *held, *other))


def plan_patches(
    data: bytes,
    patches: Mapping[tuple[str, str], Patch],
    before: Before,
    judge: Judge,
    stamp: datetime,
    *,
    sound: bool = True,
    progress: Progress = no_progress,
) -> Changes:
    """Plan changes of single observations, by entity and text, each by a patch of its own; what is gone is left out.

    `sound`: a damaged line is refused, not passed over.

    Raises:
        Foreign, Malformed: the file is refused as a prune refuses it.
    """
    entities = read_entities(data, sound=sound, progress=progress)
    here = _judged(entities, {entity for entity, _ in patches}, judge, before.known_of, progress)
    targets = [_Target(e, text_digest(t), t, here[e, t]) for e, t in patches if (e, t) in here]
    given = [patches[t.entity, t.text] for t in targets if t.text is not None]
    changes, verdicts = _planned(entities, targets, given, before, judge, stamp, progress)
    held = [v for v, patch in zip(verdicts, given, strict=True) if not patch.pinned]
    warnings = (*stay_pinned(held), *sooner(changes), *idle(changes))
    return changes._replace(warnings=warnings)


def _of_entities(
    entities: Entities, wish: Wish, before: Before, judge: Judge, stamp: datetime, progress: Progress
) -> tuple[Changes, Sequence[Verdict]]:
    """Pin entities, or no longer; with the verdicts after that on all that is in them."""
    if wish.command == "pin":
        pins = pins_of(wish.entity_pins, entities.names)
    else:
        pins = unpins_of(wish.entity_pins, entities.names, before.entity_pins)
    changed = tuple(p for p in pins if p.pinned != (p.pattern in before.entity_pins))
    changes = Changes((), changed, len(pins) - len(changed))
    named = {name for pin in pins for name in pin.entities}
    verdicts = _judged(entities, named, judge, _known_after(before, changes, stamp), progress)
    return changes, [copies[0] for copies in verdicts.values()]


def _of_observations(
    entities: Entities, wish: Wish, patch: Patch, before: Before, judge: Judge, stamp: datetime, progress: Progress
) -> tuple[Changes, Sequence[Verdict]]:
    """Change settings; with the verdicts after that on all that is meant, what stays as it is included."""
    targets = _targets(entities, wish.choice, patch, before, judge, progress)
    return _planned(entities, targets, _patches(targets, wish, patch, before, judge), before, judge, stamp, progress)


def _planned(
    entities: Entities,
    targets: Sequence[_Target],
    patches: Sequence[Patch],
    before: Before,
    judge: Judge,
    stamp: datetime,
    progress: Progress,
) -> tuple[Changes, Sequence[Verdict]]:
    changes = _changes(targets, patches, before)
    was = {(t.entity, t.text): t.copies for t in targets if t.text is not None}
    named = {target.entity for target in targets}
    will_be = _judged(entities, named, judge, _known_after(before, changes, stamp), progress)
    present = [(t.entity, t.text) for t in targets if t.text is not None and t.copies]
    return _with_verdicts(changes, was, will_be), [will_be[key][0] for key in present]


def merged(changes: Changes, data: bytes, before: Before, judge: Judge, stamp: datetime) -> Changes:
    """Put planned changes on what is set by now; `data` are the bytes that they were planned on.

    What another command has set meanwhile stays, where the same patch does not set it too.
    """
    asked = before.asked
    observations = [_repatched(c, asked.get((c.entity, c.digest), NOTHING_SET)) for c in changes.observations]
    pins = tuple(p for p in changes.entity_pins if p.pinned != (p.pattern in before.entity_pins))
    now = changes._replace(observations=tuple(c for c in observations if c.after != c.before), entity_pins=pins)
    if now == changes:  # as it nearly always is: judging anew would hold the lock for seconds on a large file
        return changes
    entities, named = read_entities(data, sound=False), {c.entity for c in now.observations}
    was = _judged(entities, named, judge, before.known_of)
    return _with_verdicts(now, was, _judged(entities, named, judge, _known_after(before, now, stamp)))


def _repatched(change: Change, before: UserSettings) -> Change:
    return change._replace(before=before, after=change.patch.on(before))


def _judged(
    entities: Entities, named: Collection[str], judge: Judge, known_of: KnownOf, progress: Progress = no_progress
) -> _Verdicts:
    """Judge the observations of the entities named, without those that hold no text."""
    found: dict[tuple[str, str], list[Verdict]] = {}
    lines = [line for line in entities.lines if name_of(line) in named]
    for line in ticking(lines, ticks_of(progress, "judging", size_of(lines))):
        for verdict in judge_entity(line, judge, known_of):
            if verdict.tier is not None:
                found.setdefault((verdict.entity, verdict.observation), []).append(verdict)
    return found


def _known_after(before: Before, changes: Changes, stamp: datetime) -> KnownOf:
    """Give what will be known: what is named is seen at `stamp` at the latest."""
    new = {(c.entity, c.text): c.after for c in changes.observations if c.is_present}
    gone = {p.pattern for p in changes.entity_pins if not p.pinned}
    stay = [p for p in before.entity_pins if p not in gone]
    pins = EntityPins([*stay, *(p.pattern for p in changes.entity_pins if p.pinned)])

    def known_of(entity: str, text: str) -> Known:
        known = before.known_of(entity, text)
        after = new.get((entity, text))
        if after is not None:
            known = known._replace(settings=after, first_seen=known.first_seen or stamp)
        return known._replace(settings=known.settings._replace(entity_pin=pins.pin_of(entity)))

    return known_of


def _targets(
    entities: Entities, choice: Choice, patch: Patch, before: Before, judge: Judge, progress: Progress
) -> list[_Target]:
    """Find what is meant, in the file and, where a patch only takes away, among what is set and gone."""
    assert choice.entity is not None
    also = before.settings if patch.only_takes_away else ()
    names = match_names(choice.entity, entities.names | {s.entity for s in also})
    matches, verdicts = choice.matcher(), _judged(entities, names, judge, before.known_of, progress)
    found = [_Target(e, text_digest(t), t, copies) for (e, t), copies in verdicts.items() if matches(t)]
    here = {(e, text_digest(t)) for e, t in verdicts} if also else set()
    for s in also:
        is_idle = patch.on(s.asked) == s.asked or s.entity not in names or (s.entity, s.digest) in here
        if not is_idle and is_meant(s, choice):
            found.append(_Target(s.entity, s.digest, s.text, ()))
    if not found:
        raise UnknownEntity(
            f"No observation of {choice.entity!r} matches; nothing was done.",
            hint="'*' means every entity; TEXT is a part of the text, in any case.",
        )
    return found


def is_meant(setting: Setting, choice: Choice) -> bool:
    """Say whether TEXT means the text of a setting; where that was not kept, only the exact text can be told by."""
    if setting.text is not None:
        return choice.matcher()(setting.text)
    return choice.text is None or (choice.exact and text_digest(choice.text) == setting.digest)


def _patches(targets: Sequence[_Target], wish: Wish, patch: Patch, before: Before, judge: Judge) -> list[Patch]:
    """Give the patch for each target: of a renewal an expiry of its own, by the longest tier among its copies."""
    if wish.command != "renew":
        return [patch] * len(targets)
    keep_for = read_duration("--for", wish.keep_for) if wish.keep_for is not None else None
    longest = [keep_for or max((_ttl(v, judge) for v in t.copies), key=Duration.approximate_hours) for t in targets]
    endless = [t.copies[0] for t, ttl in zip(targets, longest, strict=True) if keep_for is None and ttl.is_never]
    if endless:
        places = some([f"{v.entity!r} ({v.tier}): {head_of(v.observation)}" for v in endless])
        noun = "1 observation is" if len(endless) == 1 else f"{len(endless)} observations are"
        raise UsageError(
            f"{noun} in a tier that never expires: {places}; nothing was renewed.",
            hint="Give --for, such as --for 90d; or name the others by TEXT.",
        )
    asked = before.asked
    was = [asked.get((t.entity, t.digest), NOTHING_SET) for t in targets]
    return [renewal(ttl, judge, one) for ttl, one in zip(longest, was, strict=True)]


def renewal(keep_for: Duration, judge: Judge, was: UserSettings = NOTHING_SET) -> Patch:
    """Give the patch that keeps an observation, for which this `was` set, from now on for so long.

    A review-by date that decides moves on; else it is an expiry.
    """
    start, zone = judge.now.replace(microsecond=0), judge.policy.zone
    until = expires_after(start, keep_for, zone)
    # an expiry in its place would let go what the policy or the tier only lists for review
    if until is not None and was.review_by is not None and was.expires is None:
        return Patch(review_by=until)
    return Patch(expires=until or "never")


def from_now(patch: Patch, judge: Judge) -> Patch:
    """Give the patch for an observation that is there already: a TTL counts from now, not from its birth."""
    if patch.ttl is None:
        return patch
    return patch._replace(ttl=None, expires=renewal(patch.ttl, judge).expires)


def _ttl(verdict: Verdict, judge: Judge) -> Duration:
    assert verdict.tier is not None
    return judge.policy.tiers[verdict.tier].ttl


def _changes(targets: Sequence[_Target], patches: Sequence[Patch], before: Before) -> Changes:
    asked = before.asked
    found = []
    for target, patch in zip(targets, patches, strict=True):
        was = asked.get((target.entity, target.digest), NOTHING_SET)
        here = bool(target.copies)
        found.append(Change(target.entity, target.digest, target.text, here, patch, was, patch.on(was)))
    changed = tuple(c for c in found if c.after != c.before)
    return Changes(changed, unchanged=len(found) - len(changed))


def _with_verdicts(changes: Changes, was: _Verdicts, will_be: _Verdicts) -> Changes:
    def whole(change: Change) -> Change:
        if change.text is None or not change.is_present:
            return change
        key = change.entity, change.text
        return change._replace(was=was[key][0], will_be=will_be[key][0])

    return changes._replace(observations=tuple(map(whole, changes.observations)))
