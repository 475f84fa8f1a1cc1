"""`memttl serve --log FILE`: standard error of this process into a file, each line with its time and process.

`commands/serve.py` calls it before it says a word. Clients keep what a server says in places that differ, or nowhere.
"""

from __future__ import annotations

import io
import os
import sys
from datetime import UTC, datetime

from memttl import __version__
from memttl.commands.log_place import refuse_around
from memttl.errors import UsageError
from memttl.files.log_file import LogFile, open_log
from memttl.report.text import visible
from memttl.settings import Given, absolute

OPTION = "--log"


def log_to(path: str, name: str, given: Given) -> None:
    """Let all that goes to standard error go to the file at `path` from now on; `name` is the memory file.

    Raises:
        UsageError: it is empty, or what memttl reads or keeps.
        NoPermission, CannotCreate: it cannot be written, or holds something else than a log of memttl.
    """
    if not path:
        raise UsageError(f"{OPTION} was given an empty path; nothing was done.", hint="Name a file.")
    path = absolute(path)
    refuse_around(path, name, given, os.environ, source=OPTION)
    log = open_log(path, source=OPTION, undone="nothing was done")
    os.dup2(log.fileno(), 2)  # what does not go through sys.stderr, such as the last words of an interpreter
    sys.stderr = _Stamped(log)
    log.write(_line(f"memttl {__version__} begins"))


def _line(text: str) -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ} {os.getpid()} {visible(text)}\n"


class _Stamped(io.TextIOBase):
    """A stream of text that is written to a log line by line; what has no line end yet waits for it."""

    def __init__(self, log: LogFile) -> None:
        self._log, self._begun = log, ""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._log.fileno()

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        self._log.write("".join(map(_line, lines)))
        return len(text)
