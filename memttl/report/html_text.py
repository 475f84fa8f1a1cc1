"""Texts and tags into HTML in which nothing from a memory file can be markup. Pure; called by the `html_` modules.

A plain `str` is always escaped; only what `tag` and `join` made is taken as it stands, so that forgetting is no danger.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from memttl.report.text import visible

_KEPT = re.compile("([\n\t]+)")
_MARKUP = re.compile("[&<>\"']")
_VOID = frozenset({"meta", "link", "input", "col"})


class Html(str):
    """Markup that is safe to stand in the page as it is."""

    __slots__ = ()


Child = Html | str
Attribute = str | int | bool | None


def text(value: str) -> Html:
    """Escape a text, with control characters spelled out; its line ends and tabs stay."""
    if value.isprintable() and not _MARKUP.search(value):  # most are: a page may hold ten thousand rows of them
        return Html(value)
    parts = _KEPT.split(value) if "\n" in value or "\t" in value else [value]
    return Html("".join(part if part[:1] in "\n\t" else html.escape(visible(part)) for part in parts if part))


def tag(element: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Give one element; `data_key` is the attribute data-key, `class_` class, True a bare one, None none at all."""
    pairs = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None and value != "")
    return Html(f"<{element}{pairs}>" if element in _VOID else f"<{element}{pairs}>{join(children)}</{element}>")


def _attribute(key: str, value: Attribute) -> str:
    if isinstance(value, bool):
        return f" {key.replace('_', '-')}" if value else ""
    shown = value if isinstance(value, (int, Html)) else text(value or "")
    return f' {key.rstrip("_").replace("_", "-")}="{shown}"'


def join(parts: Iterable[Child]) -> Html:
    """Put parts one behind the other."""
    return Html("".join(part if isinstance(part, Html) else text(part) for part in parts))


def name(value: str | None, *, without: str) -> Html:
    """Give a name from a memory file, kept apart from the text around it whatever way it is written in."""
    return tag("bdi", value) if value else tag("span", without, class_="none")


def number(value: int) -> str:
    """Write a number for people: `12,345`."""
    return f"{value:,}"
