"""What `memttl doctor` says: findings with severity, name, sentence and help, and what they come to as an exit code.

`core/checkup.py` and `files/checkup*.py` make findings, the workflow gathers them, `report/doctor.py` renders them.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from memttl.errors import ExitCode

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_SHOWN = 10


class Finding(NamedTuple):
    """One thing that is not as it should be, or good to know. `name` is a stable word for scripts.

    `server` says what the memory server does with it; `help` names a command that helps, in backticks. `line` counts
    from 1, `column` in characters from 1; `first_bytes` are those of a malformed line, what is no UTF-8 escaped.
    """

    severity: Severity
    name: str
    message: str
    help: str
    server: str = ""
    line: int | None = None
    column: int | None = None
    first_bytes: str | None = None

    @property
    def sentence(self) -> str:
        """The message with what the server does, as one text."""
        return f"{self.message}; {self.server}" if self.server else self.message


class Sizes(NamedTuple):
    """How much the memory file holds, and on which rung of the write path it would be written ("" where unknown)."""

    bytes: int = 0
    lines: int = 0
    entities: int = 0
    relations: int = 0
    observations: int = 0
    malformed_lines: int = 0
    tokens_estimated: int = 0
    rung: str = ""


class DoctorOutcome(NamedTuple):
    """What one checkup found. `unread` is the exit code where the memory file itself could not be read, else None.

    `is_damaged`: the memory server cannot read the file, or would take it for another than it is; `check`: findings
    count in the exit code.
    """

    file: str
    now: datetime
    findings: tuple[Finding, ...]
    sizes: Sizes
    is_damaged: bool = False
    unread: ExitCode | None = None
    check: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """66, 75 or 77 for a file that is missing or cannot be read, 65 for a damaged one, 3 for less with `check`."""
        if self.unread is not None:
            return self.unread
        if self.is_damaged:
            return ExitCode.MALFORMED
        has_work = any(f.severity != "note" for f in self.findings)
        return ExitCode.FOUND_WORK if self.check and has_work else ExitCode.OK

    def of(self, severity: Severity) -> list[Finding]:
        """Give the findings of one severity, in order."""
        return [finding for finding in self.findings if finding.severity == severity]


def in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Put the worst first; what is equally bad stays in the order in which it was looked for."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def not_checked(what: str, why: str) -> Finding:
    """Give the finding that something could not be looked at."""
    help_ = "Mend what it says and run `memttl doctor` again."
    return Finding("warning", "could-not-be-checked", f"{what} could not be checked: {why.rstrip('.')}", help_)


def lines_of(numbers: Sequence[int]) -> str:
    """Name lines: `line 3`, `lines 3, 4 and 7`; past the first few only how many more there are."""
    return ("line " if len(numbers) == 1 else "lines ") + several([str(n) for n in numbers])


def several(words: Sequence[str]) -> str:
    """Join words as people do: `a`, `a, b and c`; past the first few only how many more there are."""
    shown, rest = list(words[:_SHOWN]), len(words) - _SHOWN
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def of_file(command: str, file: str) -> str:
    """Write a command of memttl for one memory file, to be copied into a shell."""
    return f"`memttl {command} --file {shlex.quote(file)}`"
