"""`memttl set`, `pin`, `unpin` and `renew`: options into a wish, the outcome into text or JSON and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import Shown, ask_below, refuse_later_now, warn_of_the_rest
from memttl.commands.options import Color, DryRun, File, Json, Now, Output, PolicyPath, Quiet, Verbose, Yes, warn, words
from memttl.commands.printing import can_ask, put
from memttl.errors import ExitCode, NeedsYes, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.selection import Choice
    from memttl.core.settings_outcome import ChangeOutcome, ListOutcome
    from memttl.core.wish import Wish
    from memttl.settings import Given, Settings

Entity = Annotated[str | None, typer.Argument(metavar="[ENTITY]", help="An exact name, else a glob; '*' for all.")]
Text = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="A part of the text, in any case.")]
Exact = Annotated[bool, typer.Option("--exact", help="TEXT is the whole text.")]
Pattern = Annotated[bool, typer.Option("--pattern", help="TEXT is a regular expression.")]
Whole = Annotated[
    list[str] | None,
    typer.Option("--entity", metavar="NAME", help="The entity itself (or glob), with what comes later; repeatable."),
]
Ttl = Annotated[
    str | None, typer.Option("--ttl", metavar="DURATION", help="How long it lasts from its birth, or never.")
]
Tier = Annotated[str | None, typer.Option("--tier", metavar="TIER", help="Its tier.")]
Expires = Annotated[str | None, typer.Option("--expires", metavar="WHEN", help="Its last day, an instant, or never.")]
ReviewBy = Annotated[
    str | None, typer.Option("--review-by", metavar="WHEN", help="The last day by which somebody should look at it.")
]
Created = Annotated[str | None, typer.Option("--created", metavar="WHEN", help="Its birth: a date or an instant.")]
Clear = Annotated[bool, typer.Option("--clear", help="First take away all that was set, but for pins.")]
List = Annotated[bool, typer.Option("--list", help="Show all settings, also where the observation is gone.")]
For = Annotated[
    str | None, typer.Option("--for", metavar="DURATION", help="How long from now, instead of its tier's lifetime.")
]


def set_(
    entity: Entity = None,
    text: Text = None,
    ttl: Ttl = None,
    tier: Tier = None,
    expires: Expires = None,
    review_by: ReviewBy = None,
    created: Created = None,
    clear: Clear = False,
    list_: List = False,
    exact: Exact = False,
    pattern: Pattern = False,
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
    """Set a lifetime, tier, expiry, review day or birth, without a change to the file."""
    from memttl.core.selection import Choice
    from memttl.core.wish import Wish
    from memttl.settings import Given

    output, given = Output(json, quiet, verbose, color), Given(words(file), policy, now)
    choice = Choice(entity, text, exact, pattern)
    wish = Wish("set", choice, ttl=ttl, tier=tier, expires=expires, review_by=review_by, created=created, clear=clear)
    if not list_:
        return _change(given, output, wish, dry_run=dry_run, yes=yes)
    if not wish.sets_nothing:
        raise UsageError("--list shows what is set and changes nothing; nothing was done.", hint="Leave --list out.")
    return _list(given, output, choice)


def pin(
    entity: Entity = None,
    text: Text = None,
    whole: Whole = None,
    exact: Exact = False,
    pattern: Pattern = False,
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
    """Keep what is in an entity now, or with --entity the entity itself."""
    from memttl.core.selection import Choice
    from memttl.core.wish import Wish
    from memttl.settings import Given

    wish = Wish("pin", Choice(entity, text, exact, pattern), words(whole))
    output = Output(json, quiet, verbose, color)
    return _change(Given(words(file), policy, now), output, wish, dry_run=dry_run, yes=yes)


def unpin(
    entity: Entity = None,
    text: Text = None,
    whole: Whole = None,
    exact: Exact = False,
    pattern: Pattern = False,
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
    """Take pins away that `memttl pin` gave."""
    from memttl.core.selection import Choice
    from memttl.core.wish import Wish
    from memttl.settings import Given

    wish = Wish("unpin", Choice(entity, text, exact, pattern), words(whole))
    output = Output(json, quiet, verbose, color)
    return _change(Given(words(file), policy, now), output, wish, dry_run=dry_run, yes=yes)


def renew(
    entity: Entity = None,
    text: Text = None,
    keep_for: For = None,
    exact: Exact = False,
    pattern: Pattern = False,
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
    """Keep it from now for the lifetime of its tier, or --for so long."""
    from memttl.core.selection import Choice
    from memttl.core.wish import Wish
    from memttl.settings import Given

    wish = Wish("renew", Choice(entity, text, exact, pattern), keep_for=keep_for)
    output = Output(json, quiet, verbose, color)
    return _change(Given(words(file), policy, now), output, wish, dry_run=dry_run, yes=yes)


def _change(given: Given, output: Output, wish: Wish, *, dry_run: bool, yes: bool) -> int:
    """Change settings in each memory file that is meant."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces, no_sums
    from memttl.core.wish import check_wish
    from memttl.report.settings import change_document, render
    from memttl.workflow.change_settings import change_settings

    check_wish(wish)
    if not (dry_run or yes or can_ask()):
        raise NeedsYes
    shown: Shown = set()

    def one(settings: Settings) -> ChangeOutcome:
        if dry_run or yes:
            return change_settings(settings, wish, dry_run=dry_run)
        refuse_later_now(settings, "be set as of a day to come")
        return change_settings(settings, wish, ask=lambda planned: _ask(planned, output, shown))

    def show(outcome: ChangeOutcome) -> None:
        with_plan = warn_of_the_rest(outcome, output, shown)
        put(render(outcome, with_plan=with_plan, width=output.width if output.is_terminal else None))

    return over_files(
        given,
        output,
        one,
        Faces(lambda _: ExitCode.OK, change_document, show, sums=no_sums),
        changes=changes_of(dry_run=dry_run, yes=yes),
    )


def _ask(planned: ChangeOutcome, output: Output, shown: Shown) -> bool:
    from memttl.report.settings import question, render

    def plan(on_screen: bool) -> str:  # as `ask_below` calls it
        return render(planned, width=output.width if on_screen else None)

    return ask_below(planned, output, shown, plan, question(planned))


def _list(given: Given, output: Output, choice: Choice) -> int:
    """Show what is set in each memory file that is meant."""
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.settings import list_document, render_list
    from memttl.workflow.list_settings import listed_settings

    def show(outcome: ListOutcome) -> None:
        warn(outcome.warnings, output)
        put(render_list(outcome))

    faces = Faces(lambda _: ExitCode.OK, list_document, show)
    return over_files(given, output, lambda settings: listed_settings(settings, choice), faces)
