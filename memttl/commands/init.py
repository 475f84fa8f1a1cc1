"""`memttl init`: the first five minutes. Looks at the memory file, proposes a policy, asks, and does what was agreed.

The one command that joins several use cases: init, scan, backfill and schedule, each as it would run by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memttl.commands.asking import refuse_later_now
from memttl.commands.options import Color, File, Json, Now, Output, PolicyPath, Quiet, Verbose, Yes, warn, words
from memttl.commands.printing import can_ask, put, say
from memttl.errors import ExitCode, NeedsYes, NoMemoryFile, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.commands.init_questions import Answers
    from memttl.core.first_steps import Draft, InitOutcome, Step
    from memttl.settings import Given, Settings
    from memttl.workflow.init import Wish

OutputPath = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the policy here instead of beside the file.")
]
User = Annotated[bool, typer.Option("--user", help="Write the policy into your config folder, for all memory files.")]
Timezone = Annotated[
    str | None, typer.Option("--timezone", metavar="NAME", help="The IANA time zone (default: the system's).")
]
Rules = Annotated[
    bool | None, typer.Option("--rules/--no-rules", help="Take the proposed rules, or the built-in tiers alone.")
]
Scan = Annotated[bool | None, typer.Option("--scan/--no-scan", help="Begin the ages now, as `memttl scan` does.")]
Backfill = Annotated[
    bool | None, typer.Option("--backfill/--no-backfill", help="Take earlier ages from the file's git history.")
]
ScheduleKind = Annotated[
    str | None,
    typer.Option("--schedule", metavar="KIND", help="Run prune daily: systemd, cron, launchd, windows or none."),
]
Replace = Annotated[
    bool, typer.Option("--replace-policy", help="Replace a policy that is there; the old one stays beside it.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Go through it all, print the policy; write nothing.")]


def init(
    output_path: OutputPath = None,
    user: User = False,
    timezone: Timezone = None,
    rules: Rules = None,
    scan: Scan = None,
    backfill: Backfill = None,
    schedule: ScheduleKind = None,
    replace_policy: Replace = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    file: File = None,
    policy: PolicyPath = None,
    now: Now = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    color: Color = None,
) -> int:
    """Take the first steps: find the file, propose a policy for it, begin its ages."""
    from memttl.commands.init_questions import Answers
    from memttl.settings import Given

    output = Output(json, quiet, verbose, color)
    asks = not (yes or dry_run)
    if asks and not can_ask():
        raise NeedsYes
    _check(schedule, output_path, user=user)
    answers = Answers(output_path, user, timezone, rules, scan, backfill, schedule, replace_policy, dry_run, asks)
    return _run(Given(words(file), policy, now), answers, output)


def _check(schedule: str | None, output_path: str | None, *, user: bool) -> None:
    from memttl.core.near import refuse_unknown_word
    from memttl.core.schedule import KINDS

    if schedule is not None:
        refuse_unknown_word("--schedule", schedule, (*KINDS, "none"))
    if output_path is not None and user:
        raise UsageError("--output and --user both say where the policy goes; nothing was done.", hint="Give one.")
    if output_path == "":
        raise UsageError("--output was given an empty path; nothing was done.")


def _run(given: Given, answers: Answers, output: Output) -> int:
    from memttl.commands.init_questions import pick_file
    from memttl.commands.over_files import over_files
    from memttl.commands.results import Faces
    from memttl.report.init import short
    from memttl.report.init_json import init_document
    from memttl.settings import resolve_anyway

    try:
        named = pick_file(given, asks=answers.asks, writes=not answers.dry_run)
    except NoMemoryFile as e:
        if not answers.user:
            e.hint += " `memttl init --user` writes a policy for every memory file."
            raise
        return _without_file(given, answers, output)
    return over_files(
        given._replace(file=(named,)),
        output,
        lambda settings: _first_steps(settings, given, answers, output),
        Faces(_code, init_document, lambda outcome: _show(outcome, answers, output), in_short=short),
        resolver=resolve_anyway,
    )


def _without_file(given: Given, answers: Answers, output: Output) -> int:
    from memttl.report.documents import to_text
    from memttl.report.init_json import init_document

    outcome = _first_steps(None, given, answers, output)
    if output.json:
        put(to_text(init_document(outcome)))
    elif not output.quiet:
        _show(outcome, answers, output)
    return _code(outcome)


def _code(outcome: InitOutcome) -> ExitCode:
    return outcome.exit_code


def _show(outcome: InitOutcome, answers: Answers, output: Output) -> None:
    from memttl.commands.init_questions import view
    from memttl.report.init import render_end

    put(render_end(outcome, view(answers, output)))


def _first_steps(settings: Settings | None, given: Given, answers: Answers, output: Output) -> InitOutcome:
    """Look, show, ask, do."""
    from memttl.commands.init_steps import do, is_refused, steps_of
    from memttl.core.first_steps import InitOutcome

    if settings is not None and not answers.dry_run and answers.asks:
        refuse_later_now(settings, "record ages as of a day to come")
    planned, wish = _drafted(settings, given, answers, output)
    is_kept = _settle_existing(planned, answers, output)
    planned, steps = steps_of(planned, wish, settings, answers, output, is_kept=is_kept)
    code = ExitCode.LIMIT if is_refused(planned, answers.schedule) else ExitCode.OK
    if answers.dry_run:
        return InitOutcome(planned, steps, dry_run=True, exit_code=code)
    if answers.asks and steps and not _agreed(steps, planned, answers, output):
        return InitOutcome(planned, steps, declined=True)
    return do(planned, steps, settings, given, answers, code)


def _agreed(steps: tuple[Step, ...], planned: Draft, answers: Answers, output: Output) -> bool:
    """Show all that is to be done, and ask the last question."""
    from memttl.commands.init_questions import agree, all_texts, view
    from memttl.report.init import render_steps

    say("\n" + render_steps(steps, "This will be done:", view(answers, output)))
    return agree("Do it?", default=False, show=all_texts(planned, answers, output))


def _drafted(settings: Settings | None, given: Given, answers: Answers, output: Output) -> tuple[Draft, Wish]:
    """Look and propose, show it, and ask whether the proposed rules are wanted."""
    from memttl.commands.init_forecast import first_draft
    from memttl.commands.init_questions import agree, all_texts, teller, view
    from memttl.report.init import render_look
    from memttl.report.init_forecast import render_forecasts

    wish = _wish(settings, given, answers)
    now = settings.now if settings else datetime.now(UTC)
    planned, wish = first_draft(settings, wish, answers, now)
    warn(planned.warnings, output)
    tell, look = teller(answers, output), view(answers, output)
    tell(render_look(planned, look, dry_run=answers.dry_run))
    if answers.asks and answers.rules is None and not planned.proposal.is_built_in:
        show = all_texts(planned, answers, output)
        if not agree("Take these rules?", show=show):
            planned, wish = first_draft(settings, wish._replace(rules=False), answers, now)
            tell("\nWithout them:\n" + render_forecasts(planned, look))
    return planned, wish


def _settle_existing(planned: Draft, answers: Answers, output: Output) -> bool:
    """Say how a policy that is there differs; give whether it stays as it is.

    Raises:
        UsageError: it differs, and nobody said that it may be replaced.
    """
    from memttl.commands.init_questions import agree, teller
    from memttl.report.init import render_difference

    if planned.before != "other":
        return planned.before == "same"
    teller(answers, output)("\n" + render_difference(planned))
    if answers.replace:
        return False
    if answers.asks:
        return not agree("Replace it? The old one stays beside it.", default=False)
    raise UsageError(
        f"There is a policy already, {planned.target}, and it differs from the proposal; nothing was done.",
        hint="Give --replace-policy to replace it (the old one stays beside it), or --output to write another file.",
    )


def _wish(settings: Settings | None, given: Given, answers: Answers) -> Wish:
    from memttl.commands.init_forecast import policy_before
    from memttl.commands.init_questions import ask_zone
    from memttl.policies import lies_beside
    from memttl.setup.timezone import system_timezone
    from memttl.workflow.init import Wish

    target = _target(settings, given, answers)
    zone, note = system_timezone(os.environ) if answers.timezone is None else answers.timezone, ""
    if zone is None and answers.asks:
        zone = ask_zone()
    if zone is None:
        zone, note = "UTC", "The system does not tell its own time zone by name: write yours, such as Europe/Berlin."
    schema = target.with_name(_SCHEMA)
    is_other = settings is not None and not answers.output and policy_before(str(target), settings, given) is not None
    return Wish(
        target=target,
        timezone=zone,
        zone_note=note,
        beside=settings is not None and lies_beside(str(target), settings.named),
        rules=answers.rules is not False,
        scan=answers.scan is not False,
        schema=f"./{_SCHEMA}" if schema.is_file() else "",
        notes=tuple(_notes(settings, given, target)),
        counting=settings.policy if settings and is_other and not settings.bad_policy else None,
    )


def _notes(settings: Settings | None, given: Given, target: Path) -> Iterator[str]:
    """Say what is to be known of the places: a memory file that will be deleted, a policy that will not be found."""
    from memttl.commands.init_forecast import policy_before
    from memttl.policies import policy_places

    if settings is not None and "_npx" in settings.memory.parts:
        lies = "This memory file lies in the npx cache, which the next update of its server deletes."
        yield (
            f"{lies} Better first: `memttl move` it to a folder of your own, then `memttl init` again."
            if os.path.lexists(settings.memory)
            else f"{lies.replace('lies', 'would lie')} Let the config name a file of your own before use; "
            "`memttl discover` prints what to write there. Then `memttl init` again."
        )
    places = policy_places(settings.named if settings else None, given.policy, os.environ)
    found = policy_before(str(target), settings, given)
    if str(target) not in places:
        yield f"memttl does not look for a policy there by itself: give --policy {target}, or set MEMTTL_POLICY to it."
    elif found is not None:
        yield f"The policy {found} goes before this one, so that this one will not count for this memory file."
    elif not os.path.lexists(target) and (now := next((p for p in places if os.path.lexists(p)), None)):
        yield f"So far the policy {now} counts for this memory file; the new one will count instead of it."


_SCHEMA = "memttl.schema.json"  # what `memttl policy schema` was put into, if the user did so


def _target(settings: Settings | None, given: Given, answers: Answers) -> Path:
    """Give where the policy goes: as told, else where memttl looks first."""
    from memttl.policies import own_policy, policy_place

    told = answers.output or (None if answers.user else given.policy or os.environ.get("MEMTTL_POLICY"))
    if told:
        return Path(os.path.abspath(os.path.expanduser(told)))
    # what lies beside a file in the npx cache is deleted with it
    if answers.user or settings is None or "_npx" in settings.memory.parts:
        return Path(own_policy())
    return Path(os.path.abspath(policy_place(settings.named)))
