"""A report as Markdown with tables, for an issue or a wiki; whole texts, none of which is read as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memttl.core.report import Group, ReportOutcome
from memttl.report import report_words as words
from memttl.report.text import age_of, legible

# all that begins markup inside a line, for CommonMark and for GitHub (~~struck~~, $math$, &entities;, @names, :emoji:)
_MARKUP = re.compile(r"([\\`*_\[\]<>|~&$@]|#(?=\d)|:(?=[a-z0-9_+-]+:))")
_OPENING = re.compile(r"^(\d*)([-+.)])")  # "- item", "1. item": the start of a list within an item
LISTED_COLUMNS = ("entity", "type", "tier", "age", "expires", "observation", "reason")


def render(outcomes: Sequence[ReportOutcome]) -> str:
    """Give the report of each memory file as a section."""
    return "\n".join("".join(line + "\n" for line in _lines(outcome)) for outcome in outcomes)


def escaped(text: str) -> str:
    """Give text that Markdown shows as it is, in one line; a line break becomes `<br>`."""
    return _MARKUP.sub(r"\\\1", legible(text)).replace("\n", "<br>")


def _bullet(text: str) -> str:
    """Give an item of a list, whose text begins no list or code of its own."""
    return "- " + _OPENING.sub(r"\1\\\2", escaped(text).lstrip())


def _lines(outcome: ReportOutcome) -> Iterator[str]:
    found = outcome.report
    yield f"# Memory report: {escaped(outcome.file)}"
    yield ""
    yield from (_bullet(line) for line in words.summary(outcome))
    yield ""
    if found.tiers:
        for head, *rows in (words.tier_table(found), words.type_table(found)):
            yield from _table(head, rows)
    if not found.groups:
        yield words.nothing_listed(outcome)
        yield ""
    for group in found.groups:
        yield from _group(group, outcome)
    if found.months:
        yield "## What expires when"
        yield ""
        yield from _table(("month", "observations", "tiers"), map(words.month_row, found.months), numbers=(1,))
    yield from _entities(outcome)


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] | None = None
) -> Iterator[str]:
    """Give a table whose columns `numbers` (all but the first by default) stand to the right."""
    right = set(range(1, len(head)) if numbers is None else numbers)
    yield _row(head)
    yield "|" + "|".join("---:" if place in right else "---" for place in range(len(head))) + "|"
    yield from map(_row, rows)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def _group(group: Group, outcome: ReportOutcome) -> Iterator[str]:
    yield f"## {escaped(words.heading(group, outcome))}"
    yield ""
    rows = (
        (v.entity, v.entity_type or "", v.tier or "", age_of(v, outcome.now), words.expiry_day(v, outcome.now),
         v.observation, v.reason)
        for v in (item.verdict for item in group.listed)
    )  # fmt: skip
    yield from _table(LISTED_COLUMNS, rows, numbers=())


def _entities(outcome: ReportOutcome) -> Iterator[str]:
    found = outcome.report
    if found.heaviest:
        yield "## Heaviest entities"
        yield ""
        head = ("entity", "type", "observations", "expired", "tokens")
        yield from _table(head, words.heavy_rows(found.heaviest), numbers=(2, 3, 4))
    if found.one_dated:
        yield f"## {escaped(words.one_date_heading(found))}"
        yield ""
        yield from (_bullet(words.one_date_line(one, outcome.now)) for one in found.one_dated)
        if found.one_dated_count > len(found.one_dated):
            yield f"- and {found.one_dated_count - len(found.one_dated):,} more"
        yield ""
    if outcome.warnings:
        yield "## Warnings"
        yield ""
        yield from (_bullet(warning) for warning in outcome.warnings)
        yield ""
    if found.damaged:
        yield "## Damaged lines"
        yield ""
        yield from (_bullet(f"line {d.line}, column {d.column}: {d.problem}") for d in found.damaged)
