"""A report as CSV (RFC 4180): one row for each listed observation, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

from memttl.core.report import ReportOutcome
from memttl.report.report_json import ROW_KEYS, rows
from memttl.report.text import legible

# programs that part cells at a semicolon (Excel in many countries) do so within quotes too, but for what begins the
# line: a formula must not begin behind one either
_BEHIND_A_SEPARATOR = re.compile(r"(?<=;)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
# what a spreadsheet takes for the start of a formula, wide forms included; some pass over white space before it
_FORMULA = ("=", "+", "-", "@", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def render(outcomes: Sequence[ReportOutcome]) -> str:
    """Give a header and a row for each listed observation of all files; nothing but the header where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(ROW_KEYS)
    for outcome in outcomes:
        writer.writerows([_cell(row[key]) for key in ROW_KEYS] for row in rows(outcome))
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Give a value as a cell: a text that could be a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = _BEHIND_A_SEPARATOR.sub("'", legible(value).replace("\t", "\\t"))
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text
