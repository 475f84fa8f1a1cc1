"""What the renderings for a terminal share: a console that writes anywhere, texts cut to a width, rows of columns.

rich is imported here and in the modules that import this one: only where a person looks at a screen.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import NamedTuple, TextIO, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP = 2


class Screen(NamedTuple):
    """How a person looks at a result: columns, colour, and whether the encoding has only ASCII."""

    width: int
    color: bool
    ascii: bool = False


class Emitter(io.TextIOBase):
    """A stream of text that hands on each piece that is written to it."""

    def __init__(self, emit: Callable[[str], object]) -> None:
        self._emit = emit

    def write(self, text: str) -> int:
        """Hand a piece on."""
        self._emit(text)
        return len(text)


def console_into(out: io.TextIOBase, screen: Screen) -> Console:
    """Give a console that writes for `screen`; nothing in a text is taken for markup or an emoji."""
    return Console(
        file=cast(TextIO, out), width=screen.width, force_terminal=screen.color, no_color=not screen.color,
        color_system="standard" if screen.color else None, highlight=False, emoji=False, markup=False,
        legacy_windows=False,
    )  # fmt: skip


def shortened(text: str, width: int, *, style: str = "", mark: str = "…") -> Text:
    """Cut a text to `width` columns, wide characters counted as two; it says where it was cut."""
    shown = Text(text, style=style, overflow="fold")
    if shown.cell_len > width:
        shown.truncate(max(0, width - len(mark)))
        shown.append(mark)
    return shown


def grid(widths: Sequence[int | None], *, right: Sequence[int] = ()) -> Table:
    """Give a table of columns of these widths (None: what is left); those at the places `right` align to the right."""
    table = Table.grid(padding=(0, GAP, 0, 0))
    for place, width in enumerate(widths):
        table.add_column(width=width, justify="right" if place in right else "left", overflow="fold")
    return table
