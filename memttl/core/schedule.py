"""What a schedule is: a command on one memory file every so often, run by systemd, cron, launchd or Task Scheduler.

`commands/schedule.py` reads the words of the user into it, `setup/` writes it in each scheduler's own form.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from memttl.core.durations import BadDuration, parse_duration
from memttl.core.near import near
from memttl.errors import UsageError

Kind = Literal["systemd", "cron", "launchd", "windows"]
Command = Literal["prune", "scan"]
Act = Literal["print", "install", "remove"]
Unit = Literal["minute", "hour", "day", "week", "month"]

MARK = "Written by memttl schedule"  # what lacks it is never written over and never removed
KINDS: dict[Kind, str] = {
    "systemd": "systemd",
    "cron": "cron",
    "launchd": "launchd",
    "windows": "Task Scheduler",
}
_WORDS = {"hourly": "1h", "daily": "1d", "weekly": "1w", "monthly": "1mo"}
_MINUTES = re.compile(r"([0-9]{1,6})\s*(?:min|mins|minute|minutes)")


class Every(NamedTuple):
    """How often: so many minutes (a day has 1,440), or so many calendar months."""

    minutes: int = 0
    months: int = 0

    @property
    def parts(self) -> tuple[int, Unit]:
        """The same as a number of the largest unit that it can be counted in."""
        if self.months:
            return self.months, "month"
        return next((self.minutes // size, unit) for unit, (_, size) in UNITS.items() if self.minutes % size == 0)

    def __str__(self) -> str:
        number, unit = self.parts
        return unit if number == 1 else f"{number} {unit}s"


DAY, WEEK = 1440, 10080
# unit -> (as `--every` reads it, its minutes); every number of minutes is found above the months, which have none
UNITS: dict[Unit, tuple[str, int]] = {
    "week": ("w", WEEK),
    "day": ("d", DAY),
    "hour": ("h", 60),
    "minute": ("min", 1),
    "month": ("mo", 0),
}
DEFAULTS: dict[Command, Every] = {"prune": Every(DAY), "scan": Every(15)}


class Wish(NamedTuple):
    """What is to be run by what, and how often; `system`: for the whole machine, as the file's owner.

    `every` None is the command's own default. `policy` is the path of a policy that the user named, made absolute;
    None where it is found as always.
    """

    kind: Kind
    command: Command = "prune"
    every: Every | None = None
    system: bool = False
    policy: str | None = None

    @property
    def cadence(self) -> Every:
        """How often, also where the user did not say."""
        return self.every or DEFAULTS[self.command]


class Job(NamedTuple):
    """One command on one memory file, with all that a scheduler has to be told.

    `name` is the unit's, and tells files of one name apart; `file` the absolute path as the user named it; `words` the
    whole command; `folders` those that it writes in. `user` and `group` are the memory file's, where it runs for the
    whole machine. `spread` is a number of this file alone, by which runs of several files come at different minutes.
    `sandbox`: file systems and users may be hidden from it; `hides_users`: other users too; `hides_tmp`: /tmp too.
    """

    name: str
    file: str
    wish: Wish
    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    user: str | None
    group: str | None
    spread: int
    sandbox: bool
    hides_users: bool
    hides_tmp: bool

    @property
    def title(self) -> str:
        """What it does, for people."""
        return f"memttl {self.wish.command} of {self.file}, every {self.wish.cadence}"


class Times(NamedTuple):
    """How often, in the one unit that a scheduler counts in: every `n` units."""

    unit: Unit
    n: int


def times_of(kind: Kind, every: Every) -> Times:
    """Say exactly how often in a scheduler's own units.

    Raises:
        UsageError: it cannot do that exactly; what it can.
    """
    found = _calendar(every)
    if found is None and kind in ("launchd", "windows") and 0 < every.minutes < DAY:
        found = Times("minute", every.minutes)
    days, rest = divmod(every.minutes, DAY)
    if found is None and kind == "windows" and days and not rest and days <= 365:
        found = Times("day", days)
    if found is None:
        raise UsageError(
            f"{KINDS[kind]} cannot run something every {every} exactly; nothing was done.",
            hint=f"It can do --every {_CAN[kind]}.",
        )
    return found


_MONTHS = "1mo, 2mo, 3mo, 4mo, 6mo or 1y"
_EVEN = f"1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30min, 1h, 2h, 3h, 4h, 6h, 8h or 12h, daily, weekly, {_MONTHS}"
_CAN: dict[Kind, str] = {
    "systemd": _EVEN,
    "cron": _EVEN,
    "launchd": f"any number of minutes or hours below a day, daily, weekly, {_MONTHS}",
    "windows": f"any number of minutes or hours below a day, any number of days up to a year, {_MONTHS}",
}


def _calendar(every: Every) -> Times | None:
    """Give the times that come round evenly: every hour, day, week or year is like the one before."""
    if every.months:
        return Times("month", every.months) if 12 % every.months == 0 else None
    if every.minutes in (DAY, WEEK):
        return Times("day" if every.minutes == DAY else "week", 1)
    hours, rest = divmod(every.minutes, 60)
    if not rest and hours < 24 and 24 % hours == 0:
        return Times("hour", hours)
    return Times("minute", every.minutes) if every.minutes < 60 and 60 % every.minutes == 0 else None


def parse_every(text: str) -> Every:
    """Read how often: `15min`, `1h`, `daily`, `weekly`, `monthly`, or a duration of the policy's kind.

    Raises:
        BadDuration: what is wrong with it, and what is allowed.
    """
    word = text.strip().lower()
    minutes = _MINUTES.fullmatch(word)
    if minutes:
        found = Every(int(minutes[1]))
    elif re.fullmatch(r"[0-9]+", word):
        raise BadDuration("a number needs its unit: 15min, 6h, 1d")
    elif re.fullmatch(r"[0-9]+\s*m", word):
        raise BadDuration("does m mean minutes or months? Write 15min or 1mo")
    else:
        try:
            duration = parse_duration(_WORDS.get(word, word))
        except BadDuration:  # what a policy allows is not all for a schedule, `never` above all
            raise BadDuration(f"it is no time between two runs{near(word, [*_WORDS])}") from None
        if duration.is_never:
            raise BadDuration("a schedule that never runs is none")
        if duration.months and (duration.days or duration.hours):
            raise BadDuration("months and days do not go together in a schedule")
        found = Every((duration.days * 24 + duration.hours) * 60, duration.months)
    if found == Every():
        raise BadDuration("it must be a minute or more")
    return found
