"""What came of a review, as a value: the workflow makes it, `report/review_*.py` render it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from memttl.core.changes import Changes
from memttl.core.model import Verdict
from memttl.core.plan import Plan
from memttl.core.review import Dialogue
from memttl.errors import ExitCode


class ReviewCounts(NamedTuple):
    """How many texts were listed and what was decided on them; the fields are the keys of `counts` in the document."""

    listed: int = 0
    reviewed: int = 0
    renewed: int = 0
    pinned: int = 0
    tier_changed: int = 0
    dropped: int = 0
    skipped: int = 0


class ReviewOutcome(NamedTuple):
    """What one review came to. `file` is the path as named; `plan` is that of the drops, None where there are none.

    `settings_run` and `run` are the names in the audit log of the change of settings and of the removal, None unless
    recorded and applied; `archive` keeps what is dropped, None where the policy names none; `refusals` say why
    nothing may be dropped.
    """

    file: str
    now: datetime
    dialogue: Dialogue
    changes: Changes = Changes()
    plan: Plan | None = None
    dry_run: bool = False
    declined: bool = False
    settings_run: str | None = None
    run: str | None = None
    backup: str | None = None
    archive: str | None = None
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def removals(self) -> tuple[Verdict, ...]:
        """What goes or would go."""
        return self.plan.removals if self.plan else ()

    @property
    def does_nothing(self) -> bool:
        """True where nothing is to be set or dropped."""
        return self.changes.are_none and not self.removals

    @property
    def counts(self) -> ReviewCounts:
        """Count the decisions."""
        kinds = [decision.kind for decision in self.dialogue.decisions if decision]
        each = (kinds.count("renew"), kinds.count("pin"), kinds.count("tier"), kinds.count("drop"), kinds.count("skip"))
        return ReviewCounts(len(self.dialogue.decisions), len(kinds), *each)

    @property
    def exit_code(self) -> ExitCode:
        """The command's exit code."""
        return ExitCode.LIMIT if self.refusals else ExitCode.OK
