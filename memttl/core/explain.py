"""Why: each chosen observation's verdict with every date, mark, field and rule that was tried, in order.

Called by the `explain` workflow. It shows what `classify.py` judged by; it judges nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from memttl.core.classify import KnownOf, explain_entity
from memttl.core.entities import name_of, read_entities
from memttl.core.evidence import Evidence
from memttl.core.judge import Judge
from memttl.core.model import Tried, Verdict
from memttl.core.oddities import plan_warnings
from memttl.core.progress import Progress, no_progress, size_of, ticking, ticks_of
from memttl.core.selection import match_names
from memttl.core.wording import FROM_OLD_VERSION, instant_text, when_text
from memttl.errors import UnknownEntity


class Explanation(NamedTuple):
    """The chosen verdicts, each with what was tried, and the warnings of the file."""

    verdicts: tuple[tuple[Verdict, tuple[Tried, ...]], ...]
    warnings: tuple[str, ...]
    is_damaged: bool = False


class ExplainOutcome(NamedTuple):
    """The explanation of one memory file; `file` is the path as named."""

    file: str
    now: datetime
    explanation: Explanation
    warnings: tuple[str, ...] = ()


def explain_file(
    data: bytes,
    judge: Judge,
    *,
    entity: str | None = None,
    text: Callable[[str], bool] = lambda _: True,
    known_of: KnownOf | None = None,
    progress: Progress = no_progress,
) -> Explanation:
    """Explain the observations of `entity` (an exact name, else a glob) whose text passes `text`; all without either.

    Raises:
        UnknownEntity: nothing matches.
        Foreign: it is no file of the memory server.
    """
    entities = read_entities(data, sound=False, progress=progress)
    wanted = None if entity is None else match_names(entity, entities.names)
    lines = [line for line in entities.lines if wanted is None or name_of(line) in wanted]
    chosen = []
    for line in ticking(lines, ticks_of(progress, "judging", size_of(lines))):
        chosen += [(v, e) for v, e in explain_entity(line, judge, known_of) if text(str(v.observation))]
    if not chosen and entity is not None:
        raise UnknownEntity(
            f"No observation of {entity!r} matches; there is nothing to explain.",
            hint="'*' means every entity; TEXT is a part of the text, in any case.",
        )
    progress("explaining", 0, None)
    explained = tuple((v, tried_of(v, e, judge) if e else ()) for v, e in chosen)
    odd = entities.odd
    odd.unreadable = [v for v, _ in chosen if v.warning]
    return Explanation(explained, plan_warnings(data, judge.policy, odd), bool(odd.malformed))


def tried_of(verdict: Verdict, e: Evidence, judge: Judge) -> tuple[Tried, ...]:
    """Give what was tried on one observation: what the user set, dates, marks, fields, rules, the default."""
    return (*_set(e), *e.tried, *_seen(verdict, e), *_marks(e), *_rules(e, judge))


def _set(e: Evidence) -> list[Tried]:
    asked = e.known.settings
    rows: dict[str, object] = {"pin of the entity": asked.entity_pin or None}
    rows["created"] = when_text(asked.created)
    rows["expires"] = asked.expires if asked.expires == "never" else when_text(asked.expires)
    rows |= {"review by": when_text(asked.review_by), "ttl": asked.ttl, "tier": asked.tier}  # as they decide
    given = {what: value for what, value in rows.items() if value is not None}
    by = "set by an undo, which put it back" if asked.pinned_by_undo else "set"
    pin = [Tried("set", "pin", matched=True, note=by)] if asked.pinned else []
    return [*pin, *(Tried("set", f"{what}: {value}", matched=True, note="set") for what, value in given.items())]


def _seen(verdict: Verdict, e: Evidence) -> list[Tried]:
    inherited = []
    if verdict.age_source == "inherited":
        what = f"inherited {when_text(verdict.created_at)}"
        inherited = [Tried("date", what, matched=True, note="its entity's only date")]
    if e.known.first_seen is None:
        return inherited
    used = verdict.age_source == "seen" or verdict.arrived
    origin = f", {FROM_OLD_VERSION}" if e.known.backfilled else ""
    came = "arrived" if e.known.arrived else "first seen"
    what = f"{came} {instant_text(e.known.first_seen)}{origin}"
    if "newcomer" in verdict.reason:
        return [*inherited, Tried("date", what, matched=True, note="its grace as a newcomer counts from here")]
    return [*inherited, Tried("date", what, used, "birth" if used else "not needed")]


def _marks(e: Evidence) -> list[Tried]:
    marks = [Tried("mark", m.text, not m.problem, m.problem or "read") for m in e.marks]
    fields = [Tried("field", f.what, not f.problem, f.problem or "read") for f in e.fields]
    near = (
        [Tried("mark", e.near_mark, matched=False, note="no mark that memttl knows, so prose")] if e.near_mark else []
    )
    return marks + near + fields


def _rules(e: Evidence, judge: Judge) -> list[Tried]:
    rows = []
    for rule in judge.policy.rules:
        mismatch = rule.mismatch(e.subject)
        rows.append(Tried("rule", rule.label, not mismatch, mismatch or f"names the tier {rule.tier}"))
        if not mismatch:
            return rows
    default = judge.policy.default_tier
    used = e.named_by == "default"
    other = "one is set" if e.named_by == "set" else f"a {e.named_by} names one"
    return [*rows, Tried("default", default, used, "the default tier" if used else f"not needed: {other}")]
