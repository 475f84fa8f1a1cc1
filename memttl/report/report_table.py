"""A report for a terminal: sentences, the chart of expiries, and tables that fit its width; texts are shortened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memttl.core.model import Verdict
from memttl.core.report import Group, Report, ReportOutcome
from memttl.report import report_words as words
from memttl.report.report_chart import chart
from memttl.report.terminal import GAP, Emitter, Screen, console_into, grid, shortened
from memttl.report.text import age_of, observation_text, visible

_EXPIRY, _WIDE = len("2026-06-01"), 110  # columns; from `_WIDE` on the reason stands beside the text
_NAME = 14  # columns for a name at least; else fewer numbers are shown
_LEAST = 40  # columns; a narrower screen wraps


def render(outcomes: Sequence[ReportOutcome], screen: Screen) -> str:
    """Give the report of each memory file for a screen."""
    pieces: list[str] = []
    show(outcomes, screen, pieces.append)
    return "".join(pieces)


def show(outcomes: Sequence[ReportOutcome], screen: Screen, emit: Callable[[str], object]) -> None:
    """Hand on the report of each memory file piece by piece: thousands of rows take seconds to lay out."""
    screen = screen._replace(width=max(_LEAST, screen.width))
    console = console_into(Emitter(emit), screen)
    for place, outcome in enumerate(outcomes):
        if place:
            console.print()
        _print(outcome, console, screen)


def _print(outcome: ReportOutcome, console: Console, screen: Screen) -> None:
    found = outcome.report
    for sentence in words.summary(outcome):
        console.print(Text(visible(sentence)))
    if found.months:
        _head("What expires when", console)
        for line in chart(found.months, screen):
            console.print(line, no_wrap=True, overflow="ellipsis")
    if found.tiers:
        _head("", console)
        console.print(_shares("tier", words.share_rows(found.tiers, unnamed=words.NO_TIER), screen))
        _head("", console)
        rows = words.share_rows(found.types, unnamed=words.NO_TYPE, shown=words.TYPES_SHOWN)
        console.print(_shares("entity type", rows, screen))
    if not found.groups:
        _head("", console)
        console.print(Text(words.nothing_listed(outcome)))
    for group in found.groups:
        _head(visible(words.heading(group, outcome)), console)
        _listed(group, outcome, console, screen)
    _entities(outcome, console, screen)


def _head(text: str, console: Console) -> None:
    console.print()
    if text:
        console.print(Text(text, style="bold"))


def _shares(first: str, rows: Iterable[tuple[str, ...]], screen: Screen) -> Table:
    """Give the numbers of each tier or type, as many columns of them as the screen has room for."""
    return _numbers((first, *words.SHARE_COLUMNS), list(rows), screen)


def _numbers(head: Sequence[str], rows: Sequence[Sequence[str]], screen: Screen) -> Table:
    """Give a table of a name and numbers; a heading of several words takes as many lines."""
    first, *columns = list(zip(head, *rows, strict=True))
    widths = [max(len(cell) for cell in (*name.split(), *cells)) for name, *cells in columns]
    while len(columns) > 3 and _room(widths, screen) < _NAME:  # the one before the last, which is what it costs
        del columns[-2], widths[-2]
    names = [shortened(visible(cell), max(8, _room(widths, screen))) for cell in first]
    table = grid((max(name.cell_len for name in names), *widths), right=range(1, len(head)))
    table.add_row(*(Text(cell, style="bold") for cell in (head[0], *(column[0] for column in columns))))
    for name, *cells in list(zip(names, *columns, strict=True))[1:]:
        table.add_row(name, *cells)
    return table


def _room(widths: Sequence[int], screen: Screen) -> int:
    """Columns that are left for the name beside these."""
    return screen.width - sum(width + GAP for width in widths) - GAP


def _listed(group: Group, outcome: ReportOutcome, console: Console, screen: Screen) -> None:
    verdicts = [item.verdict for item in group.listed]
    widths = _widths(verdicts, outcome, screen)
    console.print(_row(widths, [Text(word, style="bold") for word in ("Expires", "Tier", "Age", "Text", "Why")]))
    for (entity, entity_type), same in groupby(verdicts, key=lambda v: (v.entity, v.entity_type)):
        console.print(Text(f"{visible(entity)} ({visible(entity_type or words.NO_TYPE)})", style="bold"))
        table = grid(widths, right=(2,))
        for verdict in same:
            table.add_row(*_cells(verdict, widths, outcome))
        console.print(table)


def _row(widths: Sequence[int], cells: Sequence[Text]) -> Table:
    table = grid(widths, right=(2,))
    table.add_row(*cells[: len(widths)])
    return table


def _cells(verdict: Verdict, widths: Sequence[int], outcome: ReportOutcome) -> list[Text]:
    expiry = Text(words.expiry_day(verdict, outcome.now), style="red" if verdict.expired else "")
    age = Text(age_of(verdict, outcome.now))
    tier = shortened(visible(str(verdict.tier)), widths[1], style="cyan")
    reason, text = visible(verdict.reason), observation_text(verdict.observation)
    if len(widths) == 5:
        lines = -(-len(reason) // widths[4])
        return [expiry, tier, age, shortened(text, widths[3] * lines - (lines - 1) * 8), Text(reason, style="dim")]
    below = Text.assemble(shortened(text, 2 * widths[3] - 8), "\n", (reason, "dim"))
    return [expiry, tier, age, below]


def _widths(verdicts: Sequence[Verdict], outcome: ReportOutcome, screen: Screen) -> tuple[int, ...]:
    """Columns for expiry, tier and age as they need, the rest for the text, and for the reason on a wide screen."""
    tier = min(14, max(4, *(len(str(v.tier)) for v in verdicts)))
    age = max(3, *(len(age_of(v, outcome.now)) for v in verdicts))
    rest = screen.width - _EXPIRY - tier - age - 4 * GAP
    if screen.width < _WIDE:
        return _EXPIRY, tier, age, max(8, rest)
    why = min((rest - GAP) * 2 // 5, max(len(v.reason) for v in verdicts))
    return _EXPIRY, tier, age, rest - GAP - why, why


def _entities(outcome: ReportOutcome, console: Console, screen: Screen) -> None:
    found: Report = outcome.report
    if found.heaviest:
        _head("Heaviest entities", console)
        rows = [(f"{name} ({kind})", *numbers) for name, kind, *numbers in words.heavy_rows(found.heaviest)]
        console.print(_numbers(("entity", "observations", "expired", "tokens"), rows, screen))
    if found.one_dated:
        _head(words.one_date_heading(found), console)
        for one in found.one_dated:
            console.print(Text(visible(words.one_date_line(one, outcome.now))))
        if found.one_dated_count > len(found.one_dated):
            console.print(f"and {found.one_dated_count - len(found.one_dated):,} more")
