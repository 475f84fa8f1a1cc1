"""What lies at a path that a client points at: how large, how old, how much is in it, and whether it is a memory file.

`discover.py` calls it for each path; it waits for nothing and changes nothing.
"""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """What lies at a path. The counts are None where it was not read, `foreign` says what it is instead."""

    exists: bool
    is_link: bool = False
    size_bytes: int | None = None
    changed: datetime | None = None
    entities: int | None = None
    observations: int | None = None
    malformed: int = 0
    has_bom: bool = False
    foreign: str = ""
    problem: str = ""


def look_at(path: Path, *, counting: bool) -> Seen:
    """Look at a path; with `counting` also into the file."""
    is_link = os.path.islink(path)
    try:
        found = os.stat(path)
    except PermissionError:
        return Seen(exists=False, problem="may not be looked at")
    except (OSError, ValueError):
        return Seen(exists=False, is_link=is_link)
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        return Seen(exists=True, is_link=is_link, foreign=f"is {kind}")
    seen = Seen(
        exists=True, is_link=is_link, size_bytes=found.st_size, changed=datetime.fromtimestamp(found.st_mtime, UTC)
    )
    return _counted(path, seen) if counting else seen


def _counted(path: Path, seen: Seen) -> Seen:
    from memttl.core.foreign import Census, foreign_shape  # here: a look without counts needs no JSON reader
    from memttl.core.memory import BOM, read_lines
    from memttl.setup.configs import read_small

    try:
        data = read_small(path, 1 << 40)
    except PermissionError:
        return seen._replace(problem="may not be read")
    except (OSError, ValueError) as e:
        return seen._replace(problem=f"cannot be read ({e})")
    census, entities, observations, malformed = Census(), 0, 0, 0
    for line in read_lines(data):
        census.add(line)
        malformed += line.kind == "malformed"
        if line.kind == "entity":
            entities += 1
            inside = line.record.get("observations") if line.record else None
            observations += len(inside) if isinstance(inside, list) else 0
    foreign = foreign_shape(data, census, malformed=bool(malformed)) if data else None
    if foreign:
        return seen._replace(foreign=foreign[0], malformed=malformed)
    return seen._replace(
        entities=entities, observations=observations, malformed=malformed, has_bom=data.startswith(BOM)
    )
