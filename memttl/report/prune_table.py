"""A prune's outcome as a table for a terminal: grouped by entity and by why, texts shortened to the width."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from memttl.core.model import Verdict
from memttl.core.outcome import PruneOutcome
from memttl.report.fitting import columns_of
from memttl.report.prune_closing import closing
from memttl.report.prune_plain import whole_lines
from memttl.report.terminal import GAP, Screen, console_into, grid
from memttl.report.text import age_of, entity_title, observation_text, visible

_INDENT, _WHY, _LINES = 2, 24, 2  # columns before a row; columns for what is its own of a reason; lines of a text


def render(outcome: PruneOutcome, *, width: int, color: bool, with_plan: bool = True) -> str:
    """Give the outcome as a table `width` columns wide, then the totals; the totals alone without `with_plan`."""
    out = io.StringIO()
    screen = Screen(width, color)
    console = console_into(out, screen)
    if with_plan and outcome.plan.removals:
        widths = _widths(outcome, width)
        console.print(_row(widths, *(Text(word, style="bold") for word in ("Age", "Why", "Text"))))
        by_entity = groupby(outcome.plan.removals, key=lambda v: (v.entity, v.entity_type))
        for (entity, entity_type), verdicts in by_entity:
            for row in _rows(entity_title(entity, entity_type), list(verdicts), outcome, screen, widths):
                console.print(row)
        for line in whole_lines(outcome.plan):
            console.print(Text(line))
        console.print()
    for line in closing(outcome, with_plan=with_plan):
        console.print(Text(line), soft_wrap=True)
    return out.getvalue()


def _rows(
    title: str, verdicts: Sequence[Verdict], outcome: PruneOutcome, screen: Screen, widths: Sequence[int]
) -> Iterator[Text | Table]:
    """Give an entity's name, and what several of its observations go by above them, once."""
    groups = [(shared, list(same)) for shared, same in groupby(verdicts, key=_shared)]
    first = groups[0][0]
    one_line = len(groups) == 1 and columns_of(title) + GAP + columns_of(first) <= screen.width
    yield Text.assemble((title, "bold"), (" " * GAP + first if one_line else "", "cyan"))
    for shared, same in groups:
        if not one_line:
            yield Text(" " * _INDENT + shared, style="cyan")
        for verdict in same:
            text = screen.fitted(observation_text(verdict.observation), widths[2], lines=_LINES)
            yield _row(widths, Text(age_of(verdict, outcome.now)), Text(_own(verdict)), Text(text))


def _shared(verdict: Verdict) -> str:
    """Give the part of a reason that other observations of an entity have as well: what its tier or its end is."""
    tier, shared = visible(str(verdict.tier)), _parts(verdict)[0]
    return shared if tier in shared else f"{tier}: {shared}"


def _own(verdict: Verdict) -> str:
    """Give the part of a reason that is about this observation, mostly its day."""
    return _parts(verdict)[1]


def _parts(verdict: Verdict) -> tuple[str, str]:
    shared, _, own = visible(verdict.reason).partition("; ")
    return shared, own


def _row(widths: Sequence[int], *cells: Text) -> Table:
    """One row as a table of its own, so that an entity's name can run over all columns."""
    table = grid((_INDENT - GAP, *widths), right=(1,))
    table.add_row(Text(), *cells)
    return table


def _widths(outcome: PruneOutcome, width: int) -> tuple[int, int, int]:
    """Columns for age and why as they need, the rest for the text."""
    verdicts = outcome.plan.removals
    age = max(3, *(len(age_of(v, outcome.now)) for v in verdicts))
    why = max(3, min(_WHY, max(columns_of(_own(v)) for v in verdicts)))
    return age, why, max(8, width - _INDENT - age - why - 3 * GAP)
