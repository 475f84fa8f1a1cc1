"""Links that led to a memory file before its move, and lead nowhere afterwards: the one that named it, earlier ones.

`workflow/move.py` asks. A link is never changed here: it may lie in a repository, or be made by another program.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from memttl.files.moving import moves_to
from memttl.files.state import state_of


def links_of(memory: Path, named: Path) -> tuple[Path, ...]:
    """Give the links that may lead to a memory file or its archive: how it is named, and what earlier moves left."""
    earlier = moves_to(state_of(memory).beside)
    places = [move.source for move in earlier] + [move.archive[0] for move in earlier if move.archive]
    found = (Path(os.path.abspath(named)), *map(Path, places))
    return tuple(dict.fromkeys(path for path in found if path.is_symlink()))


def dangling_words(links: tuple[Path, ...], new: Path) -> list[str]:
    """Say of each of these links that leads nowhere by now how it is mended."""
    return [
        f"the link {link} leads nowhere now, and a client that names it begins an empty memory: "
        f"`ln -sfn {shlex.quote(_target(link, new))} {shlex.quote(str(link))}` lets it lead on, "
        f"`rm {shlex.quote(str(link))}` removes it"
        for link in links
        if link.is_symlink() and not link.exists()
    ]


def _target(link: Path, new: Path) -> str:
    """An archive that went along has its own name at the new place."""
    own = new.with_name(Path(os.readlink(link)).name)
    return str(own if own.is_file() else new)
