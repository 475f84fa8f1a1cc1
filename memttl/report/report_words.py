"""The words of a report that its renderings for people share: sentences of the summary, headings, days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from memttl.core.dates import day_of
from memttl.core.model import Verdict
from memttl.core.report import Group, Heavy, Month, OneDate, Report, ReportOutcome, Share
from memttl.core.wording import day_words, noun_of
from memttl.report.text import NO_TYPE, entity_title

NO_NAME, NO_TIER = '""', "not judged"
SHARE_COLUMNS = ("observations", "expired", "due", "for review", "age unknown", "tokens")
TYPES_SHOWN = 12
_WHY = {"expired": "Expired", "review": "Due for review", "undated": "Undated"}


def many(count: int, noun: str) -> str:
    """Count things with a comma between thousands: `12,000 observations`."""
    return f"{count:,} {noun_of(count, noun)}"


def summary(outcome: ReportOutcome) -> Iterator[str]:
    """Give what the file holds and costs, a sentence each."""
    found, counts, weights = outcome.report, outcome.report.counts, outcome.report.weights
    holds = f"{many(counts.entities, 'entity')}, {many(counts.relations, 'relation')}"
    size = f"{many(weights.bytes, 'byte')}, {many(weights.characters, 'character')}"
    at = day_words(outcome.now, outcome.now.tzinfo or UTC)
    yield f"{outcome.file} as of {at}: {holds} and {many(counts.observations, 'observation')}; {size}."
    freed = f"a prune now would free about {weights.tokens_freed_estimated:,} of them"
    goes = f"{freed} ({many(counts.expired, 'observation')})" if counts.expired else "nothing has expired"
    yield f"Reading the graph costs an assistant about {many(weights.tokens_estimated, 'token')}; {goes}."
    sighted = sighted_words(found)
    seen = f" ({sighted})" if sighted else ""
    due = f"{counts.review_due:,} due for review; " if counts.review_due else ""
    ages = f"{found.known_age:,} of known age{seen}, {counts.unknown_age:,} of unknown age"
    yield f"{ages}; {due}{counts.pinned:,} pinned."
    if counts.malformed_lines:
        lines = many(counts.malformed_lines, "line")
        yield f"{lines} cannot be read by the memory server: a prune needs --keep-malformed."
    yield from (f"A prune now would be refused: {reason}." for reason in found.refusals)


def sighted_words(found: Report) -> str:
    """Say of how many the age is only that of a first sighting, and whose; "" where there is none.

    `73 of them only from old versions of the file`
    """
    own = found.seen_age - found.backfilled_age
    parts = [(found.backfilled_age, "from old versions of the file"), (own, "since memttl first saw them")]
    said = [f"{count:,} {words}" for count, words in parts if count]
    said[:1] = [first.replace(" ", " of them only ", 1) for first in said[:1]]
    return ", ".join(said)


def heading(group: Group, outcome: ReportOutcome) -> str:
    """Give the heading of one group of listed observations."""
    found = outcome.report
    if found.is_grouped:
        name = group.name or {"tier": NO_TIER, "type": NO_TYPE}.get(outcome.query.group_by or "", NO_NAME)
    elif group.name == "due":
        until = found.window.until
        name = f"Due by {day_words(until, outcome.now.tzinfo or UTC)}" if until else "Due some day"
    else:
        name = _WHY[group.name]
    expired = sum(item.verdict.expired for item in group.listed) if found.is_grouped else 0
    of_these = f" ({expired:,} expired)" if expired else ""
    return f"{name}: {many(len(group.listed), 'observation')}{of_these}, about {many(group.tokens, 'token')}"


def nothing_listed(outcome: ReportOutcome) -> str:
    """Say that nothing is listed, and what would list more."""
    query = outcome.query
    if not outcome.report.counts.observations:
        return "It holds no observations."
    what = "has expired" if query.expired_only else "has expired, is due or due for review"
    if query.undated:
        what += ", and nothing is undated"
    narrowed = any((query.entities, query.types, query.tiers, query.sources))
    among = " among what the filters name" if narrowed else ""
    return f"Nothing {what}{among}.{_more(outcome)}"


def _more(outcome: ReportOutcome) -> str:
    """Name what would list more: an option that helps here, and where ages come from while they are unknown."""
    query, found = outcome.query, outcome.report
    if query.expired_only:
        return " Without --expired-only more is listed." if found.months else ""
    wider = ["--within 1y"] if found.months and not (query.expire_before or query.within) else []
    undated = ["--undated"] if found.counts.unknown_age and not query.undated else []
    more = " or ".join([*wider, *undated])
    ages = " Ages: `memttl scan` begins them, `memttl backfill` finds earlier ones." if undated else ""
    return (f" To see more: {more}." if more else "") + ages


def title(entity: str, entity_type: str | None) -> str:
    """Name an entity with its type; one without a name is shown as such."""
    return entity_title(entity or NO_NAME, entity_type)


def expiry_day(verdict: Verdict, now: datetime) -> str:
    """Give the day on which an observation expires, in the report's zone; a dash where there is none."""
    return day_of(verdict.expires_at, now.tzinfo or UTC).isoformat() if verdict.expires_at else "-"


