"""Which of the memory files that were found a command may take by itself, and the words for why it may not.

`settings.py` asks where nobody has named a file; `commands/discover.py` says what the others would do.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import NamedTuple

from memttl.core.wording import short_path
from memttl.errors import MemttlError, NoMemoryFile, UsageError
from memttl.setup.found import Discovery, Found

_NAMED = 3  # clients in one line
_SHOWN = 12  # configs or files in one message
_UNNAMED = "No memory file is named (by --file, MEMTTL_FILE or MEMORY_FILE_PATH)"


def candidates(discovery: Discovery) -> tuple[Found, ...]:
    """Give the files that may be meant: what clients use; else what idle entries name; else what lies in caches."""
    known = [found for found in discovery.found if found.path is not None and not _is_no_file(found)]
    used = [found for found in known if any(not pointer.idle for pointer in found.pointers)]
    return tuple(used or [found for found in known if found.pointers] or known)


def _is_no_file(found: Found) -> bool:
    """Say whether a folder or a device lies there: only a file has a size."""
    return found.exists and found.size_bytes is None


class Doubt(NamedTuple):
    """Why a file that nobody named may not be the one that is meant, as a clause; `unread`: a config could not be read.

    What changes nothing goes on and says so; what changes something must have asked somebody who sees the path.
    """

    path: str
    why: str
    unread: bool = False

    def refusal(self) -> MemttlError:
        """Give the error for a run that would change something unasked."""
        return UsageError(
            f"{_UNNAMED}; it would be {self.path}, but {self.why}. Nothing was done.",
            hint=f"Name it: --file {shlex.quote(self.path)}.",
        )


def doubts_of(found: Found, discovery: Discovery) -> Iterator[Doubt]:
    """Yield what speaks against taking the one file of a machine unasked."""
    if found.pointers and all(pointer.is_of_project for pointer in found.pointers):
        config = found.pointers[0].config
        yield Doubt(
            str(found.path), f"only a config inside of a project names it ({config}), which may come from a stranger"
        )
    for unread in discovery.unread:
        why = (
            f"the config of {unread.client} ({unread.config}) could not be read and may name another: {unread.problem}"
        )
        yield Doubt(str(found.path), why, unread=True)


def the_one(discovery: Discovery) -> Found:
    """Give the one memory file of a machine.

    Raises:
        NoMemoryFile: none was found, or the configs do not say where it lies.
        UsageError: there are several, or the one is named by a path that means two things.
    """
    found = candidates(discovery)
    if not found:
        raise _none(discovery)
    if len(found) > 1:
        raise _several(found)
    odd = next((t for t in found[0].troubles if t.name in ("tilde", "relative")), None)
    if odd and not found[0].exists:
        raise UsageError(f"{_UNNAMED}, and {odd.problem}. Nothing was done.", hint=f"{odd.remedy} Or give --file PATH.")
    return found[0]


def who_names(found: Found) -> str:
    """Say who points at a file: `Claude Desktop's config /home/anna/.config/… names it`."""
    if not found.pointers:
        return "it lies where the memory server keeps its own"
    first = found.pointers[0]
    others = {pointer.client for pointer in found.pointers} - {first.client}
    also = f", as {'does' if len(others) == 1 else 'do'} {' and '.join(sorted(others))}" if others else ""
    return f"the config of {first.client} ({first.config}) points at it{also}"


def short_words(found: Found, home: str) -> str:
    """Name a file and who uses it in a short line: `~/notes/memory.jsonl (Claude Desktop)`."""
    clients = list(dict.fromkeys(pointer.client for pointer in found.pointers)) or ["where the memory server keeps it"]
    more = f" and {len(clients) - _NAMED} more" if len(clients) > _NAMED else ""
    return f"{short_path(str(found.path), home)} ({', '.join(clients[:_NAMED])}{more})"


def _several(found: tuple[Found, ...]) -> MemttlError:
    lines = [f"  {f.path}: {who_names(f)}{_lying(f)}" for f in found[:_SHOWN]]
    more = [f"  … and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return UsageError(
        f"{_UNNAMED}, and there are {len(found)} on this machine; nothing was done:\n" + "\n".join([*lines, *more]),
        hint=f"Name one: --file {found[0].path}. `memttl discover` tells more of each.",
    )


def _lying(found: Found) -> str:
    if found.moved_to:
        return f"; it was moved to {found.moved_to} on {found.moved_on}"
    return "" if found.exists else "; nothing lies there yet"


def _none(discovery: Discovery) -> MemttlError:
    unread = {u.config for u in discovery.unread}
    there = [place for place in discovery.looked if place.is_there and place.config not in unread]
    if any(f.path for f in discovery.found):
        words = f"{_UNNAMED}, and what the configs of your MCP clients name is no file:"
        lines = [f"  {f.path or f.text}: {f.troubles[0].problem}" for f in discovery.found[:_SHOWN] if f.troubles]
    elif discovery.found:  # in a container, behind a variable
        words = f"{_UNNAMED}, and the configs of your MCP clients do not say where it lies:"
        lines = [f"  {f.troubles[0].problem if f.troubles else f.text}" for f in discovery.found[:_SHOWN]]
    elif there:
        words = f"{_UNNAMED}, and none of the configs of your MCP clients starts a memory server:"
        lines = [f"  {place.config} ({place.client})" for place in there[:_SHOWN]]
    else:
        places = len(discovery.looked)
        words = f"{_UNNAMED}, and no config of an MCP client that could be read is in any of {places} places."
        lines = []
    lines += [f"  {u.config} ({u.client}) could not be read: {u.problem}" for u in discovery.unread[:_SHOWN]]
    return NoMemoryFile(
        "\n".join([words, *lines]),
        hint="Give --file PATH: the MEMORY_FILE_PATH in your MCP client's config names it. `memttl discover --verbose` "
        "lists all places that were looked at.",
    )
