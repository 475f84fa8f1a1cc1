"""What `memttl init` does once it has looked: what is wanted, asked where nobody said, and then done in order.

Each step is a use case of its own and is run as its own command would run it; `commands/init.py` calls this.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from memttl.errors import ExitCode, Interrupted, Malformed, MemttlError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.commands.init_questions import Answers
    from memttl.commands.options import Output
    from memttl.core.first_steps import Draft, InitOutcome, Step
    from memttl.core.installed import Installed
    from memttl.core.schedule import Kind
    from memttl.settings import Given, Settings
    from memttl.workflow.init import Wish


class Wanted(NamedTuple):
    """Which ages are to be taken."""

    scan: bool
    backfill: bool


def steps_of(
    planned: Draft, wish: Wish, settings: Settings | None, answers: Answers, output: Output, *, is_kept: bool
) -> tuple[Draft, tuple[Step, ...]]:
    """Ask what else is to be done; give all of it, and the draft as the answers leave it, which has been shown."""
    from memttl.commands.init_forecast import draft_as_answered
    from memttl.commands.init_questions import teller, view
    from memttl.core.first_steps import Step
    from memttl.report.init_forecast import first_run_words, render_forecasts
    from memttl.workflow.schedule import existing_prunes

    steps = [] if is_kept else [Step("policy", _policy_words(planned))]
    if settings is None:
        return planned, tuple(steps)
    wanted = Wanted(_wants_scan(planned, answers), _wants_backfill(planned, answers))
    _refuse_damaged(planned, wanted)
    if wanted.scan:
        steps.append(Step("scan", "begin the ages: record what is in the file now, in a ledger of memttl's own"))
    if wanted.backfill:
        steps.append(Step("backfill", "take earlier ages from the file's git history"))
    planned, is_new = draft_as_answered(planned, wish, wanted, settings, is_kept=is_kept)
    if is_new:
        teller(answers, output)("\nWith these answers:\n" + render_forecasts(planned, view(answers, output)))
    found = () if answers.schedule == "none" else existing_prunes(settings)
    planned = planned._replace(is_scheduled=bool(found))
    kind = _schedule_kind(planned, found, settings, answers, output)
    if kind is not None:
        from memttl.core.schedule import KINDS

        words = f"have {KINDS[kind]} run `memttl prune --yes` on it every day; {first_run_words(planned)}"
        steps.append(Step("schedule", words, kind))
    return planned, tuple(steps)


def is_refused(planned: Draft, kind: str | None) -> bool:
    """Say whether a schedule was asked for of which each run would be refused, so that it is not installed."""
    is_past = bool(planned.forecasts and planned.forecasts[0].plan.refusals)
    return is_past and kind not in (None, "none")


def _policy_words(planned: Draft) -> str:
    if planned.before:
        return f"replace the policy {planned.target}; the old one stays beside it"
    folder = os.path.dirname(planned.target)
    made = "" if os.path.isdir(folder) else f", and make its folder {folder}"
    return f"write the policy {planned.target}{made}"


def is_sound(planned: Draft) -> bool:
    """Say whether the file is there and whole: a damaged one is for `memttl doctor` first."""
    return planned.exists and not (planned.report and planned.report.damaged)


def _refuse_damaged(planned: Draft, wanted: Wanted) -> None:
    """Refuse before anything is written what the steps would refuse once the policy stands."""
    from memttl.core.wording import plural

    damaged = planned.report.damaged if planned.report else ()
    if damaged and (wanted.scan or wanted.backfill):
        raise Malformed(
            f"no ages can be taken, since the memory server cannot read {plural(len(damaged), 'line')} of it, first "
            f"line {damaged[0].line}; nothing was done.",
            hint="`memttl doctor --repair` mends it and keeps a backup; or give --no-scan and --no-backfill.",
        )


def _wants_scan(planned: Draft, answers: Answers) -> bool:
    from memttl.commands.init_questions import agree

    if answers.scan is not None:
        return answers.scan
    if not is_sound(planned) or planned.begun is not None:
        return False
    return not answers.asks or agree("Begin the ages now? What carries no date is then as old as its first sighting.")


def _wants_backfill(planned: Draft, answers: Answers) -> bool:
    from memttl.commands.init_questions import agree

    if answers.backfill is not None:
        return answers.backfill
    if not is_sound(planned) or not planned.commits:
        return False
    return not answers.asks or agree("Take earlier ages from the file's git history?")


def _schedule_kind(
    planned: Draft, found: tuple[Installed, ...], settings: Settings, answers: Answers, output: Output
) -> Kind | None:
    """Give what is to run the daily prune, said or asked for; each run of a plan past a limit would be refused."""
    from memttl.commands.init_questions import ask_schedule, teller
    from memttl.core.schedule import KINDS
    from memttl.report.init_forecast import first_run_words
    from memttl.report.text import visible
    from memttl.workflow.schedule import kinds_here

    told, tell = answers.schedule, teller(answers, output)
    # a nightly removal is never what a plain --yes means
    if told == "none" or not (told or (answers.asks and is_sound(planned))):
        return None
    if planned.forecasts and planned.forecasts[0].plan.refusals:
        tell("No schedule: each run would be refused, as said above.\n")
        return None
    others = [one for one in found if one.kind != told]
    if others and (answers.asks or answers.dry_run):
        tell("\n" + "".join(f"{visible(line)}\n" for line in _existing_words(others, settings)))
    if told is None:
        if found:
            return None
        tell(f"\nIt can be pruned every night; {first_run_words(planned)}.\n")
        told = ask_schedule(kinds_here(), _own_scheduler())
    return next((kind for kind in KINDS if kind == told), None)


def _existing_words(found: Iterable[Installed], settings: Settings) -> Iterator[str]:
    """Say which schedules run `prune` on this file already."""
    from memttl.core.schedule import KINDS

    for one in found:
        yield f"{KINDS[one.kind]} has a schedule of `memttl prune` for this file already: {one.path}."
        yield f"  `{one.remove_command(settings.named)}` takes it away."


def _own_scheduler() -> str:
    """Give the scheduler of this machine, "none" where it has none (a container)."""
    from memttl.workflow.schedule import default_kind

    kind = default_kind()
    return "none" if kind == "cron" and shutil.which("crontab") is None else kind


def do(
    planned: Draft,
    steps: tuple[Step, ...],
    settings: Settings | None,
    given: Given,
    answers: Answers,
    at_best: ExitCode = ExitCode.OK,
) -> InitOutcome:
    """Do the steps in order, up to the first that fails; then say what was done and what was not.

    `at_best` is the exit code where all of them are done.
    """
    from memttl.core.first_steps import InitOutcome

    outcome = InitOutcome(planned, steps, exit_code=at_best)
    for number, step in enumerate(steps):
        try:
            done, kept, code = _act(step, planned, settings, given, answers)
        except (MemttlError, KeyboardInterrupt) as e:
            raise _stopped(e, outcome.steps[:number], steps[number:]) from None
        after = (*outcome.steps[:number], done, *steps[number + 1 :])
        outcome = outcome._replace(steps=after, kept=kept or outcome.kept, exit_code=code or at_best)
        if code:
            break
    return outcome


def _stopped(e: MemttlError | KeyboardInterrupt, done: tuple[Step, ...], rest: tuple[Step, ...]) -> MemttlError:
    error = e if isinstance(e, MemttlError) else Interrupted("Interrupted.")
    error.message += f"\nDone: {'; '.join(s.words for s in done) or 'nothing'}."
    error.message += f"\nNot done: {'; '.join(s.words for s in rest)}."
    return error


def _act(
    step: Step, planned: Draft, settings: Settings | None, given: Given, answers: Answers
) -> tuple[Step, str | None, ExitCode]:
    """Do one step; give it with what came of it, where an old policy lies now, and the exit code."""
    if step.name == "policy":
        from memttl.workflow.init import write

        return step._replace(done=True), write(settings, planned), ExitCode.OK
    assert settings is not None
    after = _settings_after(settings, planned, given, answers)
    if step.name == "scan":
        return _scanned(step, after)
    if step.name == "backfill":
        return _backfilled(step, after)
    return _scheduled(step, after, planned, answers)


def _settings_after(settings: Settings, planned: Draft, given: Given, answers: Answers) -> Settings:
    """Resolve all anew, now that the policy is written."""
    from memttl.settings import resolve

    told = planned.target if answers.output else given.policy
    found = resolve(settings.named, given._replace(policy=told), os.environ, settings.clock)
    return found._replace(progress=settings.progress)


def _scanned(step: Step, settings: Settings) -> tuple[Step, None, ExitCode]:
    from memttl.report.scan import render
    from memttl.workflow.scan import scan

    outcome = scan(settings)
    detail = tuple(render(outcome).splitlines())
    return step._replace(done=not outcome.refusals, detail=detail), None, outcome.exit_code


def _backfilled(step: Step, settings: Settings) -> tuple[Step, None, ExitCode]:
    from memttl.core.wording import plural
    from memttl.workflow.backfill import Sources, backfill

    outcome = backfill(settings, Sources(git=True))
    going = plural(outcome.plan.counts.removed, "observation")
    moved = f"{plural(outcome.moved, 'birth')} moved earlier; the next prune would remove {going}"
    return step._replace(done=True, detail=(moved, *outcome.plan.refusals)), None, ExitCode.OK


def _scheduled(step: Step, settings: Settings, planned: Draft, answers: Answers) -> tuple[Step, None, ExitCode]:
    from memttl.core.schedule import Wish
    from memttl.workflow.schedule import install

    assert step.kind is not None
    outcome = install(settings, Wish(step.kind, policy=planned.target if answers.output else None))
    others = [one for one in outcome.others if one.command == "prune" and one.kind != step.kind]
    files = [f"wrote {f.path}" for f in outcome.files if f.change in ("new", "changed")]
    run = []
    if outcome.to_run:
        run = ["nothing runs it yet, since systemd does not answer here; where it does, run:"]
        run += [f"  {shlex.join(command)}" for command in outcome.to_run]
    away = f"`memttl schedule {step.kind} --remove --file {settings.named}` takes it away"
    detail = (*files, *run, *outcome.notes, away, *_existing_words(others, settings))
    return step._replace(done=outcome.installed, waits=bool(run), detail=detail), None, ExitCode.OK