def tier_table(found: Report) -> list[tuple[str, ...]]:
    """Give the heading and the rows of what each tier holds; the last is what the graph costs besides."""
    frame = found.weights.tokens_estimated - sum(share.tokens for share in found.tiers)
    table = [("tier", *SHARE_COLUMNS), *_share_rows(found.tiers, unnamed=NO_TIER)]
    return _without_idle([*table, ("names, relations", *[""] * (len(SHARE_COLUMNS) - 1), f"{frame:,}")], found)


def type_table(found: Report, *, shown: int | None = None) -> list[tuple[str, ...]]:
    """Give the heading and the rows of what each entity type holds; past `shown` of them, the rest added up in one."""
    rows = _share_rows(found.types, unnamed=NO_TYPE, shown=shown)
    return _without_idle([("entity type", *SHARE_COLUMNS), *rows], found)


def _without_idle(table: list[tuple[str, ...]], found: Report) -> list[tuple[str, ...]]:
    """Leave out the column of what is due for review where nothing is: most policies let it expire instead."""
    if found.counts.review_due:
        return table
    place = 1 + SHARE_COLUMNS.index("for review")
    return [row[:place] + row[place + 1 :] for row in table]


def _share_rows(shares: Sequence[Share], *, unnamed: str, shown: int | None = None) -> Iterator[tuple[str, ...]]:
    few = shares if shown is None or len(shares) <= shown + 1 else shares[:shown]
    for share in few:
        yield share.name or unnamed, *_numbers(share)
    rest = shares[len(few) :]
    if rest:
        sums = (sum(column) for column in zip(*(share[1:] for share in rest), strict=True))
        yield f"{len(rest)} more", *_numbers(Share("", *sums))


def _numbers(share: Share) -> tuple[str, ...]:
    numbers = (share.observations, share.expired, share.due, share.review_due, share.unknown_age, share.tokens)
    return tuple(f"{n:,}" for n in numbers)


def month_row(month: Month) -> tuple[str, str, str]:
    """Give the cells of one month: its name, how many observations, and of which tiers."""
    return month.month, f"{month.observations:,}", ", ".join(f"{tier} {n:,}" for tier, n in month.tiers.items())


def heavy_rows(heaviest: Sequence[Heavy]) -> Iterator[tuple[str, ...]]:
    """Give a row of cells for each of the heaviest entities: name, type, observations, expired, tokens."""
    for heavy in heaviest:
        yield (
            heavy.entity or NO_NAME,
            heavy.entity_type or NO_TYPE,
            f"{heavy.observations:,}",
            f"{heavy.expired:,}",
            f"{heavy.tokens:,}",
        )


def one_date_heading(found: Report) -> str:
    """Give the heading above entities of which one date is known."""
    count = found.one_dated_count
    return f"{many(count, 'entity')} with one date and undated siblings ([age] inherit = true would give them the date)"


def one_date_line(one: OneDate, now: datetime) -> str:
    """Say of one entity what is dated in it."""
    zone = now.tzinfo or UTC
    return f"{title(one.entity, one.entity_type)}: {day_words(one.date, zone)}, {one.undated:,} undated"
