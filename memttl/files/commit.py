"""One run's write, step by step: backup, new version, `begin`, replace, `end`. The steps have names for crash tests.

The workflow calls `settle_unfinished` and then `commit`, both under the lock. Whatever interrupts it, the memory file
is the whole old or the whole new one, and the log says which.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memttl.errors import AS_IT_WAS, Interrupted, MemttlError
from memttl.files import audit
from memttl.files.backups import backup_name, write_backup
from memttl.files.replace import replace, sync_memory_folder, write_version
from memttl.files.snapshot import Snapshot
from memttl.files.state import NEW, State, unfinished_versions

Step = Callable[[str], None]


class Change(NamedTuple):
    """What one run wants written: the new bytes, the fields of its `begin`, and one event for each removal."""

    run: str
    data: bytes
    begin: dict[str, Any]
    removals: Sequence[dict[str, Any]]


def commit(change: Change, snapshot: Snapshot, state: State, *, step: Step = lambda _: None) -> Path:
    """Write `change` in place of `snapshot`, with a backup before and an audit line on both sides; give the backup.

    Raises:
        Changed: the live file is not the snapshot any more; nothing was replaced.
        MemttlError: with `applied` true when the file had been replaced before something failed.
    """
    writer = _Writer(change, snapshot, state, step)
    try:
        return writer.run()
    except BaseException as e:
        raise writer.cleaned_up(e) from e


class _Writer:
    def __init__(self, change: Change, snapshot: Snapshot, state: State, step: Step) -> None:
        self.change, self.snapshot, self.state, self.step = change, snapshot, state, step
        self.new = state.beside / f"{change.run}{NEW}"
        self.backup = state.backups / backup_name(change.run, datetime.now(UTC))
        self.new_inode: tuple[int, int] | None = None
        self.was_replaced = False

    def run(self) -> Path:
        like = self.snapshot.stat
        self.step("start")
        write_backup(self.backup, self.snapshot.data, like)
        self.step("backup written")
        write_version(self.new, self.change.data, self.snapshot)
        self.new_inode = inode_of(self.new)
        self.step("new version written")
        audit.append(self.state.audit, [self._event("begin", **self.change.begin), *self.change.removals], like)
        self.step("begin logged")
        replace(self.new, self.snapshot)
        self.was_replaced = True
        self.step("replaced")
        sync_memory_folder(self.snapshot.path)
        self.step("folder synced")
        self._end(applied=True)
        self.step("end logged")
        return self.backup

    def _event(self, name: str, **fields: Any) -> dict[str, Any]:
        return {"event": name, "run": self.change.run, "time": timestamp(), **fields}

    def _end(self, *, applied: bool) -> None:
        fields = {"applied": applied, "backup": self.backup.name if applied else None}
        audit.append(self.state.audit, [self._event("end", **fields)], self.snapshot.stat)

    def cleaned_up(self, error: BaseException) -> BaseException:
        """Leave log and folder tidy after a failure; give the error, with `applied` as the disk tells it."""
        # Ctrl-C may have come between the replace and the note of it; a stranger may have replaced the file since
        is_in_place = self.new_inode is not None and inode_of(self.snapshot.path) == self.new_inode
        applied = self.was_replaced or is_in_place
        if self._end_is_logged(applied=applied) and not applied:
            # the backup is a copy of what still lies there, or of what a stranger has replaced since
            for leftover in (self.new, self.backup):
                leftover.unlink(missing_ok=True)
        if isinstance(error, KeyboardInterrupt):
            error = Interrupted(f"Interrupted; {AS_IT_WAS}.", hint=f"The backup is {self.backup}." if applied else None)
        if applied and isinstance(error, MemttlError):
            error.after_the_write()
        return error

    def _end_is_logged(self, *, applied: bool) -> bool:
        """Say that the log needs no `end` of this run, or has it now; else the new version must stay as the journal."""
        try:
            begin = audit.unfinished_run(audit.read_events(self.state.audit))
            if begin is not None and begin.get("run") == self.change.run:
                self._end(applied=applied)
        except MemttlError:
            return False
        return True


def inode_of(path: Path) -> tuple[int, int] | None:
    """Give what tells one file from another, whatever its name; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def settle_unfinished(state: State, like: os.stat_result) -> str | None:
    """Write the `end` of a run that was killed, judged by what it left, and remove that; give a sentence, or None.

    A new version that still lies in the state folder was never put in place: it is our own text, and goes.
    """
    begin = audit.unfinished_run(audit.read_events(state.audit))
    leftovers = unfinished_versions(state)
    told = None
    if begin is not None:
        applied = state.beside / f"{begin.get('run')}{NEW}" not in leftovers
        end = {"event": "end", "run": begin.get("run"), "time": timestamp(), "applied": applied, "settled": True}
        audit.append(state.audit, [end], like)
        outcome = "after it had written the memory file" if applied else "before it wrote anything"
        told = f"the run {begin.get('run')} was killed {outcome}; the audit log now says so"
    with contextlib.suppress(OSError):  # one that cannot be removed does no harm
        for leftover in (*leftovers, *state.backups.glob("*.part")):
            leftover.unlink(missing_ok=True)
    return told


def timestamp() -> str:
    """Give the machine's clock as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
