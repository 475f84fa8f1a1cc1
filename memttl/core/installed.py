"""A schedule that lies on this machine, as it was read back: what it runs, and which commands take it away or renew it.

`setup/installed.py` reads them; `schedule`, `move` and `doctor` tell of them. Pure.
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple, cast

from memttl.core.schedule import DEFAULTS, UNITS, Command, Every, Kind, Unit

_EVERY = re.compile(rf", every (?:(\d{{1,6}}) )?({'|'.join(UNITS)})s?$")


class Installed(NamedTuple):
    """One schedule. `path` is its file, or "your crontab"; `words` the whole command; `every` None: not to be read.

    `lacks` names the part of its program that is gone, "" for none; `is_enabled` is False for a timer of systemd that
    nothing starts.
    """

    kind: Kind
    command: Command
    system: bool
    name: str
    path: str
    words: tuple[str, ...]
    every: Every | None = None
    lacks: str = ""
    is_enabled: bool = True

    @property
    def file(self) -> str:
        """The memory file that it names, "" for none."""
        return self._option("--file")

    @property
    def policy(self) -> str:
        """The policy that it names, "" for none."""
        return self._option("--policy")

    def _option(self, name: str) -> str:
        return next((value for word, value in zip(self.words, self.words[1:], strict=False) if word == name), "")

    def remove_command(self, file: str) -> str:
        """Give the command that takes it away."""
        return shlex.join([*self._begin("--remove"), "--file", file])

    def install_command(self, file: str, *, policy: str | None = None) -> str:
        """Give the command that makes one like it for `file`; `policy` None is its own."""
        policy = self.policy if policy is None else policy
        often = ["--every", spelled(self.every)] if self.every not in (None, DEFAULTS[self.command]) else []
        named = ["--policy", policy] if policy else []
        return shlex.join([*self._begin("--install"), *often, *named, "--file", file])

    def _begin(self, act: str) -> list[str]:
        return ["memttl", "schedule", self.kind, self.command, act, *(["--system"] if self.system else [])]


def spelled(every: Every | None) -> str:
    """Write how often as `--every` reads it."""
    if every is None:
        return ""
    number, unit = every.parts
    return f"{number}{UNITS[unit][0]}"


def every_of(title: str) -> Every | None:
    """Read how often out of the title of a job; None where it does not say it."""
    found = _EVERY.search(title)
    if found is None:
        return None
    number, unit = int(found[1] or 1), cast(Unit, found[2])
    return Every(months=number) if unit == "month" else Every(number * UNITS[unit][1])


def command_of(words: tuple[str, ...]) -> Command | None:
    """Give what a command line runs, None where it is none of a schedule."""
    if "-m" not in words or words[words.index("-m") + 1 : words.index("-m") + 2] != ("memttl",):
        return None
    rest = words[words.index("-m") + 2 :]
    return "prune" if rest[:1] == ("prune",) else "scan" if rest[:1] == ("scan",) else None
