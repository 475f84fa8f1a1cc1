"""One attempt at one run's change, step by step: old version kept, backup, new version, `begin`, archive, swap, `end`.

`writing.py` calls `commit` under the lock and tries anew where a stranger wrote meanwhile. The steps have names, so
that tests can play the stranger or kill the run between any two. Whatever interrupts it, the memory file is the whole
old or the whole new one, and the log says which or the next run can tell.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memttl.core.records import settings_logged
from memttl.errors import AS_IT_WAS, Interrupted, MemttlError
from memttl.files import versions
from memttl.files.backups import backup_name, write_backup
from memttl.files.folder import READ
from memttl.files.ladder import Rung
from memttl.files.letting_go import Late, let_go
from memttl.files.snapshot import Snapshot, identity
from memttl.files.state import own_file, refusal
from memttl.files.swap import Attempt, Changed, swap
from memttl.files.syscalls import holds_read_lease

if TYPE_CHECKING:
    from memttl.files.archiving import ToArchive
    from memttl.files.writing import Session

# a line of the log that sets something, and what takes it back; None for an arrival, which makes nothing older
LoggedSet = tuple[dict[str, Any], dict[str, Any] | None]
# every name that `step` is called with, in order; "leased" on rung A alone, "linked" on rung C alone
STEPS = (
    *("start", "old version kept", "backup written", "new version written", "begin logged", "archived"),
    *("leased", "verified", "before exchange", "linked", "exchanged", "settled"),
    *("synced", "released", "end logged"),
)


class Change(NamedTuple):
    """What one run wants written: the new bytes, the fields of its `begin`, and one event for each removal.

    `key` is equal for changes that remove the same: then a further try needs no further lines in the log, and the
    events are not asked for. `sets`: some of the events change settings, too. `to_archive` is what goes and is to be
    kept, where there is an archive. `also_sets` are arrivals and changes of settings, logged before the swap, each
    setting with the line that takes it back. Where `begin` is empty nothing is removed: such a write is no run.
    """

    run: str
    data: bytes
    begin: dict[str, Any]
    removals: Callable[[], Sequence[dict[str, Any]]]
    key: Any
    with_backup: bool = True
    to_archive: ToArchive | None = None
    sets: bool = False
    also_sets: Sequence[LoggedSet] = ()


def commit(session: Session, change: Change, snapshot: Snapshot) -> Path | None:
    """Write `change` in place of `snapshot`; give its backup.

    Raises:
        Changed, NotCarried: nothing was replaced; `writing.py` tries again, or on the next rung.
        MemttlError: with `applied` true when the file had been replaced before something failed.
    """
    writer = _Writer(session, change, snapshot)
    try:
        return writer.run()
    except BaseException as e:
        error = writer.cleaned_up(e)
        if error is e:
            raise
        raise error from e
    finally:
        writer.close()


class _Writer:
    def __init__(self, session: Session, change: Change, snapshot: Snapshot) -> None:
        self.session, self.change, self.snapshot = session, change, snapshot
        self.beside = session.beside
        self.digests = session.digest(snapshot.data), session.digest(change.data)
        old, new = map(versions.short, self.digests)
        self.journal = versions.Journal(change.run, session.next_number(), old, new)
        self.backup: Path | None = None
        if change.with_backup:
            self.backup = session.state.backups / backup_name(change.run, session.started)
        self.attempt: Attempt | None = None
        self.new_file: tuple[int, int] | None = None
        self.base: str | None = None

    def run(self) -> Path | None:
        step = self.session.step
        step("start")
        live = self._open_live()
        self.attempt = Attempt(
            self.session.memory, self.snapshot.path.name, self.beside, self.journal, self.snapshot, live, -1
        )
        self._keep_old_version()
        step("old version kept")
        self._write_backup()
        step("backup written")
        self._write_new_version(live)
        step("new version written")
        is_new = self._log_begin()
        step("begin logged")
        if is_new:
            self._archive()
        step("archived")
        swap(self.attempt, self.session.rung, self.session.pace, step)
        self._sync()
        step("synced")
        self._note_redundant()
        self._let_go()
        self._note_written()
        step("released")
        self._take_out_of_archive()
        self._log_end()
        step("end logged")
        return self.backup

    def _open_live(self) -> int:
        try:
            live = self.session.memory.open(self.snapshot.path.name, READ)
        except (FileNotFoundError, BlockingIOError):
            raise Changed(self.snapshot.path) from None
        if identity(os.fstat(live)) != identity(self.snapshot.stat):
            os.close(live)
            raise Changed(self.snapshot.path)
        return live

    def _keep_old_version(self) -> None:
        name = self.journal.old + versions.BASE
        is_new = name not in self.beside.names()
        versions.write_base(self.beside, self.snapshot, self.journal.old)
        self.base = name if is_new else None

    def _write_backup(self) -> None:
        if self.backup is None:
            return
        self.backup.unlink(missing_ok=True)  # of an earlier attempt of this run, killed by a stranger's write
        if self.session.state.kept == self.session.state.beside:
            try:  # both are copies of ours that nobody writes again
                os.link(self.beside.path / (self.journal.old + versions.BASE), self.backup)
                own_file(self.backup, self.snapshot.stat)
            except OSError:
                pass
            else:
                return
        write_backup(self.backup, self.snapshot.data, self.snapshot.stat)

    def _write_new_version(self, live: int) -> None:
        assert self.attempt is not None
        suffix = versions.NEW if self.session.rung is Rung.REPLACE else versions.SWAP
        name = self.journal.name(suffix)
        self.attempt.new = versions.write_version(self.beside, name, self.change.data, self.snapshot, live=live)
        made = os.fstat(self.attempt.new)
        self.new_file = made.st_dev, made.st_ino

    def _sync(self) -> None:
        """Make the swap durable, then the backup: until then the old version itself lies safe in the state folder."""
        try:
            self.session.memory.sync()
            self.beside.sync()
            if self.backup is not None:
                with open(self.backup, "rb+") as f:
                    os.fsync(f.fileno())
        except OSError as e:
            raise refusal(e, f"The folder of {self.snapshot.path} cannot be synced") from None

    def _let_go(self) -> None:
        assert self.attempt is not None
        late = let_go(self.attempt) if self.session.rung is Rung.LEASES else Late.NO
        if not self.session.is_recovering:  # that write is another one
            self.session.late = late
        self.close()

    def _note_redundant(self) -> None:
        """What came out was proven to be what was read, and under its lease nobody has written it since."""
        if self.session.remembered is not None and self.session.rung is Rung.LEASES:
            assert self.attempt is not None
            if holds_read_lease(self.attempt.live):
                self.session.remembered.note_redundant(self.attempt.swap_name, os.fstat(self.attempt.live))

    def _note_written(self) -> None:
        if self.session.remembered is not None:
            found = self.session.memory.stat(self.snapshot.path.name)
            if (found.st_dev, found.st_ino) == self.new_file:
                self.session.remembered.note_written(found)

    def _backup_name(self) -> str | None:
        return self.backup.name if self.backup is not None else None

    def _take_out_of_archive(self) -> None:
        """What an undo has put back goes from the archive; before the `end`, so that a kill here is settled."""
        if not (self.change.begin.get("undoes") and self.change.begin.get("archive")):
            return
        from memttl.files.archiving import settle

        begin = {**self.change.begin, "run": self.change.run}
        settle(self.session, begin, applied=True, events=self.change.removals())

    def _log_begin(self) -> bool:
        """Log the run's begin and its removals, unless an earlier try of the same removals has; say whether it did."""
        begun = (self.change.run, self.change.key)
        if not self.change.begin or self.session.begun == begun:
            self.session.set_ahead(self.change.also_sets)
            return False
        fields = {"write": self.journal.n, "backup": self._backup_name(), **self.change.begin}
        begin = {"event": "begin", "run": self.change.run, "time": timestamp(), **fields}
        self.session.log_begin(begun, [begin, *self.change.removals()], self.change.also_sets)
        return True

    def _archive(self) -> None:
        """Keep what goes; after the `begin`, which tells whose it is where this run is killed and was not applied."""
        if self.change.to_archive is None:
            return
        from memttl.files.archiving import keep  # here: most policies name no archive

        keep(self.session, self.change.to_archive, self.change.run)

    def _log_end(self) -> None:
        self.session.keep_set()
        if not self.change.begin:
            return
        digests = dict(zip(("file_digest", "new_digest"), self.digests, strict=True))
        self.session.log_end({"applied": True, "backup": self._backup_name(), **digests}, self._settings())

    def _settings(self) -> list[dict[str, Any]]:
        change = self.change
        if not change.sets:
            return []
        return settings_logged(change.removals(), str(change.begin.get("command")), timestamp())

    def close(self) -> None:
        if self.attempt is not None:
            self.attempt.close()

    def _was_applied(self) -> bool:
        """Say whether the swap happened and stood, as the disk tells it."""
        if self.attempt is None or self.new_file is None or self.attempt.was_undone:
            return False
        suffix = versions.NEW if self.session.rung is Rung.REPLACE else versions.SWAP
        try:
            found = self.beside.stat(self.journal.name(suffix))
        except FileNotFoundError:
            # gone into the memory file's place, if the old file's second name or the live file says so; or the whole
            # state folder was taken away
            return suffix == versions.NEW and (
                self._is_live() or self.journal.name(versions.LINK) in self.beside.names()
            )
        return (found.st_dev, found.st_ino) != self.new_file

    def _is_live(self) -> bool:
        try:
            live = self.session.memory.stat(self.snapshot.path.name)
        except FileNotFoundError:
            return False
        return (live.st_dev, live.st_ino) == self.new_file

    def cleaned_up(self, error: BaseException) -> BaseException:
        """Leave log and folder tidy after a failure; give the error as one of ours, with `applied` as it is."""
        applied = self._was_applied()
        self.close()
        if not applied:
            self._drop_own_files()
        else:
            self.session.keep_set()
        if applied and self.session.begun is not None:
            with contextlib.suppress(MemttlError):  # the next run settles it by what lies in the state folder
                self._log_end()
            self.session.begun = None
        if isinstance(error, KeyboardInterrupt):
            error = Interrupted(f"Interrupted; {AS_IT_WAS}.", hint=f"The backup is {self.backup}." if applied else None)
        elif isinstance(error, OSError):
            error = refusal(error, f"The new version of {self.snapshot.path} cannot be written")
        if applied and isinstance(error, MemttlError):
            error.after_the_write()
        return error

    def _drop_own_files(self) -> None:
        """Remove what was never in the memory file's place; after an undone exchange the next look decides instead."""
        if self.backup is not None:
            self.backup.unlink(missing_ok=True)
        if self.attempt is not None and self.attempt.was_undone:
            return
        for suffix in (versions.SWAP, versions.NEW, versions.LINK):
            self.beside.unlink(self.journal.name(suffix))
        if self.base is not None:
            self.beside.unlink(self.base)


def timestamp() -> str:
    """Give the machine's clock as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
