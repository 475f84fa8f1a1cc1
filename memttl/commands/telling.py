"""Tell at a terminal that the runs which nobody watched have failed: a timer that fails for weeks must not be silent.

Called by `over_files.py` at the end of every command but `doctor`, which has it among its findings. It only reads.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from memttl.commands.printing import say
from memttl.core.failed_runs import failures
from memttl.core.findings import of_file
from memttl.errors import MemttlError
from memttl.files.outcomes import hindrance, read_outcomes
from memttl.files.state import state_of
from memttl.report.text import visible


def tell_failures(places: Iterable[tuple[str, Path | None]]) -> None:
    """Say of each memory file in one line a command that its last runs without a terminal failed; never fail.

    `places` are the files as named, each with the folder of its state where that lies elsewhere.
    """
    for named, elsewhere in places:
        with contextlib.suppress(MemttlError, OSError):
            state, doctor = state_of(Path(os.path.realpath(named)), elsewhere), of_file("doctor", named)
            why = hindrance(state)
            if why:
                say(
                    visible(f"memttl: {why}, so that no scheduled run can tell how it ended; {doctor} says what to do.")
                )
            for failed in failures(read_outcomes(state)):
                what_next = f"{doctor} says what to do."
                if failed.is_mended:
                    what_next = "something was mended since, and the next scheduled run will show."
                if not failed.is_slight:
                    say(visible(f"memttl: {failed.in_short}; {what_next}"))
