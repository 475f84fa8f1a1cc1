"""The machine's own time zone by its IANA name, as far as the system tells it. `memttl init` asks.

Python knows the offset of the local time, but no name for it; these are the places where systems keep the name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from memttl.core.zones import read_zone

_LONGEST_NAME = 100


def system_timezone(environ: Mapping[str, str], root: Path = Path("/")) -> str | None:
    """Give the IANA name of the system's time zone, None where it is told nowhere: TZ, /etc/localtime, /etc/timezone.

    A TZ that is set and names no zone of ours ("CET-1CEST") decides, too: then there is no name.
    """
    if environ.get("TZ"):
        return _known(_in_zoneinfo(environ["TZ"].removeprefix(":")))
    return next((name for text in _told(root) if (name := _known(text))), None)


def _told(root: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):  # no link; Windows
        # the link's own words: what it leads to may itself be a link to a zone of another name
        yield _in_zoneinfo(os.readlink(root / "etc/localtime"))
    with contextlib.suppress(OSError):
        yield (root / "etc/timezone").read_text(encoding="utf-8", errors="replace")[:_LONGEST_NAME].strip()


def _in_zoneinfo(path: str) -> str:
    """Give the part of a path behind `zoneinfo/`, without the folders of other counts of leap seconds."""
    name = path.rpartition("zoneinfo/")[2] if "zoneinfo/" in path else path
    return name.removeprefix("posix/").removeprefix("right/")


def _known(name: str) -> str | None:
    """Give the name if it is that of a zone."""
    if not name or name.startswith(("/", ".")):
        return None
    try:
        read_zone(name)
    except ValueError:
        return None
    return name
