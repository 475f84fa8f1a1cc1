"""One snapshot's bytes and the policy into a plan: every verdict that goes, counts and limits.

The workflow makes a plan (pure), shows it, and later makes another on fresh bytes within what was approved. A dry run
ends with the plan.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from memttl.core.classify import KnownOf, judge_entity
from memttl.core.foreign import Census, foreign_file
from memttl.core.judge import Judge
from memttl.core.memory import read_lines
from memttl.core.model import Line, LineRemoval, Verdict
from memttl.core.oddities import Oddities, plan_warnings
from memttl.core.progress import Progress, no_progress, ticks_of
from memttl.core.wording import plural
from memttl.errors import Foreign, Malformed

if TYPE_CHECKING:
    from memttl.core.selection import Filters

SMALL_FILE = 20  # observations; below it a fraction says nothing
NEAREST = 3


class Counts(NamedTuple):
    """What a snapshot holds and what would go; the fields are the keys of `counts` in the JSON document."""

    entities: int = 0
    relations: int = 0
    observations: int = 0
    expired: int = 0
    removed: int = 0
    review_due: int = 0
    unknown_age: int = 0
    pinned: int = 0
    malformed_lines: int = 0


Texts = Counter[tuple[str, str]]  # by entity and `repr` of the element; one entity may hold the same text twice


class Approval(NamedTuple):
    """The most that may go: what a shown plan named."""

    observations: Texts
    lines: Counter[bytes]


class Plan(NamedTuple):
    """All verdicts of one snapshot that go, bound to the digest (SHA-256) of its bytes.

    `lines` are entity and relation lines that go whole (`remove_empty_entities`); `waiting` counts what has expired but
    was not in the approval; `unruled` the observations whose tier nothing but the default names; `undated` those that a
    TTL would let go if their age were known; `next_due` are the nearest expiries to come, `review_due` what is to be
    looked at. `has_vanished`: most of the memory is gone since the last look, which `--force` does not lift.
    """

    digest: str
    counts: Counts
    removals: tuple[Verdict, ...]
    lines: tuple[LineRemoval, ...] = ()
    waiting: int = 0
    unruled: int = 0
    undated: int = 0
    next_due: tuple[Verdict, ...] = ()
    review_due: tuple[Verdict, ...] = ()
    refusals: tuple[str, ...] = ()
    has_vanished: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def approval(self) -> Approval:
        """What a person approves by approving this plan."""
        return Approval(texts_of(self.removals), Counter(r.raw for r in self.lines))


def texts_of(verdicts: Iterable[Verdict]) -> Texts:
    """Count observations as an approval does."""
    return Counter(map(_key, verdicts))


def _key(verdict: Verdict) -> tuple[str, str]:
    return verdict.entity, repr(verdict.element)


@dataclass(slots=True)
class _Tally:
    """What one pass over the lines gathers."""

    census: Census = field(default_factory=Census)
    kinds: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    expired: list[Verdict] = field(default_factory=list)
    chosen: list[Verdict] = field(default_factory=list)
    next_due: list[Verdict] = field(default_factory=list)
    review_due: list[Verdict] = field(default_factory=list)
    odd: Oddities = field(default_factory=Oddities)


def make_plan(
    data: bytes,
    judge: Judge,
    *,
    filters: Filters | None = None,
    keep_malformed: bool = False,
    force: bool = False,
    approval: Approval | None = None,
    chosen: Texts | None = None,
    known_of: KnownOf | None = None,
    vanished: str = "",
    watch: Callable[[Line, list[Verdict]], None] = lambda _line, _verdicts: None,
    progress: Progress = no_progress,
) -> Plan:
    """Plan a prune of the memory file whose bytes are `data`.

    `filters` narrow what goes; `force` lifts the two prune limits; `approval` is the most that may go; `chosen` are
    what a person chose to drop one by one, which goes in place of what has expired; `known_of` is the ledger's
    knowledge; `vanished` a sentence that refuses it all, which nothing lifts; `watch` is shown each line and the
    verdicts on it.

    Raises:
        Foreign: it is no file of the memory server.
        Malformed: it holds lines that the server could not read (unless `keep_malformed`).
    """
    tally = _Tally()
    for line in read_lines(data, tick=ticks_of(progress, "judging", len(data))):
        verdicts = _add(tally, line, judge, known_of)
        watch(line, verdicts)
        if chosen:
            tally.chosen += [v for v in verdicts if _key(v) in chosen]
    refuse_unsound(data, tally.census, [] if keep_malformed else tally.odd.malformed)
    expired = [v for v in tally.expired if filters is None or filters.match(v)]
    wanted = expired if chosen is None else _dropped(tally.chosen, chosen)
    removals = _approved(wanted, approval)
    lines: tuple[LineRemoval, ...] = ()
    if judge.policy.remove_empty_entities:
        from memttl.core.empty import lines_left_empty

        lines = lines_left_empty(data, removals, approval.lines if approval else None)
    counts = _counts(tally, removals)
    return Plan(
        digest=hashlib.sha256(data).hexdigest(),
        counts=counts,
        removals=tuple(removals),
        lines=lines,
        waiting=len(wanted) - len(removals),
        unruled=tally.numbers["unruled"],
        undated=tally.numbers["undated"],
        next_due=tuple(tally.next_due),
        review_due=tuple(tally.review_due),
        refusals=(*((vanished,) if vanished else ()), *(() if force else _refusals(counts, judge))),
        has_vanished=bool(vanished),
        warnings=plan_warnings(data, judge.policy, tally.odd, removals, lines),
    )


def _add(tally: _Tally, line: Line, judge: Judge, known_of: KnownOf | None) -> list[Verdict]:
    tally.census.add(line)
    tally.kinds[line.kind] += 1
    tally.odd.add(line)
    if not line.is_judged:
        return []
    verdicts = judge_entity(line, judge, known_of)
    for verdict in verdicts:
        tally.numbers["observations"] += 1
        tally.numbers["review_due"] += verdict.review_due
        tally.numbers["pinned"] += verdict.pinned
        tally.numbers["unknown_age"] += verdict.age_source == "unknown"
        tally.numbers["unruled"] += verdict.by_default
        if verdict.warning:
            tally.odd.unreadable.append(verdict)
        tally.numbers["undated"] += verdict.waits_for_age
        if verdict.review_due:
            tally.review_due.append(verdict)
        if verdict.expired:
            tally.expired.append(verdict)
        elif verdict.expires_at is not None:
            _note_due(tally.next_due, verdict)
    if verdicts and all(v.expired for v in verdicts):
        rules = {str(v.rule) for v in verdicts if v.by_type_alone}
        tally.odd.emptied += [(rule, line.number, verdicts[0].entity) for rule in sorted(rules)]
    return verdicts


def _note_due(nearest: list[Verdict], verdict: Verdict) -> None:
    nearest.append(verdict)
    nearest.sort(key=lambda v: (v.expires_at is None, v.expires_at))
    del nearest[NEAREST:]


def refuse_unsound(data: bytes, census: Census, malformed: list[Line]) -> None:
    """Refuse a file that is not the memory server's, or that is damaged.

    Raises:
        Foreign: what it is and what to do.
        Malformed: every bad line, with its column.
    """
    refuse_foreign(data, census, malformed=bool(malformed))
    if malformed:
        is_any_line_good = census.server_lines or census.other_lines
        hint = (
            None if is_any_line_good else "No line of it is JSON: is this the right file? `memttl doctor` looks closer."
        )
        raise Malformed(malformed_message(malformed), hint=hint)


def refuse_foreign(data: bytes, census: Census, *, malformed: bool) -> None:
    """Refuse a file that is not the memory server's, with its own message.

    Raises:
        Foreign: what it is and what to do.
    """
    found = foreign_file(data, census, malformed=malformed)
    if found:
        what, hint = found
        raise Foreign(f"The file {what}; nothing was done.", hint=hint)


def malformed_message(lines: list[Line], *, shown: int = 50) -> str:
    """Name every bad line with line and column; past `shown` of them, the rest by number."""
    text = f"{plural(len(lines), 'line')} that the memory server cannot read; nothing was done:"
    for line in lines[:shown]:
        text += f"\n  line {line.number}, column {line.column}: {line.problem}"
    rest = ", ".join(str(line.number) for line in lines[shown:])
    return text + (f"\n  and lines {rest}" if rest else "")


def _approved(wanted: list[Verdict], approval: Approval | None) -> list[Verdict]:
    return wanted if approval is None else _within(wanted, approval.observations)


def _within(wanted: Iterable[Verdict], most: Texts) -> list[Verdict]:
    left = most.copy()
    removals = []
    for verdict in wanted:
        if left[_key(verdict)] > 0:
            left[_key(verdict)] -= 1
            removals.append(verdict)
    return removals


def _dropped(found: Iterable[Verdict], chosen: Texts) -> list[Verdict]:
    """Give what goes since somebody chose it: of several copies those that are due first, and never a pinned one."""
    due_first = sorted(
        (v for v in found if not v.pinned),
        key=lambda v: (not v.expired, not v.review_due, v.expires_at is None, v.expires_at),
    )
    going = sorted(_within(due_first, chosen), key=lambda v: (v.line, v.index))
    return [v._replace(action="prune", reason=f"dropped in review; {v.reason}") for v in going]


def _counts(tally: _Tally, removals: list[Verdict]) -> Counts:
    numbers = tally.numbers
    return Counts(
        entities=tally.kinds["entity"],
        relations=tally.kinds["relation"],
        observations=numbers["observations"],
        expired=len(tally.expired),
        removed=len(removals),
        review_due=numbers["review_due"],
        unknown_age=numbers["unknown_age"],
        pinned=numbers["pinned"],
        malformed_lines=len(tally.odd.malformed),
    )


def _refusals(counts: Counts, judge: Judge) -> tuple[str, ...]:
    """The limits: a plan past them is refused whole, never trimmed."""
    policy, found = judge.policy, []
    fraction = counts.removed / counts.observations if counts.observations else 0
    if counts.observations >= SMALL_FILE and fraction > policy.max_prune_fraction:
        found.append(
            f"{counts.removed} of {counts.observations} observations would go ({fraction:.0%}), more than "
            f"limits.max_prune_fraction = {policy.max_prune_fraction} allows"
        )
    if counts.removed > policy.max_prune_count:
        most = f"limits.max_prune_count = {policy.max_prune_count}"
        found.append(f"{counts.removed} observations would go, more than {most} allows")
    return tuple(found)
