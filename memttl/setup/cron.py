"""A schedule as lines of a crontab, and a crontab with such lines put in, replaced or taken out.

`workflow/schedule.py` installs or prints them; crontab(5) says how a line is read.
"""

from __future__ import annotations

import shlex

from memttl.core.schedule import MARK, Job, Times, times_of
from memttl.errors import CannotCreate

_ABOUT = """\
# cron mails what is printed, which is errors alone, to the owner of this crontab, or to the address that a line
# MAILTO=... above names. It does not make up for a run at which the machine was off: a systemd timer does, or anacron.
"""


def block(job: Job) -> str:
    """Give the lines: comments, and the one with the time and the command.

    Raises:
        UsageError: cron cannot do it so often exactly.
    """
    user = f" {job.user}" if job.user else ""
    when = _when(times_of("cron", job.wish.cadence), job.spread)
    variables = [f"{name}={shlex.quote(value)}" for name, value in job.environment]
    # cron takes % for the end of the line, unless a backslash stands before it
    command = " ".join([*variables, *map(shlex.quote, job.words)]).replace("%", "\\%")
    return f"{_begin(job.name)}\n# {job.title}\n{_ABOUT}{when}{user} {command}\n{_end(job.name)}\n"


def _begin(name: str) -> str:
    return f"# {name}: {MARK}; `memttl schedule cron --remove` takes it away."


def _end(name: str) -> str:
    return f"# {name}: end"


def _when(times: Times, spread: int) -> str:
    """Give the five columns of a time; `spread` says at which minute, and on which day of a week or month."""
    minute = spread % 60
    if times.unit == "minute":
        return f"{_from(spread % times.n, 59, times.n)} * * * *"
    if times.unit == "hour":
        return f"{minute} {_from(spread % times.n, 23, times.n)} * * *"
    day = f"{1 + spread % 28}" if times.unit == "month" else "*"
    month = _from(1, 12, times.n) if times.unit == "month" else "*"
    weekday = f"{spread % 7}" if times.unit == "week" else "*"
    return f"{minute} 3 {day} {month} {weekday}"


def _from(first: int, last: int, step: int) -> str:
    return "*" if step == 1 else f"{first}-{last}/{step}" if first + step <= last else f"{first}"


def find_block(crontab: str, name: str) -> str | None:
    """Give the lines of one schedule in a crontab, None where it holds none.

    Raises:
        CannotCreate: where they begin or end is no longer to be seen.
    """
    place = _place(crontab.split("\n"), name)
    return None if place is None else "".join(line + "\n" for line in crontab.split("\n")[place])


def with_block(crontab: str, name: str, lines: str) -> str:
    """Give a crontab with the lines of one schedule put in, in place of those of before; "" takes them out.

    Raises:
        CannotCreate: as `find_block`.
    """
    rows = crontab.split("\n")
    place = _place(rows, name)
    if place is not None:
        rows[place] = lines.split("\n")[:-1]
        return "\n".join(rows)
    gap = "\n" if crontab and not crontab.endswith("\n") else ""
    return crontab + gap + lines


def _place(rows: list[str], name: str) -> slice | None:
    first = [i for i, row in enumerate(rows) if row.startswith(f"# {name}: {MARK}")]
    last = [i for i, row in enumerate(rows) if row == _end(name)]
    if not first and not last:
        return None
    if len(first) != 1 or len(last) != 1 or last < first:
        raise CannotCreate(
            f"The crontab does not hold exactly one begin and one end of {name}; nothing was done.",
            hint="Put that in order with `crontab -e`: remove all lines that name it.",
        )
    return slice(first[0], last[0] + 1)
