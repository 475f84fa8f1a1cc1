"""Whether this installation has what `memttl serve` needs besides memttl itself, and the command that installs it.

`commands/serve.py` refuses with it, and a printed config warns of it.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shlex
import sys

from memttl.setup.this_install import installed

REQUIREMENT = "mcp>=2"  # as the extra in pyproject.toml has it
_LOWEST = 2


def extra_problem() -> str:
    """Say what is amiss with the extra, as a clause; "" where it is there."""
    try:
        version = importlib.metadata.version("mcp")
    except importlib.metadata.PackageNotFoundError:
        return "the extra `mcp`, which `memttl serve` needs, is not installed"
    first = version.partition(".")[0]
    if first.isdecimal() and int(first) < _LOWEST:
        return f"the package mcp is installed as {version}, and `memttl serve` needs {_LOWEST} or newer"
    return ""


def extra_command() -> str:
    """Give the command that installs the extra into the environment in which this memttl lies."""
    tool = installed().rpartition(" by ")[2]
    if tool == "pipx":
        words = ["pipx", "inject", "--force", "memttl", REQUIREMENT]  # --force: also over an older one
    elif tool in ("uv tool", "uvx") or importlib.util.find_spec("pip") is None:
        words = ["uv", "pip", "install", "--python", sys.executable, REQUIREMENT]
    else:
        words = [sys.executable, "-m", "pip", "install", REQUIREMENT]
    return shlex.join(words)
