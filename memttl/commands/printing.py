"""How commands speak: results on stdout, questions and warnings on stderr, answers from the terminal.

Nothing that happens to these streams is a traceback: a reader that went away (`| head -1`), one that was never there
(`>&-`), characters that an encoding lacks. `cli.py` and every command print through here; it must stay light.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import IO, AnyStr, TypeVar

from memttl.errors import AS_IT_WAS, CannotPrint, Interrupted, UsageError

A = TypeVar("A")
_first: list[Callable[[], None]] = []  # what takes a progress bar off the screen


def settle_streams() -> None:
    """Make the standard streams safe to use: no descriptor missing, no character refused."""
    while True:  # where one of the three is closed, the memory file itself would be opened in its place
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor > 2:
            os.close(descriptor)
            break
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def put(text: str) -> None:
    """Print a result on stdout.

    Raises:
        CannotPrint: it cannot be written (a full disk).
    """
    try:
        _write(sys.stdout, text)
    except OSError as e:
        raise CannotPrint(f"The result cannot be printed ({e.strerror}).") from None


def put_bytes(data: bytes) -> None:
    """Write bytes on stdout exactly as they are; nobody may be looking at them on a screen.

    Raises:
        CannotPrint: they cannot be written (a full disk).
    """
    try:
        _write(sys.stdout.buffer if sys.stdout is not None else None, data)
    except OSError as e:
        raise CannotPrint(f"The result cannot be printed ({e.strerror}).") from None


def say(text: str) -> None:
    """Print a message, question or warning on stderr; where that cannot be written, the work goes on."""
    try:
        _write(sys.stderr, text if text.endswith("\n") else text + "\n")
    except OSError:
        return


def before_printing(act: Callable[[], None] | None) -> None:
    """Let `act` be called before anything is printed, in place of what was; None for nothing."""
    _first[:] = [] if act is None else [act]


def _write(stream: IO[AnyStr] | None, text: AnyStr) -> None:
    for act in _first:
        act()
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError as e:
        # what is left in the buffer goes nowhere, so that no flush at exit complains
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(e, BrokenPipeError):
            raise


def can_ask() -> bool:
    """True when standard input is a terminal, so that somebody can answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(question: str) -> bool:
    """Ask on stderr until the answer is yes or no; no is the default.

    Raises:
        Interrupted: Ctrl-C or the end of input.
    """
    answers = {"": False, "n": False, "no": False, "y": True, "yes": True}
    return choose(f"{question} [y/N]: ", answers, "Answer y or n.", interrupted=f"Interrupted; {AS_IT_WAS}.")


def choose(prompt: str, answers: Mapping[str, A], again: str, *, interrupted: str) -> A:
    """Prompt on stderr until the line, in any case, is one of the answers; else say `again`.

    Raises:
        Interrupted: as `read_line`.
    """
    while True:
        word = read_line(prompt, interrupted).strip().lower()
        if word in answers:
            return answers[word]
        say(again)


def read_secret(prompt: str, interrupted: str) -> str:
    """Take one line of standard input without its line end: at a terminal after a prompt and without echo.

    Raises:
        Interrupted: Ctrl-C or the end of input at a terminal, in the words of `interrupted`.
        UsageError: it is empty, no UTF-8, or more than one line.
    """
    if can_ask():
        from getpass import getpass  # here: hardly any command hides what is typed

        try:
            line = getpass(prompt, stream=sys.stderr)
        except (KeyboardInterrupt, EOFError):
            say("")
            raise Interrupted(interrupted) from None
    else:
        line = _line_of_pipe()
    if not line:
        raise UsageError("Standard input holds no text; nothing was done.", hint="Give one line of text.")
    return line


def _line_of_pipe() -> str:
    try:
        data = b"" if sys.stdin is None else sys.stdin.buffer.readline()
        is_more = bool(data) and sys.stdin.buffer.read(1) != b""
        text = data.decode()
    except UnicodeDecodeError:
        raise UsageError("What standard input holds is no UTF-8; nothing was done.") from None
    except OSError as e:  # a folder
        raise UsageError(f"Standard input cannot be read ({e.strerror}); nothing was done.") from None
    if is_more:  # the rest would not be looked for, and stay
        raise UsageError("Standard input holds more than one line; nothing was done.", hint="Give one line of text.")
    return text.removesuffix("\n").removesuffix("\r")


def read_line(prompt: str, interrupted: str) -> str:
    """Prompt on stderr and take one line of input, with its line end.

    Raises:
        Interrupted: Ctrl-C or the end of input, in the words of `interrupted`.
    """
    try:
        # not typer.prompt: it prints a space on stdout, where only the result may stand
        _write(sys.stderr, prompt)
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    if not line:
        say("")
        raise Interrupted(interrupted)
    return line
