"""Date formats that a policy adds, as strptime writes them: `%d/%m/%Y`, `%B %Y`. Imported where a policy has some."""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime
from typing import NamedTuple

from memttl.core.normal import normalise

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
# a directive, a run of white space (as one \s+: two side by side would make matching quadratic), a run of the rest
_PIECE = re.compile(r"%.?|\s+|[^%\s]+", re.DOTALL)


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
            # %z reads a capital Z only
            moment = datetime.strptime(text.upper() if "%z" in self.strptime else text, self.strptime)
        except ValueError:
            return None
        if "%j" in self.strptime and "366" in text and moment.timetuple().tm_yday == 1:
            return None  # strptime takes day 366 of a common year for the next year's first
        if self.has_time:
            return moment
        if self.has_day:
            return moment.date()
        # a month without a day means its last day
        return date(moment.year, moment.month, calendar.monthrange(moment.year, moment.month)[1])


def compile_format(text: str) -> DateFormat:
    """Compile a strptime format, such as `%d/%m/%Y` or `%B %Y`.

    Raises:
        BadFormat: a directive is unknown or stands twice, or the format names no year or no month.
    """
    pattern, strptime, used = "", "", set[str]()
    for piece in _PIECE.findall(text):
        if piece[0] == "%":
            _note_directive(piece[1:], used)
            pattern, strptime = pattern + DIRECTIVES[piece[1:]], strptime + piece
        elif piece.isspace():
            pattern, strptime = pattern + r"\s+", strptime + " "
        else:
            literal = normalise(piece)  # as the text is that it is compared with
            pattern, strptime = pattern + re.escape(literal), strptime + literal
    if not used & {"Y", "y"} or not used & {"m", "B", "b", "j"}:
        raise BadFormat("a date format must name a year (%Y or %y) and a month (%m, %B, %b or %j)")
    return DateFormat(strptime, re.compile(pattern + r"(?![0-9])"), bool(used & {"d", "j"}), bool(used & {"H", "I"}))


def _note_directive(directive: str, used: set[str]) -> None:
    if directive not in DIRECTIVES:
        raise BadFormat(f'"%{directive}" is not allowed; allowed: {" ".join("%" + d for d in DIRECTIVES)}')
    if directive in used and directive != "%":  # strptime raises at it, but only once it meets a date
        raise BadFormat(f'"%{directive}" stands twice')
    used.add(directive)
