"""The block in an assistant's instruction file (CLAUDE.md and the like): what would change in it, and the change made.

`memttl policy prompt --append` and `--remove` look first, show what they found on a dry run, and write else.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from memttl.core.marked_block import BadMarkers, BlockChange, Deed, has_block, put_block, remove_block
from memttl.core.memory import BOM
from memttl.errors import TryAgain, UsageError
from memttl.files.output_file import check_target, refusal, replace_file
from memttl.files.state import FOLDER

_LARGEST = 16 << 20  # bytes; an assistant reads its instructions whole
_DATA_FILES = (".json", ".jsonl", ".ndjson", ".toml", ".yaml", ".yml")
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # UTF-16 and UTF-32, which without these have a NUL in every letter

T = TypeVar("T")


def plan_append(target: str, text: str, files: Iterable[Path], folders: Iterable[Path]) -> BlockChange:
    """Look what putting `text` between the markers of a file would change. `files` and `folders` are memttl's own.

    Raises:
        UsageError: it is no file for instructions, or its markers are broken.
        NoPermission, CannotCreate: it cannot be written.
    """
    before = _read(target, files, folders, "--append")
    after = _edited(target, lambda: put_block(before or b"", text))
    is_there = _edited(target, lambda: has_block(before or b""))
    deed: Deed = "created" if before is None else "updated" if is_there else "appended"
    return BlockChange(target, deed if before != after else "unchanged", before, after)


def plan_removal(target: str, files: Iterable[Path], folders: Iterable[Path]) -> BlockChange:
    """Look what taking the block out of a file would change.

    Raises:
        UsageError: there is no such file, it is no file for instructions, or its markers are broken.
        NoPermission, CannotCreate: it cannot be written.
    """
    before = _read(target, files, folders, "--remove")
    if before is None:
        raise UsageError(f"There is no file {target}; nothing was done.", hint="Name the file with --remove.")
    after = _edited(target, lambda: remove_block(before))
    return BlockChange(target, "removed" if before != after else "unchanged", before, after)


def make_change(change: BlockChange) -> None:
    """Write the file whole or not at all; nothing is written where nothing changes.

    Raises:
        TryAgain: somebody wrote it in between.
        NoPermission, CannotCreate: it cannot be written.
    """
    if change.deed == "unchanged":
        return
    real = os.path.realpath(change.target)
    try:
        if _bytes_of(real) != change.before:  # an editor has saved it since it was looked at
            raise TryAgain(f"{change.target} was written by somebody else meanwhile; nothing was done.")
        replace_file(real, change.after, 0o666)
    except OSError as e:
        raise refusal(e, change.target) from None


def _read(target: str, files: Iterable[Path], folders: Iterable[Path], option: str) -> bytes | None:
    if not target:
        raise UsageError(f"{option} was given an empty path; nothing was done.", hint="Name a file.")
    check_target(target, files, folders, option=option)
    real = os.path.realpath(target)
    _check_kind(target, real)
    try:
        _check_place(real)
        before = _bytes_of(real)
    except OSError as e:
        raise refusal(e, target) from None
    _check_text(target, before or b"")
    return before


def _check_kind(target: str, real: str) -> None:
    """Refuse what is no file of text, and a memory file even where nobody named it as one."""
    hint = "Name a Markdown file, such as CLAUDE.md or AGENTS.md."
    if os.path.lexists(real) and not os.path.islink(real):
        found = os.stat(real)
        if not stat.S_ISREG(found.st_mode):
            raise UsageError(f"{target} is no regular file; nothing was done.", hint=hint)
        if found.st_nlink > 1:
            problem = f"{target} has {found.st_nlink} names (hard links), and the others would keep the old text"
            raise UsageError(f"{problem}; nothing was done.", hint="Make the others symbolic links to it.")
        if found.st_size > _LARGEST:
            raise UsageError(f"{target} is larger than 16 MiB; nothing was done.", hint=hint)
    is_used = os.path.isdir(os.path.join(os.path.dirname(real), FOLDER, os.path.basename(real)))
    if is_used or real.lower().endswith(_DATA_FILES):
        raise UsageError(f"{target} is no file of instructions; nothing was done.", hint=hint)


def _check_place(real: str) -> None:
    """Fail as the write would, so that a dry run says the same."""
    if os.path.islink(real):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    folder = os.path.dirname(real)
    os.stat(os.path.join(folder, "."))  # a folder, and no file
    if not os.access(folder, os.W_OK | os.X_OK) or (os.path.exists(real) and not os.access(real, os.W_OK)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _check_text(target: str, data: bytes) -> None:
    if data.startswith(_WIDE) or b"\0" in data:
        raise UsageError(f"{target} is no text in UTF-8; nothing was done.", hint="Save it as UTF-8.")
    first = data.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    try:
        is_json = first.startswith(b"{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        is_json = False
    if is_json:
        raise UsageError(f"{target} holds JSON, not instructions; nothing was done.", hint="Name a Markdown file.")


def _bytes_of(real: str) -> bytes | None:
    try:
        with open(real, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def _edited(target: str, edit: Callable[[], T]) -> T:
    try:
        return edit()
    except BadMarkers as e:
        raise UsageError(
            f"{target}: {e}; nothing was done.",
            hint="Mend the file there: one memttl:begin line, one memttl:end line behind it, or neither.",
        ) from None
