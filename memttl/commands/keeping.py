"""Keep how each run ended that nobody watched, so that a timer that fails for weeks is not silent.

Called by `over_files.py` for `prune` and `scan`; `memttl doctor` tells it, and `telling.py` at a terminal. Of the runs
at a terminal one is kept that works where the ones that nobody watched had failed: what was amiss is over then.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from memttl.commands.ending import ended_by_sigterm
from memttl.core.failed_runs import MENDED, failures
from memttl.errors import ExitCode, Interrupted, IsArchive, MemttlError
from memttl.files.outcomes import keep_outcome, read_outcomes
from memttl.files.state import State, state_of
from memttl.memory_files import memory_files, refuse_doubt
from memttl.settings import Given, resolve_anyway

if TYPE_CHECKING:
    from memttl.commands.results import Faces

R = TypeVar("R")
_INTERRUPTED = "interrupted"
_TERMINATED = "ended by a signal (SIGTERM), as when it takes longer than its timer allows"


def keeping(result_of: Callable[[str], R], command: str, given: Given, faces: Faces) -> Callable[[str], R]:
    """Give the same act on one memory file, by name, which also keeps its exit code and the first line of its error."""

    def act(name: str) -> R:
        try:
            with ended_by_sigterm() as signals:
                result = result_of(name)
        except KeyboardInterrupt:  # outside of all that has words for it
            _keep(name, given, command, ExitCode.INTERRUPTED, _INTERRUPTED)
            raise
        except IsArchive:
            raise  # an archive has no runs; a timer's glob meets it every time
        except Interrupted as e:
            _keep(name, given, command, e.exit_code, _TERMINATED if signals else e.message)
            raise
        except MemttlError as e:
            _keep(name, given, command, e.exit_code, e.message)
            raise
        except OSError as e:
            _keep(name, given, command, ExitCode.CANNOT_CREATE, f"{e.filename or name}: {e.strerror or e}")
            raise
        code = faces.code(result)
        # a document of many removals costs time, so only where it says why not
        why = "; ".join(faces.document(result)["refusals"]) if code == ExitCode.LIMIT else ""
        _keep(name, given, command, code, why)
        return result

    return act


def healing(result_of: Callable[[str], R], command: str, given: Given, faces: Faces) -> Callable[[str], R]:
    """Give the same act of somebody at a terminal: where it works, earlier failures of the command are told no more."""

    def act(name: str) -> R:
        result = result_of(name)
        if faces.code(result) == ExitCode.OK and not getattr(result, "declined", False):
            _heal(name, given, command)
        return result

    return act


def mending(result_of: Callable[[str], R], given: Given) -> Callable[[str], R]:
    """Give the same act of a command that mends, which also notes after failed runs that it was applied."""

    def act(name: str) -> R:
        result = result_of(name)
        if getattr(result, "applied", False):
            with contextlib.suppress(MemttlError, OSError):
                state = _state(name, given)
                if any(failures(read_outcomes(state))):
                    keep_outcome(state, command=MENDED, code=ExitCode.OK)
        return result

    return act


def keep_refusal(command: str, given: Given, error: MemttlError) -> None:
    """Keep that a run was refused before it looked at any memory file: a timer that lacks `--yes`, say. Never fail."""
    with contextlib.suppress(MemttlError, OSError):
        for name in memory_files(given, os.environ, doubt=refuse_doubt):
            _keep(name, given, command, error.exit_code, f"{error.message} {error.hint}".strip())


def _heal(name: str, given: Given, command: str) -> None:
    with contextlib.suppress(MemttlError, OSError):
        state = _state(name, given)
        if any(failed.command == command for failed in failures(read_outcomes(state))):
            keep_outcome(state, command=command, code=ExitCode.OK)


def _keep(name: str, given: Given, command: str, code: ExitCode, message: str) -> None:
    with contextlib.suppress(MemttlError, OSError):
        keep_outcome(_state(name, given), command=command, code=code, message=message)


def _state(name: str, given: Given) -> State:
    settings = resolve_anyway(name, given._replace(now=None), os.environ, datetime.now(UTC))
    return state_of(settings.memory, settings.state_elsewhere)
