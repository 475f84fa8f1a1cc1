"""One memory file and what is wished for it into a `Job`: the whole command, its name, what it may write, as whom.

Called by `workflow/schedule.py`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memttl.core.schedule import KINDS, Command, Job, Wish
from memttl.errors import NoMemoryFile, NoPermission, UsageError
from memttl.setup.here import Here
from memttl.setup.namespaces import user_namespaces_allowed

_TMP = ("/tmp", "/var/tmp")
_AT_HOME = {
    "systemd": ("linux",),
    "cron": ("linux", "darwin", "freebsd"),
    "launchd": ("darwin",),
    "windows": ("win32",),
}


class Memory(NamedTuple):
    """A memory file as a schedule must know it: `named` as the user did, `real` with links resolved.

    `folders` are those besides its own in which a run writes: of the state, where that lies elsewhere, and the archive.
    """

    named: str
    real: Path
    folders: tuple[Path, ...]


def unit_name(real: Path, command: Command) -> str:
    """Give the name of a schedule: for people the file's, for the machine a digest of its path with links resolved."""
    slug = re.sub("[^a-z0-9]+", "-", os.path.splitext(real.name)[0].lower()).strip("-")[:40]
    return f"memttl-{command}-{slug or 'file'}-{_digest(real)[:8]}"


def make_job(memory: Memory, wish: Wish, here: Here) -> Job:
    """Give the job.

    Raises:
        NoMemoryFile: not even the folder of the memory file is there.
        UsageError: a path cannot be written into a unit.
    """
    like = _stat(memory)
    if memory.real.is_dir():
        raise NoMemoryFile(
            f"{memory.named} is a folder; nothing was done.", hint="Name the memory file itself with --file."
        )
    file = os.path.abspath(memory.named)
    policy = ("--policy", wish.policy) if wish.policy else ()
    yes = ("--yes",) if wish.command == "prune" else ()
    words = (*here.program, wish.command, *yes, "--quiet", "--file", file, *policy)
    is_hidden = not any(_lies_in(path, _TMP) for path in _paths(memory, here, words))
    folders = _outermost([memory.real.parent, *memory.folders, *(() if is_hidden else map(Path, _TMP))])
    _refuse_unwritable((*words, *folders, *(value for _, value in here.environment)))
    only_own = not _has_list(memory.real)
    user, group = _names(like) if wish.system else (None, None)
    return Job(
        name=unit_name(memory.real, wish.command),
        file=file,
        wish=wish,
        words=words,
        environment=_environment(here, like, wish),
        folders=folders,
        user=user,
        group=group,
        spread=int(_digest(memory.real)[8:16], 16),
        sandbox=wish.system or _is_sandboxed(here, like, wish, only_own=only_own),
        hides_users=only_own,
        hides_tmp=is_hidden,
    )


def refuse_place(memory: Memory, wish: Wish, here: Here) -> None:
    """Refuse to install what could not run: on another system, by a memttl that may go, for a file of somebody else.

    Raises:
        UsageError, NoPermission: what it is.
    """
    title = KINDS[wish.kind]
    if not here.platform.startswith(_AT_HOME[wish.kind]):
        raise UsageError(
            f"{title} does not run on this system, so nothing was installed.",
            hint=f"`memttl schedule {wish.kind}` prints what it takes.",
        )
    if here.passing:
        raise UsageError(
            f"This memttl lies in a cache ({here.passing}), which may be emptied at any time; nothing was installed.",
            hint="Install it for good (with `pipx install` or `uv tool install`), and run that one.",
        )
    if wish.kind == "windows":
        return
    owner = _stat(memory).st_uid
    if wish.system and here.user != 0:
        raise NoPermission("Only root can install something for the whole machine; nothing was done.", hint="Use sudo.")
    if wish.system and owner != 0:
        _refuse_closed(memory, here, owner)
    elif not wish.system and owner != here.user:
        raise NoPermission(
            f"{memory.real} belongs to another user, and this would run as you; nothing was done.",
            hint="Run this as the file's owner, without sudo; or as root with --system, which runs it as the owner.",
        )


def _refuse_closed(memory: Memory, here: Here, owner: int) -> None:
    """Refuse a memttl that the owner of the file cannot reach (one that root has installed for itself)."""
    for place in here.lies_in:
        for folder in (Path(place), *Path(place).parents):
            about = folder.stat()
            if not about.st_mode & 0o001 and about.st_uid != owner:
                raise NoPermission(
                    f"This memttl lies in {folder}, which the owner of {memory.real} cannot enter; nothing was done.",
                    hint="Install memttl where everybody can run it, or as the owner of the file.",
                )


def _digest(real: Path) -> str:
    return hashlib.sha256(os.fsencode(real)).hexdigest()


def _stat(memory: Memory) -> os.stat_result:
    """Give the stat of the file, or of its folder while the server has not made it."""
    for path in (memory.real, memory.real.parent):
        try:
            return path.stat()
        except OSError:
            continue
    raise NoMemoryFile(
        f"Neither {memory.named} nor its folder is there; nothing was done.", hint="Look whether the path is right."
    )


def _paths(memory: Memory, here: Here, words: tuple[str, ...]) -> Iterable[str]:
    yield from (os.path.abspath(memory.named), str(memory.real), *map(str, memory.folders))
    yield from (*here.lies_in, *words, *(value for _, value in here.environment))


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)


def _outermost(folders: list[Path]) -> tuple[str, ...]:
    """Give each folder once, and none that lies in another."""
    once = list(dict.fromkeys(folders))
    return tuple(str(one) for one in once if not any(one != other and one.is_relative_to(other) for other in once))


def _refuse_unwritable(texts: Iterable[str]) -> None:
    for text in texts:
        is_text = text.encode("utf-8", "replace").decode() == text
        if not is_text or any(ord(c) < 0x20 or ord(c) == 0x7F for c in text):
            raise UsageError(
                f"{text} holds a control character or is no UTF-8, so that no unit can name it; nothing was done.",
                hint="Rename it.",
            )


def _environment(here: Here, like: os.stat_result, wish: Wish) -> tuple[tuple[str, str], ...]:
    """Give the variables; what lies in the home of root is not for another user."""
    is_other = wish.system and like.st_uid != here.user
    return tuple(pair for pair in here.environment if not (is_other and pair[0].startswith("XDG_")))


def _names(like: os.stat_result) -> tuple[str, str]:
    import grp
    import pwd

    try:
        user = pwd.getpwuid(like.st_uid).pw_name
    except KeyError:
        user = str(like.st_uid)
    try:
        return user, grp.getgrgid(like.st_gid).gr_name
    except KeyError:
        return user, str(like.st_gid)


def _is_sandboxed(here: Here, like: os.stat_result, wish: Wish, *, only_own: bool) -> bool:
    """Say whether a user's systemd can hide things; then it also hides all other users and groups from the run.

    In such a namespace a file can be given to no other group, and a list of rights that names others cannot be kept.
    """
    if wish.kind != "systemd" or not only_own or like.st_gid != here.group:
        return False
    return user_namespaces_allowed(here.environ)


def _has_list(path: Path) -> bool:
    """Say whether a file has a list of rights (ACL), which may name other users."""
    try:
        return hasattr(os, "listxattr") and "system.posix_acl_access" in os.listxattr(path)
    except OSError:
        return False
