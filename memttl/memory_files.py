"""Which memory files are meant: those that options or variables name, else the one that the MCP clients here use.

`commands/over_files.py` calls it for every command that works on memory files.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memttl.errors import UsageError
from memttl.settings import Given, absolute, no_folder

if TYPE_CHECKING:  # imported in the functions: a run that names its file needs none of it
    from memttl.setup.choice import Doubt
    from memttl.setup.found import Found


def memory_files(
    given: Given,
    environ: Mapping[str, str],
    *,
    tell: Callable[[str], None] = lambda _: None,
    doubt: Callable[[Doubt], None] = lambda _: None,
) -> list[str]:
    """Give the memory files that are meant, as named, each once: `--file`, else MEMTTL_FILE, else MEMORY_FILE_PATH.

    Where none is named, it is the one that the MCP clients of this machine use; `tell` is told which that is, in short,
    and `doubt` what speaks against it; either may raise.

    Raises:
        UsageError: MEMORY_FILE_PATH is relative, which the server reads against its own folder; or several are used.
        NoMemoryFile: none is named, and none is used.
    """
    if given.file:
        names = [name for text in given.file for name in expand(text, "--file")]
    elif environ.get("MEMTTL_FILE"):
        names = expand(environ["MEMTTL_FILE"], "MEMTTL_FILE")
    elif environ.get("MEMORY_FILE_PATH"):
        names = [_server_path(environ["MEMORY_FILE_PATH"])]
    else:
        names = [_discovered(environ, tell, doubt)]
    return list({_real(name): name for name in reversed(names)}.values())[::-1]


def _discovered(environ: Mapping[str, str], tell: Callable[[str], None], doubt: Callable[[Doubt], None]) -> str:
    from memttl.setup.choice import short_words  # here: a run that names its file needs none of this

    found, home, doubts = _the_one(environ)
    tell(short_words(found, home))
    for one in doubts:
        doubt(one)
    return str(found.path)


def only_one(names: list[str]) -> str:
    """Give the memory file to be served.

    Raises:
        UsageError: several are meant.
    """
    if len(names) != 1:
        raise UsageError(
            f"{len(names)} memory files are meant, and a server serves one; nothing was done.",
            hint=f"Name one with --file, and make an entry in the config for each: {', '.join(names[:5])}",
        )
    return names[0]


def refuse_doubt(doubt: Doubt) -> None:
    """Refuse a file that nobody named and that may not be the one that is meant: for `memory_files`.

    Raises:
        UsageError: always.
    """
    raise doubt.refusal()


def _the_one(environ: Mapping[str, str]) -> tuple[Found, str, tuple[Doubt, ...]]:
    """Look for the one memory file of this machine; give it, the user's home folder, and what is in doubt."""
    from memttl.setup.choice import doubts_of, the_one
    from memttl.setup.discover import discover, this_machine

    machine = this_machine(environ)
    discovery = discover(machine, counting=False)
    found = the_one(discovery)
    return found, str(machine.home), tuple(doubts_of(found, discovery))


def is_named(given: Given, environ: Mapping[str, str]) -> bool:
    """Say whether the user has named a memory file, so that none is looked for."""
    return bool(given.file or environ.get("MEMTTL_FILE") or environ.get("MEMORY_FILE_PATH"))


def why_it_is_meant(given: Given, environ: Mapping[str, str]) -> str:
    """Say who points at a memory file that nobody named, as a sentence; "" where the user has named it.

    Raises:
        MemttlError: as `memory_files`.
    """
    if is_named(given, environ):
        return ""
    from memttl.setup.choice import who_names

    who = who_names(_the_one(environ)[0])
    return f"{who[0].upper()}{who[1:]}."


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except FileNotFoundError:
        raise no_folder(path) from None


def expand(text: str, option: str) -> list[str]:
    """Give the paths that the value of an option means: itself, with ~, or the files that it matches as a glob.

    Raises:
        UsageError: it is empty.
    """
    if not text:
        raise UsageError(f"{option} was given an empty path; nothing was done.")
    path = os.path.expanduser(text)
    if os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    from memttl.setup.globs import files_of  # here: most runs name no glob

    # a glob that matches nothing is kept as it is, so that it is reported and does not stop the others
    return files_of(path) or [path]


def _server_path(text: str) -> str:
    if os.path.isabs(text):
        return text
    here = absolute(text)
    raise UsageError(
        f"MEMORY_FILE_PATH is {text!r}, which is not absolute. The memory server reads it against its own dist/ folder "
        f"({'it does not expand ~' if text.startswith('~') else 'not against this one'}); here it would be {here}. "
        "Nothing was done.",
        hint="Set MEMORY_FILE_PATH to an absolute path, or give --file.",
    )
