"""The variables from which libraries and programs that memttl runs read the home, made such that all read the same.

`cli.py` calls it before anything else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

from memttl.setup.home import home_of

_FOLDERS = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")


def settle_home(environ: MutableMapping[str, str]) -> None:
    """Put the account's home in place of a HOME that is unset, empty or relative; take relative XDG folders away.

    The XDG specification has such folders ignored.
    """
    if sys.platform != "win32" and not os.path.isabs(environ.get("HOME", "")):
        environ["HOME"] = home_of(environ)
    for name in _FOLDERS:
        if not os.path.isabs(environ.get(name, "/")):
            del environ[name]
