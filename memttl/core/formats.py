"""Date formats that a policy adds, as strptime writes them: `%d/%m/%Y`, `%B %Y`. Imported where a policy has some."""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime
from typing import NamedTuple

from memttl.core.dates import normalise

# strptime directive -> the text it may match; a format with any other is refused by the policy
_MONTHS = "|".join(m.lower() for m in calendar.month_name if m)
_MONTHS_SHORT = "|".join(m.lower() for m in calendar.month_abbr if m)
_WEEKDAYS = "|".join(d.lower() for d in calendar.day_name)
_WEEKDAYS_SHORT = "|".join(d.lower() for d in calendar.day_abbr)
DIRECTIVES = {
    "d": "[0-9]{1,2}", "m": "[0-9]{1,2}", "Y": "[0-9]{4}", "y": "[0-9]{2}", "B": f"(?:{_MONTHS})",
    "b": f"(?:{_MONTHS_SHORT})", "A": f"(?:{_WEEKDAYS})", "a": f"(?:{_WEEKDAYS_SHORT})", "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}", "M": "[0-9]{2}", "S": "[0-9]{2}", "p": "[ap]m", "j": "[0-9]{1,3}", "z": "(?:z|[+-][0-9:]{4,6})",
    "%": "%",
}  # fmt: skip


class BadFormat(ValueError):
    """A date format that cannot be used; its text says why."""


class DateFormat(NamedTuple):
    """One compiled date format of the policy."""

    strptime: str
    pattern: re.Pattern[str]
    has_day: bool
    has_time: bool

    def read(self, text: str) -> date | datetime | None:
        """Read a text that the pattern matched: a date, a moment where the format has a time, None if impossible."""
        try:
            moment = datetime.strptime(text, self.strptime)
        except ValueError:
            return None
        if self.has_time:
            return moment
        if self.has_day:
            return moment.date()
        # a month without a day means its last day
        return date(moment.year, moment.month, calendar.monthrange(moment.year, moment.month)[1])


def compile_format(text: str) -> DateFormat:
    """Compile a strptime format, such as `%d/%m/%Y` or `%B %Y`.

    Raises:
        BadFormat: a directive is unknown, or the format names no year or no month.
    """
    pattern, used, at = "", set[str](), 0
    while at < len(text):
        if text[at] == "%":
            directive = text[at + 1 : at + 2]
            if directive not in DIRECTIVES:
                raise BadFormat(f'"%{directive}" is not allowed; allowed: {" ".join("%" + d for d in DIRECTIVES)}')
            used.add(directive)
            pattern += DIRECTIVES[directive]
            at += 2
        else:
            pattern += r"\s+" if text[at].isspace() else re.escape(normalise(text[at]))
            at += 1
    if not used & {"Y", "y"} or not used & {"m", "B", "b", "j"}:
        raise BadFormat("a date format must name a year (%Y or %y) and a month (%m, %B, %b or %j)")
    return DateFormat(text, re.compile(pattern + r"(?![0-9])"), bool(used & {"d", "j"}), bool(used & {"H", "I"}))
