"""The values that cross modules: lines of a memory file, what is known of an observation, and the verdict on it.

All are frozen: `memory.py` makes lines, the workflow brings what the ledger knows, `classify.py` makes verdicts.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, NamedTuple

from memttl.core.durations import Duration

When = date | datetime
Expiry = date | datetime | Literal["never"]
LineKind = Literal["entity", "relation", "other", "blank", "malformed"]
AgeSource = Literal["set", "object", "text", "inherited", "entity", "seen", "unknown"]
Action = Literal["keep", "review", "prune"]


class Line(NamedTuple):
    """One line of the memory file, without its LF. `number` counts from 1.

    `record` is the parsed JSON of an entity or relation; None for the rest, and for a line that is well-formed but
    nested too deep to be parsed here (`too_deep`). `column` (from 1, in characters) and `problem` say where a
    malformed line breaks.
    """

    number: int
    kind: LineKind
    raw: bytes
    record: dict[str, Any] | None = None
    column: int = 0
    problem: str = ""
    too_deep: bool = False

    @property
    def is_judged(self) -> bool:
        """True for a well-formed entity with a name and a list of observations: what memttl may cut from."""
        if self.kind != "entity" or self.record is None:
            return False
        return isinstance(self.record.get("name"), str) and isinstance(self.record.get("observations"), list)


class Birth(NamedTuple):
    """The best known time of creation: a date as written, or an instant (aware), and how it is known.

    `backfilled`: the source is `seen`, in an old version of the file that memttl was shown later. `arrived`: the source
    is `set`, not by a user, but because `memttl serve` stored it at that instant.
    """

    when: When | None
    source: AgeSource
    backfilled: bool = False
    arrived: bool = False


class UserSettings(NamedTuple):
    """What the user set for one observation; None where nothing was. `entity_pin` is what pins its entity, or "".

    `pinned_by_undo`: the pin came with an undo that put it back, not from the user.
    """

    pinned: bool = False
    created: When | None = None
    expires: Expiry | None = None
    ttl: Duration | None = None
    tier: str | None = None
    review_by: When | None = None
    entity_pin: str = ""
    pinned_by_undo: bool = False

    @property
    def is_pinned(self) -> bool:
        """True when the user pinned the observation or its entity."""
        return self.pinned or bool(self.entity_pin)


NOTHING_SET = UserSettings()


class Known(NamedTuple):
    """What the ledger knows of one observation: when memttl first saw it, and what the user set.

    `backfilled`: the first sighting comes from old versions of the file. `entity_days` are the days that were written
    in its entity at the looks so far, those of observations that are gone included. `arrived`: the first sighting is
    the instant at which `memttl serve` stored it.
    """

    first_seen: datetime | None = None
    settings: UserSettings = NOTHING_SET
    backfilled: bool = False
    entity_days: frozenset[date] = frozenset()
    arrived: bool = False


NOTHING_KNOWN = Known()


class Tried(NamedTuple):
    """One mark, field, date or rule that was tried on an observation, and what came of it."""

    kind: Literal["set", "field", "date", "mark", "rule", "default"]
    what: str
    matched: bool
    note: str


class Verdict(NamedTuple):
    """Keep, review or prune for one observation, with its reason.

    `line` counts from 1, `index` from 0. `observation` is the text that was judged, or the JSON value of an unjudged
    element. `created_at` is a date as written or an instant; `expires_at` an instant in UTC. `warning`
    names a mark or field that cannot be read. `by_ttl`: a TTL decides (what `keep_last` may hold); `by_type_alone`: so
    does a rule that looks at nothing but the entity's type; `by_default`: no mark, field or rule names a tier
    or a date. `element` is the JSON value in the list; `near_mark` a bracket at its end that looks like a mark and is
    none. `waits_for_age`: a TTL would decide if its age were known. `backfilled`: the source `seen` is an old version
    of the file. `arrived`: the source `set` is the instant at which `memttl serve` stored it.
    """

    entity: str
    entity_type: str | None
    line: int
    index: int  # type: ignore[assignment]  # the JSON key; tuple.index is of no use here
    observation: Any
    tier: str | None
    rule: str | None
    age_source: AgeSource | None
    created_at: When | None
    expires_at: datetime | None
    expired: bool
    review_due: bool
    pinned: bool
    action: Action
    reason: str
    warning: str = ""
    by_ttl: bool = False
    by_type_alone: bool = False
    by_default: bool = False
    element: Any = None
    near_mark: str = ""
    waits_for_age: bool = False
    backfilled: bool = False
    arrived: bool = False


class LineRemoval(NamedTuple):
    """A whole line that goes: an entity that this prune emptied, or a relation of one. `label` is for people."""

    line: int
    kind: Literal["entity", "relation"]
    entity: str
    raw: bytes
    label: str = ""
