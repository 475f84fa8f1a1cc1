"""What is amiss with the place of a memory file that `memttl serve` is to serve, as `memttl discover` would tell it.

`serve_config.py` asks before it gives the piece of a config that names the file, `commands/serve.py` when it starts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memttl.setup.found import OWN, Machine, Pointer, Trouble
from memttl.setup.look import look_at
from memttl.setup.paths import Where
from memttl.setup.troubles import troubles_of

_IN_THE_WAY = ("no-folder", "unreadable", "foreign")


def place_words(memory: str, machine: Machine) -> Iterator[str]:
    """Yield each thing that is amiss with where a file lies, and the way out."""
    return map(_words, _troubles(memory, machine))


def words_in_the_way(memory: str, machine: Machine) -> Iterator[str]:
    """Yield, with the way out, what keeps a server from reading and writing a file; a missing one is none."""
    return (_words(trouble) for trouble in _troubles(memory, machine) if trouble.name in _IN_THE_WAY)


def _troubles(memory: str, machine: Machine) -> Iterator[Trouble]:
    path = Path(os.path.abspath(memory))
    will_point = Pointer("", path, (), None, None, server=OWN)
    for trouble in troubles_of(
        Where(path, str(path), None), look_at(path, counting=False), will_point, machine, only_own=True
    ):
        yield trouble._replace(problem=f"the memory file is {path}; {trouble.problem}")


def _words(trouble: Trouble) -> str:
    return f"{trouble.problem}. {trouble.remedy} {trouble.command}".rstrip()
