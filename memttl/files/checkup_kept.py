"""What earlier runs kept of a memory file into words of help: the backups, and the newest that is not empty.

Called by `workflow/doctor.py` where the file is missing, empty, or most of it is gone. Nothing is written.
"""

from __future__ import annotations

import contextlib
import shlex
from datetime import datetime

from memttl.core.findings import of_file
from memttl.core.memory import parse_line
from memttl.core.wording import instant_text
from memttl.errors import MemttlError
from memttl.files.backups import list_backups, open_backup
from memttl.files.checkup import Place


def help_by_backups(place: Place) -> str:
    """Name the commands that list the backups and put the newest that is not empty back; "" where there is none."""
    found = _newest(place)
    if found is None:
        return ""
    listed = f"{of_file('backups list', place.named)} lists what earlier runs kept"
    at, run = found
    if not run:
        return f"{listed}."
    if not place.memory.parent.is_dir():
        show = f"memttl backups show {run} --raw --file {shlex.quote(place.named)} > NEW"
        return f"{listed}; `{show}` writes the newest that is not empty, of {instant_text(at)}, into the file NEW."
    restore = of_file(f"backups restore {run}", place.named)
    return f"{listed}; {restore} puts the newest that is not empty back, of {instant_text(at)}."


def help_for_missing(place: Place) -> str:
    """Say what helps where there is no memory file."""
    kept = help_by_backups(place)
    if kept:
        return kept
    if not place.memory.parent.is_dir():
        return f"There is no folder {place.memory.parent} either: name the memory file with `--file`."
    return "Name the memory file with `--file`; the memory server makes a missing one at its first write."


def _newest(place: Place) -> tuple[datetime, str] | None:
    """Give instant and run of the newest backup that holds an entity, no run where none does; None without backups."""
    try:
        backups = list_backups(place.state.backups)
    except OSError:
        return None
    for at, run, path in reversed(backups):
        with contextlib.suppress(MemttlError), open_backup(path) as f:
            if any(parse_line(raw.rstrip(b"\n"), 1).kind == "entity" for raw in f):
                return at, run
    return (backups[-1][0], "") if backups else None
