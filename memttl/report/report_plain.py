"""A report as plain lines with whole texts: what a pipe, a cron mail or a file gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from memttl.core.report import Group, Report, ReportOutcome
from memttl.report import report_words as words
from memttl.report.fitting import columns_of, cut
from memttl.report.text import age_of, observation_text, visible

_LONGEST_NAME = 60  # columns; names stand whole above what is listed


def render(outcomes: Sequence[ReportOutcome]) -> str:
    """Give the report of each memory file as lines."""
    return "\n".join("\n".join(_lines(outcome)).rstrip("\n") + "\n" for outcome in outcomes)


def _lines(outcome: ReportOutcome) -> Iterator[str]:
    found = outcome.report
    yield from map(visible, words.summary(outcome))
    if found.tiers:
        yield ""
        yield from _columns(words.tier_table(found))
        yield ""
        yield from _columns(words.type_table(found, shown=words.TYPES_SHOWN))
    yield ""
    if not found.groups:
        yield words.nothing_listed(outcome)
        yield ""
    for group in found.groups:
        yield from _group(group, outcome)
    yield from _months(found)
    yield from _entities(outcome)


def _columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Align cells by the columns that a terminal gives them: the first to the left, and cut; numbers to the right."""
    table = [(cut(visible(name), _LONGEST_NAME), *numbers) for name, *numbers in rows]
    first, *widths = (max(map(columns_of, column)) for column in zip(*table, strict=True))
    for name, *numbers in table:
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths, strict=True)]
        yield "  ".join([name + " " * (first - columns_of(name)), *cells])


def _group(group: Group, outcome: ReportOutcome) -> Iterator[str]:
    yield visible(words.heading(group, outcome))
    by_entity = groupby(group.listed, key=lambda item: (item.verdict.entity, item.verdict.entity_type))
    for (entity, entity_type), listed in by_entity:
        yield f"  {visible(words.title(entity, entity_type))}"
        for verdict in (item.verdict for item in listed):
            verb = "expired" if verdict.expired else "expires"
            expiry = f"{verb} {words.expiry_day(verdict, outcome.now)}" if verdict.expires_at else "expires by nothing"
            head = f"{verdict.tier}, age {age_of(verdict, outcome.now)}, {expiry}: {verdict.reason}"
            yield f"    - {visible(head)}"
            yield f"      {observation_text(verdict.observation)}"
    yield ""


def _months(found: Report) -> Iterator[str]:
    if not found.months:
        return
    yield "What expires when:"
    rows = [words.month_row(month) for month in found.months]
    width = max(len(count) for _, count, _ in rows)
    yield from (f"  {name:<7}  {count.rjust(width)}  {visible(tiers)}".rstrip() for name, count, tiers in rows)
    yield ""


def _entities(outcome: ReportOutcome) -> Iterator[str]:
    found = outcome.report
    if found.heaviest:
        yield "Heaviest entities:"
        head = ("entity", "type", "observations", "expired", "tokens")
        rows = [
            (f"{visible(name)} ({visible(kind)})", *numbers)
            for name, kind, *numbers in words.heavy_rows(found.heaviest)
        ]
        yield from (f"  {line}" for line in _columns([(head[0], *head[2:]), *rows]))
        yield ""
    if found.one_dated:
        yield words.one_date_heading(found) + ":"
        yield from (f"  {visible(words.one_date_line(one, outcome.now))}" for one in found.one_dated)
        rest = found.one_dated_count - len(found.one_dated)
        if rest:
            yield f"  and {rest:,} more"
