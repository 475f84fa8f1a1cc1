"""The clean-up of `memttl serve --prune-every`: a prune at the start and every so many hours, as a timer would do it.

`serve.py` runs it beside the calls. Limits hold, and whatever comes of it is one line for the log and for `doctor`; it
never stops the server.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

from memttl.core.durations import BadDuration, parse_duration
from memttl.core.oddities import SHOWN
from memttl.core.outcome import PruneOutcome
from memttl.core.wording import plural
from memttl.errors import ExitCode, MemttlError, UsageError
from memttl.files.outcomes import keep_outcome
from memttl.server.writer import Writer
from memttl.workflow.prune import Request, prune
from memttl.workflow.serving import Serving

_LEAST_S = 60.0
_HOUR_S = 3600.0
_FIRST_S = 1.0  # the first calls of a client are not to wait for it


def every_of(text: str) -> float:
    """Read `--prune-every`: hours as a number, or a duration; give seconds.

    Raises:
        UsageError: it cannot be read, or is shorter than a minute.
    """
    hint = "Give hours, such as 6 or 0.5, or a duration such as 12h or 1d."
    try:
        seconds = float(text) * _HOUR_S
    except ValueError:
        try:
            seconds = parse_duration(text).approximate_hours() * _HOUR_S
        except BadDuration:  # whose words take a bare number for days
            raise UsageError(f"--prune-every {text!r} cannot be read; nothing was done.", hint=hint) from None
    if not _LEAST_S <= seconds < float("inf"):
        raise UsageError(f"--prune-every {text!r} is less than a minute, or endless; nothing was done.", hint=hint)
    return seconds


async def clean_up(
    serving: Serving,
    writer: Writer,
    every_s: float,
    *,
    first_s: float = _FIRST_S,
    changed: Callable[[], Awaitable[None]],
    say: Callable[[str], None],
) -> None:
    """Prune soon and every so many seconds, until it is cancelled; `changed` is called where something was removed."""
    await asyncio.sleep(first_s)
    while True:
        try:
            if await writer.run(lambda: _pruned(serving, say)):
                await changed()
        except MemttlError as e:  # what the writer did not reckon with
            say(_failed(e.message))
        await _sleep(every_s)


async def _sleep(seconds: float) -> None:
    """Wait so long by either clock: the one stands still while the machine sleeps, the other one may be set."""
    begun, begun_by_day = time.monotonic(), time.time()
    while (rest := seconds - max(time.monotonic() - begun, time.time() - begun_by_day)) > 0:
        await asyncio.sleep(min(rest, _LEAST_S))


def _pruned(serving: Serving, say: Callable[[str], None]) -> int:
    """Prune once; give how many observations went."""
    try:
        outcome = _outcome(serving)
    except MemttlError as e:  # a policy that cannot be read may be mended by the next time
        say(_failed(e.message))
        _keep(serving, e.exit_code, e.message)
        return 0
    except OSError as e:  # the file went away meanwhile
        say(_failed(f"{e.filename or serving.state.memory}: {e.strerror or e}"))
        _keep(serving, ExitCode.CANNOT_CREATE, str(e))
        return 0
    if outcome is None:
        return 0
    say(_words(outcome))
    _keep(serving, outcome.exit_code, "; ".join(outcome.plan.refusals))
    return outcome.plan.counts.removed if outcome.applied else 0


def _outcome(serving: Serving) -> PruneOutcome | None:
    """Prune; None where there is no file, which is an empty memory."""
    serving.record()
    settings = serving.resolve()
    if settings.bad_policy is not None:
        raise settings.bad_policy.with_traceback(None)
    return prune(settings, Request()) if os.path.lexists(settings.memory) else None


def _keep(serving: Serving, code: ExitCode, message: str) -> None:
    keep_outcome(serving.state, command="prune", code=code, message=message)


def _failed(message: str) -> str:
    """Say in one line why it failed: what a command prints below its first line names the place."""
    first, *rest = message.split("\n")
    more = f" {'; '.join(map(str.strip, rest[:SHOWN]))}" if rest else ""
    return f"clean-up failed: {first}{more}"


def _words(outcome: PruneOutcome) -> str:
    counts = outcome.plan.counts
    if outcome.plan.refusals:
        return f"clean-up refused, and nothing was removed: {'; '.join(outcome.plan.refusals)}"
    of_all = f"{counts.removed} of {plural(counts.observations, 'observation')}"
    run = f" (run {outcome.run}; `memttl undo {outcome.run}` puts it back)" if outcome.run else ""
    return f"clean-up: removed {of_all}{run}"
