"""The options of every command, one annotated type each, and how commands print.

Every command module imports this one at start-up, so nothing heavy may be imported here.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple, TextIO

import typer

from memttl.commands.printing import say
from memttl.errors import MemttlError
from memttl.report.text import visible

File = Annotated[
    list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="The memory file; repeatable, globs allowed.")
]
PolicyPath = Annotated[str | None, typer.Option("--policy", metavar="PATH", help="The policy to judge by (TOML).")]
Now = Annotated[
    str | None, typer.Option("--now", metavar="WHEN", help="Judge as of this instant (ISO 8601) instead of the clock.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors (and documents that were asked for).")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say on stderr what was read and decided by.")]
Color = Annotated[
    bool | None, typer.Option("--color/--no-color", help="Colour at a terminal (default: unless NO_COLOR is set).")
]

DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would change; write nothing at all.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Apply without asking.")]
BreakHardLinks = Annotated[
    bool, typer.Option("--break-hard-links", help="Write a file with more names; those keep the old text.")
]


def wants_json(arguments: Sequence[str]) -> bool:
    """Say whether an error is to be printed as a document: with `--json`, and with `--format json`."""
    pairs = zip(arguments, (*arguments[1:], ""), strict=False)  # no argument at all has no next one
    return any(a == "--json" or a == "--format=json" or (a == "--format" and b == "json") for a, b in pairs)


class Output(NamedTuple):
    """How results are printed; `color` None means: as the terminal and NO_COLOR say."""

    json: bool = False
    quiet: bool = False
    verbose: bool = False
    color: bool | None = None

    @property
    def is_terminal(self) -> bool:
        """True when a person will see the result on a screen."""
        return sys.stdout is not None and sys.stdout.isatty()

    @property
    def shows_progress(self) -> bool:
        """True when a person sees stderr on a screen on which a line can be drawn again and again."""
        is_screen = sys.stderr is not None and sys.stderr.isatty()
        return is_screen and not self.quiet and os.environ.get("TERM", "") not in ("", "dumb", "unknown")

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        # a question shows its plan on stderr, which may be a terminal when stdout is a pipe
        return shutil.get_terminal_size((_columns_of_stderr() or 80, 24)).columns

    @property
    def encoding(self) -> str:
        """The encoding of stdout."""
        return getattr(sys.stdout, "encoding", None) or "utf-8"

    @property
    def uses_color(self) -> bool:
        """True when results on stdout are coloured."""
        return self.colors(sys.stdout)

    def colors(self, stream: TextIO | None) -> bool:
        """Say whether what goes to a stream is coloured: asked for, else a terminal, not dumb, and no NO_COLOR."""
        if self.color is not None:
            return self.color
        is_terminal = stream is not None and stream.isatty()
        return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _columns_of_stderr() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, AttributeError):  # a pipe; closed
        return 0


def warn(warnings: Iterable[str], output: Output) -> None:
    """Print warnings on stderr, where they do not stand in the document of --json anyway."""
    if not (output.quiet or output.json):
        tell(warnings)


def tell(warnings: Iterable[str]) -> None:
    """Print warnings on stderr."""
    for warning in warnings:
        say(f"warning: {visible(warning)}")


def note(words: str, output: Output) -> None:
    """Say on stderr what a person wants to know besides the result; the document of --json has it in its own way."""
    if not (output.quiet or output.json):
        say(f"memttl: {visible(words)}")


def say_error(error: MemttlError) -> None:
    """Print an error on stderr: what was found, where, what was not done, what to do next."""
    lines = error.message.split("\n")
    say("memttl: " + "\n".join(visible(line) for line in lines))
    if error.applied:
        say("The memory file had been written before that.")
    if error.hint:
        say(visible(error.hint))


def words(values: Sequence[str] | None) -> tuple[str, ...]:
    """Give an option that may be repeated as a tuple."""
    return tuple(values or ())
