"""The state folder into findings: links in it, rights, ledger, audit log, unfinished runs, leftovers, the lock.

Called by `workflow/doctor.py`, check by check. Nothing here is written, locked or leased.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memttl.core.checkup_log import check_backups, check_outcomes, newest_time
from memttl.core.findings import Finding, of_file, several
from memttl.errors import AS_IT_WAS, CannotCreate, LedgerDamaged, LedgerLost, MemttlError
from memttl.files import audit
from memttl.files.archive_mark import archive_of
from memttl.files.checkup import Place
from memttl.files.held import holder_of
from memttl.files.leftovers import left_behind
from memttl.files.outcomes import hindrance, read_outcomes
from memttl.files.state import FOLDER, State, read_own, refuse_another_folder

_ARCHIVE_HELP = "`memttl search --file` finds all that it holds."


def check_state_folder(place: Place) -> Iterator[Finding]:
    """Find links and other things in the place of memttl's folders, and the state of another memory file."""
    state = place.state
    folders = dict.fromkeys((state.beside.parent, state.beside, state.kept, state.backups))
    for path in folders:
        mode = _mode(path)
        if mode is not None and not stat.S_ISDIR(mode):
            what = "a link" if stat.S_ISLNK(mode) else "no folder"
            message = f"{path} is {what}, and memttl writes its state into plain folders alone (exit code 73 or 77)"
            aside = f"`mv {shlex.quote(str(path))} {shlex.quote(str(path))}.aside` lets memttl make its own."
            yield Finding("warning", "state-link", message, aside)
    try:
        refuse_another_folder(state)
    except LedgerLost as e:
        yield Finding("error", "state-elsewhere", _message(e), e.hint)
    except CannotCreate as e:
        yield Finding("error", "state-of-another", _message(e), e.hint)


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except OSError:
        return None


def _message(e: MemttlError) -> str:
    text = e.message
    for words in (f"; {AS_IT_WAS}", "; nothing was done"):
        text = text.replace(words, "")
    return text.rstrip(".")


def check_rights(place: Place) -> Iterator[Finding]:
    """Find entries of the state folder that others may read or write though the memory file's mode says no."""
    if place.found is None:
        return
    mode = stat.S_IMODE(place.found.st_mode)
    wide, strange, bits = [], [], 0
    for path, found in _entries(place.state):
        allowed = mode & 0o666 | 0o600
        if stat.S_ISDIR(found.st_mode):
            allowed |= (allowed & 0o444) >> 2 | 0o700
        extra = stat.S_IMODE(found.st_mode) & 0o777 & ~allowed if not stat.S_ISLNK(found.st_mode) else 0
        if extra:
            wide.append(str(path))
            bits |= extra
        if found.st_uid != place.found.st_uid:
            strange.append(str(path))
    folder = shlex.quote(str(place.state.kept))
    if wide:
        what = f"wider permissions than the memory file's ({mode & 0o777:04o}): {several(wide)}"
        yield Finding("warning", "wide-permissions", what, f"`chmod -R {_symbolic(bits)} {folder}` takes them away.")
    if strange:
        what = f"another owner than the memory file's: {several(strange)}"
        help_ = f"`sudo chown -R --reference={shlex.quote(str(place.memory))} {folder}` gives it back."
        yield Finding("warning", "state-of-another-owner", what, help_)


