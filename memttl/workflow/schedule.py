"""The use case schedule: print, install or remove what runs memttl on one memory file every so often.

`commands/schedule.py` calls it for each memory file, and `commands/init.py` at the end of the first steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from memttl.core.schedule import Kind, Wish
from memttl.core.schedule_outcome import ScheduleOutcome
from memttl.settings import Settings


def install(
    settings: Settings,
    wish: Wish,
    *,
    dry_run: bool = False,
    ask: Callable[[ScheduleOutcome], bool] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ScheduleOutcome:
    """Install the schedule of one memory file, or bring it up to date; `ask` None: it is approved beforehand.

    Raises:
        MemttlError: one of SPEC's exit codes says what was not done.
    """
    raise NotImplementedError


def default_kind(environ: Mapping[str, str] = os.environ) -> Kind:
    """Give the scheduler that this machine has: systemd where it runs, launchd, Task Scheduler, else cron."""
    raise NotImplementedError
