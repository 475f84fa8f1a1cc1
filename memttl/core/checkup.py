"""The bytes of a memory file into findings: what is damaged, what the memory server drops or stumbles over, and sizes.

Called by `workflow/doctor.py`. Pure; what the server does is told as UPSTREAM's table of its releases has it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import NamedTuple

from memttl.core.checkup_graph import GraphCheck
from memttl.core.findings import Finding, Sizes, in_order, lines_of, of_file
from memttl.core.foreign import POINT, Census, foreign_encoding, foreign_file, foreign_shape
from memttl.core.memory import BOM, parse_line, read_lines
from memttl.core.model import Line
from memttl.core.progress import Progress, no_progress
from memttl.core.repair import plan_repair
from memttl.core.salvage import DOCUMENT
from memttl.core.wording import plural
from memttl.errors import Foreign

FAILS = "every tool of the memory server fails at it and leaves the file as it is"
SKIPS = "servers newer than release 2026.8.31 skip the line and erase it at their next write"
ERASES = "the memory server ignores it on loading and erases it at its next write"
WIPES = "the memory server reads it as an empty graph and erases all of it at its next write"
_SKIPS_ALL = "servers newer than release 2026.8.31 skip every line and erase all of it at their next write"
_LARGE_TOKENS = 25_000  # what a client took at most as one tool's answer
_SHOWN_BYTES = 40


class Checkup(NamedTuple):
    """What the bytes show. `is_damaged`: the server fails at the file, or it is none of the server's."""

    findings: tuple[Finding, ...]
    sizes: Sizes
    is_damaged: bool


def check_bytes(data: bytes, file: str, *, progress: Progress = no_progress) -> Checkup:
    """Check the bytes of the memory file that is named `file`."""
    if foreign_encoding(data):
        what, help_ = foreign_file(data, Census(), malformed=False) or ("", "")
        return Checkup(
            (_foreign(what, f"{FAILS}; {_SKIPS_ALL}", _hint(help_, file)),), Sizes(bytes=len(data)), is_damaged=True
        )
    tally = _Tally(file)
    for line in read_lines(data, tick=lambda done: progress("checking", done, len(data))):
        tally.add(line)
    tally.ask_repair(data)
    findings = [*tally.bom(data), *tally.foreign(data), *tally.findings()]
    is_damaged = any(f.severity == "error" for f in findings)
    return Checkup(in_order(findings), tally.sizes(data), is_damaged)


def mend_help(file: str) -> str:
    """Say how a damaged file is mended."""
    return f"{of_file('doctor --repair', file)} mends it: it shows its plan, asks, and keeps a backup."


def _hint(text: str, file: str) -> str:
    """Put the command of a hint of `foreign.py` in backticks, and the file into those of memttl's own."""
    for command in ("doctor --repair", "backups list"):
        text = text.replace(f"`memttl {command}`", of_file(command, file))
    before, colon, command = text.partition(": ")
    return f"{before}: `{command.rstrip('.')}`." if colon and "`" not in text else text


def _foreign(what: str, server: str, help_: str) -> Finding:
    return Finding("error", "foreign", f"the file {what}", help_, server=server)


