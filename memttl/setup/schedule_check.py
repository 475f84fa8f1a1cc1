"""The schedules of a memory file into findings: one at the place of before a move, one whose program is gone, one that
nothing starts, one that has not run for long.

`workflow/doctor.py` asks for all of them; `setup/moved.py` warns of the first kind at every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memttl.core.failed_runs import last_run
from memttl.core.findings import Finding, several
from memttl.core.installed import Installed
from memttl.core.moving import Move
from memttl.setup.here import Here
from memttl.setup.installed import installed_for, naming


def check_schedules(memory: Path, moves: Sequence[Move], installed: Sequence[Installed]) -> Iterator[Finding]:
    """Find what is amiss with the schedules of a memory file that came where it is by `moves`; of all `installed`."""
    own = naming(installed, memory)
    for move in moves:
        for one in () if _leads_to(move.source, memory) else naming(installed, Path(move.source)):
            yield Finding("warning", "schedule-of-old-place", _old(one, move), f"{_mended(one, move, own)}.")
    for one in own:
        if one.lacks:
            what = f"{one.path} cannot run `memttl {one.command}`: {one.lacks} is gone; each of its runs fails"
            yield Finding("warning", "schedule-without-program", what, _again(one, memory))
        elif not one.is_enabled:
            what = f"{one.path} is written, but its timer is not enabled, so that `memttl {one.command}` never runs"
            yield Finding("warning", "schedule-not-enabled", what, _enabled(one))


def check_silence(
    memory: Path, outcomes: Sequence[Mapping[str, Any]], clock: datetime, installed: Sequence[Installed]
) -> Iterator[Finding]:
    """Find schedules of a memory file that should have run and have kept no outcome; `clock` is the machine's instant.

    A kill, a program that systemd could not start and a machine without memory leave no outcome.
    """
    for one in naming(installed, memory):
        since = last_run(outcomes, one.command)
        begun = datetime.fromisoformat(since) if since else _written(one)
        if begun is None or one.lacks or not one.is_enabled or clock - begun <= _patience(one):
            continue
        last = f"the last run that is known was on {since[:10]}" if since else "no run of it is known"
        what = f"{one.path} is there to run `memttl {one.command}` every {one.every or 'so often'}, and {last}"
        yield Finding("warning", "schedule-silent", what, _looked_into(one, memory))


def _written(one: Installed) -> datetime | None:
    try:
        return datetime.fromtimestamp(os.stat(one.path).st_mtime, UTC)
    except OSError:  # a crontab has no file that everybody may look at
        return None


def _patience(one: Installed) -> timedelta:
    """Give how long a schedule may be silent: thrice its interval, and two days where the machine may have been off."""
    minutes = one.every.minutes + one.every.months * 31 * 1440 if one.every else 0
    return max(timedelta(minutes=3 * minutes), timedelta(days=2))


def _looked_into(one: Installed, memory: Path) -> str:
    if one.kind == "systemd":
        user = "" if one.system else " --user"
        timer, journal = f"systemctl{user} status {one.name}.timer", f"journalctl{user} -u {one.name}"
        return f"`{timer}` and `{journal}` tell what became of it{_as_root(one)}."
    return _again(one, memory)


def stale_words(memory: Path, moves: Sequence[Move], here: Here) -> list[str]:
    """Say which schedules still run at the places from where a file was moved; a few looks at files for each move."""
    found = []
    for move in moves:
        for one in () if _leads_to(move.source, memory) else installed_for(Path(move.source), here):
            found.append(f"{_old(one, move)}. {_mended(one, move, installed_for(memory, here))}")
    return found


def _leads_to(source: str, memory: Path) -> bool:
    """Say whether a link at the old place lets a schedule go on."""
    return os.path.realpath(source) == str(memory)


def _old(one: Installed, move: Move) -> str:
    return (
        f"{one.path} still runs `memttl {one.command}` of {move.source}, from where this file was moved on "
        f"{move.time[:10]}: each of its runs fails"
    )


def _mended(one: Installed, move: Move, own: Sequence[Installed]) -> str:
    """Name the command that takes a schedule away, and that for the new place where it has none."""
    has_one = any(other.command == one.command and not other.lacks for other in own)
    policy = "" if one.policy and not os.path.exists(one.policy) else None  # it went along
    commands = [one.remove_command(move.source)]
    commands += [] if has_one else [one.install_command(move.target, policy=policy)]
    return f"{several([f'`{command}`' for command in commands])} {'mends' if has_one else 'mend'} that{_as_root(one)}"


def _again(one: Installed, memory: Path) -> str:
    return f"`{one.install_command(one.file or str(memory))}` writes it anew, with the memttl that runs this command."


def _enabled(one: Installed) -> str:
    systemctl = "systemctl" if one.system else "systemctl --user"
    return f"`{systemctl} daemon-reload && {systemctl} enable --now {one.name}.timer` starts it{_as_root(one)}."


def _as_root(one: Installed) -> str:
    return ", as root" if one.system else ""
