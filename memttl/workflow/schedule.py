"""The use case schedule: print, install or remove what runs memttl on one memory file every so often.

`commands/schedule.py` calls it for each memory file, and `commands/init.py` at the end of the first steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memttl.core.installed import Installed
from memttl.core.schedule import Command, Kind, Wish
from memttl.core.schedule_outcome import Change, ScheduledFile, ScheduleOutcome
from memttl.errors import AS_IT_WAS, CannotCreate, MemttlError, UsageError
from memttl.files.archive_mark import refuse_archive
from memttl.files.state import prepare, state_of
from memttl.settings import Settings
from memttl.setup import placing
from memttl.setup.here import Here, this_installation
from memttl.setup.installed import installed_for, installed_naming
from memttl.setup.job import Memory, make_job, refuse_place, unit_name
from memttl.setup.targets import Target, is_ours, run_command

Ask = Callable[[ScheduleOutcome], bool]
Step = Callable[[str], None]


def show(
    settings: Settings, wish: Wish, *, environ: Mapping[str, str] = os.environ, here: Here | None = None
) -> ScheduleOutcome:
    """Give the texts of a schedule; nothing is read from where they would lie, and nothing is written.

    Raises:
        UsageError, NoMemoryFile: it cannot be written down.
    """
    here = here or this_installation(environ)
    wish, memory = _completed(wish, environ), _memory(settings)
    job = make_job(memory, wish, here)
    pairs = zip(placing.targets_of(job.name, wish, here), placing.contents_of(job, here), strict=True)
    files = tuple(ScheduledFile(target.title, text, "shown") for target, text in pairs)
    warnings = () if os.path.lexists(settings.memory) else (_MISSING,)
    return ScheduleOutcome(settings.named, wish, "print", job.name, files, installed=False, warnings=warnings)


def install(
    settings: Settings,
    wish: Wish,
    *,
    dry_run: bool = False,
    ask: Ask | None = None,
    environ: Mapping[str, str] = os.environ,
    here: Here | None = None,
    step: Step = lambda _: None,
) -> ScheduleOutcome:
    """Install the schedule of one memory file, or bring it up to date; `ask` None: it is approved beforehand.

    `step` is called with the name of each step that changes something.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    here = here or this_installation(environ)
    wish, memory = _completed(wish, environ), _memory(settings)
    state = state_of(settings.memory, settings.state_elsewhere)
    refuse_archive(state)
    job = make_job(memory, wish, here)
    contents = placing.contents_of(job, here)
    refuse_place(memory, wish, here)
    targets = placing.targets_of(job.name, wish, here)
    files = tuple(_compared(target, text) for target, text in zip(targets, contents, strict=True))
    _refuse_foreign(files)
    # launchd takes no second `bootstrap` of what is loaded
    is_update = any(f.change == "changed" or (f.change == "same" and wish.kind == "launchd") for f in files)
    commands = placing.starting(job.name, wish, here, is_update=is_update)
    is_missing = not os.path.lexists(settings.memory)
    planned = ScheduleOutcome(
        file=settings.named,
        wish=wish,
        act="install",
        name=job.name,
        files=files,
        installed=False,
        dry_run=dry_run,
        to_run=commands,
        notes=placing.notes_of(job.name, wish),
        warnings=(*settings.warnings, *((_MISSING,) if is_missing else ()), *_passing(here)),
        others=_others(settings, wish, [job.name], here),
    )
    if dry_run:
        return planned
    if ask is not None and not planned.is_unchanged and not ask(planned):
        return planned._replace(declined=True)
    # how a run ends is kept only where a state folder is, and one that fails from the first makes none
    prepare(state, (settings.memory.parent if is_missing else settings.memory).stat())
    step("prepared")
    for target, file in zip(targets, files, strict=True):
        if file.change != "same":
            target.write(file.content)
            step("written")
    return _started(planned._replace(installed=True), here)


def remove(
    settings: Settings,
    wish: Wish,
    *,
    commands: Sequence[Command] = (),
    dry_run: bool = False,
    ask: Ask | None = None,
    environ: Mapping[str, str] = os.environ,
    here: Here | None = None,
) -> ScheduleOutcome:
    """Remove what `install` wrote for this file and these commands (none: that of the wish), and nothing that somebody
    else wrote.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    here = here or this_installation(environ)
    commands = tuple(commands) or (wish.command,)
    names = _names(settings, commands)
    targets = {name: placing.targets_of(name, wish, here) for name in names}
    files = {name: tuple(map(_found, targets[name])) for name in names}
    there = [name for name in names if any(file.change == "gone" for file in files[name])]
    stopping = tuple(words for name in there for words in placing.stopping(name, wish, here))
    planned = ScheduleOutcome(
        file=settings.named,
        wish=wish,
        act="remove",
        name=(there or names)[0],
        files=tuple(file for name in names for file in files[name]),
        installed=False,
        dry_run=dry_run,
        to_run=(*stopping, *placing.stopped(wish)) if there else (),
        commands=commands,
        others=_others(settings, wish, names, here),
    )
    if dry_run or not there:
        return planned
    if ask is not None and not ask(planned):
        return planned._replace(declined=True, installed=True)
    return _removed(planned, [target for name in names for target in targets[name]], there, stopping, here)


def existing_prunes(settings: Settings) -> tuple[Installed, ...]:
    """Give the schedules of every kind that memttl has written to prune this file; none is changed."""
    found = installed_for(settings.memory, this_installation(os.environ), asks_crontab=True)
    return tuple(one for one in found if one.command == "prune")


def default_kind() -> Kind:
    """Give the scheduler that this machine has: systemd where it runs, launchd, Task Scheduler, else cron."""
    return placing.own_kind(this_installation(os.environ))


def kinds_here() -> tuple[Kind, ...]:
    """Give the schedulers that a machine of this kind can have."""
    return placing.kinds_of(this_installation(os.environ))


_MISSING = (
    "there is no memory file yet: until the memory server has written one, each run ends with exit code 66, which the "
    "next command at a terminal tells"
)


def _memory(settings: Settings) -> Memory:
    besides = (settings.state_elsewhere, settings.archive.parent if settings.archive else None)
    return Memory(settings.named, settings.memory, tuple(folder for folder in besides if folder))


def _names(settings: Settings, commands: Sequence[Command]) -> list[str]:
    """Give the names of a file's schedules: by its real path, and by that of before a move which left a link."""
    folder, name = os.path.split(os.path.abspath(settings.named))
    paths = dict.fromkeys((settings.memory, Path(os.path.realpath(folder), name)))
    return [unit_name(path, command) for command in commands for path in paths]