def _entries(state: State) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield each folder and file of the state with its own stat, links not followed."""
    for top in dict.fromkeys((state.beside, state.kept)):
        if _mode(top) is None:
            continue
        yield top, top.lstat()
        for folder, folders, files in os.walk(top, onerror=_raise):
            for name in sorted((*folders, *files)):
                path = Path(folder, name)
                mode = _mode(path)
                if mode is not None and name != FOLDER:
                    yield path, path.lstat()


def _raise(error: OSError) -> None:
    raise error


def _symbolic(bits: int) -> str:
    """Write permission bits as chmod takes them away: `g-w,o-rwx`."""
    words = []
    for who, shift in (("u", 6), ("g", 3), ("o", 0)):
        found = "".join(letter for letter, bit in (("r", 4), ("w", 2), ("x", 1)) if bits >> shift & bit)
        words += [f"{who}-{found}"] if found else []
    return ",".join(words)


def check_ledger(place: Place) -> Iterator[Finding]:
    """Find a ledger that is damaged, lost, or of a newer memttl; SQLite checks all of it (`PRAGMA integrity_check`)."""
    from memttl.files.ledger_open import ledger_to_read  # SQLite

    state, damage = place.state, ""
    names = archive_of(state)
    if names:  # it has no ledger: its entries are dated in its log
        yield Finding("note", "archive", f"this file is the archive of {' and '.join(names)}", _ARCHIVE_HELP)
        return
    if not os.path.lexists(state.kept):
        return
    try:
        with ledger_to_read(state.ledger) as ledger:
            if ledger is not None:
                yield from _aside(state)
                return
    except LedgerDamaged as e:
        damage = _message(e)
    except CannotCreate as e:  # a newer memttl wrote it
        yield Finding("error", "newer-state", _message(e), f"{e.hint} `memttl --version` tells which one this is.")
        return
    yield from _without_ledger(place, damage)
    yield from _aside(state)


def _without_ledger(place: Place, damage: str) -> Iterator[Finding]:
    from memttl.files.rebuild import rebuilt

    try:
        refuse_another_folder(place.state)
        found = rebuilt(place.state, damaged=bool(damage))
    except LedgerLost as e:
        if damage or os.path.lexists(place.state.audit):  # else `check_state_folder` has said it
            mends = f"{of_file('doctor --repair', place.named)} begins a new one with what can still be told"
            copy = f"or put a copy of {place.state.kept} back"
            yield Finding("error", "ledger-lost", _message(e), f"{mends}; {copy}.")
        return
    if found is not None:
        what = damage or f"the ledger {place.state.ledger} is missing"
        help_ = f"{of_file('scan', place.named)} makes it anew: {found.words()}."
        yield Finding("error" if damage else "warning", "ledger-damaged" if damage else "ledger-missing", what, help_)


def _aside(state: State) -> Iterator[Finding]:
    names = sorted(path.name for path in state.kept.glob("ledger.db.damaged-*"))
    if names:
        what = f"a damaged ledger was moved aside in {state.kept}: {several(names)}"
        rm = f"`rm {shlex.quote(str(state.kept))}/ledger.db.damaged-*` removes it, once nothing in it is of use."
        yield Finding("note", "damaged-ledger-aside", what, rm)
    logs = sorted(path.name for path in state.kept.glob("audit.jsonl.damaged-*"))
    if logs:
        what = f"a damaged audit log was set aside in {state.kept}: {several(logs)}"
        rm = f"`rm {shlex.quote(str(state.kept))}/audit.jsonl.damaged-*` removes it, once nothing in it is of use."
        yield Finding("note", "damaged-log-aside", what, rm)


def newest_stamp(place: Place) -> datetime | None:
    """Give the newest stamp of the ledger; None where there is none that can be read."""
    from memttl.files.ledger_open import ledger_errors, ledger_to_read

    try:
        with ledger_to_read(place.state.ledger) as ledger, ledger_errors(place.state.ledger):
            return ledger.newest if ledger is not None else None
    except LedgerDamaged:
        return None


def newest_run(place: Place) -> datetime | None:
    """Give the latest time that the audit log bears; None where there is none that can be read."""
    try:
        return datetime.fromisoformat(newest_time(_events(place)))
    except (ValueError, CannotCreate):
        return None


def _events(place: Place) -> list[dict[str, Any]]:
    return audit.read_events(place.state.audit)


def check_audit(place: Place) -> Iterator[Finding]:
    """Find an audit log that was torn or edited, or that a newer memttl wrote, and texts that cannot be put back."""
    path = place.state.audit
    if not os.path.lexists(path):
        return
    try:
        events = _events(place)
    except CannotCreate as e:
        yield Finding("error", "newer-state", _message(e), f"{e.hint} `memttl --version` tells which one this is.")
        return
    if not audit.is_whole(path):
        what = f"the audit log {path} was edited, or lines of it are lost: its chain of digests is broken"
        mends = f"{of_file('doctor --repair', place.named)} keeps what can be relied on and sets the rest aside"
        help_ = f"{of_file('log verify', place.named)} names the first bad line; {mends}."
        yield Finding("error", "audit-broken", what, help_)
    data = read_own(path)
    if data and not data.endswith(b"\n"):
        what = f"the last line of the audit log {path} is torn (a kill, or a full disk)"
        yield Finding(
            "note",
            "audit-torn",
            what,
            f"The next run settles it; {of_file('log verify', place.named)} tells what stands.",
        )
    try:
        backups = os.listdir(place.state.backups)
    except (FileNotFoundError, NotADirectoryError):
        backups = []
    yield from check_backups(events, backups, place.named)


def check_left_behind(place: Place) -> Iterator[Finding]:
    """Find a run that did not end, what a killed one left, and updates of a late writer that wait to be merged."""
    left, state = left_behind(place.state), place.state
    next_run = f"The next run that writes tidies up; {of_file('prune', place.named)} is one."
    is_held = holder_of(state.lock) is not None
    if left.is_open and not is_held:
        begin = audit.unfinished_run(_events(place)) or {}
        what = f"the run {begin.get('run')} ({begin.get('command')}, {begin.get('time')}) did not come to its end"
        yield Finding("warning", "unfinished-run", what, next_run)
    if left.killed and not is_held:
        what = f"a killed run left {several(left.killed)} in {state.beside}"
        yield Finding("warning", "leftover", what, next_run)
    for name in left.updates:
        what = f"{state.beside / name} holds an update of another program that is not in the memory file yet"
        yield Finding(
            "warning",
            "unmerged-update",
            what,
            f"The next run that writes merges it; {of_file('prune', place.named)} is one.",
        )
    if left.rescued:
        what = f"versions that could not be read were set aside in {state.beside}: {several(left.rescued)}"
        first = str(state.beside / left.rescued[0])
        help_ = (
            f"{of_file('doctor', first)} tells what is wrong with it; remove it once the memory file has all of that."
        )
        yield Finding("warning", "rescued-version", what, help_)


def check_lock(place: Place) -> Iterator[Finding]:
    """Say who holds the lock of memttl against memttl."""
    holder = holder_of(place.state.lock)
    if holder is not None:
        who = f"process {holder.pid}" + (f" ({holder.command})" if holder.command else "")
        what = f"{who} holds the lock {place.state.lock}: another memttl is at work on this file"
        help_ = f"Wait for it (`ps -p {holder.pid}`); {of_file('doctor', place.named)} looks again."
        yield Finding("note", "lock-held", what, help_)


def check_scheduled(place: Place) -> Iterator[Finding]:
    """Say of each command whether its last runs without a terminal failed, and why such runs cannot be told of."""
    why = hindrance(place.state)
    if why.startswith(str(place.state.kept)) and why.endswith("cannot be written"):
        what = f"{why} by you, the owner of the memory file: no command that writes can run, nor tell that it failed"
        help_ = f"`chmod u+rwx {shlex.quote(str(place.state.kept))}` (with sudo, where it is not yours) opens it."
        yield Finding("error", "state-unwritable", what, help_)
    yield from check_outcomes(read_outcomes(place.state), place.named)
