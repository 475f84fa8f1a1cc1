"""What `memttl init` does once it has looked: what is wanted, asked where nobody said, and then done in order.

Each step is a use case of its own and is run as its own command would run it; `commands/init.py` calls this.
"""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from memttl.errors import ExitCode, Interrupted, MemttlError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.commands.init_questions import Answers
    from memttl.core.first_steps import Draft, InitOutcome, Step
    from memttl.core.schedule import Kind
    from memttl.settings import Given, Settings


def steps_of(planned: Draft, settings: Settings | None, answers: Answers, *, writes_policy: bool) -> tuple[Step, ...]:
    """Ask what else is to be done, and give all of it."""
    from memttl.core.first_steps import Step

    steps = [Step("policy", _policy_words(planned))] if writes_policy else []
    if settings is None:
        return tuple(steps)
    if _wants_scan(planned, answers):
        steps.append(Step("scan", "begin the ages: record what is in the file now, in a ledger of memttl's own"))
    if _wants_backfill(planned, answers):
        steps.append(Step("backfill", "take earlier ages from the file's git history"))
    kind = _schedule_kind(planned, answers)
    if kind is not None:
        from memttl.core.schedule import KINDS

        steps.append(Step("schedule", f"have {KINDS[kind]} run `memttl prune --yes` on it every day", kind))
    return tuple(steps)


def _policy_words(planned: Draft) -> str:
    if planned.before:
        return f"replace the policy {planned.target}; the old one stays beside it"
    return f"write the policy {planned.target}"


def _is_sound(planned: Draft) -> bool:
    """Say whether the file is there and whole: a damaged one is for `memttl doctor` first."""
    return planned.exists and not (planned.report and planned.report.damaged)


def _wants_scan(planned: Draft, answers: Answers) -> bool:
    from memttl.commands.init_questions import agree

    if answers.scan is not None:
        return answers.scan
    if not _is_sound(planned) or planned.begun is not None:
        return False
    return not answers.asks or agree("Begin the ages now? What carries no date is then as old as its first sighting.")


def _wants_backfill(planned: Draft, answers: Answers) -> bool:
    from memttl.commands.init_questions import agree

    if answers.backfill is not None:
        return answers.backfill
    if not _is_sound(planned) or not planned.commits:
        return False
    return not answers.asks or agree("Take earlier ages from the file's git history?")


def _schedule_kind(planned: Draft, answers: Answers) -> Kind | None:
    from memttl.commands.init_questions import ask_schedule
    from memttl.core.schedule import KINDS

    told = answers.schedule
    # each run of a plan past a limit would be refused
    if told is None and _is_sound(planned) and not planned.forecasts[0].plan.refusals:
        told = ask_schedule(KINDS, _own_scheduler()) if answers.asks else _own_scheduler()
    return next((kind for kind in KINDS if kind == told), None)


def _own_scheduler() -> str:
    """Give the scheduler of this machine, "none" where it has none (a container)."""
    from memttl.workflow.schedule import default_kind

    kind = default_kind()
    return "none" if kind == "cron" and shutil.which("crontab") is None else kind


def do(
    planned: Draft, steps: tuple[Step, ...], settings: Settings | None, given: Given, answers: Answers
) -> InitOutcome:
    """Do the steps in order, up to the first that fails; then say what was done and what was not."""
    from memttl.core.first_steps import InitOutcome

    outcome = InitOutcome(planned, steps)
    for number, step in enumerate(steps):
        try:
            done, kept, code = _act(step, planned, settings, given, answers)
        except (MemttlError, KeyboardInterrupt) as e:
            raise _stopped(e, outcome.steps[:number], steps[number:]) from None
        after = (*outcome.steps[:number], done, *steps[number + 1 :])
        outcome = outcome._replace(steps=after, kept=kept or outcome.kept, exit_code=code)
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
    run = [f"to start it, run: {shlex.join(command)}" for command in outcome.to_run]
    files = [f"wrote {f.path}" for f in outcome.files if f.change in ("new", "changed")]
    away = f"`memttl schedule {step.kind} --remove --file {settings.named}` takes it away"
    return step._replace(done=outcome.installed, detail=(*files, *run, *outcome.notes, away)), None, ExitCode.OK
