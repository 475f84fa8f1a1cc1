"""A schedule as lines of a crontab, and a crontab with such lines put in, replaced or taken out.

`workflow/schedule.py` installs or prints them; crontab(5) says how a line is read.
"""

from __future__ import annotations

import re

from memttl.core.schedule import MARK, Job, Times, times_of
from memttl.errors import CannotCreate, UsageError

_MOST_BYTES = 998  # Debian's cron refuses a command of 999 (entry.c, MAX_COMMAND); other crons take no fewer

_ABOUT = """\
# cron mails what is printed, which is errors alone, to the owner of this crontab, or to the address that a line
# MAILTO=... above names. It does not make up for a run at which the machine was off: a systemd timer does, or anacron.
"""


def block(job: Job) -> str:
    """Give the lines: comments, and the one with the time and the command.

    Raises:
        UsageError: cron cannot do it so often exactly, or takes no command so long.
    """
    user = f" {job.user}" if job.user else ""
    when = _when(times_of("cron", job.wish.cadence), job.spread)
    variables = [f"{name}={_quoted(value)}" for name, value in job.environment]
    command = " ".join([*variables, *map(_quoted, job.words)])
    _refuse_length(command)
    return f"{_begin(job.name)}\n# {job.title}\n{_ABOUT}{when}{user} {command}\n{end_of(job.name)}\n"


def _refuse_length(command: str) -> None:
    size = len(command.encode())
    if size > _MOST_BYTES:
        raise UsageError(
            f"The command is {size} bytes long, and cron takes no more than {_MOST_BYTES}; nothing was done.",
            hint="Move the memory file to a shorter path, or use `memttl schedule systemd`.",
        )


_QUOTED = {"'": "'\"'\"'", "%": "'\\%'", "\\": "\\''"}


def _quoted(word: str) -> str:
    """Write one word so that the shell gets it as it is, whatever this cron makes of a backslash.

    All make `%` of `\\%`, some (Debian's) also one backslash of two: so no backslash stands before another, nor before
    a `%` that it is not meant for. Where a cron undoes nothing (busybox), the shell makes `%` of `\\%` outside quotes.
    """
    if re.fullmatch(r"[\w@+=:,./-]+", word, re.ASCII):
        return word
    return f"'{''.join(_QUOTED.get(char, char) for char in word)}'"


def _begin(name: str) -> str:
    return f"# {name}: {MARK}; `memttl schedule cron --remove` takes it away."


def end_of(name: str) -> str:
    """Give the line that ends the schedule of that name in a crontab."""
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
    """Give the lines of one schedule in a crontab, None where it holds none; what others wrote among them is left out.

    Raises:
        CannotCreate: where they begin or end is no longer to be seen.
    """
    rows = crontab.split("\n")
    place = _place(rows, name)
    return None if place is None else "".join(line + "\n" for line in _sorted(rows[place], name)[1])


def with_block(crontab: str, name: str, lines: str) -> str:
    """Give a crontab with the lines of one schedule put in, in place of those of before; "" takes them out.

    What others wrote among those stays, above or below as it stood to the command: to cron all is as it was.

    Raises:
        CannotCreate: as `find_block`.
    """
    rows = crontab.split("\n")
    place = _place(rows, name)
    if place is not None:
        above, _, below = _sorted(rows[place], name)
        rows[place] = [*above, *lines.split("\n")[:-1], *below]
        return "\n".join(rows)
    gap = "\n" if crontab and not crontab.endswith("\n") else ""
    return crontab + gap + lines


def _sorted(rows: list[str], name: str) -> tuple[list[str], list[str], list[str]]:
    """Part the rows from a begin to its end: others' above the command, ours, others' below."""
    command = name.split("-")[1]
    # the command is ours although its time or its words were edited
    forms = [*map(re.escape, _ABOUT.splitlines()), rf"# memttl {command} of .*"]
    forms.append(rf"[^#].* {command} (?:--yes )?--quiet --file .*")
    above: list[str] = []
    ours = [rows[0]]
    below: list[str] = []
    for row in rows[1:-1]:
        form = next((f for f in forms if re.fullmatch(f, row)), "")
        if form:
            forms.remove(form)  # what stands there a second time is somebody's copy
            ours.append(row)
        else:
            (above if all(row[:1] == "#" for row in ours) else below).append(row)
    return above, [*ours, rows[-1]], below


def _place(rows: list[str], name: str) -> slice | None:
    first = [i for i, row in enumerate(rows) if row.startswith(f"# {name}: {MARK}")]
    last = [i for i, row in enumerate(rows) if row == end_of(name)]
    if not first and not last:
        return None
    others = [i for i, row in enumerate(rows) if re.match(rf"# memttl-[a-z0-9-]+: (?:{MARK}|end$)", row)]
    is_whole = len(first) == len(last) == 1 and [*first, *last] == [i for i in others if first[0] <= i <= last[0]]
    if not is_whole:
        raise CannotCreate(
            f"The crontab does not hold exactly one begin and one end of {name}; nothing was done.",
            hint="Put that in order with `crontab -e`: remove all lines that name it.",
        )
    return slice(first[0], last[0] + 1)
