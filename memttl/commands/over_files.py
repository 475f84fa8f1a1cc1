"""One use case over every memory file that is meant: each on its own, all reported, the highest exit code returned."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memttl import trace
from memttl.commands.doubts import Changes, settle
from memttl.commands.options import Output, say_error
from memttl.commands.printing import can_ask, put, say
from memttl.core.progress import Progress, no_progress
from memttl.errors import AS_IT_WAS, CannotPrint, ExitCode, Interrupted, IsArchive, MemttlError, NoMemoryFile
from memttl.memory_files import memory_files, why_it_is_meant
from memttl.report.documents import SCHEMA, error_document, of_files, to_text
from memttl.report.text import visible
from memttl.settings import Given, Settings, resolve

R = TypeVar("R")
Resolver = Callable[[str, Given, Mapping[str, str], datetime], Settings]


class Faces(NamedTuple):
    """How one kind of result is shown: as an exit code, as a document, and on stdout.

    `show_all` shows those of all files together, where a format is one result whatever the number of files; it is
    called with `--quiet` too. `emit` takes the document of `--json`, where that does not go to stdout. Both are told
    whether all files gave a result. `in_short` gives what `--quiet` says on stderr where the code is not 0. `sums`
    gives what the results of several files come to, for the line that is printed last; None for a command without one.
    """

    code: Callable[[Any], ExitCode]
    document: Callable[[Any], dict[str, Any]]
    show: Callable[[Any], None] = lambda _: None
    show_all: Callable[[list[Any], bool], None] = lambda _results, _complete: None
    emit: Callable[[str, bool], None] = lambda text, _complete: put(text)
    in_short: Callable[[Any], str] | None = None
    sums: Callable[[list[Any]], str] | None = None


def no_sums(_results: Sequence[object]) -> str:
    """Say of several files no more than how many were done: for `Faces.sums`."""
    return ""


class _PassedOver(NamedTuple):
    name: str
    error: IsArchive


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
    say themselves how such runs ended. An archive that a
    glob has met beside others is passed over where the use case refuses archives: it is no error that `*.jsonl` meets
    one. `changes` says whether the run may change something, and is asked about first.
    """
    names = _without_our_own(
        memory_files(
            given,
            os.environ,
            tell=lambda words: _say_which(words, output),
            doubt=lambda doubt: settle(doubt, output, changes),
        ),
        given,
        output,
    )
    if trace.is_heard():
        from memttl.commands.diagnostics import clear  # here: few runs are logged

        clear(names, given, os.environ)
    met: dict[str, Path | None] = dict.fromkeys(names)  # each with the folder of its state, where that lies elsewhere
    with _telling(met, is_told=tells_failures and _is_watched(output)), _progress(output) as progress:

        def act(name: str) -> R:
            def use(settings: Settings) -> R:
                met[name] = settings.state_elsewhere
                return use_case(_noted(settings) if trace.is_heard() else settings)

            return _one(name, given, output, use, progress, resolver)

        kept = _kept(act, kept_as, given, faces, mends=mends)

        def result_of(name: str) -> R | _PassedOver:
            try:
                return kept(name)
            except IsArchive as e:
                if len(names) > 1 and not _is_named(name, given):
                    return _PassedOver(name, e)
                raise

        return _each(names, output, faces, progress, result_of)


def _say_which(words: str, output: Output) -> None:
    """Say which memory file was looked up; the document of --json names it as its `file`."""
    if not (output.quiet or output.json):
        say(f"memttl: {visible(words)}")


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


def _each(
    names: Sequence[str], output: Output, faces: Faces, progress: Progress, result_of: Callable[[str], Any]
) -> ExitCode:
    codes: list[ExitCode] = []
    documents: list[dict[str, Any]] = []
    results: list[Any] = []
    passed: list[_PassedOver] = []
    for name in names:
        try:
            result = result_of(name)
        except MemttlError as e:
            if len(names) == 1:
                raise
            codes.append(e.exit_code)
            documents.append({**error_document(e), "file": name})
            if trace.is_heard():
                from memttl.commands.diagnostics import note_error

                note_error(e)
            if not output.json:
                say_error(e)
            if e.exit_code == ExitCode.INTERRUPTED:
                break
            continue
        if isinstance(result, _PassedOver):
            passed.append(result)
            documents.append({"schema": SCHEMA, "file": name, "skipped": result.error.message})
            if not (output.json or output.quiet):
                say(f"memttl: passed over: {visible(result.error.message)}")
            continue
        progress("preparing the result", 0, None)
        results.append(result)
        codes.append(faces.code(result))
        documents.append(faces.document(result))
        if trace.is_heard():
            from memttl.commands.diagnostics import note_result

            note_result(name, codes[-1], documents[-1])
        if not (output.json or output.quiet):
            _print(partial(faces.show, result), documents[-1:])
        elif output.quiet and not output.json and codes[-1] and faces.in_short:
            say(f"memttl: {faces.in_short(result)}")
        elif output.quiet and not output.json and codes[-1] == ExitCode.LIMIT:
            say("\n".join(f"memttl: {visible(name)}: {visible(r)}" for r in documents[-1]["refusals"]))
    if not codes:
        raise passed[0].error  # nothing but archives
    is_complete = len(results) + len(passed) == len(names)
    if output.json:
        _print(lambda: faces.emit(to_text(of_files(documents)), is_complete), documents)
    elif results:
        _print(lambda: faces.show_all(results, is_complete), documents)
    if faces.sums is not None and len(names) > 1 and not (output.json or output.quiet):
        from memttl.report.several import summary  # here: most runs are about one file

        text = summary(len(names), codes, passed_over=len(passed), sums=faces.sums(results))
        _print(partial(put, text), documents)
    return max(codes)


def _print(show: Callable[[], None], documents: list[dict[str, Any]]) -> None:
    """Print a result; where that fails, the error must still say whether a memory file was written."""
    applied = any(document.get("applied") for document in documents)
    try:
        show()
    except KeyboardInterrupt:
        raise Interrupted("Interrupted while the result was printed.", applied=applied) from None
    except CannotPrint as e:
        e.applied = applied
        raise


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
            e.message = f"{e.message} {why_it_is_meant(given, os.environ)}".rstrip()
            from memttl.files.kept_backups import words_for_missing  # here: a file is seldom missing

            e.hint = words_for_missing(settings.memory, settings.state_elsewhere, settings.named) or e.hint
            from memttl.core.moving import away_help, away_words
            from memttl.setup.moved import moved_away

            move = moved_away(settings.memory, os.environ)
            if move is not None:
                e.message = f"{e.message.rstrip('.')}; {away_words(move)}."
                e.hint = away_help(move)
        raise
