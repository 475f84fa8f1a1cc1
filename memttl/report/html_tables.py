"""Rows of values into HTML tables: captions, columns of names and of numbers. Pure; called by the `html_` modules.

Each number's cell carries the key of the JSON document and the bare number, so that page and document can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memttl.report.html_text import Attribute, Child, Html, join, name, number, tag

Value = Child | int | None


class Column(NamedTuple):
    """A column: the key of the JSON document, its heading, and what stands where a name is missing."""

    key: str
    label: str
    is_number: bool = False
    without: str = ""


def table(columns: Sequence[Column], rows: Iterable[Sequence[Value]], *, label: str, id_: str) -> Html:
    """Give a table that scrolls in its own box where it is too wide; numbers stand to the right."""
    heads = (tag("th", c.label, scope="col", class_="number" if c.is_number else None) for c in columns)
    body = (tag("tr", *(_cell(column, value) for column, value in zip(columns, row, strict=True))) for row in rows)
    caption = tag("caption", label, class_="quiet")
    whole = tag("table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *body), data_table=id_)
    return scrolling(whole, label=label)


def _cell(column: Column, value: Value) -> Html:
    if isinstance(value, int):
        return tag("td", number(value), class_=number_class(value), data_key=column.key, data_v=value)
    shown = value if isinstance(value, Html) else name(value, without=column.without)
    return tag("td", shown, data_key=column.key)


def number_class(value: int) -> str:
    """Give the class of a number's cell; zeros stand back."""
    return "number" if value else "number zero"


def scrolling(inside: Html, *, label: str, class_: str = "scroll") -> Html:
    """Give a box that scrolls when what is in it is too large; reached by keyboard."""
    return tag("div", inside, class_=class_, tabindex=0, role="region", aria_label=label)


def listing(items: Iterable[Child], **attributes: Attribute) -> Html:
    """Give an unordered list."""
    return tag("ul", join(tag("li", item) for item in items), **attributes)
