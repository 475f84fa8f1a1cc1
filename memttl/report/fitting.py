"""Text into lines that fit a screen, by the columns that characters take: wide ones two, combining ones none. Pure."""

from __future__ import annotations

import re
import unicodedata

_WORDS = re.compile(r"\s*\S+")


def columns_of(text: str) -> int:
    """Give how many columns a text without control characters takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Shorten a text to one line of `width` columns, with an ellipsis where something is left out."""
    if columns_of(text) <= width:
        return text
    return _head(text, max(1, width) - 1)[0] + "…"


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` columns, at white space where there is some."""
    width = max(2, width)  # a wide character must fit
    lines, line = [], ""
    for word in _WORDS.findall(text):
        if columns_of(line + word) <= width:
            line += word
            continue
        if line:
            lines.append(line)
            word = word.lstrip()
        head, rest = _head(word, width)
        while rest:  # not by counting all of what is left for each line: a text without spaces may be long
            lines.append(head)
            head, rest = _head(rest, width)
        line = head
    return [*lines, line] if line or not lines else lines


def _head(text: str, width: int) -> tuple[str, str]:
    used = 0
    for place, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:place], text[place:]
    return text, ""
