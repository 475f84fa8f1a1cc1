"""A prune's outcome as a table for a terminal: grouped by entity, text shortened to the width."""

from __future__ import annotations

import io
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from memttl.core.outcome import PruneOutcome
from memttl.report.prune_plain import closing
from memttl.report.text import age_words, observation_text, visible


def render(outcome: PruneOutcome, *, width: int, color: bool) -> str:
    """Give the outcome as a table `width` columns wide, then the totals."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=color, no_color=not color, color_system="standard" if color else None,
        highlight=False, emoji=False, markup=False, legacy_windows=False,
    )  # fmt: skip
    if outcome.plan.removals:
        console.print(_table(outcome, width))
    for line in closing(outcome):
        console.print(Text(line))
    return out.getvalue()


def _table(outcome: PruneOutcome, width: int) -> Table:
    table = Table(box=None, pad_edge=False, expand=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column("Tier", style="cyan", no_wrap=True)
    table.add_column("Age", justify="right", no_wrap=True)
    table.add_column("Why", max_width=max(20, width // 3))
    table.add_column("Text", ratio=1, no_wrap=True, overflow="ellipsis")
    for (entity, entity_type), verdicts in groupby(outcome.plan.removals, key=lambda v: (v.entity, v.entity_type)):
        title = Text(f"{visible(entity)} ({visible(entity_type or 'no type')})", style="bold", overflow="ellipsis")
        table.add_row("", "", "", "")
        table.add_row(Text(""), Text(""), Text(""), title)
        for verdict in verdicts:
            age = age_words(verdict.created_at, outcome.now)
            text = Text(observation_text(verdict.observation))
            table.add_row(Text(str(verdict.tier)), Text(age), Text(verdict.reason), text)
    return table
