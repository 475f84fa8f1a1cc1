"""What a schedule is: a command on one memory file every so often, run by systemd, cron, launchd or Task Scheduler.

`commands/schedule.py` reads the words of the user into it, `setup/` writes it in each scheduler's own form.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from memttl.core.durations import BadDuration, parse_duration

Kind = Literal["systemd", "cron", "launchd", "windows"]
Command = Literal["prune", "scan"]
Act = Literal["print", "install", "remove"]

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

    def __str__(self) -> str:
        units = [(self.months, "month")] if self.months else []
        if not units:
            size, unit = next((s, u) for s, u in _UNITS if self.minutes % s == 0)
            units = [(self.minutes // size, unit)]
        number, unit = units[0]
        return unit if number == 1 else f"{number} {unit}s"


_UNITS = ((10080, "week"), (1440, "day"), (60, "hour"), (1, "minute"))
DAY, WEEK = 1440, 10080
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
        duration = parse_duration(_WORDS.get(word, word))
        if duration.is_never:
            raise BadDuration("a schedule that never runs is none")
        if duration.months and (duration.days or duration.hours):
            raise BadDuration("months and days do not go together in a schedule")
        found = Every((duration.days * 24 + duration.hours) * 60, duration.months)
    if found == Every():
        raise BadDuration("it must be a minute or more")
    return found
