"""The use case doctor: look at the memory file, its place, policy and state, and say what is amiss.

Nothing is written, locked or leased. What cannot be looked at is a finding too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from memttl.core.checkup import Checkup, check_bytes, mend_help
from memttl.core.checkup_clock import check_clocks
from memttl.core.findings import DoctorOutcome, Finding, Sizes, in_order, not_checked, of_file, several
from memttl.core.installed import Installed
from memttl.core.moving import away_help, away_words
from memttl.errors import BadPolicy, MemttlError, NoMemoryFile, NoPermission, TryAgain
from memttl.files import checkup, checkup_state
from memttl.files.checkup import Place
from memttl.files.checkup_kept import help_by_backups, help_for_missing
from memttl.files.knowledge import knowledge_of
from memttl.files.moving import moves_to
from memttl.files.outcomes import read_outcomes
from memttl.files.snapshot import Snapshot, read_settled
from memttl.files.state import state_of
from memttl.settings import Settings
from memttl.setup.here import this_installation
from memttl.setup.installed import installed_here
from memttl.setup.moved import moved_away
from memttl.setup.schedule_check import check_schedules, check_silence

Check = tuple[str, Callable[[], Iterable[Finding]]]


def doctor(settings: Settings, *, check: bool = False, environ: Mapping[str, str] = os.environ) -> DoctorOutcome:
    """Check one memory file and all that goes with it. `check`: findings count in the exit code.

    `environ` says where the schedulers of this user keep their files.
    """
    place = Place(settings.named, settings.memory, state_of(settings.memory, settings.state_elsewhere), None)
    findings: list[Finding] = []
    sizes, is_damaged, unread = Sizes(), False, None
    checks: list[Check] = []
    try:
        snapshot, found = _read(settings)
    except MemttlError as e:
        unread = e.exit_code
        findings.append(_unread(e, place, environ))
    else:
        place = place._replace(found=snapshot.stat)
        findings += found.findings
        sizes, is_damaged = found.sizes, found.is_damaged
        checks = [("whether memory vanished", lambda: _vanished(settings, place, snapshot.data, found))]
    installed = cache(lambda: installed_here(this_installation(environ)))  # two checks ask, and it runs a program
    checks.append(("schedules", lambda: check_schedules(place.memory, moves_to(place.state.beside), installed())))
    checks.append(("when schedules ran", lambda: _silence(settings, place, installed())))
    settings.progress("checking the state", 0, None)
    findings += _guarded([*_checks_of_place(place), *_checks_of_state(settings, place), *checks])
    findings = _with_backups(findings, place)
    rung = _rung(place, findings)
    return DoctorOutcome(
        file=settings.named,
        now=settings.now_here,
        findings=in_order(findings),
        sizes=sizes._replace(rung=rung),
        is_damaged=is_damaged,
        unread=unread,
        check=check,
    )


def _read(settings: Settings) -> tuple[Snapshot, Checkup]:
    def look(data: bytes) -> tuple[Checkup, bool]:
        found = check_bytes(data, settings.named, progress=settings.progress)
        return found, found.is_damaged

    return read_settled(settings.memory, look)


def _unread(e: MemttlError, place: Place, environ: Mapping[str, str]) -> Finding:
    """Say why the memory file itself could not be read."""
    message = e.message.replace("; nothing was done", "").rstrip(".")
    if isinstance(e, NoMemoryFile) and not os.path.lexists(place.memory):
        move = moved_away(place.memory, environ)
        if move is not None:
            what = f"there is no file {place.memory}; {away_words(move)}"
            return Finding("error", "missing", what, away_help(move))
        return Finding("error", "missing", f"there is no file {place.memory}", help_for_missing(place))
    names = {NoMemoryFile: "no-regular-file", NoPermission: "unreadable", TryAgain: "never-at-rest"}
    help_ = f"{e.hint or 'Mend that.'} {of_file('doctor', place.named)} looks again."
    return Finding("error", names.get(type(e), "unreadable"), message, help_)


def _guarded(checks: Iterable[Check]) -> list[Finding]:
    """Do each check; one that cannot look is a finding of its own, each reason told once, and the others go on."""
    findings: list[Finding] = []
    reasons: dict[str, list[str]] = {}
    for what, act in checks:
        try:
            findings += act()
        except MemttlError as e:
            reasons.setdefault(e.message.partition(";")[0], []).append(what)
        except OSError as e:
            reasons.setdefault(f"{e.filename or 'the operating system'}: {e.strerror or e}", []).append(what)
    told = {finding.message for finding in findings}
    return findings + [not_checked(several(whats), why) for why, whats in reasons.items() if why not in told]


def _checks_of_place(place: Place) -> list[Check]:
    return [
        ("links", lambda: checkup.check_links(place)),
        ("the folder", lambda: checkup.check_folder(place)),
        ("moves", lambda: checkup.check_moves(place)),
        ("permissions", lambda: checkup.check_rights(place)),
        ("mounts", lambda: checkup.check_mounts(place)),
        ("files of other programs", lambda: checkup.check_strangers(place)),
    ]


def _checks_of_state(settings: Settings, place: Place) -> list[Check]:
    return [
        ("the policy", lambda: _policy(settings, place)),
        ("the state folder", lambda: checkup_state.check_state_folder(place)),
        ("permissions of the state folder", lambda: checkup_state.check_rights(place)),
        ("the ledger", lambda: checkup_state.check_ledger(place)),
        ("the audit log", lambda: checkup_state.check_audit(place)),
        ("leftovers", lambda: checkup_state.check_left_behind(place)),
        ("the lock", lambda: checkup_state.check_lock(place)),
        ("the clock", lambda: _clock(settings, place)),
        ("runs without a terminal", lambda: checkup_state.check_scheduled(place)),
    ]


def _silence(settings: Settings, place: Place, installed: Sequence[Installed]) -> Iterable[Finding]:
    return check_silence(place.memory, read_outcomes(place.state), settings.clock, installed)


def _policy(settings: Settings, place: Place) -> Iterable[Finding]:
    if settings.bad_policy is not None:
        yield from _bad_policy(settings.bad_policy, place)
    for warning in settings.policy.warnings:
        yield Finding("warning", "policy-warning", warning, f"{of_file('policy show', place.named)} prints what holds.")


def _bad_policy(e: BadPolicy, place: Place) -> Iterable[Finding]:
    for problem in e.problems:
        again = f"{of_file('policy check', place.named)} tells whether all is right then."
        help_ = f"Correct the policy; {again}" if e.hint == BadPolicy.hint else f"{e.hint} {again}"
        yield Finding("error", "bad-policy", f"the policy {e.where}: {problem}", help_)


def _clock(settings: Settings, place: Place) -> Iterable[Finding]:
    stamps = checkup_state.newest_stamp(place), checkup_state.newest_run(place)
    return check_clocks(settings.now, settings.clock, *stamps)


def _vanished(settings: Settings, place: Place, data: bytes, found: Checkup) -> Iterable[Finding]:
    with knowledge_of(place.state, must_know=False) as knowledge:
        words = knowledge.vanished(data, settings.policy.max_vanished_fraction)
    if words:
        kept = help_by_backups(place) or "No backup of it is kept: put a copy of your own back."
        if any(finding.help == mend_help(place.named) for finding in found.findings):
            help_ = f"Mend the file first, and look again: what cannot be read counts as gone. {kept}"
        elif found.is_damaged:  # another tool's, or packed: scan refuses it
            help_ = kept
        else:
            help_ = f"{kept} If it is as it should be, {of_file('scan --accept-vanished', place.named)} says so."
        yield Finding("warning", "vanished", words.rstrip("."), help_)


def _with_backups(findings: list[Finding], place: Place) -> list[Finding]:
    """Where the file is empty, and was not always, name what was kept of it instead of saying that all is well."""
    has_vanished = any(finding.name == "vanished" for finding in findings)
    kept = help_by_backups(place) if any(finding.name == "empty" for finding in findings) else ""
    if not (kept or has_vanished):
        return findings
    help_ = kept or f"Put a copy of your own back; {of_file('doctor', place.named)} looks again."
    return [finding._replace(help=help_) if finding.name == "empty" else finding for finding in findings]


# where the write path refuses, whatever the file system can do
_REFUSED = frozenset(
    {
        "hard-links",
        "read-only",
        "read-only-folder",
        "another-owner",
        "single-file-mount",
        "state-on-another-file-system",
    }
)


def _rung(place: Place, findings: Iterable[Finding]) -> str:
    if place.found is None:
        return ""
    return "D" if any(f.name in _REFUSED for f in findings) else checkup.rung_of(place).value
