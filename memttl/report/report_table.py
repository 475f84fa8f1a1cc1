"""A report for a terminal: sentences, the chart of expiries, and tables that fit its width; texts are shortened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memttl.core.model import Verdict
from memttl.core.report import Group, Report, ReportOutcome
from memttl.report import report_words as words
from memttl.report.fitting import columns_of
from memttl.report.report_chart import chart
from memttl.report.terminal import GAP, Emitter, Screen, console_into, grid
from memttl.report.text import age_of, observation_text

_EXPIRY, _WIDE = len("2026-06-01"), 110  # columns; from `_WIDE` on the reason stands beside the text
_NAME, _LONGEST = 14, 60  # columns for a name: at least, else fewer numbers are shown; at most
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
        console.print(Text(screen.shown(sentence)))
    if found.months:
        _head("What expires when", console)
        for line in chart(found.months, screen):
            console.print(line)
    for table in (words.tier_table(found), words.type_table(found, shown=words.TYPES_SHOWN)) if found.tiers else ():
        console.print()
        console.print(_numbers(table, screen))
    if not found.groups:
        console.print()
        console.print(Text(words.nothing_listed(outcome)))
    for group in found.groups:
        _head(screen.shown(words.heading(group, outcome)), console)
        _listed(group, outcome, console, screen)
    _entities(outcome, console, screen)


def _head(text: str, console: Console) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _numbers(rows: Sequence[Sequence[str]], screen: Screen) -> Table:
    """Give a table of names and numbers below a heading; where that is too wide, its words stand below each other."""
    first, *columns = (list(column) for column in zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    longest = min(_LONGEST, max(map(columns_of, first)))
    if _room(widths, screen) < longest:
        widths = [max(len(cell) for cell in (*head.split(), *cells)) for head, *cells in columns]
    while len(columns) > 3 and _room(widths, screen) < min(longest, _NAME):
        del columns[-2], widths[-2]  # all but the last, which is what it costs
    room = max(8, min(longest, _room(widths, screen)))
    names = [screen.fitted(screen.shown(cell), room) for cell in first]
    table = grid((max(map(columns_of, names)), *widths), right=range(1, len(columns) + 1))
    for place, (name, *cells) in enumerate(zip(names, *columns, strict=True)):
        table.add_row(*(Text(cell, style="" if place else "bold") for cell in (name, *cells)))
    return table


def _room(widths: Sequence[int], screen: Screen) -> int:
    """Columns that are left for the name beside these."""
    return screen.width - sum(width + GAP for width in widths) - GAP


def _listed(group: Group, outcome: ReportOutcome, console: Console, screen: Screen) -> None:
    verdicts = [item.verdict for item in group.listed]
    widths = _widths(verdicts, outcome, screen)
    head = grid(widths, right=(2,))
    head.add_row(*(Text(word, style="bold") for word in ("Expires", "Tier", "Age", "Text", "Why")[: len(widths)]))
    console.print(head)
    for (entity, entity_type), same in groupby(verdicts, key=lambda v: (v.entity, v.entity_type)):
        console.print(Text(screen.shown(words.title(entity, entity_type)), style="bold"))
        table = grid(widths, right=(2,))
        for verdict in same:
            table.add_row(*_cells(verdict, widths, outcome, screen))
        console.print(table)


def _cells(verdict: Verdict, widths: Sequence[int], outcome: ReportOutcome, screen: Screen) -> list[Text]:
    """Give the cells of one row: a text of two lines at most, and its reason below or beside it."""
    expiry = Text(words.expiry_day(verdict, outcome.now), style="red" if verdict.expired else "")
    age = Text(age_of(verdict, outcome.now))
    tier = Text(screen.fitted(screen.shown(str(verdict.tier)), widths[1]), style="cyan")
    text = screen.fitted(screen.encoded(observation_text(verdict.observation)), widths[3], lines=2)
    reason = Text(screen.shown(verdict.reason), style="dim")
    if len(widths) == 5:
        return [expiry, tier, age, Text(text), reason]
    return [expiry, tier, age, Text.assemble(text, "\n", reason)]


def _widths(verdicts: Sequence[Verdict], outcome: ReportOutcome, screen: Screen) -> tuple[int, ...]:
    """Columns for expiry, tier and age as they need, the rest for the text, and for the reason on a wide screen."""
    tier = min(14, max(4, *(columns_of(screen.shown(str(v.tier))) for v in verdicts)))
    age = max(3, *(len(age_of(v, outcome.now)) for v in verdicts))
    rest = screen.width - _EXPIRY - tier - age - 4 * GAP
    if screen.width < _WIDE:
        return _EXPIRY, tier, age, max(8, rest)
    why = min((rest - GAP) * 2 // 5, max(20, *(columns_of(screen.shown(v.reason)) for v in verdicts)))
    return _EXPIRY, tier, age, rest - GAP - why, why


def _entities(outcome: ReportOutcome, console: Console, screen: Screen) -> None:
    found: Report = outcome.report
    if found.heaviest:
        _head("Heaviest entities", console)
        rows = [(f"{name} ({kind})", *numbers) for name, kind, *numbers in words.heavy_rows(found.heaviest)]
        console.print(_numbers([("entity", "observations", "expired", "tokens"), *rows], screen))
    if found.one_dated:
        _head(words.one_date_heading(found), console)
        for one in found.one_dated:
            console.print(Text(screen.shown(words.one_date_line(one, outcome.now))))
        if found.one_dated_count > len(found.one_dated):
            console.print(f"and {found.one_dated_count - len(found.one_dated):,} more")
