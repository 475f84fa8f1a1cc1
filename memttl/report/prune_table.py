"""A prune's outcome as a table for a terminal: grouped by entity, text shortened to the width."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import groupby

from rich.table import Table
from rich.text import Text

from memttl.core.model import Verdict
from memttl.core.outcome import PruneOutcome
from memttl.report.prune_closing import closing
from memttl.report.prune_plain import whole_lines
from memttl.report.terminal import GAP, Screen, console_into, grid
from memttl.report.text import age_of, entity_title, observation_text, visible


def render(outcome: PruneOutcome, *, width: int, color: bool, with_plan: bool = True) -> str:
    """Give the outcome as a table `width` columns wide, then the totals; the totals alone without `with_plan`."""
    out = io.StringIO()
    console = console_into(out, Screen(width, color))
    if with_plan and outcome.plan.removals:
        widths = _widths(outcome, width)
        console.print(_row(widths, *(Text(word, style="bold") for word in ("Tier", "Age", "Why", "Text"))))
        by_entity = groupby(outcome.plan.removals, key=lambda v: (v.entity, v.entity_type))
        for (entity, entity_type), verdicts in by_entity:
            console.print(Text(entity_title(entity, entity_type), style="bold"))
            for verdict in verdicts:
                console.print(_verdict_row(verdict, outcome, widths))
        for line in whole_lines(outcome.plan):
            console.print(Text(line))
        console.print()
    for line in closing(outcome, with_plan=with_plan):
        console.print(Text(line), soft_wrap=True)
    return out.getvalue()


def _verdict_row(verdict: Verdict, outcome: PruneOutcome, widths: Sequence[int]) -> Table:
    lines = -(-len(verdict.reason) // widths[2])
    return _row(
        widths,
        Text(visible(str(verdict.tier)), style="cyan"),
        Text(age_of(verdict, outcome.now)),
        Text(visible(verdict.reason)),
        _shortened(observation_text(verdict.observation), lines, widths[3]),
    )


def _shortened(text: str, lines: int, width: int) -> Text:
    """Cut a text to about as many lines as its reason takes; a word that does not fit costs the end of a line."""
    shown = Text(text, overflow="fold")
    shown.truncate(width if lines == 1 else lines * width - lines * 8, overflow="ellipsis")
    return shown


def _row(widths: Sequence[int], *cells: Text) -> Table:
    """One row as a table of its own, so that an entity's name can run over all columns."""
    table = grid(widths, right=(1,))
    table.add_row(*cells)
    return table


def _widths(outcome: PruneOutcome, width: int) -> tuple[int, int, int, int]:
    """Columns for tier and age as they need, the rest in two parts for the reason and the text."""
    verdicts = outcome.plan.removals
    tier = min(16, max(4, *(len(str(v.tier)) for v in verdicts)))
    age = max(3, *(len(age_of(v, outcome.now)) for v in verdicts))
    rest = max(16, width - tier - age - 4 * GAP)
    why = max(8, min(rest * 2 // 5, max(len(v.reason) for v in verdicts)))
    return tier, age, why, rest - why
