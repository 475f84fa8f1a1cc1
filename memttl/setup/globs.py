"""A glob into the files that it names: as Python's own `glob`, but `**` enters no link, so that loops of links end.

`memory_files.py` reads options with it. bash and git follow no link under `**` either.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
from collections.abc import Iterable, Iterator

_ANY_DEPTH = "**"


def files_of(pattern: str) -> list[str]:
    """Give the files that a glob names, in order; of several names of one file the one with the fewest links in it."""
    best: dict[str, tuple[int, str]] = {}
    for path in filter(os.path.isfile, _matches(pattern)):
        real = os.path.realpath(path)
        best[real] = min(best.get(real, (len(path), path)), (_links(path), path))
    return sorted(path for _, path in best.values())


def _matches(pattern: str) -> set[str]:
    """Give all paths that a pattern names; those before and after a `**` are Python's own to find."""
    if os.altsep:
        pattern = pattern.replace(os.altsep, os.sep)
    head, *rests = _segments(pattern)
    if not rests:
        return set(glob.glob(head))
    folders = _below_all(glob.glob(head) if head else [""])
    for segment in rests[:-1]:
        folders = _below_all(_in_all(folders, segment))
    return _in_all(folders, rests[-1])


def _segments(pattern: str) -> list[str]:
    """Part a pattern at each `**` that is a whole name; one at the end also names the files in its folders."""
    segments = [""]
    names = pattern.split(os.sep)
    for place, name in enumerate(names):
        is_last = place == len(names) - 1
        if name == _ANY_DEPTH:
            segments.append("*" if is_last else "")
        else:
            segments[-1] += name if is_last else name + os.sep
    return segments


def _in_all(folders: Iterable[str], segment: str) -> set[str]:
    if not segment:
        return set(folders)
    return set(itertools.chain.from_iterable(glob.glob(glob.escape(folder) + segment) for folder in folders))


def _below_all(folders: Iterable[str]) -> set[str]:
    return set(itertools.chain.from_iterable(map(_below, folders)))


def _below(top: str) -> Iterator[str]:
    """Give a folder and all below it, each with a separator at its end, but for hidden ones and links."""
    pending = [top]
    while pending:
        folder = pending.pop()
        yield folder
        with contextlib.suppress(OSError), os.scandir(folder or os.curdir) as entries:
            pending += [
                os.path.join(folder, entry.name, "")
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]


def _links(path: str) -> int:
    """Count the links in a path."""
    count = 0
    while path:
        count += os.path.islink(path)
        parent = os.path.dirname(path.rstrip(os.sep))
        path = parent if parent != path else ""
    return count
