"""What a person sees: the bytes that a terminal got, as the lines that stand on its screen."""

from __future__ import annotations

import re

_PARTS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+")


def lines_on(screen: str) -> list[str]:
    """The lines on a wide screen, without those at its end that are empty. Colours are left out."""
    lines, column = [""], 0
    for part in _PARTS.findall(screen):
        if part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
        elif part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        elif not part.startswith("\x1b"):
            lines[-1] = lines[-1][:column].ljust(column) + part + lines[-1][column + len(part) :]
            column += len(part)
    while lines and not lines[-1]:
        lines.pop()
    return lines
