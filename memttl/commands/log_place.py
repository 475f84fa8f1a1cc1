"""Where the file that MEMTTL_LOG or `--log` names must not lie: in place of a memory file or what else is kept.

`diagnostics.py` asks before a run, and again once the run's memory files are known; `serve_log.py` then.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from memttl.errors import UsageError
from memttl.files.log_file import is_log
from memttl.files.output_file import check_target
from memttl.memory_files import expand
from memttl.policies import POLICY_BESIDE, own_policy
from memttl.settings import Given, surroundings

VARIABLE = "MEMTTL_LOG"


def refuse_place(path: str, environ: Mapping[str, str], arguments: Sequence[str]) -> None:
    """Refuse a log that any word of the call may mean, that a config names, or that is called as a memory file is.

    Raises:
        UsageError: it is one of these.
    """
    _refuse(path, *_meant(environ, arguments))
    _refuse(path, *_discovered(environ))
    _refuse_name(path)


def refuse_around(path: str, name: str, given: Given, environ: Mapping[str, str], *, source: str = VARIABLE) -> None:
    """Refuse a log, named by `source`, that is what memttl reads or keeps of one memory file.

    Raises:
        UsageError: it is.
    """
    _refuse(path, *_around(name, given, environ), source=source)


def _refuse(path: str, files: Collection[str], folders: Collection[str], *, source: str = VARIABLE) -> None:
    if os.path.isdir(path):
        return  # cannot be written, which is no more than a warning
    try:
        check_target(path, _paths(files), _paths(folders))
    except UsageError as e:
        e.message, e.hint = f"{source}: {e.message}", f"Let {source} name a file of its own."
        raise


def _refuse_name(path: str) -> None:
    """Refuse a log that would be new and is called as a memory file is: a config that cannot be read may name it.

    Raises:
        UsageError: it is called so.
    """
    if path.lower().endswith((".json", ".jsonl")) and not is_log(path) and not _holds_something(path):
        raise UsageError(
            f"{VARIABLE}: {path} is called as a memory file is, and holds no log yet; nothing was done.",
            hint="Let it name a file that ends in .log.",
        )


def _holds_something(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0  # then it is not written to, which is no more than a warning
    except (OSError, ValueError):
        return False


def _meant(environ: Mapping[str, str], arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Give every path that the run may be about, by the words of its call, and the folders of memttl's own."""
    names = [environ.get(name, "") for name in ("MEMTTL_FILE", "MEMORY_FILE_PATH", "MEMTTL_POLICY")]
    for word in arguments:
        names += [word, word.partition("=")[2], word[2:]]
    globs = [environ.get("MEMTTL_FILE", ""), *_values_of(("--file", "-f"), arguments)]
    met = [path for text in globs if glob.has_magic(text) and "\0" not in text for path in expand(text, "--file")]
    own = [own_policy(), POLICY_BESIDE]
    return [name for name in (*names, *met, *own) if name], [f for f in (environ.get("MEMTTL_STATE_DIR"),) if f]


def _values_of(options: Collection[str], arguments: Sequence[str]) -> Iterator[str]:
    for before, word in zip(("", *arguments), arguments, strict=False):
        option, _, value = word.partition("=")
        if before in options:
            yield word
        elif option in options:
            yield value
        elif word[:2] in options:
            yield word[2:]


def _discovered(environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Give the memory files that any config names, what lies around them, and the configs and where they may lie.

    A command that is about no memory file, or about another one, must not write its log into one of them either.
    """
    from memttl.setup.discover import discover, this_machine

    found = discover(this_machine(environ), counting=False)
    files, folders = [str(place.config) for place in found.looked], list[str]()
    for one in found.found:
        if one.path is not None:
            more, own = _around(str(one.path), Given(), environ)
            files, folders = files + more, folders + own
    return files, folders


def _around(name: str, given: Given, environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    files, folders = surroundings(name, given, environ)
    return [str(file) for file in files], [str(folder) for folder in folders]


def _paths(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        with suppress(OSError, ValueError, RuntimeError):  # what can be no path names no file
            yield Path(os.path.realpath(os.path.expanduser(name)))
