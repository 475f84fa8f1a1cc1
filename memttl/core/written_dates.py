"""Dates that stand in an observation's text, in any of the forms that people write, and the label before each.

`habits.py` counts them, so that `memttl init` can say which of them a policy could read. Nothing is judged by this:
births are read by `dates.py` at strict places only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_SHORT = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_OTHERS = (  # Spanish, Portuguese, French, German, Italian: months that are no word of English
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janeiro|fevereiro|março|"
    "maio|junho|julho|setembro|outubro|novembro|dezembro|janvier|février|mars|avril|mai|juin|juillet|août|septembre|"
    "octobre|novembre|décembre|Januar|Februar|März|Juni|Juli|Oktober|Dezember|gennaio|febbraio|aprile|maggio|giugno|"
    "luglio|settembre|ottobre|dicembre"
)
_DAY, _YEAR = "[0-9]{1,2}", "[0-9]{4}"


class Form(NamedTuple):
    """One way to write a date: a name for people, what matches it, and the policy's `formats` entry that reads it.

    `format` is None where memttl reads it anyway (ISO 8601), and "" where no format can read it.
    """

    name: str
    pattern: str
    format: str | None
    is_ambiguous: bool = False


# the first that matches at a place wins
FORMS = (
    Form("2026-01-05", rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}(?:[Tt ][0-9]{{2}}:[0-9]{{2}}[0-9:.Zz+-]*)?", None),
    Form("2026/01/05", rf"{_YEAR}/{_DAY}/{_DAY}", "%Y/%m/%d"),
    Form("5/1/2026", rf"{_DAY}/{_DAY}/{_YEAR}", "%d/%m/%Y", is_ambiguous=True),
    Form("5/1/26", rf"{_DAY}/{_DAY}/[0-9]{{2}}", "%d/%m/%y", is_ambiguous=True),
    Form("05.01.2026", rf"{_DAY}\.{_DAY}\.{_YEAR}", "%d.%m.%Y", is_ambiguous=True),
    Form("January 5, 2026", rf"(?:{_MONTHS})\s+{_DAY},\s*{_YEAR}", "%B %d, %Y"),
    Form("Jan 5, 2026", rf"(?:{_SHORT})\s+{_DAY},\s*{_YEAR}", "%b %d, %Y"),
    Form("5 January 2026", rf"{_DAY}\s+(?:{_MONTHS})\s+{_YEAR}", "%d %B %Y"),
    Form("5 Jan 2026", rf"{_DAY}\s+(?:{_SHORT})\s+{_YEAR}", "%d %b %Y"),
    # a month that people write is an event more often than a day of writing
    Form("January 2026", rf"(?:{_MONTHS}|{_SHORT})\s+{_YEAR}", ""),
    Form("5 de enero de 2026", rf"(?:{_DAY}\.?\s+)?(?:de\s+)?(?:{_OTHERS})\s+(?:de\s+)?{_YEAR}", ""),
)
_ANY = re.compile(
    rf"(?<![\w/.-])(?:{'|'.join(f'(?P<f{i}>{form.pattern})' for i, form in enumerate(FORMS))})(?![\w/-]|\.\w)",
    re.IGNORECASE,
)
# up to five words before a colon: "Knowledge captured: 2026-01-05"
_LABEL = re.compile(
    r"(?:^|(?<=[.;,(\[|\n]))[\s*_+•-]*([^\W\d_][\w'’/-]*(?:[ \u00a0][\w'’/-]+){0,4})\**[ \u00a0]*[:：]\**\s*$"
)
_LONGEST_LABEL = 80
_LONGEST_TEXT = 20_000  # what lies behind is hardly a sentence that somebody wrote


class Written(NamedTuple):
    """One date in a text: its form, its characters, and the label that stands before it, "" for none."""

    form: Form
    text: str
    label: str
    begins_text: bool


def dates_in(text: str) -> Iterator[Written]:
    """Yield the dates of one text, in order; none that is part of a path, a URL or a version."""
    for found in _ANY.finditer(text[:_LONGEST_TEXT]):
        form = FORMS[int(str(found.lastgroup)[1:])]
        before = text[max(0, found.start() - _LONGEST_LABEL) : found.start()]
        label = _LABEL.search(before)
        begins = label is not None and found.start() <= _LONGEST_LABEL and not before[: label.start(1)].strip(" *_+•-")
        yield Written(form, found[0], label[1].strip() if label else "", begins)
