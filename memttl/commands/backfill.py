"""`memttl backfill`: earlier births from git history and old copies of the memory file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import put
from memttl.errors import ExitCode, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.backfill_outcome import BackfillOutcome
    from memttl.settings import Settings


def backfill(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Further old copies, behind --from.")
    ] = None,
    git: Annotated[
        bool, typer.Option("--git", help="Take ages from the file's history in its git repository.")
    ] = False,
    from_: Annotated[
        list[str] | None, typer.Option("--from", metavar="FILE", help="Take ages from this old copy; repeatable.")
    ] = None,
    date: Annotated[
        str | None, typer.Option("--date", metavar="WHEN", help="When the copies were made, if not when last written.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would move; write nothing.")] = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Find when observations were first written, in old versions of the file."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.report.backfill import backfill_document, render
    from memttl.settings import Given

    output = Output(json, quiet, verbose, color)
    copies = _copies(words(from_), words(more), git=git, date=date)

    def show(outcome: BackfillOutcome) -> None:
        warn(outcome.warnings, output)
        put(render(outcome))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: _one(settings, git=git, copies=copies, date=date, dry_run=dry_run),
        Faces(lambda _: ExitCode.OK, backfill_document, show, sums=no_sums),
        changes=changes_of(dry_run=dry_run, yes=True),
    )


def _copies(named: tuple[str, ...], more: tuple[str, ...], *, git: bool, date: str | None) -> tuple[str, ...]:
    """Give the old copies that are meant; refuse words that say of nothing where old versions are."""
    from memttl.memory_files import expand

    copies = tuple(path for word in (*named, *more) for path in expand(word, "--from"))
    if more and not named:
        raise UsageError(
            "Old copies stand behind --from; nothing was done.", hint="The memory file is named by --file."
        )
    if not (git or copies):
        raise UsageError(
            "Neither --git nor --from says where old versions are; nothing was done.",
            hint="Give --git for the history of the file's repository, or --from FILE for an old copy.",
        )
    if date is not None and not copies:
        raise UsageError("--date dates old copies, and --from names none; nothing was done.")
    return copies


def _one(settings: Settings, *, git: bool, copies: tuple[str, ...], date: str | None, dry_run: bool) -> BackfillOutcome:
    from memttl.settings import read_now
    from memttl.workflow.backfill import Sources
    from memttl.workflow.backfill import backfill as run_backfill

    when = read_now(date, settings.policy, "--date") if date is not None else None
    return run_backfill(settings, Sources(git, copies, when), dry_run=dry_run)
