"""The user's home folder, one for all: what is looked for, what is said and what is written lie in the same.

`commands/home.py` settles it for the whole process; `discover.py` and `here.py` ask for that of their environment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def home_of(environ: Mapping[str, str]) -> str:
    """Give the home: HOME (on Windows USERPROFILE), unless it is unset, empty or relative; then that of the account.

    A relative one would be another folder wherever one stands. Who has no account at all has `/`, as in containers.
    """
    told = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
    if os.path.isabs(told):
        return told
    if sys.platform == "win32":
        return os.path.expanduser("~")
    import pwd  # here: nearly everybody's is set

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"
    return home if os.path.isabs(home) else "/"
