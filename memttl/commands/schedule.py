"""`memttl schedule`: print or install what runs memttl on a memory file every night."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast, get_args

import typer

from memttl.commands.asking import Shown, ask_below, warn_of_the_rest
from memttl.commands.options import (
    Color,
    DryRun,
    File,
    Json,
    Now,
    Output,
    PolicyPath,
    Quiet,
    Verbose,
    Yes,
    warn,
    words,
)
from memttl.commands.printing import can_ask, put, say
from memttl.errors import ExitCode, NeedsYes, NoMemoryFile, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.outcome import PruneOutcome
    from memttl.core.schedule import Command, Every, Wish
    from memttl.core.schedule_outcome import ScheduleOutcome
    from memttl.settings import Settings

KindArgument = Annotated[
    str | None,
    typer.Argument(metavar="[systemd|cron|launchd|windows]", help="What runs it (default: what this machine has)."),
]
CommandArgument = Annotated[
    str | None, typer.Argument(metavar="[prune|scan]", help="What is run (default: prune; with --remove both).")
]
EveryOption = Annotated[
    str | None,
    typer.Option(
        "--every", metavar="DURATION", help="How often: 15min, 6h, daily, weekly (prune: daily; scan: 15min)."
    ),
]
Install = Annotated[bool, typer.Option("--install", help="Put it in place and start it, after a question.")]
Remove = Annotated[bool, typer.Option("--remove", help="Take away what --install put there.")]
System = Annotated[bool, typer.Option("--system", help="For the whole machine, as the owner of the file; needs root.")]


class _Result(NamedTuple):
    """A schedule, and what its first run would do."""

    outcome: ScheduleOutcome
    first: PruneOutcome | None

    @property
    def exit_code(self) -> ExitCode:
        refused = self.first is not None and self.outcome.wish.command == "prune" and self.first.plan.refusals
        return ExitCode.LIMIT if refused else ExitCode.OK


def schedule(
    kind: KindArgument = None,
    command: CommandArgument = None,
    every: EveryOption = None,
    install: Install = False,
    remove: Remove = False,
    system: System = False,
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
    """Print, install or remove a timer that prunes every night, or scans."""
    from memttl.commands.doubts import changes_of
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.schedule import printed, schedule_document
    from memttl.settings import Given, resolve, resolve_anyway

    output = Output(json, quiet, verbose, color)
    wish = _wish(kind, command or "prune", every, policy, system=system)
    both = remove and command is None
    if install and remove:
        raise UsageError("--install and --remove exclude each other; nothing was done.")
    if install and not (yes or dry_run or can_ask()):
        raise NeedsYes
    shown: Shown = set()

    def use_case(settings: Settings) -> _Result:
        if remove:
            return _remove(settings, wish, output, None if yes else shown, both=both, dry_run=dry_run)
        if install or dry_run:
            return _install(settings, wish, output, None if yes else shown, dry_run=dry_run)
        from memttl.workflow.schedule import show

        return _Result(show(settings, wish), None)

    def show_all(results: list[_Result], _is_complete: bool) -> None:
        if not (install or remove or dry_run):
            put(printed([result.outcome for result in results]))

    return over_files(
        Given(words(file), policy, now),
        output,
        use_case,
        Faces(
            lambda result: result.exit_code,
            lambda result: schedule_document(*result),
            lambda result: _show(result, output, shown),
            show_all=show_all,
        ),
        # what was installed can be taken away although the policy is broken meanwhile
        resolver=resolve_anyway if remove else resolve,
        changes=changes_of(dry_run=dry_run or not (install or remove), yes=yes),
    )


def _wish(kind: str | None, command: str, every: str | None, policy: str | None, *, system: bool) -> Wish:
    from memttl.core.durations import BadDuration
    from memttl.core.near import near
    from memttl.core.schedule import Command, Kind, Wish, parse_every
    from memttl.workflow.schedule import default_kind

    kinds, commands = get_args(Kind), get_args(Command)
    if kind is not None and kind not in kinds:
        also = f" Write `memttl schedule systemd {kind}`." if kind in commands else ""
        words_of_it = f"{kind} is no scheduler{near(kind, kinds)}; nothing was done."
        raise UsageError(words_of_it, hint=f"There are {', '.join(kinds)}.{also}")
    if command not in commands:
        raise UsageError(
            f"{command} cannot be scheduled{near(command, commands)}; nothing was done.",
            hint=f"It may be {' or '.join(commands)}.",
        )
    try:
        cadence: Every | None = parse_every(every) if every is not None else None
    except BadDuration as e:
        hint = "Use --every 15min, --every 6h, daily, weekly or monthly, say."
        raise UsageError(f"--every {every!r} cannot be taken: {e}; nothing was done.", hint=hint) from None
    return Wish(cast(Kind, kind or default_kind()), cast(Command, command), cadence, system, policy)


def _install(settings: Settings, wish: Wish, output: Output, shown: Shown | None, *, dry_run: bool) -> _Result:
    """Install for one file; `shown` is None with --yes, else it gathers what was shown with the question."""
    from memttl.workflow.schedule import install

    _refuse_other_policy(settings, wish)
    first = _first_run(settings)
    if wish.command == "prune" and first is not None and first.plan.refusals:
        return _Result(install(settings, wish, dry_run=True), first)  # each run would be refused
    ask = None if shown is None else lambda planned: _ask(planned, first, output, shown)
    return _Result(install(settings, wish, dry_run=dry_run, ask=ask), first)


def _first_run(settings: Settings) -> PruneOutcome | None:
    """Plan the first run; None where there is no memory file yet. What would refuse each run is raised here."""
    from memttl.workflow.prune import Request, prune

    try:
        return prune(settings, Request(dry_run=True))
    except NoMemoryFile:
        if os.path.lexists(settings.memory):
            raise
        return None


def _refuse_other_policy(settings: Settings, wish: Wish) -> None:
    """Refuse where the run, as another user, would judge by another policy than the one that is shown here.

    Raises:
        UsageError: which policy it is.
    """
    if not (wish.system and hasattr(os, "getuid") and settings.memory.exists()):
        return
    owner = settings.memory.stat().st_uid
    if owner == os.getuid() or wish.policy or os.environ.get("MEMTTL_POLICY"):
        return
    import pwd

    from memttl.core.policy import BUILT_IN
    from memttl.policies import own_policy

    try:
        home = pwd.getpwuid(owner).pw_dir
    except KeyError:
        home = ""
    theirs = os.path.join(home, ".config", "memttl", "policy.toml")
    where = settings.policy.where
    if where == own_policy() or (where == BUILT_IN and home and os.path.lexists(theirs)):
        raise UsageError(
            f"Judged as you the policy is {where}; the run, as the file's owner, would find another. Nothing was done.",
            hint="Name the policy with --policy.",
        )


def _remove(
    settings: Settings, wish: Wish, output: Output, shown: Shown | None, *, both: bool, dry_run: bool
) -> _Result:
    from memttl.report.schedule import render_plan
    from memttl.workflow.schedule import remove

    def ask(planned: ScheduleOutcome) -> bool:
        if not can_ask():
            raise NeedsYes
        assert shown is not None
        texts = "".join(file.content for file in planned.files if file.change == "gone")
        found = [f"`memttl {c}`" for c in planned.commands if f"memttl {c} " in texts or f"memttl-{c}-" in texts]
        question = f"Remove the {'schedules' if len(found) > 1 else 'schedule'} of {' and '.join(found)}?"
        return ask_below(planned, output, shown, lambda _: render_plan(planned), question)

    commands: tuple[Command, ...] = ("prune", "scan") if both else (wish.command,)
    return _Result(remove(settings, wish, commands=commands, dry_run=dry_run, ask=None if shown is None else ask), None)


def _ask(planned: ScheduleOutcome, first: PruneOutcome | None, output: Output, shown: Shown) -> bool:
    from memttl.report.schedule import render_plan
    from memttl.report.text import visible

    def plan(on_screen: bool) -> str:
        return _first_words(planned, first, output, on_screen=on_screen) + "\n" + render_plan(planned)

    question = f"Let `memttl {planned.wish.command}` of {visible(planned.file)} run every {planned.wish.cadence}?"
    return ask_below(planned, output, shown, plan, question)


def _first_words(planned: ScheduleOutcome, first: PruneOutcome | None, output: Output, *, on_screen: bool) -> str:
    """Say what the first run would do."""
    from memttl.commands.prune import outcome_text

    if planned.wish.command == "scan":
        return "A scan removes nothing.\n"
    if first is None:
        return "There is no memory file yet, so nothing would be removed.\n"
    first = first._replace(dry_run=False)  # what closes a dry run is said of the whole
    return "The first run:\n\n" + outcome_text(first, output, is_terminal=on_screen)


def _show(result: _Result, output: Output, shown: Shown) -> None:
    from memttl.report.schedule import render, render_plan

    outcome, first = result
    if outcome.act == "print":
        warn(outcome.warnings, output)
        also = "" if outcome.wish.command == "prune" else f" {outcome.wish.command}"
        say(f"`memttl schedule {outcome.wish.kind}{also} --install` puts this in place.")
        return
    with_plan = warn_of_the_rest(outcome, output, shown) and outcome.act == "install" and not outcome.is_unchanged
    if with_plan:
        put(_first_words(outcome, first, output, on_screen=output.is_terminal) + "\n")
    if result.exit_code == ExitCode.LIMIT:
        put("Each run would be refused like this, so nothing was installed.\n")
    elif outcome.dry_run:
        put(render_plan(outcome) if outcome.act == "install" else render(outcome))
        put("Dry run: nothing was written.\n")
    else:
        put(render(outcome))
