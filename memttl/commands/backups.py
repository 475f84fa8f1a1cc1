"""`memttl backups list`, `show`, `diff`, `restore` and `prune`: the whole-file backups that runs make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import Shown, ask_below, refuse_later_now, warn_of_the_rest
from memttl.commands.groups import Group
from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, warn, words
from memttl.commands.printing import can_ask, put, put_bytes
from memttl.errors import ExitCode, NeedsYes, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.backups_outcome import DiffOutcome, ListOutcome, RestoreOutcome, ShowOutcome, ThinOutcome
    from memttl.settings import Settings
    from memttl.workflow.restore import RestoreRequest

Backup = Annotated[
    str, typer.Argument(metavar="BACKUP", help="A run (its beginning will do), a file name, a path, or latest.")
]
Other = Annotated[
    str | None, typer.Argument(metavar="[OTHER]", help="Another backup; else the memory file as it is now.")
]
Entity = Annotated[
    list[str] | None, typer.Option("--entity", metavar="NAME", help="Only this entity (or glob); repeatable.")
]
Raw = Annotated[bool, typer.Option("--raw", help="Write its bytes exactly, into a pipe or a file.")]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would change; write nothing at all.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Apply without asking.")]
BreakHardLinks = Annotated[
    bool, typer.Option("--break-hard-links", help="Write a file with more names; those keep the old text.")
]

app = typer.Typer(
    help="The whole file as it was before each run: list, compare, put back.", rich_markup_mode=None, cls=Group
)


@app.callback(invoke_without_command=True)
def _group(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        put(context.get_help() + "\n")


@app.command("list")
def list_(
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """List the backups, the newest last."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.backups import list_document, render_list
    from memttl.settings import Given
    from memttl.workflow.backups import list_all

    output = Output(json, quiet, verbose, color)

    def show_list(outcome: ListOutcome) -> None:
        warn(outcome.warnings, output)
        put(render_list(outcome))

    faces = Faces(lambda _: ExitCode.OK, list_document, show_list)
    return over_files(Given(words(file), policy, now), output, list_all, faces)


@app.command()
def show(
    backup: Backup,
    entity: Entity = None,
    raw: Raw = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Show what a backup holds."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.backups_show import render, show_document
    from memttl.settings import Given
    from memttl.workflow.backups import show_one

    output = Output(json, quiet, verbose, color)
    _check_raw(output, is_raw=raw, is_narrowed=bool(entity))

    def show_it(outcome: ShowOutcome) -> None:
        warn(outcome.warnings, output)
        if not raw:
            put(render(outcome))

    def show_raw(outcomes: list[ShowOutcome], _complete: bool) -> None:  # with --quiet, too
        for outcome in outcomes if raw else ():
            put_bytes(outcome.data)

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: show_one(settings, backup, entities=words(entity)),
        Faces(lambda _: ExitCode.OK, lambda outcome: {} if raw else show_document(outcome), show_it, show_raw),
    )


def _check_raw(output: Output, *, is_raw: bool, is_narrowed: bool) -> None:
    if is_raw and (output.json or is_narrowed):
        raise UsageError("--raw writes all bytes as they are, so it goes with neither --json nor --entity.")
    if is_raw and output.is_terminal:
        raise UsageError(
            "--raw writes bytes as they are, and some of them may steer a terminal; nothing was written.",
            hint="Send it into a pipe or a file, or leave --raw out.",
        )


@app.command()
def diff(
    backup: Backup,
    other: Other = None,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Tell what was added and is gone since a backup."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.backups_diff import diff_document, render_diff
    from memttl.settings import Given
    from memttl.workflow.backups import diff as run_diff

    output = Output(json, quiet, verbose, color)

    def show_diff(outcome: DiffOutcome) -> None:
        warn(outcome.warnings, output)
        put(render_diff(outcome))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: run_diff(settings, backup, other),
        Faces(lambda _: ExitCode.OK, diff_document, show_diff),
    )


@app.command()
def restore(
    backup: Backup,
    dry_run: DryRun = False,
    yes: Yes = False,
    break_hard_links: BreakHardLinks = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Put a whole backup back, after a backup of what is there."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.report.backups_diff import render_restore, restore_document
    from memttl.settings import Given
    from memttl.workflow.restore import RestoreRequest

    output = Output(json, quiet, verbose, color)
    if not (dry_run or yes or can_ask()):
        raise NeedsYes
    shown: Shown = set()
    request = RestoreRequest(backup, dry_run=dry_run, break_hard_links=break_hard_links)

    def show_it(outcome: RestoreOutcome) -> None:
        with_plan = warn_of_the_rest(outcome, output, shown)
        put(render_restore(outcome, width=output.width if output.is_terminal else None, with_plan=with_plan))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: _restore(settings, request, output, None if yes or dry_run else shown),
        Faces(lambda _: ExitCode.OK, restore_document, show_it, sums=no_sums),
        mends=True,
        changes=changes_of(dry_run=dry_run, yes=yes),
    )


def _restore(settings: Settings, request: RestoreRequest, output: Output, shown: Shown | None) -> RestoreOutcome:
    """Restore one file; `shown` is None where nobody is asked, else it gathers what was shown with the question."""
    from memttl.report.backups_diff import render_restore, restore_question
    from memttl.workflow.restore import restore as run_restore

    if shown is None:
        return run_restore(settings, request)
    refuse_later_now(settings, "be done as of a day to come")

    def ask(planned: RestoreOutcome) -> bool:
        def plan(on_screen: bool) -> str:  # as `ask_below` calls it
            return render_restore(planned, width=output.width if on_screen else None)

        return ask_below(planned, output, shown, plan, restore_question(planned))

    return run_restore(settings, request, ask=ask)


@app.command()
def prune(
    dry_run: DryRun = False,
    yes: Yes = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Remove the backups that the policy lets go."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.report.backups import render_thin, thin_document
    from memttl.settings import Given

    output = Output(json, quiet, verbose, color)
    if not (dry_run or yes or can_ask()):
        raise NeedsYes
    shown: Shown = set()

    def show_it(outcome: ThinOutcome) -> None:
        put(render_thin(outcome, with_plan=warn_of_the_rest(outcome, output, shown)))

    return over_files(
        Given(words(file), policy, now),
        output,
        lambda settings: _thin(settings, output, None if yes or dry_run else shown, dry_run=dry_run),
        Faces(lambda _: ExitCode.OK, thin_document, show_it, sums=no_sums),
        changes=changes_of(dry_run=dry_run, yes=yes),
    )


def _thin(settings: Settings, output: Output, shown: Shown | None, *, dry_run: bool) -> ThinOutcome:
    from memttl.report.backups import render_thin, thin_question
    from memttl.workflow.thin_backups import thin

    if shown is None:
        return thin(settings, dry_run=dry_run)
    refuse_later_now(settings, "be done as of a day to come")
    return thin(
        settings,
        ask=lambda planned: ask_below(planned, output, shown, lambda _: render_thin(planned), thin_question(planned)),
    )
