"""The outcomes of runs that nobody watched into rows of failures, one a command, that last to this day. Pure.

`core/checkup_log.py` makes findings of them for the doctor, `commands/telling.py` a line at a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_FINE = (0, 3)  # done, and a check that found work
_SLIGHT = (2, 75, 130)  # a call that was off, a busy moment, Ctrl-C: by itself none of them is news
_MANY = 3
MENDED = "mended"  # stands for a command where a repair, a restore or an undo was applied after failures
_LONGEST = 120
_NAME = 30


class Failures(NamedTuple):
    """The last runs of one command without a terminal, all of which failed: how many, since when, and the last one.

    `same` counts those that ended with the `code` of the last one; `since` and `last` are instants as they were kept.
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
        when = f"since {self.since}" if self.runs > 1 else f"at {self.last}"
        why = f": {self.message}" if self.message else ""
        return f"{which} of {self.command} ended {self.code}{of_all}, {when}{why}".rstrip(".: ")

    @property
    def in_short(self) -> str:
        """Say it in one line with no more than the beginning of a long message."""
        is_long = len(self.message) > _LONGEST
        return self._replace(message=f"{self.message[:_LONGEST]}…").words if is_long else self.words


def failures(outcomes: Sequence[Mapping[str, Any]]) -> Iterator[Failures]:
    """Give the failures of each command whose last run failed; `outcomes` are in the order of their time."""
    by_command: dict[str, list[Mapping[str, Any]]] = {}
    since_mended: set[str] = set()
    for outcome in outcomes:
        if outcome.get("command") == MENDED:
            since_mended.clear()
            continue
        since_mended.add(str(outcome.get("command"))[:_NAME])
        code = outcome.get("code")
        if isinstance(code, int) and 0 <= code < 256:  # anything may stand in a file that somebody planted
            by_command.setdefault(str(outcome.get("command"))[:_NAME], []).append(outcome)
    for command, runs in by_command.items():
        failed: list[Mapping[str, Any]] = []
        for outcome in reversed(runs):
            if outcome["code"] in _FINE:
                break
            failed.append(outcome)
        if failed:
            yield _row(command, failed)._replace(is_mended=command not in since_mended)


def _row(command: str, failed: Sequence[Mapping[str, Any]]) -> Failures:
    """Make one row of what failed, the newest first."""
    last = failed[0]
    codes = [int(outcome["code"]) for outcome in failed]
    return Failures(
        command=command,
        runs=len(failed),
        same=codes.count(codes[0]),
        code=codes[0],
        since=str(failed[-1].get("time"))[:_NAME],
        last=str(last.get("time"))[:_NAME],
        message=str(last.get("message") or ""),
        is_slight=len(failed) < _MANY and set(codes) <= set(_SLIGHT),
    )