class _Tally:
    """Looks at each line of one pass."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.census = Census()
        self.graph = GraphCheck(file)
        self.malformed: list[Finding] = []
        self.nulls: list[int] = []
        self.others: list[int] = []
        self.values: list[int] = []
        self.blank: list[int] = []
        self.crlf: list[int] = []
        self.deep: list[int] = []
        self.has_marker = self.is_document = self.is_foreign = False
        self.lines = 0
        self.help = mend_help(file)
        self.packed: list[int] = []  # lines with records in an array or a graph, which only a repair takes out of it

    def add(self, line: Line) -> None:
        """Note one line."""
        self.lines += 1
        self.census.add(line)
        if line.raw.endswith(b"\r"):
            self.crlf.append(line.number)
        if line.too_deep:
            self.deep.append(line.number)
        if line.kind == "malformed":
            self.malformed.append(_malformed(line))
        elif line.kind == "blank":
            self.blank.append(line.number)
        elif line.kind == "other":
            self._add_other(line)
        else:
            self.graph.add(line)

    def _add_other(self, line: Line) -> None:
        if line.raw.strip() == b"null":
            self.nulls.append(line.number)
        elif line.number == 1 and line.record is not None and line.record.get("type") == "_aim":
            self.has_marker = True
        elif line.record is None and not line.too_deep:
            self.values.append(line.number)
        else:
            self.others.append(line.number)

    def ask_repair(self, data: bytes) -> None:
        """Ask the repair what it would do, where something in the file may be for it."""
        if not (self.malformed or self.nulls or self.others or self.values or data.startswith(BOM)):
            return
        try:
            plan = plan_repair(data)
        except Foreign as e:
            self.help = _hint(e.hint, self.file)
            return
        packed = {mending.line for mending in plan.mendings if mending.reason == DOCUMENT}
        self.packed = [number for number in sorted([*self.others, *self.values]) if number in packed]
        self.others, self.values = ([n for n in numbers if n not in packed] for numbers in (self.others, self.values))

    def bom(self, data: bytes) -> Iterator[Finding]:
        """Find a byte order mark at the start."""
        if data.startswith(BOM):
            what = "the file begins with a byte order mark"
            yield Finding("error", "bom", what, self.help, server=f"{FAILS}; {SKIPS}", line=1, column=1)

    def foreign(self, data: bytes) -> Iterator[Finding]:
        """Say that this is not the memory server's file, as a prune would refuse it."""
        found = foreign_shape(data, self.census, malformed=bool(self.malformed))
        if found and found[1] != POINT:  # one document: `ask_repair` knows by now whether it can be mended
            self.is_document = True
            yield _foreign(found[0], f"{FAILS}; {_SKIPS_ALL}" if self.malformed else WIPES, self.help)
        elif found:
            self.is_foreign = True
            server = "the memory server ignores these lines on loading and erases them at its next write"
            yield _foreign(found[0], server, f"{found[1].rstrip('.')}: `memttl doctor --file PATH`.")

    def findings(self) -> Iterator[Finding]:
        """Give what the lines show; of one document spread over many lines that it is one says it all."""
        if self.is_document:
            return
        yield from (finding._replace(help=self.help) for finding in self.malformed)
        for number in self.nulls:
            yield Finding("error", "null-line", f"line {number} is null", self.help, f"{FAILS}; {SKIPS}", number, 1)
        if self.packed:
            what = f"{lines_of(self.packed)}: records in an array or a graph, where no memory server looks"
            yield Finding("warning", "unknown-type", what, self.help, ERASES, self.packed[0])
        if not self.is_foreign:
            yield from self._ignored()
        yield from self.graph.findings(is_whole=not (self.malformed or self.packed))
        yield from self._harmless()
        yield from self._large()

    def _ignored(self) -> Iterator[Finding]:
        help_ = f"Move what you need into observations; {_copy(self.file)} keeps the file as it is."
        if self.others:
            what = f"{lines_of(self.others)}: a type that the memory server does not know, or none"
            yield Finding("warning", "unknown-type", what, help_, ERASES, self.others[0])
        if self.values:
            what = f"{lines_of(self.values)}: JSON that is no object (an array, a number, a string)"
            yield Finding("warning", "no-object", what, help_, ERASES, self.values[0])
        if self.has_marker:
            what = "line 1 is the marker of mcp-knowledge-graph, which refuses the file without it"
            help_ = f"Let only that server write the file; {_copy(self.file)} keeps it as it is."
            yield Finding("note", "marker-line", what, help_, ERASES, 1)

    def _harmless(self) -> Iterator[Finding]:
        again = f"Nothing needs to be done; {of_file('report', self.file)} shows what is in the file."
        if self.lines == len(self.blank):
            yield Finding("note", "empty", "the file is empty", again, "the memory server reads an empty graph")
        if self.blank:
            what = f"{lines_of(self.blank)}: blank"
            yield Finding("note", "blank-line", what, again, ERASES, self.blank[0])
        if self.crlf:
            what = f"{plural(len(self.crlf), 'line')} with CRLF at the end"
            server = "the memory server reads them and writes LF at its next write"
            yield Finding("note", "crlf", what, again, server, self.crlf[0])
        if self.deep:
            what = f"{lines_of(self.deep)}: nested too deep for memttl to judge, kept untouched"
            yield Finding("note", "too-deep", what, again, "the memory server reads it", self.deep[0])

    def _large(self) -> Iterator[Finding]:
        tokens = self.graph.tokens
        if tokens > _LARGE_TOKENS:
            what = (
                f"a read_graph costs an assistant about {tokens:,} tokens, more than the {_LARGE_TOKENS:,} at which "
                "clients cut an answer off"
            )
            help_ = f"{of_file('report', self.file)} names the heaviest entities and what has expired."
            yield Finding("warning", "large-graph", what, help_)

    def sizes(self, data: bytes) -> Sizes:
        """Give the counts of all lines."""
        graph = self.graph
        counts = (graph.entities, graph.relations, graph.observations, len(self.malformed), graph.tokens)
        return Sizes(len(data), self.lines, *counts)


def _copy(file: str) -> str:
    return f"`cp {shlex.quote(file)} {shlex.quote(file + '.copy')}`"


def _malformed(line: Line) -> Finding:
    return Finding(
        "error",
        "malformed-line",
        f"line {line.number}, column {line.column}: {line.problem}",
        "",
        _fate(line),
        line.number,
        line.column,
        # up to 4 bytes make a character: what is cut in two there is cut off again
        line.raw[: 4 * _SHOWN_BYTES].decode("utf-8", "backslashreplace")[:_SHOWN_BYTES],
    )


def _fate(line: Line) -> str:
    """Say what the server does with a line that memttl calls malformed: not all of these stop it."""
    if line.problem == "a second list of observations":
        return "the memory server reads the last list alone and erases the other at its next write"
    if line.problem == "invalid UTF-8":
        mended = parse_line(line.raw.decode("utf-8", "replace").encode(), line.number)
        if mended.kind != "malformed":
            return "the memory server reads U+FFFD in place of these bytes and writes that at its next write, for good"
    return f"{FAILS}; {SKIPS}"
