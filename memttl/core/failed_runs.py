"""The outcomes of runs that nobody watched into rows of failures, one a command, that last to this day. Pure.

`core/checkup_log.py` makes findings of them for the doctor, `commands/telling.py` a line at a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

COMMANDS = ("prune", "scan")  # whose runs are kept; a row of any other was planted
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_FINE = (0, 3)  # done, and a check that found work
_SLIGHT = (2, 75, 130)  # a call that was off, a busy moment, Ctrl-C: by itself none of them is news
_MANY = 3
MENDED = "mended"  # stands for a command where a repair, a restore or an undo was applied after failures
_LONGEST = 120


class Failures(NamedTuple):
    """The last runs of one command without a terminal, all of which failed: how many, since when, and the last one.

    `same` counts those that ended with the `code` of the last one; `since` and `last` are instants as they were kept,
    "" where they cannot be read.
    """

    command: str
    runs: int
    same: int
    code: int
    since: str
    last: str
    message: str
    is_slight: bool  # nothing but calls that were off, busy moments and Ctrl-C, and few of these
    is_mended: bool = False  # something was mended after the last of them

    @property
    def words(self) -> str:
        """Say it in one line."""
        of_all = "" if self.same == self.runs else f" (of {self.runs} that failed)"
        which = "the last scheduled run" if self.same == 1 else f"the last {self.same} scheduled runs"
        since = f", since {self.since}" if self.since else ""
        when = since if self.runs > 1 else f", at {self.last}" if self.last else ""
        why = f": {self.message}" if self.message else ""
        return f"{which} of {self.command} ended {self.code}{of_all}{when}{why}".rstrip(".: ")

    @property
    def in_short(self) -> str:
        """Say it in one line with no more than the beginning of a long message."""
        is_long = len(self.message) > _LONGEST
        return self._replace(message=f"{self.message[:_LONGEST]}…").words if is_long else self.words


def in_order(files: Sequence[Sequence[Mapping[str, Any]]], now: str) -> list[Mapping[str, Any]]:
    """Put the outcomes of several files into one order: within a file as they stand, whatever the clock has said.

    Between files their times decide; a time that lies after `now`, or is none, counts as that of the row before.
    """
    rows = [pair for file in files for pair in zip(_settled(file, now), file, strict=True)]
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _settled(rows: Sequence[Mapping[str, Any]], now: str) -> list[str]:
    """Give a time for each row of a file; none is after that of a later row."""
    times, latest = [], ""
    for row in rows:
        time = _time(row)
        latest = time if time and time <= now else latest
        times.append(latest)
    for place in range(len(times) - 2, -1, -1):
        times[place] = min(times[place], times[place + 1])
    return times


def last_run(outcomes: Sequence[Mapping[str, Any]], command: str) -> str:
    """Give the time of a command's last run without a terminal, failed or not; "" where none is known."""
    return next((_time(row) for row in reversed(outcomes) if row.get("command") == command and _time(row)), "")


def failures(outcomes: Sequence[Mapping[str, Any]]) -> Iterator[Failures]:
    """Give the failures of each command whose last run failed; `outcomes` are in their order (`in_order`)."""
    for command in COMMANDS:
        failed: list[Mapping[str, Any]] = []
        is_mended = False
        for outcome in reversed(outcomes):
            is_mended |= outcome.get("command") == MENDED and not failed
            if outcome.get("command") != command or not _is_code(outcome.get("code")):
                continue
            if outcome["code"] in _FINE:
                break
            failed.append(outcome)
        if failed:
            yield _row(command, failed)._replace(is_mended=is_mended)


def _is_code(value: object) -> bool:
    """Say whether this is an exit code: anything may stand in a file that somebody planted."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 256


def _time(row: Mapping[str, Any]) -> str:
    time = row.get("time")
    return time if isinstance(time, str) and _TIME.fullmatch(time) else ""


def _row(command: str, failed: Sequence[Mapping[str, Any]]) -> Failures:
    """Make one row of what failed, the newest first."""
    codes = [int(outcome["code"]) for outcome in failed]
    message = failed[0].get("message")
    return Failures(
        command=command,
        runs=len(failed),
        same=codes.count(codes[0]),
        code=codes[0],
        since=_time(failed[-1]),
        last=_time(failed[0]),
        message=message if isinstance(message, str) else "",
        is_slight=len(failed) < _MANY and set(codes) <= set(_SLIGHT),
    )
