"""The facts of `--version --verbose` as lines to be pasted into a bug report. Called by `commands/about.py`."""

from __future__ import annotations

from collections.abc import Sequence

from memttl.report.text import visible


def render(facts: Sequence[tuple[str, str]]) -> str:
    """Give one line a fact, titles in one column."""
    width = max(len(title) for title, _ in facts)
    return "".join(f"{visible(title):<{width}}  {visible(value)}\n" for title, value in facts)
