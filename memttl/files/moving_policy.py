"""The policy beside a memory file at its move: taken along, copied, or left where another one holds at the new place.

`workflow/move.py` plans it, and does it before the old place's state goes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memttl.core.move_outcome import PolicyStep
from memttl.errors import CannotCreate
from memttl.files.backups import write_new
from memttl.files.state import refusal, sync_folder

_SUFFIXES = (".jsonl", ".json")


def policy_step(source: Path, target: Path, *, but: set[str]) -> PolicyStep:
    """Plan what becomes of the policy `source`; `but` are the names in its folder that are no memory files to stay.

    Raises:
        NoPermission, CannotCreate: it cannot be read.
    """
    if source == target:
        return PolicyStep()
    is_there = os.path.lexists(target)
    if not source.is_file():
        return PolicyStep("stays", "", str(target)) if is_there else PolicyStep()
    try:
        same = is_there and target.read_bytes() == source.read_bytes()
        others = [e.name for e in os.scandir(source.parent) if _is_memory(e) and e.name not in but]
    except OSError as e:
        raise refusal(e, f"The policy {e.filename or source} cannot be read") from None
    if is_there and not same:
        return PolicyStep("stays", str(source), str(target), differs=True)
    return PolicyStep("copied" if others else "taken", str(source), str(target))


def _is_memory(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_SUFFIXES) and entry.is_file(follow_symlinks=False)


def carry_policy(step: PolicyStep) -> None:
    """Copy the policy to the new place; over nothing.

    Raises:
        CannotCreate, NoPermission: it cannot be written.
    """
    if step.kind not in ("taken", "copied"):
        return
    source, target = Path(step.source), Path(step.target)
    part = target.with_name(f".{target.name}.part")
    try:
        if not source.is_file() or os.path.lexists(target):
            return
        about = source.stat()
        write_new(part, source.read_bytes())
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            os.chown(part, about.st_uid, about.st_gid)
        part.chmod(stat.S_IMODE(about.st_mode))
        part.rename(target)
        sync_folder(target.parent)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise refusal(e, f"The policy {target} cannot be written") from None


def drop_policy(step: PolicyStep) -> None:
    """Take the policy away from the old place, where it was taken along and lies at the new one.

    Raises:
        CannotCreate, NoPermission: it cannot be removed.
    """
    source, target = Path(step.source), Path(step.target)
    if step.kind != "taken" or not source.is_file():
        return
    try:
        if target.read_bytes() != source.read_bytes():
            raise CannotCreate(f"{target} is not what {source} holds; that stays.")
        source.unlink()
        sync_folder(source.parent)
    except OSError as e:
        raise refusal(e, f"The policy {source} cannot be taken along") from None
