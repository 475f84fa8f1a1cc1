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
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memttl import __version__, trace
from memttl.commands.printing import say
from memttl.core.progress import Progress
from memttl.errors import MemttlError, UnknownEntity, UsageError
from memttl.files.log_file import LogFile, is_log, open_log
from memttl.files.output_file import check_target
from memttl.report.text import visible
from memttl.settings import Given, Settings, surroundings

VARIABLE = "MEMTTL_LOG"
_HIDDEN = "…"
# options whose value is a path, an instant or a word of memttl's own; the value of any other may be somebody's text
_PLACES = ("--file", "-f", "--policy", "--output", "-o", "--from")
_TIMES = ("--now", "--within", "--expire-before", "--since", "--until", "--date", "--for", "--expires", "--created")
_WORDS = ("--format", "--expired", "--sort", "--group-by", "--source", "--top", "--write-path", "--run", "--every")
_OPEN_OPTIONS = frozenset((*_PLACES, *_TIMES, *_WORDS))
_REFUSED = "Let MEMTTL_LOG name a file of its own."
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

    @property
    def is_open(self) -> bool:
        """True once lines go to the file."""
        return self._file is not None

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
            self._is_over = True
            if not self._is_quiet:
                say(f"warning: {visible(e.message)}")
            return
        self._flush()

    def end(self, code: int) -> None:
        """Write how the run ended, and close the file."""
        self.open()  # a run that is about no memory file has waited until now
        self.note(f"exit code {code} after {time.monotonic() - self._begun:.3f} s")
        self._is_over = True
        if self._file is not None:
            self._file.close()

    def _flush(self) -> None:
        assert self._file is not None
        for line in self._waiting:
            self._file.write(line)
        self._waiting.clear()


def begin(environ: Mapping[str, str], arguments: Sequence[str], known: Collection[str]) -> Diagnostics:
    """Begin the log of a run; `known` is as `open_words` has it.

    Raises:
        UsageError: MEMTTL_LOG names what memttl reads or keeps.
    """
    path = os.path.abspath(os.path.expanduser(environ[VARIABLE]))
    _refuse(path, *_meant(environ, arguments))
    log = Diagnostics(path, is_quiet=bool({"-q", "--quiet"} & set(arguments)))
    log.note(f"memttl {__version__}, Python {platform.python_version()}, {platform.platform()}")
    log.note(f"arguments: {' '.join(open_words(arguments, known))}")
    if is_log(path):
        log.open()
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
        for name in names if not log.is_open else ():
            files, folders = surroundings(name, given, environ)
            try:
                _refuse(log.path, [str(file) for file in files], [str(folder) for folder in folders])
            except UsageError:
                log.drop()
                raise
        log.open()


def _refuse(path: str, files: Collection[str], folders: Collection[str]) -> None:
    if os.path.isdir(path):
        return  # cannot be written, which is no more than a warning
    try:
        check_target(path, [_path(name) for name in files], [_path(name) for name in folders])
    except UsageError as e:
        e.message, e.hint = f"{VARIABLE}: {e.message}", _REFUSED
        raise


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


def open_words(arguments: Sequence[str], known: Collection[str]) -> list[str]:
    """Give the words of a command line, with an ellipsis for each that may hold somebody's text.

    `known` are the commands (`log verify` is one) and options of memttl: what merely looks like an option may be a
    secret.
    """
    found: list[str] = []
    is_open = False  # whether the word that comes is the value of an option, and may be shown
    for word in arguments:
        option, equals, value = word.partition("=")
        if is_open and not word.startswith("-"):
            found.append(word)
            is_open = False
        elif word.startswith("--"):
            name = option if option in known else f"--{_HIDDEN}"
            found.append(f"{name}={value if option in _OPEN_OPTIONS else _HIDDEN}" if equals else name)
            is_open = not equals and option in _OPEN_OPTIONS
        elif word[:2] in _OPEN_OPTIONS or (word in known and word.startswith("-")):
            found.append(word)
            is_open = word in _OPEN_OPTIONS
        else:
            found.append(word if " ".join([*found, word]) in known else _HIDDEN)
    return found


def _message(error: MemttlError) -> str:
    if isinstance(error, UnknownEntity):
        return "not logged, since it names entities"
    if isinstance(error, UsageError):  # it may say back what was typed
        return _before(error.message, "'\"(:") + _HIDDEN
    return _before(error.message, "'\"")


def _before(text: str, stops: str) -> str:
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)].rstrip() + _HIDDEN if places else text


def _meant(environ: Mapping[str, str], arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Give every path that the run may be about, by the words of its call, and the folders of memttl's own."""
    names = [environ.get(name, "") for name in ("MEMTTL_FILE", "MEMORY_FILE_PATH", "MEMTTL_POLICY")]
    for word in arguments:
        names += [word, word.partition("=")[2], word[2:]]
    return [name for name in names if name], [f for f in (environ.get("MEMTTL_STATE_DIR"),) if f]


def _path(name: str) -> Path:
    with suppress(OSError, ValueError, RuntimeError):
        return Path(os.path.abspath(os.path.expanduser(name)))
    return Path(os.devnull)