def _others(settings: Settings, wish: Wish, names: Sequence[str], here: Here) -> tuple[Installed, ...]:
    """Give what is installed for the file besides the schedules of these names."""
    return tuple(
        one
        for one in installed_naming(settings.memory, here)
        if (one.kind, one.system) != (wish.kind, wish.system) or one.name not in names
    )


def _passing(here: Here) -> tuple[str, ...]:
    if here.checkout is None:
        return ()
    return (
        f"this memttl lies in a source tree ({here.checkout}): the schedule fails once that is moved or removed, and "
        "`pipx install .` or `uv tool install .` in the source tree makes one that stays",
    )


def _completed(wish: Wish, environ: Mapping[str, str]) -> Wish:
    """Name the policy that this process has been told of by a variable: the scheduled run does not have it."""
    if wish.kind == "windows" and wish.system:
        raise UsageError(
            "A task for the whole machine would not run as the file's owner on Windows; nothing was done.",
            hint="Leave --system out.",
        )
    policy = wish.policy or environ.get("MEMTTL_POLICY")
    return wish._replace(policy=os.path.abspath(os.path.expanduser(policy)) if policy else None)


def _compared(target: Target, text: str) -> ScheduledFile:
    before = target.read()
    change: Change = "new" if before is None else "foreign" if not is_ours(before) else "changed"
    if before == text:
        change = "same"
    return ScheduledFile(target.title, text, change, before)


def _found(target: Target) -> ScheduledFile:
    before = target.read()
    change: Change = "none" if before is None else "gone" if is_ours(before) else "foreign"
    return ScheduledFile(target.title, before or "", change, before)


def _refuse_foreign(files: Sequence[ScheduledFile]) -> None:
    for file in files:
        if file.change == "foreign":
            raise CannotCreate(
                f"{file.path} was not written by memttl, and it does not write over it; nothing was done.",
                hint="Move it away if it is not needed.",
            )


def _started(outcome: ScheduleOutcome, here: Here) -> ScheduleOutcome:
    """Run the commands where somebody hears them; else they are left to be run."""
    if not outcome.to_run or not placing.can_run(outcome.wish, here):
        return outcome
    for n, words in enumerate(outcome.to_run):
        problem = run_command(words, here.environ)
        is_needed = words[:2] != ("launchctl", "bootout")  # it fails where the job is not loaded
        if problem and is_needed:
            rest = " && ".join(" ".join(left) for left in outcome.to_run[n:])
            raise CannotCreate(
                f"The schedule is written, but not started: `{' '.join(words)}` failed ({problem}); {AS_IT_WAS}.",
                hint=f"Run this by hand: {rest}",
            )
    return outcome._replace(ran=outcome.to_run, to_run=())


def _removed(
    planned: ScheduleOutcome,
    targets: Sequence[Target],
    names: Sequence[str],
    stopping: Sequence[tuple[str, ...]],
    here: Here,
) -> ScheduleOutcome:
    """Stop the schedule by the commands `stopping`, then remove its files, the timer first."""
    is_heard = placing.can_run(planned.wish, here)
    after = placing.stopped(planned.wish)
    problems = [_stopped(words, here) for words in stopping] if is_heard else []
    for target, file in reversed(list(zip(targets, planned.files, strict=True))):
        if file.change == "gone":
            target.remove()
    for link in (link for name in names for link in placing.links_of(name, planned.wish, here)):
        link.unlink(missing_ok=True)
    problems += [_stopped(words, here) for words in after] if is_heard else []
    warnings = tuple(problem for problem in problems if problem)
    return planned._replace(
        ran=planned.to_run if is_heard else (),
        to_run=() if is_heard else after,
        warnings=(*planned.warnings, *warnings),
    )


def _stopped(words: tuple[str, ...], here: Here) -> str:
    try:
        problem = run_command(words, here.environ)
    except MemttlError as e:
        problem = e.message
    return f"`{' '.join(words)}` failed ({problem})" if problem else ""
