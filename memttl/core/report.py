"""What `memttl report` found in one memory file, as values, and what was asked of it. Pure.

`core/survey.py` makes a `Report`; every renderer in `report/` shows the same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, get_args

from memttl.core.ages import Ages
from memttl.core.listing import ListedAs, Window
from memttl.core.model import AgeSource, Verdict, When
from memttl.core.near import refuse_unknown_word
from memttl.core.plan import Counts
from memttl.core.tokens import tokens_of
from memttl.errors import ExitCode, UsageError

SORTS = ("expiry", "age", "size", "entity")
GROUPS = ("tier", "type", "entity", "month")
SOURCES: tuple[str, ...] = get_args(AgeSource)


class Query(NamedTuple):
    """What is asked of a report, in the user's words; `check_query` says which of them name nothing.

    `entities`, `types`, `tiers` and `sources` narrow what is listed and charted, never the summary. `top` is how many
    entities are named in a ranking. `check`: the exit code tells whether something listed is expired or due for review.
    """

    within: str | None = None
    expire_before: str | None = None
    expired_only: bool = False
    undated: bool = False
    entities: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    sort: str = "expiry"
    group_by: str | None = None
    top: int = 10
    check: bool = False


class Listed(NamedTuple):
    """One observation that is to be looked at, and why; its weight is what it adds to a `read_graph`."""

    verdict: Verdict
    listed_as: ListedAs
    characters: int
    cents: int  # hundredths of an estimated token, so that sums are exact

    @property
    def tokens(self) -> int:
        """Estimated tokens of it alone."""
        return tokens_of(self.cents)


class Group(NamedTuple):
    """Listed observations that stand together under a name."""

    name: str
    listed: tuple[Listed, ...]

    @property
    def tokens(self) -> int:
        """Estimated tokens of them all."""
        return tokens_of(sum(item.cents for item in self.listed))

    @property
    def characters(self) -> int:
        """Characters of them all."""
        return sum(item.characters for item in self.listed)


class Share(NamedTuple):
    """What one tier or entity type holds of the file; `name` is "" where an entity has no type. The JSON's keys."""

    name: str
    observations: int
    expired: int
    due: int
    review_due: int
    unknown_age: int
    characters: int
    tokens: int


class Heavy(NamedTuple):
    """One entity and what it adds to a `read_graph`; lines of one name and type count together. The JSON's keys."""

    entity: str
    entity_type: str | None
    observations: int
    expired: int
    characters: int
    tokens: int


class OneDate(NamedTuple):
    """An entity of which one observation is dated and others are not; with `[age] inherit` they share its date."""

    entity: str
    entity_type: str | None
    date: When
    undated: int


class Month(NamedTuple):
    """What expires in one month: how many observations of each tier, in the policy's order.

    `month` is `2026-06`, or `expired` for what has expired already, or `later` for what lies behind the last one.
    """

    month: str
    tiers: Mapping[str, int]

    @property
    def observations(self) -> int:
        """How many of all tiers."""
        return sum(self.tiers.values())


class Damaged(NamedTuple):
    """A line that the memory server cannot read; `line` and `column` count from 1."""

    line: int
    column: int
    problem: str


class Weights(NamedTuple):
    """The weight of the file, its bytes and characters; what a `read_graph` costs, and what a prune would free."""

    bytes: int
    characters: int
    tokens_estimated: int
    tokens_freed_estimated: int


class Report(NamedTuple):
    """All that a report tells of one snapshot. `groups` hold what is listed, in the order in which it is shown.

    `known_age` counts the observations whose birth is known, `seen_age` those of them that are known from a first
    sighting only, and `backfilled_age` those of these that were sighted in an old version of the file;
    `refusals` are why a prune now would be refused.
    """

    counts: Counts
    known_age: int
    seen_age: int
    backfilled_age: int
    weights: Weights
    window: Window
    groups: tuple[Group, ...]
    is_grouped: bool
    tiers: tuple[Share, ...]
    types: tuple[Share, ...]
    months: tuple[Month, ...]
    ages: Ages
    heaviest: tuple[Heavy, ...]
    one_dated: tuple[OneDate, ...]
    one_dated_count: int
    damaged: tuple[Damaged, ...]
    refusals: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def listed(self) -> Sequence[Listed]:
        """All that is listed, in order."""
        return [item for group in self.groups for item in group.listed]

    def count(self, listed_as: ListedAs) -> int:
        """How many are listed for one reason."""
        return sum(item.listed_as == listed_as for item in self.listed)


class ReportOutcome(NamedTuple):
    """The report on one memory file; `file` is the path as named, `now` in the policy's zone."""

    file: str
    now: datetime
    query: Query
    report: Report
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """3 with `--check` where something that is listed has expired or is due for review, else 0."""
        is_found = self.query.check and (self.report.count("expired") or self.report.count("review"))
        return ExitCode.FOUND_WORK if is_found else ExitCode.OK


def check_query(query: Query) -> None:
    """Refuse words that name nothing, before any file is read.

    Raises:
        UsageError: with the words that there are.
    """
    for option, word, words in (
        ("--sort", query.sort, SORTS),
        *((("--group-by", query.group_by, GROUPS),) if query.group_by is not None else ()),
        *(("--source", source, SOURCES) for source in query.sources),
    ):
        refuse_unknown_word(option, word, words)
    if query.top < 0:
        raise UsageError(
            f"--top {query.top} is below zero; nothing was done.", hint="Give how many entities to name, or 0."
        )
    if query.expired_only and query.undated:
        raise UsageError("--expired-only and --undated exclude each other; nothing was done.", hint="Give one of them.")
