"""A run's diagnostics into the file that MEMTTL_LOG names: what it was called with, what it did when, how it ended.

`cli.py` begins and ends one where the variable is set; `trace.note` feeds it meanwhile. No text of a memory file gets
in: no observation, no entity's name, and of the command line only what cannot hold one.
"""

from __future__ import annotations

import os
import platform
import time
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memttl import __version__, trace
from memttl.commands.call_words import HIDDEN, open_words
from memttl.commands.log_place import VARIABLE, refuse_around, refuse_place
from memttl.commands.printing import say
from memttl.core.progress import Progress
from memttl.errors import MemttlError, NoMemoryFile, UnknownEntity, UsageError
from memttl.files.log_file import LogFile, open_log
from memttl.report.text import visible
from memttl.settings import Given, Settings, absolute

_current: list[Diagnostics] = []


class Diagnostics:
    """The log of one run. Its lines wait until it is certain that the file is none that the run is about."""

    def __init__(self, path: str, *, is_quiet: bool) -> None:
        self.path, self._is_quiet = path, is_quiet
        self._waiting: list[str] = []
        self._file: LogFile | None = None
        self._is_over = False
        self._begun = time.monotonic()

    def note(self, text: str) -> None:
        """Add an entry; one of several lines becomes as many."""
        if self._is_over:
            return
        head = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ} {os.getpid()} "
        lines = [f"{head}{visible(line)}\n" for line in text.split("\n")]
        self._waiting += lines
        if self._file is not None:
            self._flush()

    def drop(self) -> None:
        """Log nothing: the file is one that the run is about."""
        self._is_over = True

    def open(self) -> None:
        """Open the file and write what waits; where that fails, say so in one line and go on without."""
        if self._file is not None or self._is_over:
            return
        try:
            self._file = open_log(self.path)
        except MemttlError as e:
            self.give_up(e.message)
            return
        self._flush()

    def give_up(self, why: str) -> None:
        """Log no more, and say why in one line."""
        self._is_over = True
        if not self._is_quiet:
            say(f"warning: {visible(why)}")

    def end(self, code: int) -> None:
        """Write how the run ended, and close the file."""
        self.open()  # a run that is about no memory file has waited until now
        self.note(f"exit code {code} after {time.monotonic() - self._begun:.3f} s")
        self._is_over = True
        if self._file is not None:
            self._file.close()

    def _flush(self) -> None:
        assert self._file is not None
        lines, self._waiting = self._waiting, []
        try:
            for line in lines:
                self._file.write(line)
        except OSError as e:
            self.give_up(f"{VARIABLE}: {self.path} cannot be written ({e.strerror}); the log of this run ends there.")


def begin(environ: Mapping[str, str], arguments: Sequence[str], known: Collection[str]) -> Diagnostics:
    """Begin the log of a run; `known` is as `open_words` has it.

    Raises:
        UsageError: MEMTTL_LOG names what memttl reads or keeps.
    """
    named, is_quiet = environ[VARIABLE], bool({"-q", "--quiet"} & set(arguments))
    try:
        path = absolute(named)
    except NoMemoryFile:
        log = Diagnostics(named, is_quiet=is_quiet)
        log.give_up(f"{VARIABLE}: {named} is relative, and this folder exists no longer; this run is not logged.")
        return log
    refuse_place(path, environ, arguments)
    log = Diagnostics(path, is_quiet=is_quiet)
    log.note(f"memttl {__version__}, Python {platform.python_version()}, {platform.platform()}")
    log.note(f"arguments: {' '.join(open_words(arguments, known))}")
    _current[:] = [log]
    trace.listen(log.note)
    return log


def clear(names: Sequence[str], given: Given, environ: Mapping[str, str]) -> None:
    """Open the log of this run, if it has one, now that its memory files are known.

    Raises:
        UsageError: MEMTTL_LOG names what memttl reads or keeps of one of them.
    """
    source = "--file" if given.file else next((v for v in ("MEMTTL_FILE", "MEMORY_FILE_PATH") if environ.get(v)), "")
    trace.note(f"{len(names)} memory file{'s' * (len(names) != 1)}, named by {source or 'what was discovered'}")
    for log in _current:
        for name in names:
            try:
                refuse_around(log.path, name, given, environ)
            except UsageError:
                log.drop()
                raise
        log.open()


def note_error(error: BaseException) -> None:
    """Note an error: of one of ours the name, code, message and hint as far as they hold no text of a memory file."""
    if isinstance(error, MemttlError):
        trace.note(f"error {error.name} ({int(error.exit_code)}): {_message(error)}")
        if error.hint and not isinstance(error, UsageError):
            trace.note(f"hint: {_before(error.hint, chr(39) + chr(34))}")
        return
    what = f"{error.errno} {error.strerror}: {error.filename}" if isinstance(error, OSError) else "message not logged"
    trace.note(f"{type(error).__name__}: {what}")
    trace.note("".join(traceback.format_tb(error.__traceback__)).rstrip())


def note_settings(settings: Settings) -> None:
    """Note which file, policy, state and instant a run goes by."""
    state = settings.state_elsewhere or settings.memory.parent / ".memttl"
    trace.note(f"{settings.named}: file {settings.memory}, policy {settings.policy.where}, state {state}")
    trace.note(f"{settings.named}: as of {settings.now.isoformat()}, archive {settings.archive or 'none'}")


def noting_phases(progress: Progress) -> Progress:
    """Give the same progress, which also notes when each phase of the work begins, and how long the last one took."""
    phase, since = "", time.monotonic()

    def tell(what: str, done: int, total: int | None) -> None:
        nonlocal phase, since
        if what != phase:
            trace.note(f"{what}" + (f" ({phase} took {time.monotonic() - since:.3f} s)" if phase else ""))
            phase, since = what, time.monotonic()
        progress(what, done, total)

    return tell


def note_result(name: str, code: int, document: Mapping[str, Any]) -> None:
    """Note what a run came to for one memory file: its numbers and warnings, no text."""
    trace.note(f"{name}: code {code}{''.join(_facts(document))}")
    for warning in document.get("warnings", ()):
        trace.note(f"{name}: warning: {_warning_head(str(warning))}")


def _facts(document: Mapping[str, Any]) -> Iterator[str]:
    """Give what a document tells in numbers, and the names of a run and its backup."""
    counts = {**(document.get("counts") or {}), **(document.get("summary") or {})}
    for key, value in document.items():
        if (isinstance(value, (bool, int)) and key != "schema") or (key in ("run", "backup") and value):
            yield f", {key} {value}"
        elif isinstance(value, list) and key not in counts:  # those are told, or mean another number
            yield f", {key} {len(value)}"
        elif isinstance(value, dict) and key in ("counts", "summary"):
            yield from _facts(value)


def _warning_head(warning: str) -> str:
    """Give a warning up to where it may begin to name entities and quote texts."""
    return _before(warning.partition(": ")[0], "'\"")


def _message(error: MemttlError) -> str:
    if isinstance(error, UnknownEntity):
        return "not logged, since it names entities"
    if isinstance(error, UsageError):  # it may say back what was typed
        return _before(error.message, "'\"(:") + HIDDEN
    return _before(error.message, "'\"")


def _before(text: str, stops: str) -> str:
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)].rstrip() + HIDDEN if places else text
