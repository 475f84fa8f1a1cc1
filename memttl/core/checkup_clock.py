"""The clock against what earlier runs noted: one that runs behind would make births that lie. Pure.

Called by `workflow/doctor.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from memttl.core.clock import check_clock, check_stamp
from memttl.core.findings import Finding
from memttl.core.wording import instant_text
from memttl.errors import ClockBehind

_TOLERANCE = timedelta(minutes=1)
_HELP = (
    "Set the clock (`timedatectl`, or give a later `--now`); where the clock is right, `memttl doctor --repair` lowers "
    "what lies after it."
)


def check_clocks(
    now: datetime, clock: datetime, newest_stamp: datetime | None, newest_run: datetime | None
) -> Iterator[Finding]:
    """Compare `now` and the machine's `clock` with the newest stamp of the ledger, and with the last run.

    A run of a day and more after `now` makes prune and scan refuse where the ledger has its stamp.
    """
    newest = max((moment for moment in (newest_stamp, newest_run) if moment), default=None)
    try:
        check_stamp(min(now, clock))
        check_clock(now, newest)
    except ClockBehind as e:
        if newest is not None and newest != newest_stamp:
            what = f"it is {instant_text(now)}, but the last run was at {instant_text(newest)}: the clock runs behind"
        else:
            what = e.message.partition(";")[0].rstrip(".")
        yield Finding("error", "clock-behind", f"{what}; births noted now would lie", _HELP)
        return
    if newest_stamp is not None and newest_stamp - clock > _TOLERANCE:
        what = f"the ledger holds sightings of {instant_text(newest_stamp)}, after the clock, {instant_text(clock)}"
        yield Finding("warning", "stamps-after-clock", f"{what}: it was set back", _HELP)
