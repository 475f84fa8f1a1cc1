"""The policy beside a memory file at its move: taken along, copied, or left where another one holds at the new place.

`workflow/move.py` plans it, and does it before the old place's state goes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from pathlib import Path

from memttl.core.move_outcome import PolicyStep
from memttl.errors import CannotCreate, MemttlError
from memttl.files.backups import write_new
from memttl.files.state import refusal, sync_folder

_SUFFIXES = (".jsonl", ".json")
_HEAD_BYTES = 1 << 16
_NAMES_SCHEMA = re.compile(rb"#:schema (?:\./)?([\w.-]+\.json)\s*\n")


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
        schema = _schema_of(source, target)
        others = [e.name for e in os.scandir(source.parent) if _is_memory(e) and e.name not in but]
    except OSError as e:
        raise refusal(e, f"The policy {e.filename or source} cannot be read") from None
    if is_there and not same:
        return PolicyStep("stays", str(source), str(target), differs=True)
    return PolicyStep("copied" if others else "taken", str(source), str(target), schema=schema)


def _is_memory(entry: os.DirEntry[str]) -> bool:
    """Say whether a file is a memory file, by what it holds; a .jsonl that is no JSON may be a damaged one."""
    if not (entry.name.endswith(_SUFFIXES) and entry.is_file(follow_symlinks=False)):
        return False
    with open(entry.path, "rb") as f:
        lines = f.read(_HEAD_BYTES).split(b"\n")
    records = [_record(line) for line in lines if line.strip()]
    if any(isinstance(r, dict) and r.get("type") in ("entity", "relation") for r in records):
        return True
    return entry.name.endswith(".jsonl") and not any(isinstance(r, dict) for r in records)


def _record(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _schema_of(source: Path, target: Path) -> str:
    """Give the name of the schema beside a policy that its first line names, where the new place has none."""
    found = _NAMES_SCHEMA.match(source.read_bytes())
    if not found:
        return ""
    name = os.fsdecode(found[1])
    schema = source.with_name(name)
    is_plain = schema.is_file() and not schema.is_symlink()
    return name if is_plain and not os.path.lexists(target.with_name(name)) else ""


def carry_policy(step: PolicyStep) -> None:
    """Copy the policy to the new place; over nothing.

    Raises:
        CannotCreate, NoPermission: it cannot be written.
    """
    if step.kind not in ("taken", "copied"):
        return
    if step.schema:
        _carry_schema(step)
    source, target = Path(step.source), Path(step.target)
    part = target.with_name(f".{target.name}.part")
    try:
        if not source.is_file() or os.path.lexists(target):
            return
        _copy(source, part)
        part.rename(target)
        sync_folder(target.parent)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise refusal(e, f"The policy {target} cannot be written") from None


def _carry_schema(step: PolicyStep) -> None:
    """Copy the schema; what hinders that is no reason to stop, since it only helps an editor."""
    source, target = Path(step.source).with_name(step.schema), Path(step.target).with_name(step.schema)
    with contextlib.suppress(OSError, MemttlError):
        if not os.path.lexists(target):
            _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    """Copy a file with its mode, and with its owner where root does it."""
    about = source.stat()
    write_new(target, source.read_bytes())
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.chown(target, about.st_uid, about.st_gid)
    target.chmod(stat.S_IMODE(about.st_mode))


def _drop_schema(step: PolicyStep) -> None:
    source, target = Path(step.source).with_name(step.schema), Path(step.target).with_name(step.schema)
    with contextlib.suppress(OSError):
        if target.read_bytes() == source.read_bytes():
            source.unlink()


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
        if step.schema:
            _drop_schema(step)
        source.unlink()
        sync_folder(source.parent)
    except OSError as e:
        raise refusal(e, f"The policy {source} cannot be taken along") from None
