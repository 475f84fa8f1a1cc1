"""What the renderings for a terminal share: a console that writes anywhere, texts cut to a width, rows of columns.

rich is imported here and in the modules that import this one: only where a person looks at a screen.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import NamedTuple, TextIO, cast

from rich.console import Console
from rich.table import Table

from memttl.report.fitting import cut, wrap
from memttl.report.text import visible

GAP = 2


class Screen(NamedTuple):
    """How a person looks at a result: columns, colour, and the encoding of what is printed."""

    width: int
    color: bool
    encoding: str = "utf-8"

    def shown(self, text: str) -> str:
        """Give a text of the memory file in one line, as it will be printed: what is measured is what is shown."""
        return self.encoded(visible(text))

    def encoded(self, text: str) -> str:
        """Give a text with a question mark for each character that the encoding lacks."""
        try:
            return text.encode(self.encoding, "replace").decode(self.encoding, "replace")
        except LookupError:
            return text.encode("ascii", "replace").decode()

    def fitted(self, text: str, width: int, *, lines: int = 1) -> str:
        """Give a text (as `shown`) in at most so many lines of `width` columns; it says where it was cut."""
        found = wrap(text, width)
        if len(found) > lines:
            found = [*found[: lines - 1], cut(f"{found[lines - 1]} {found[lines]}", width)]
        fitted = "\n".join(found)
        return fitted if self.has("…") else fitted.replace("…", ">")

    def has(self, text: str) -> bool:
        """Say whether the encoding has all these characters."""
        return self.encoded(text) == text


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


def grid(widths: Sequence[int | None], *, right: Sequence[int] = ()) -> Table:
    """Give a table of columns of these widths (None: what is left); those at the places `right` align to the right."""
    table = Table.grid(padding=(0, GAP, 0, 0))
    for place, width in enumerate(widths):
        table.add_column(width=width, justify="right" if place in right else "left", overflow="fold")
    return table
