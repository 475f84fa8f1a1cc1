"""A schedule as a property list for launchd, which runs such jobs on macOS.

`workflow/schedule.py` installs or prints it; launchd.plist(5) says what each key means.
"""

from __future__ import annotations

import plistlib
from pathlib import Path
from typing import Any

from memttl.core.schedule import MARK, Job, Times, times_of


def property_list(job: Job, logs: Path) -> str:
    """Give the text of the list; errors go to a file in `logs`, since launchd itself keeps none.

    Raises:
        UsageError: launchd cannot do it so often exactly.
    """
    text = plistlib.dumps(_keys(job, logs), sort_keys=False).decode()
    head, line, rest = text.partition("<plist")
    return f"{head}<!-- {MARK} -->\n{line}{rest}"


def _keys(job: Job, logs: Path) -> dict[str, Any]:
    keys: dict[str, Any] = {"Label": job.name, "ProgramArguments": list(job.words)}
    if job.environment:
        keys["EnvironmentVariables"] = dict(job.environment)
    keys |= _when(times_of("launchd", job.wish.cadence), job.spread)
    keys |= {"RunAtLoad": False, "ProcessType": "Background", "LowPriorityIO": True, "Nice": 19, "Umask": 0o077}
    if job.user:
        return keys | {"UserName": job.user, "GroupName": job.group}
    return keys | {"StandardErrorPath": str(logs / "memttl.log")}


def _when(times: Times, spread: int) -> dict[str, Any]:
    """Give the times; one that was slept through comes at the next waking (only StartCalendarInterval does that)."""
    if times.unit in ("minute", "hour"):
        return {"StartInterval": times.n * (60 if times.unit == "minute" else 3600)}
    at = {"Hour": 3, "Minute": spread % 60}
    if times.unit == "day":
        return {"StartCalendarInterval": at}
    if times.unit == "week":
        return {"StartCalendarInterval": {"Weekday": spread % 7, **at}}
    at = {"Day": 1 + spread % 28, **at}
    if times.n == 1:
        return {"StartCalendarInterval": at}
    return {"StartCalendarInterval": [{"Month": month, **at} for month in range(1, 13, times.n)]}
