"""`memttl report`: options into a query, the outcome into one of six formats, on stdout or into a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.narrowing import Entity, ExpireBefore, Tier, Type, Within
from memttl.commands.options import (
    Color,
    File,
    Json,
    Now,
    Output,
    PolicyPath,
    Quiet,
    Verbose,
    warn,
    words,
)
from memttl.commands.printing import put, say
from memttl.errors import UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.report import Query, ReportOutcome
    from memttl.settings import Given, Settings

_ENDINGS = {"json": "json", "ndjson": "ndjson", "csv": "csv", "md": "markdown", "html": "html", "htm": "html"}
FORMATS = ("table", "json", "ndjson", "csv", "markdown", "html")

ExpiredOnly = Annotated[bool, typer.Option("--expired-only", help="List only what has expired.")]
Undated = Annotated[bool, typer.Option("--undated", help="List what has no date of its own as well.")]
Source = Annotated[
    list[str] | None,
    typer.Option(
        "--source", metavar="SOURCE", help="Only ages known from: set, object, text, inherited, entity, seen, unknown."
    ),
]
Sort = Annotated[str, typer.Option("--sort", metavar="expiry|age|size|entity", help="The order of what is listed.")]
GroupBy = Annotated[
    str | None, typer.Option("--group-by", metavar="tier|type|entity|month", help="The headings above what is listed.")
]
Top = Annotated[int, typer.Option("--top", metavar="N", help="How many of the heaviest entities to name.")]
Check = Annotated[bool, typer.Option("--check", help="Exit 3 when something listed is expired or due for review.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="|".join(FORMATS), help="What is printed (default: by the ending of FILE, else table)."
    ),
]
OutputFile = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write it to this file.")]


def report(
    within: Within = None,
    expire_before: ExpireBefore = None,
    expired_only: ExpiredOnly = False,
    undated: Undated = False,
    entity: Entity = None,
    type_: Type = None,
    tier: Tier = None,
    source: Source = None,
    sort: Sort = "expiry",
    group_by: GroupBy = None,
    top: Top = 10,
    check: Check = False,
    format_: Format = None,
    output_file: OutputFile = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Show what is stale, what it costs and what goes when."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.core.report import Query, check_query
    from memttl.report.report_json import report_document
    from memttl.report.several import report_sums
    from memttl.settings import Given

    query = Query(
        within, expire_before, expired_only, undated, words(entity), words(type_), words(tier), words(source), sort,
        group_by, top, check,
    )  # fmt: skip
    check_query(query)
    chosen = _format(format_, output_file, json=json)
    output = Output(chosen == "json", quiet, verbose, color)
    given = Given(words(file), policy, now)
    sink = _Sink(output_file, output, given)
    faces = Faces(
        code=lambda outcome: outcome.exit_code,
        document=report_document if output.json else lambda _: {},
        show_all=lambda outcomes, complete: _show(outcomes, chosen, output, sink, complete=complete),
        emit=lambda text, complete: sink.put(text, complete=complete),
        sums=report_sums if chosen == "table" and sink.is_stdout else None,
    )
    return over_files(given, output, lambda settings: _one(settings, query, output), faces)


def _format(named: str | None, target: str | None, *, json: bool) -> str:
    """Give the format that is meant: the named one, else that of the ending of `-o FILE`, else a table.

    Raises:
        UsageError: there is no such format, or two are asked for.
    """
    if named is None:
        ending = (target or "").rpartition(".")[2].lower()
        return "json" if json else _ENDINGS.get(ending, "table")
    from memttl.core.near import refuse_unknown_word

    refuse_unknown_word("--format", named, FORMATS)
    if json and named != "json":
        raise UsageError(
            f"--json and --format {named} ask for two formats; nothing was done.", hint="Give one of them."
        )
    return named


def _one(settings: Settings, query: Query, output: Output) -> ReportOutcome:
    from memttl.workflow.report import report as run_report

    outcome = run_report(settings, query)
    warn(outcome.warnings, output)
    return outcome


def _show(outcomes: Sequence[ReportOutcome], chosen: str, output: Output, sink: _Sink, *, complete: bool) -> None:
    is_printed_table = chosen == "table" and sink.is_stdout
    if is_printed_table and output.quiet:
        return  # the other formats are documents, which --quiet does not take away
    if is_printed_table and output.is_terminal:
        from memttl.report import report_table  # rich: only where a person looks at a screen
        from memttl.report.terminal import Screen

        report_table.show(outcomes, Screen(output.width, output.uses_color, output.encoding), put)
        return
    from importlib import import_module

    module = "plain" if chosen == "table" else chosen  # one module a format
    sink.put(import_module(f"memttl.report.report_{module}").render(outcomes), complete=complete)


class _Sink:
    """Where the result goes: to stdout, or into the user's file.

    A new file is as closed as the memory files are.

    Raises:
        UsageError: the file is one that memttl reads or keeps.
    """

    def __init__(self, target: str | None, output: Output, given: Given) -> None:
        if target == "":
            raise UsageError("--output was given an empty path; nothing was done.", hint="Name a file.")
        self._target = None if target in ("-", "/dev/stdout") else target
        self._output = output
        self._mode = _checked(self._target, given) if self._target is not None else 0

    @property
    def is_stdout(self) -> bool:
        """True where no file was named."""
        return self._target is None

    def put(self, text: str, *, complete: bool) -> None:
        """Print or write the result; the user's file is not written where it would lack one of the memory files.

        Raises:
            MemttlError: it cannot be written.
        """
        if self._target is None or (not complete and self._output.json):
            put(text)
        elif complete:
            from memttl.files.output_file import write_output

            write_output(self._target, text, mode=self._mode)
        if self._target is not None and not self._output.quiet:
            from memttl.report.text import visible

            name = visible(self._target)
            say(f"Wrote {name}." if complete else f"{name} was not written: not every memory file could be read.")


def _checked(target: str, given: Given) -> int:
    """Refuse a file that any of the memory files needs, before the first is read; give the mode of a new one."""
    import os

    from memttl.files.output_file import check_target
    from memttl.memory_files import memory_files
    from memttl.settings import surroundings

    mode = 0o666
    for name in memory_files(given, os.environ):
        files, folders = surroundings(name, given, os.environ)
        check_target(target, files, folders)
        if os.path.exists(name):
            mode &= os.stat(name).st_mode
    return mode
