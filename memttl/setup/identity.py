"""When are two paths one file? Links, and the spellings that Windows and macOS take for the same.

`discover.py` groups by it what several configs name.
"""

from __future__ import annotations

import ntpath
import os
from pathlib import Path

from memttl.setup.found import System


def identity(path: Path, system: System) -> tuple[object, ...]:
    """Give what is equal for two names of one file, also where nothing lies there yet."""
    try:
        found = os.stat(path)
        if found.st_ino:  # some network drives of Windows give none
            return found.st_dev, found.st_ino
    except (OSError, ValueError):  # not there; no name of a file
        pass
    return (_spelled(path, system),)


def _spelled(path: Path, system: System) -> str:
    if system == "windows":
        return ntpath.normcase(ntpath.normpath(path))  # C:/a and c:\A are one file
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        real = str(path)
    return real.casefold() if system == "macos" else real
