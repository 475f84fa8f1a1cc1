"""Keep how each run ended that nobody watched, so that a timer that fails for weeks is not silent.

Called by `over_files.py` for `prune` and `scan` without a terminal; `memttl doctor` tells it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from memttl.errors import ExitCode, IsArchive, MemttlError
from memttl.files.outcomes import keep_outcome
from memttl.files.state import state_of
from memttl.settings import Given, resolve_anyway

if TYPE_CHECKING:
    from memttl.commands.over_files import Faces

R = TypeVar("R")


def keeping(result_of: Callable[[str], R], command: str, given: Given, faces: Faces) -> Callable[[str], R]:
    """Give the same act on one memory file, by name, which also keeps its exit code and the first line of its error."""

    def act(name: str) -> R:
        try:
            result = result_of(name)
        except IsArchive:
            raise  # an archive has no runs; a timer's glob meets it every time
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


def _keep(name: str, given: Given, command: str, code: ExitCode, message: str) -> None:
    with contextlib.suppress(MemttlError, OSError):
        settings = resolve_anyway(name, given._replace(now=None), os.environ, datetime.now(UTC))
        state = state_of(settings.memory, settings.state_elsewhere)
        keep_outcome(state, command=command, code=code, message=message)
