"""A policy file is written: whole or not at all, and never over one that nobody has been shown.

`workflow/init.py` calls it. An old policy that is replaced stays beside the new one, under a name of its own.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from memttl.errors import CannotCreate, MemttlError, NoPermission, TryAgain
from memttl.files.output_file import write_part
from memttl.files.state import sync_folder

_MOST_BACKUPS = 1000


def write_policy(path: Path, text: str, *, over: bytes | None, like: os.stat_result | None) -> Path | None:
    """Write the policy `text` at `path` (links are followed); give where the one of before lies now.

    `over` are the bytes of the policy that may be replaced, None where there must be none. `like` is the stat of the
    memory file, whose owner the policy gets where root writes it.

    Raises:
        TryAgain: another policy stands there than the one that was shown.
        NoPermission, CannotCreate: it cannot be written; what was there is as it was.
    """
    target = Path(os.path.realpath(path))
    try:
        _make_folders(target.parent, like)
        mode = 0o644 if like is None else stat.S_IMODE(like.st_mode) & 0o664 | 0o600
        part = write_part(target, text.encode("utf-8"), mode)
        try:
            _own(part, like)
            backup = _put(part, target, over)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(part)
    except FileExistsError:
        raise _changed(path) from None
    except OSError as e:
        raise _refusal(e, path) from None
    with contextlib.suppress(OSError):
        sync_folder(target.parent)
    return backup


def read_existing(path: Path) -> bytes | None:
    """Give the bytes of a policy that is there, None for none; a link that leads nowhere is none.

    Raises:
        CannotCreate: something stands there that is no file.
        NoPermission: it cannot be read.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise CannotCreate(f"{path} is no regular file; nothing was done.", hint="Name another with --output.")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as e:
        hint = "Name another place with --output, or let yourself read it."
        raise NoPermission(f"{path} cannot be read ({e.strerror}); nothing was done.", hint=hint) from None


def _make_folders(folder: Path, like: os.stat_result | None) -> None:
    for missing in [p for p in (folder, *folder.parents) if not p.exists()][::-1]:
        missing.mkdir(mode=0o755, exist_ok=True)
        _own(missing, like)


def _own(path: Path, like: os.stat_result | None) -> None:
    """Under sudo, what lies beside a user's memory file must not be root's; another user's is no error here."""
    if like is not None and hasattr(os, "geteuid") and os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.chown(path, like.st_uid, like.st_gid)


def _put(part: Path, target: Path, over: bytes | None) -> Path | None:
    if over is None:
        _link(part, target)
        return None
    if target.read_bytes() != over:
        raise FileExistsError
    os.chmod(part, stat.S_IMODE(target.stat().st_mode) & 0o777)
    backup = _backup(target)
    if target.read_bytes() != over:  # a moment is left, as always where two write one file without a lock
        os.unlink(backup)
        raise FileExistsError
    os.replace(part, target)
    return backup


def _link(part: Path, target: Path) -> None:
    """Give the whole file its name, unless something has that name: a rename would take it away."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        os.close(os.open(target, flags, 0o600))
        os.replace(part, target)


def _backup(target: Path) -> Path:
    """Keep the old policy under the first free name: memttl.toml.old, memttl.toml.old.2, …"""
    for number in range(1, _MOST_BACKUPS):
        backup = target.with_name(f"{target.name}.old" + (f".{number}" if number > 1 else ""))
        try:
            os.link(target, backup)
            return backup
        except FileExistsError:
            continue
        except OSError:
            if os.path.lexists(backup):
                continue
            backup.write_bytes(target.read_bytes())
            return backup
    raise OSError(errno.EEXIST, "there are a thousand old policies beside it")


def _changed(path: Path) -> MemttlError:
    return TryAgain(f"{path} was written by somebody else meanwhile; it is as they left it.")


def _refusal(e: OSError, path: Path) -> MemttlError:
    message = f"The policy {path} cannot be written ({e.strerror or e}); what was there is as it was."
    hint = "Name another place with --output, or --user for your own config folder."
    return (NoPermission if isinstance(e, PermissionError) or e.errno == errno.EROFS else CannotCreate)(
        message, hint=hint
    )
