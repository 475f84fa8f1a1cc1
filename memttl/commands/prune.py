"""`memttl prune`: options into a request, the outcome into text or JSON and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import Shown, ask_below, refuse_later_now, warn_of_the_rest
from memttl.commands.narrowing import Entity, Tier, Type
from memttl.commands.options import (
    BreakHardLinks,
    Color,
    File,
    Json,
    Now,
    Output,
    PolicyPath,
    Quiet,
    Verbose,
    Yes,
    words,
)
from memttl.commands.printing import can_ask, put
from memttl.errors import NeedsYes

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for the work of a prune
    from memttl.core.outcome import PruneOutcome
    from memttl.settings import Settings
    from memttl.workflow.prune import Request


DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would go; write nothing at all.")]
Check = Annotated[bool, typer.Option("--check", help="Dry run that exits 3 when something has expired.")]
Force = Annotated[bool, typer.Option("--force", help="Lift max_prune_fraction and max_prune_count.")]
KeepMalformed = Annotated[
    bool, typer.Option("--keep-malformed", help="Prune the good lines, keep damaged ones byte for byte.")
]

WritePath = Annotated[
    str, typer.Option("--write-path", metavar="auto|exchange|replace", help="How the new file takes its place.")
]


def prune(
    dry_run: DryRun = False,
    yes: Yes = False,
    check: Check = False,
    force: Force = False,
    keep_malformed: KeepMalformed = False,
    entity: Entity = None,
    type_: Type = None,
    tier: Tier = None,
    write_path: WritePath = "auto",
    break_hard_links: BreakHardLinks = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Remove what has expired, with a backup and an audit log."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.files.ladder import read_write_path
    from memttl.report.documents import prune_document
    from memttl.report.several import prune_sums
    from memttl.settings import Given
    from memttl.workflow.prune import Request

    output = Output(json, quiet, verbose, color)
    request = Request(
        dry_run=dry_run,
        check=check,
        force=force,
        keep_malformed=keep_malformed,
        entities=words(entity),
        types=words(type_),
        tiers=words(tier),
        write_path=read_write_path(write_path),
        break_hard_links=break_hard_links,
    )
    given = Given(words(file), policy, now)
    if request.writes and not yes and not can_ask():
        from memttl.commands.keeping import keep_refusal

        refusal = NeedsYes()
        keep_refusal("prune", given, refusal)
        raise refusal
    shown: Shown = set()
    return over_files(
        given,
        output,
        lambda settings: _one(settings, request, output, None if yes else shown),
        Faces(
            lambda outcome: outcome.exit_code,
            prune_document,
            lambda outcome: _show(outcome, output, shown),
            sums=prune_sums,
        ),
        kept_as="prune" if request.writes else "",
        changes=changes_of(dry_run=not request.writes, yes=yes),
    )


def _one(settings: Settings, request: Request, output: Output, shown: Shown | None) -> PruneOutcome:
    """Prune one file; `shown` is None with --yes, else it gathers what was shown with the question."""
    from memttl.workflow.prune import prune as run_prune

    if request.writes and shown is not None:
        refuse_later_now(settings, "remove what has not expired yet")
    if shown is None:
        return run_prune(settings, request)
    return run_prune(settings, request, ask=lambda planned: _ask(planned, output, shown))


def _ask(planned: PruneOutcome, output: Output, shown: Shown) -> bool:
    from memttl.core.wording import plural
    from memttl.report.text import visible

    count = plural(planned.plan.counts.removed, "observation")
    also = f" and {plural(len(planned.plan.lines), 'emptied line')}" if planned.plan.lines else ""
    question = f"Remove {count}{also} from {visible(planned.file)}?"
    return ask_below(
        planned, output, shown, lambda on_screen: outcome_text(planned, output, is_terminal=on_screen), question
    )


def _show(outcome: PruneOutcome, output: Output, shown: Shown) -> None:
    with_plan = warn_of_the_rest(outcome, output, shown)
    put(outcome_text(outcome, output, is_terminal=output.is_terminal, with_plan=with_plan))


def outcome_text(outcome: PruneOutcome, output: Output, *, is_terminal: bool, with_plan: bool = True) -> str:
    """Give the outcome as it is printed: as a table where a person looks at a screen, else as plain lines."""
    if not is_terminal:
        from memttl.report import prune_plain

        return prune_plain.render(outcome)
    from memttl.report import prune_table  # rich: only where a person looks at a screen

    return prune_table.render(outcome, width=output.width, color=output.uses_color, with_plan=with_plan)
