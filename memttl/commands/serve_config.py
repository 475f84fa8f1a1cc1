"""`memttl serve --print-config CLIENT`: the piece of a client's config on stdout, and on stderr where it goes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memttl.commands.printing import put, say
from memttl.report.text import visible

if TYPE_CHECKING:
    from memttl.settings import Given


def print_config(word: str, given: Given, *, options: Sequence[str] = ()) -> None:
    """Print what starts `memttl serve` on the memory file that is meant; `options` are further words for it.

    Raises:
        UsageError: no client has that name, several files are meant, or a path cannot be written into a config.
        MemttlError: no file is meant, or the policy is not valid.
    """
    from memttl.memory_files import memory_files, only_one
    from memttl.policies import find_policy
    from memttl.report.serve_config import config_words
    from memttl.setup.discover import discover, this_machine
    from memttl.setup.here import this_installation
    from memttl.setup.serve_config import client_of, config_for

    client, machine = client_of(word), this_machine(os.environ)
    names = memory_files(given, os.environ, tell=_tell_file, doubt=lambda doubt: _warn(doubt.why))
    memory = only_one(names)
    if given.policy:
        find_policy(None, given.policy, os.environ)
    here, discovery = this_installation(os.environ), discover(machine, counting=False)
    piece = config_for(client, memory, discovery, machine, here, policy=given.policy, options=options)
    above, below = config_words(piece, home=str(machine.home))
    for warning in piece.warnings:
        _warn(warning)
    for line in above:
        say(line)
    put(piece.snippet)
    for line in below:
        say(line)


def _tell_file(words: str) -> None:
    say(f"memttl: the memory file is {visible(words)}")


def _warn(words: str) -> None:
    say(f"warning: {visible(words)}")
