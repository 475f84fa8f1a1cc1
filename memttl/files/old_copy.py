"""An old copy of the memory file, read as one version of it: what `memttl backfill --from` lets the births be found in.

It is dated by the caller, else by the file's own mtime, which a plain `cp` sets anew: hence `--date`.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from memttl.core.history import Version, instant_of
from memttl.errors import NoMemoryFile
from memttl.files.backups import PACKED, read_backup
from memttl.files.snapshot import read_once


def copy_version(path: Path, when: datetime | None = None) -> Version:
    """Read the old copy at `path` (links followed), dated `when` (aware), else by its mtime.

    Raises:
        NoMemoryFile: nothing is there, or no regular file.
        NoPermission: it may not be read.
        TryAgain: it changed under each of many readings.
        CannotCreate: it is compressed, and damaged.
    """
    real = Path(os.path.realpath(path))
    try:
        snapshot = read_once(real)
    except NoMemoryFile as e:
        raise NoMemoryFile(e.message, hint="Name an old copy of the memory file behind --from.") from None
    seconds, nanoseconds = divmod(snapshot.stat.st_mtime_ns, 10**9)
    dated = when or instant_of(seconds, microseconds=nanoseconds // 1000)
    data = read_backup(real) if real.suffix == PACKED else snapshot.data  # an old backup is compressed
    return Version(dated, str(path), data)
