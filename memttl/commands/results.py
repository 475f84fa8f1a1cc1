"""The results of one use case over several memory files: each printed as it comes, then what stands for all of them.

`commands/over_files.py` hands them over, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from memttl import trace
from memttl.commands.options import Output, say_error
from memttl.commands.printing import put, say
from memttl.errors import CannotPrint, ExitCode, Interrupted, IsArchive, MemttlError
from memttl.report.documents import SCHEMA, error_document, of_files, to_text
from memttl.report.text import visible


class Faces(NamedTuple):
    """How one kind of result is shown: as an exit code, as a document, and on stdout.

    `show_all` shows those of all files together, where a format is one result whatever the number of files; it is
    called with `--quiet` too. `emit` takes the document of `--json`, where that does not go to stdout. Both are told
    whether all files gave a result. `in_short` gives what `--quiet` says on stderr where the code is not 0. `sums`
    gives what the results of several files come to, for the line that is printed last; None for a command without one.
    """

    code: Callable[[Any], ExitCode]
    document: Callable[[Any], dict[str, Any]]
    show: Callable[[Any], None] = lambda _: None
    show_all: Callable[[list[Any], bool], None] = lambda _results, _complete: None
    emit: Callable[[str, bool], None] = lambda text, _complete: put(text)
    in_short: Callable[[Any], str] | None = None
    sums: Callable[[list[Any]], str] | None = None


def no_sums(_results: Sequence[object]) -> str:
    """Say of several files no more than how many were done: for `Faces.sums`."""
    return ""


class Results:
    """What came of each file so far, and how it is shown; `count` is the number of files."""

    def __init__(self, count: int, output: Output, faces: Faces) -> None:
        self._count, self._output, self._faces = count, output, faces
        self._codes: list[ExitCode] = []
        self._documents: list[dict[str, Any]] = []
        self._results: list[Any] = []
        self._archives: list[IsArchive] = []

    def fail(self, name: str, error: MemttlError) -> None:
        """Take the error of one of several files, which does not stop the others."""
        self._codes.append(error.exit_code)
        self._documents.append({**error_document(error), "file": name})
        if trace.is_heard():
            from memttl.commands.diagnostics import note_error

            note_error(error)
        if not self._output.json:
            say_error(error)

    def pass_over(self, name: str, error: IsArchive) -> None:
        """Take an archive that a glob has met, which is no error."""
        self._archives.append(error)
        self._documents.append({"schema": SCHEMA, "file": name, "skipped": error.message})
        if not (self._output.json or self._output.quiet):
            say(f"memttl: passed over: {visible(error.message)}")

    def add(self, name: str, result: Any) -> None:
        """Take the result of one file, and show it."""
        self._results.append(result)
        self._codes.append(self._faces.code(result))
        self._documents.append(self._faces.document(result))
        if trace.is_heard():
            from memttl.commands.diagnostics import note_result

            note_result(name, self._codes[-1], self._documents[-1])
        if self._output.json:
            return
        if not self._output.quiet:
            _print(partial(self._faces.show, result), self._documents[-1:])
        elif self._codes[-1] and self._faces.in_short:
            say(f"memttl: {self._faces.in_short(result)}")
        elif self._codes[-1] == ExitCode.LIMIT:
            refusals = self._documents[-1]["refusals"]
            say("\n".join(f"memttl: {visible(name)}: {visible(reason)}" for reason in refusals))

    def end(self) -> ExitCode:
        """Show what stands for all files together, and give the highest exit code.

        Raises:
            IsArchive: nothing but archives was met.
        """
        if not self._codes:
            raise self._archives[0]
        is_complete = len(self._results) + len(self._archives) == self._count
        if self._output.json:
            _print(lambda: self._faces.emit(to_text(of_files(self._documents)), is_complete), self._documents)
        elif self._results:
            _print(lambda: self._faces.show_all(self._results, is_complete), self._documents)
        self._sum_up()
        return max(self._codes)

    def _sum_up(self) -> None:
        if self._faces.sums is None or self._count == 1 or self._output.json or self._output.quiet:
            return
        from memttl.report.several import summary  # here: most runs are about one file

        sums = self._faces.sums(self._results)
        text = summary(self._count, self._codes, passed_over=len(self._archives), sums=sums)
        _print(partial(put, text), self._documents)


def _print(show: Callable[[], None], documents: list[dict[str, Any]]) -> None:
    """Print a result; where that fails, the error must still say whether a memory file was written."""
    applied = any(document.get("applied") for document in documents)
    try:
        show()
    except KeyboardInterrupt:
        raise Interrupted("Interrupted while the result was printed.", applied=applied) from None
    except CannotPrint as e:
        e.applied = applied
        raise
