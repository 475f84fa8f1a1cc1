"""Changes to what the user set: what is known before, and for each observation and entity what is set after. Pure.

`change_plan.py` makes them, `records.py` writes them for the audit log, and the workflow keeps them in the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memttl.core.classify import KnownOf
from memttl.core.known import Setting
from memttl.core.model import UserSettings, Verdict
from memttl.core.wish import Patch

Key = tuple[str, str]  # an entity's name, and the digest of a text: copies of a text in one entity share their settings


class Before(NamedTuple):
    """What was set, and all that is known, before a change."""

    settings: Sequence[Setting]
    entity_pins: Sequence[str]
    known_of: KnownOf

    @property
    def asked(self) -> dict[Key, UserSettings]:
        """What was set for each observation."""
        return {(s.entity, s.digest): s.asked for s in self.settings}


class Change(NamedTuple):
    """New settings of one observation. `text` is None where it is gone from the file and was not kept.

    `was` and `will_be` are the verdicts before and after, None where it is gone.
    """

    entity: str
    digest: str
    text: str | None
    is_present: bool
    patch: Patch
    before: UserSettings
    after: UserSettings
    was: Verdict | None = None
    will_be: Verdict | None = None


class PinChange(NamedTuple):
    """A name or glob by which entities are pinned from now on, or no longer; `entities` are those of today."""

    pattern: str
    pinned: bool
    entities: tuple[str, ...]


class Changes(NamedTuple):
    """All that a wish changes. `unchanged` counts what is as it was asked to be already."""

    observations: tuple[Change, ...] = ()
    entity_pins: tuple[PinChange, ...] = ()
    unchanged: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def are_none(self) -> bool:
        """True where nothing is to be changed."""
        return not (self.observations or self.entity_pins)
