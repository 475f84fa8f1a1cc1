"""A report as plain lines with whole texts: what a pipe, a cron mail or a file gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len

from memttl.core.report import Group, Report, ReportOutcome
from memttl.report import report_words as words
from memttl.report.text import age_of, observation_text, visible

_LONGEST_NAME = 60  # columns; a longer one pushes its own numbers to the right


def render(outcomes: Sequence[ReportOutcome]) -> str:
    """Give the report of each memory file as lines."""
    return "\n".join("".join(line + "\n" for line in _lines(outcome)) for outcome in outcomes)


def _lines(outcome: ReportOutcome) -> Iterator[str]:
    found = outcome.report
    yield from map(visible, words.summary(outcome))
    if found.tiers:
        yield ""
        yield from _columns([("tier", *words.SHARE_COLUMNS), *words.share_rows(found.tiers, unnamed=words.NO_TIER)])
        yield ""
        rows = words.share_rows(found.types, unnamed=words.NO_TYPE, shown=words.TYPES_SHOWN)
        yield from _columns([("entity type", *words.SHARE_COLUMNS), *rows])
    yield ""
    if not found.groups:
        yield words.nothing_listed(outcome)
    for group in found.groups:
        yield from _group(group, outcome)
    yield from _months(found)
    yield from _entities(outcome)


def _columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Align cells by the columns that a terminal gives them: the first to the left, numbers to the right."""
    table = [tuple(map(visible, row)) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    first = min(widths[0], _LONGEST_NAME)
    for name, *numbers in table:
        cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)]
        yield "  ".join([name + " " * (first - cell_len(name)), *cells])


def _group(group: Group, outcome: ReportOutcome) -> Iterator[str]:
    yield visible(words.heading(group, outcome))
    by_entity = groupby(group.listed, key=lambda item: (item.verdict.entity, item.verdict.entity_type))
    for (entity, entity_type), listed in by_entity:
        yield f"  {visible(entity)} ({visible(entity_type or words.NO_TYPE)})"
        for verdict in (item.verdict for item in listed):
            expiry = f"expires {words.expiry_day(verdict, outcome.now)}" if verdict.expires_at else "expires by nothing"
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
