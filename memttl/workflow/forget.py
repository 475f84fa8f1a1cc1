"""The use case forget: gather from every place, count, show and ask twice, then erase under the lock, and search again.

`commands/forget.py` calls it for each memory file. A dry run ends with the count.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from memttl.core.forget_outcome import ForgetOutcome
from memttl.core.selection import Choice
from memttl.errors import NoMemoryFile
from memttl.files.archives_known import known_archives
from memttl.files.erasing import Erased, Erasing, erase
from memttl.files.erasing_places import Place
from memttl.files.forget_survey import Gathered, count, gather, refuse_nothing, remaining
from memttl.files.leftovers import unfinished
from memttl.files.state import State, state_of
from memttl.files.writing import Options
from memttl.settings import Settings


def forget(
    settings: Settings,
    choice: Choice,
    *,
    dry_run: bool = False,
    ask: Callable[[ForgetOutcome], bool] | None = None,
    options: Options = Options(),  # noqa: B008
) -> ForgetOutcome:
    """Show what a choice would erase for good, and unless it is a dry run, erase what `ask` approves (None: all of it).

    Raises:
        UnknownEntity: no place holds anything of it.
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    states, unsearched = _states(settings)
    settings.progress("reading", 0, None)
    gathered = gather(states, choice)
    counted = count(states, gathered.targets, states[0].memory.parent)
    refuse_nothing(choice, counted)
    planned = ForgetOutcome(
        settings.named,
        settings.now_here,
        tuple(sorted(gathered.targets.names)),
        gathered.observations,
        counted.places,
        counted.remaining,
        dry_run,
        warnings=(
            *settings.warnings,
            *unsearched,
            *(told for state in states for told in _named(states, state, unfinished(state))),
            *counted.warnings,
        ),
    )
    if dry_run:
        return planned
    if ask is not None and not ask(planned):
        return planned._replace(declined=True)
    return _erase(settings, states, gathered, planned, options)


def _states(settings: Settings) -> tuple[list[State], list[str]]:
    """Give the memory file's state and those of its archives, which are memory files, too; and what to warn of.

    Raises:
        NoMemoryFile: there is neither a file nor anything kept of one.
    """
    state = state_of(settings.memory, settings.state_elsewhere)
    if not any(map(os.path.lexists, (state.memory, state.kept, state.beside))):
        raise NoMemoryFile(
            f"There is no file {state.memory}, and memttl has kept nothing of it in {state.kept}.",
            hint="Name the memory file with --file.",
        )
    archives, told = known_archives(state, settings.policy.archive_path, settings.state_elsewhere)
    return [state, *archives], told


def _named(states: list[State], state: State, warnings: Iterable[str]) -> tuple[str, ...]:
    """Let each warning that is about an archive name it."""
    if state is states[0]:
        return tuple(warnings)
    name = Place(state.memory, "memory").name(states[0].memory.parent)
    return tuple(told if name in told else f"the archive {name}: {told}" for told in warnings)


def _erase(
    settings: Settings, states: list[State], gathered: Gathered, planned: ForgetOutcome, options: Options
) -> ForgetOutcome:
    """Erase from each file and its state; the memory file's own comes last, since its log says that all is done."""
    done = list[Erased]()
    for state in reversed(states):
        settings.progress("erasing", 0, None)
        of = states[0] if state is not states[0] else None
        erasing = Erasing(state, gathered.targets, settings.policy, settings.now, options, settings.progress, of)
        erased = erase(erasing)
        done.append(erased._replace(warnings=_named(states, state, erased.warnings)))
    settings.progress("searching", 0, None)
    warnings = dict.fromkeys((*planned.warnings, *(told for erased in done for told in erased.warnings)))
    return planned._replace(
        places=tuple(place for erased in reversed(done) for place in erased.places),
        remaining=remaining(states, gathered.targets.mentions, states[0].memory.parent),
        applied=any(erased.applied for erased in done),
        run=done[-1].run,
        warnings=tuple(warnings),
    )
