"""The policy that is in force for a command that needs no memory file, and what such a command must not write over.

The `memttl policy` commands share it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memttl.commands.options import Output, note, tell, warn
from memttl.errors import NoMemoryFile, UsageError

if TYPE_CHECKING:  # imported in the functions: `memttl --help` must not pay for them
    from memttl.core.policy import Policy
    from memttl.settings import Given


def named_files(given: Given, output: Output) -> list[str]:
    """Give the memory files that are named, or the one that the MCP clients use, if any; no command here needs one.

    Raises:
        NoMemoryFile, UsageError: what is wrong with `--file`.
    """
    from memttl.memory_files import memory_files

    try:
        return memory_files(given, os.environ, tell=lambda text: note(text, output))
    except NoMemoryFile:
        if given.file:
            raise
    except UsageError:  # several are used, or MEMORY_FILE_PATH is relative
        if given.file:
            raise
        warn(["which memory file is meant is not clear, so no policy beside one was read; give --file"], output)
    return []


def policy_in_force(given: Given, named: Sequence[str]) -> Policy:
    """Find the policy; where memory files are named or used, the one beside the first does.

    Raises:
        BadPolicy: it cannot be read or is not valid.
        UsageError: `--now` cannot be read.
    """
    from memttl.policies import POLICY_BESIDE, find_policy
    from memttl.settings import read_now

    found = find_policy(named[0] if named else None, given.policy, os.environ)
    if given.now is not None:
        read_now(given.now, found)
    if not named and os.path.lexists(POLICY_BESIDE) and found.where != POLICY_BESIDE:
        tell([f"no memory file is named, so the {POLICY_BESIDE} in this folder was not read; name it, or give --file"])
    return found


def protected(given: Given, named: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Give the files and folders that memttl reads and keeps, as far as anything names them."""
    from memttl.policies import POLICY_BESIDE, own_policy
    from memttl.settings import surroundings

    policies = [given.policy, os.environ.get("MEMTTL_POLICY"), POLICY_BESIDE, own_policy()]
    files, folders = [Path(os.path.expanduser(p)) for p in policies if p], list[Path]()
    for name in named:
        more_files, more_folders = surroundings(name, given, os.environ)
        files, folders = files + more_files, folders + more_folders
    return files, folders
