"""What `memttl init` found, proposes and did, as values: the workflow makes them, `report/init.py` renders them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from memttl.core.habits import Habits
from memttl.core.plan import Plan
from memttl.core.proposal import Proposal
from memttl.core.report import Report
from memttl.core.schedule import Kind
from memttl.errors import ExitCode

StepName = Literal["policy", "scan", "backfill", "schedule"]


class Forecast(NamedTuple):
    """What a prune by the proposed policy would do at an instant; `days` from now."""

    days: int
    now: datetime
    plan: Plan


class Draft(NamedTuple):
    """All that was found and is proposed for one memory file; nothing has been written.

    `file` is the path as named, None where the policy is for no file in particular. `target` is where the policy goes,
    `before` what lies there: "" for nothing, "same" or "other"; `replaces` is its SHA-256, and `difference` how the
    proposal differs, in lines. `in_force` names the policy that counts so far. `commits` is how many commits changed
    the file. `begun` is when its ages began, None where they have not; `ages_begin`: the forecasts reckon that they do
    now, `with_history`: the births that git tells count in them, `judged_by`: the path of the policy by which they are
    made, "" for the proposed one. `is_scheduled`: something prunes the file every so often already. `notes` are
    sentences on the place of the file and of the policy.
    """

    file: str | None
    now: datetime
    habits: Habits
    report: Report | None
    proposal: Proposal
    timezone: str
    text: str
    target: str
    before: Literal["", "same", "other"]
    replaces: str
    difference: tuple[str, ...]
    in_force: str
    forecasts: tuple[Forecast, ...]
    commits: int
    begun: datetime | None
    ages_begin: bool
    with_history: bool = False
    judged_by: str = ""
    is_scheduled: bool = False
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        """True where there is a memory file, so that it was looked at."""
        return self.report is not None


class Step(NamedTuple):
    """One thing that is to be done, or was: in words, and what came of it. `kind` is who runs a schedule.

    `waits`: it is written, and something of it is left to be done by the user.
    """

    name: StepName
    words: str
    kind: Kind | None = None
    done: bool = False
    waits: bool = False
    detail: tuple[str, ...] = ()


class InitOutcome(NamedTuple):
    """What came of the first steps. `kept` is where a policy that was replaced lies now."""

    draft: Draft
    steps: tuple[Step, ...]
    dry_run: bool = False
    declined: bool = False
    kept: str | None = None
    exit_code: ExitCode = ExitCode.OK
