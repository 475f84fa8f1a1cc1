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
    from memttl.settings import Settings

FORMATS = ("table", "json", "ndjson", "csv", "markdown", "html")

ExpiredOnly = Annotated[bool, typer.Option("--expired-only", help="List only what has expired.")]
Undated = Annotated[bool, typer.Option("--undated", help="List what has no date of its own as well.")]
Source = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="SOURCE", help="Only this age source, such as text or seen; repeatable."),
]
Sort = Annotated[str, typer.Option("--sort", metavar="expiry|age|size|entity", help="The order of what is listed.")]
GroupBy = Annotated[
    str | None, typer.Option("--group-by", metavar="tier|type|entity|month", help="The headings above what is listed.")
]
Top = Annotated[int, typer.Option("--top", metavar="N", help="How many of the heaviest entities to name.")]
Check = Annotated[bool, typer.Option("--check", help="Exit 3 when something listed is expired or due for review.")]
Format = Annotated[
    str | None, typer.Option("--format", metavar="|".join(FORMATS), help="What is printed (default: table).")
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
    """Show what is stale, what it costs and what goes when. Example: memttl report --within 90d"""
    from memttl.commands.over_files import Faces, over_files
    from memttl.core.report import Query, check_query
    from memttl.report.report_json import report_document
    from memttl.settings import Given

    query = Query(
        within, expire_before, expired_only, undated, words(entity), words(type_), words(tier), words(source), sort,
        group_by, top, check,
    )  # fmt: skip
    check_query(query)
    chosen = _format(format_, json=json)
    output = Output(chosen == "json", quiet, verbose, color)
    sink = _Sink(output_file, output)
    faces = Faces(
        code=lambda outcome: outcome.exit_code,
        document=report_document if output.json else lambda _: {},
        show_all=lambda outcomes: _show(outcomes, chosen, output, sink),
        emit=sink.put,
    )
    given = Given(words(file), policy, now)
    return over_files(given, output, lambda settings: _one(settings, query, sink, output), faces)


def _format(named: str | None, *, json: bool) -> str:
    """Give the format that is meant.

    Raises:
        UsageError: there is no such format, or two are asked for.
    """
    if named is None:
        return "json" if json else "table"
    if named not in FORMATS:
        from memttl.core.near import near

        hint = f"Use {', '.join(FORMATS)}."
        raise UsageError(f"--format knows no {named!r}{near(named, list(FORMATS))}.", hint=hint)
    if json and named != "json":
        raise UsageError(f"--json and --format {named} ask for two formats.", hint="Give one of them.")
    return named


def _one(settings: Settings, query: Query, sink: _Sink, output: Output) -> ReportOutcome:
    from memttl.workflow.report import report as run_report

    sink.check(settings)
    outcome = run_report(settings, query)
    warn(outcome.warnings, output)
    return outcome


def _show(outcomes: Sequence[ReportOutcome], chosen: str, output: Output, sink: _Sink) -> None:
    if chosen == "table" and sink.is_stdout and output.is_terminal:
        if output.quiet:
            return
        from memttl.report import report_table  # rich: only where a person looks at a screen
        from memttl.report.terminal import Screen

        report_table.show(outcomes, Screen(output.width, output.uses_color, ascii=not output.draws_blocks), put)
        return
    from importlib import import_module

    module = "plain" if chosen == "table" else chosen  # one module a format
    sink.put(import_module(f"memttl.report.report_{module}").render(outcomes))


class _Sink:
    """Where the result goes: to stdout, unless it is quiet, or into the user's file."""

    def __init__(self, target: str | None, output: Output) -> None:
        if target == "":
            raise UsageError("--output was given an empty path; nothing was done.")
        self._target = None if target in ("-", "/dev/stdout") else target
        self._output = output
        self._mode = 0o666

    @property
    def is_stdout(self) -> bool:
        """True where no file was named."""
        return self._target is None

    def check(self, settings: Settings) -> None:
        """Refuse a file that memttl reads; a new one will be as closed as the memory file.

        Raises:
            UsageError: which it is.
        """
        if self._target is None:
            return
        from contextlib import suppress
        from pathlib import Path

        from memttl.files.output_file import check_target

        check_target(self._target, (settings.memory, Path(settings.policy.where)))
        with suppress(OSError):
            self._mode &= settings.memory.stat().st_mode

    def put(self, text: str) -> None:
        """Print or write the result.

        Raises:
            MemttlError: it cannot be written.
        """
        if self._target is not None:
            from memttl.files.output_file import write_output

            write_output(self._target, text, mode=self._mode)
        elif not self._output.quiet or self._output.json:
            put(text)
        if self._target is not None and not self._output.quiet:
            from memttl.report.text import visible

            say(f"Wrote {visible(self._target)}.")
