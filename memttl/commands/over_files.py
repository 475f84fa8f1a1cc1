"""One use case over every memory file that is meant: each on its own, all reported, the highest exit code returned."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from memttl import trace
from memttl.commands.doubts import Changes, settle
from memttl.commands.options import Output, note
from memttl.commands.printing import can_ask, say
from memttl.commands.results import Faces, Results
from memttl.core.progress import Progress, no_progress
from memttl.errors import AS_IT_WAS, ExitCode, Interrupted, IsArchive, MemttlError, NoMemoryFile
from memttl.memory_files import memory_files, why_it_is_meant
from memttl.report.text import visible
from memttl.settings import Given, Settings, resolve

R = TypeVar("R")
Resolver = Callable[[str, Given, Mapping[str, str], datetime], Settings]


class _PassedOver(Exception):
    """An archive that a glob has met beside other files."""

    def __init__(self, error: IsArchive) -> None:
        super().__init__(error.message)
        self.error = error


def over_files(
    given: Given,
    output: Output,
    use_case: Callable[[Settings], R],
    faces: Faces,
    *,
    resolver: Resolver = resolve,
    kept_as: str = "",
    mends: bool = False,
    tells_failures: bool = True,
    changes: Changes = "nothing",
) -> ExitCode:
    """Do one use case for each memory file, print each result, and give the highest exit code.

    With several files an error of one does not stop the others, but for Ctrl-C, which stops before the next; with one
    it is raised for `cli.py` to print. `kept_as` is the command's name where the outcome of a run that nobody watches
    is to be kept; `mends`: once applied, what made them fail may be over. `tells_failures` is false where the results
    say themselves how such runs ended. An archive that a glob has met beside others is passed over where the use case
    refuses archives: it is no error that `*.jsonl` meets one. `changes` says whether the run may change something, and
    is asked about first.
    """
    names = _names(given, output, changes)
    met: dict[str, Path | None] = dict.fromkeys(names)  # each with the folder of its state, where that lies elsewhere
    with _telling(met, is_told=tells_failures and _is_watched(output)), _progress(output) as progress:

        def act(name: str) -> R:
            def use(settings: Settings) -> R:
                met[name] = settings.state_elsewhere
                return use_case(_noted(settings) if trace.is_heard() else settings)

            return _one(name, given, output, use, progress, resolver)

        kept = _kept(act, kept_as, given, faces, mends=mends)

        def result_of(name: str) -> R:
            try:
                return kept(name)
            except IsArchive as e:
                if len(names) > 1 and not _is_named(name, given):
                    raise _PassedOver(e) from None
                raise

        return _each(names, Results(len(names), output, faces), progress, result_of)


def _names(given: Given, output: Output, changes: Changes) -> list[str]:
    meant = memory_files(
        given,
        os.environ,
        tell=lambda words: note(words, output),
        doubt=lambda doubt: settle(doubt, output, changes),
    )
    names = _without_our_own(meant, given, output)
    if trace.is_heard():
        from memttl.commands.diagnostics import clear  # here: few runs are logged

        clear(names, given, os.environ)
    return names


def _without_our_own(names: list[str], given: Given, output: Output) -> list[str]:
    """Leave out what a glob has met of memttl's own, such as backups; all that it met is kept where there is no other.

    Somebody may want to read them, and what writes refuses them.
    """
    if len(names) < 2:
        return names
    from memttl.files.state import lies_in_state  # here: most runs are about one file

    others = [name for name in names if _is_named(name, given) or not lies_in_state(name)]
    if others and output.verbose and len(others) < len(names):
        say(f"memttl: passed over {len(names) - len(others)} of memttl's own files")
    return others or names


def _noted(settings: Settings) -> Settings:
    from memttl.commands.diagnostics import note_settings, noting_phases

    note_settings(settings)
    return settings._replace(progress=noting_phases(settings.progress))


def _is_named(name: str, given: Given) -> bool:
    """Say whether somebody has named this file, which a glob may have met as well."""
    texts = given.file or [os.environ.get("MEMTTL_FILE", "")]
    return os.path.realpath(name) in {os.path.realpath(os.path.expanduser(text)) for text in texts if text}


def _kept(act: Callable[[str], R], kept_as: str, given: Given, faces: Faces, *, mends: bool) -> Callable[[str], R]:
    if mends:
        from memttl.commands.keeping import mending

        return mending(act, given)
    if not kept_as:
        return act
    from memttl.commands.keeping import healing, keeping  # here: few runs are a timer's

    return (healing if can_ask() else keeping)(act, kept_as, given, faces)


def _is_watched(output: Output) -> bool:
    """Say whether a person reads what goes to stderr, and wants more than errors and documents."""
    is_screen = sys.stderr is not None and sys.stderr.isatty()
    return is_screen and can_ask() and not (output.quiet or output.json)


@contextmanager
def _telling(met: Mapping[str, Path | None], *, is_told: bool) -> Iterator[None]:
    """At the end, also where it fails, tell that runs which nobody watched have failed."""
    try:
        yield
    except Interrupted:
        raise  # who wants to be gone reads nothing more
    except MemttlError:
        _tell(met, is_told=is_told)
        raise
    _tell(met, is_told=is_told)


def _tell(met: Mapping[str, Path | None], *, is_told: bool) -> None:
    if is_told:
        from memttl.commands.telling import tell_failures  # here: a run in a pipe need not pay for it

        tell_failures(met.items())


def _progress(output: Output) -> AbstractContextManager[Progress]:
    if not output.shows_progress:
        return nullcontext(no_progress)
    from memttl.commands.progress import progress_bar  # here, so that a run in a pipe does not pay for it

    return progress_bar()


def _each(names: Sequence[str], results: Results, progress: Progress, result_of: Callable[[str], Any]) -> ExitCode:
    for name in names:
        try:
            result = result_of(name)
        except _PassedOver as e:
            results.pass_over(name, e.error)
        except MemttlError as e:
            if len(names) == 1:
                raise
            results.fail(name, e)
            if e.exit_code == ExitCode.INTERRUPTED:
                break
        else:
            progress("preparing the result", 0, None)
            results.add(name, result)
    return results.end()


def _one(
    name: str,
    given: Given,
    output: Output,
    use_case: Callable[[Settings], R],
    progress: Progress,
    resolver: Resolver,
) -> R:
    progress("reading", 0, None)
    settings = None
    try:
        settings = resolver(name, given, os.environ, datetime.now(UTC))._replace(progress=progress)
        if output.verbose:
            say(f"{visible(name)}: policy {visible(settings.policy.where)}, as of {settings.now.isoformat()}")
        return use_case(settings)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted; {AS_IT_WAS}.") from None
    except MemttlError as e:
        if name not in e.message:
            e.message = f"{name}: {e.message}"
        if isinstance(e, NoMemoryFile) and settings is not None:
            _tell_of_missing(e, settings, given)
        raise


def _tell_of_missing(error: NoMemoryFile, settings: Settings, given: Given) -> None:
    """Let the error say who points at the file, where a move took it, and how to get it back."""
    from memttl.core.moving import away_help, away_words  # here: a file is seldom missing
    from memttl.files.kept_backups import words_for_missing
    from memttl.setup.moved import moved_away

    error.message = f"{error.message} {why_it_is_meant(given, os.environ)}".rstrip()
    error.hint = words_for_missing(settings.memory, settings.state_elsewhere, settings.named) or error.hint
    move = moved_away(settings.memory, os.environ)
    if move is not None:
        error.message = f"{error.message.rstrip('.')}; {away_words(move)}."
        error.hint = away_help(move)
