"""A schedule as a systemd service and the timer that starts it, hardened as far as the place allows.

`workflow/schedule.py` installs or prints both. `systemd.exec(5)`, `systemd.timer(5)` and `systemd.syntax(7)` say what
each line means and how it is quoted.
"""

from __future__ import annotations

import re

from memttl.core.schedule import MARK, Job, Times, times_of

# what a manager without privileges and without user namespaces can do as well: all of it is a system call filter
_FILTER = """\
NoNewPrivileges=yes
RestrictAddressFamilies=none
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# the new file gets the group that the old one had
SystemCallFilter=@chown
SystemCallErrorNumber=EPERM
"""
_ALONE = """\
# A user's systemd hides files and the network in a user namespace alone. This machine gives it none, or the memory file
# has a group or a list of rights that could not be kept in one: so this is the filter of system calls alone.
"""
_SANDBOX = """\
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
PrivateMounts=yes
PrivateNetwork=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
"""
# what only the manager of the whole machine can do
_SYSTEM = """\
AmbientCapabilities=
DevicePolicy=closed
IPAddressDeny=any
ProtectKernelLogs=yes
ProtectProc=invisible
"""
_SPELLED = {"day": "daily", "week": "weekly"}
BY_SHELL = ("/bin/sh", "-c", 'exec "$@"', "sh")  # stands before the words of a program that systemd does not take


def units(job: Job) -> tuple[tuple[str, str], ...]:
    """Give the names and texts of the units; the timer comes last, so that it never starts half of them.

    Raises:
        UsageError: systemd cannot do it so often exactly.
    """
    timer = _timer(job)
    return (f"{job.name}.service", _service(job)), (f"{job.name}.timer", timer)


def _service(job: Job) -> str:
    return (
        f"# {MARK}; `memttl schedule systemd {job.wish.command} --remove` takes it away.\n"
        f"[Unit]\nDescription={_escaped(job.title)}\n\n"
        "[Service]\nType=oneshot\nSyslogIdentifier=memttl\n"
        f"{_who(job)}{_exec_start(job.words)}{_environment(job)}"
        "TimeoutStartSec=30min\nNice=19\nCPUSchedulingPolicy=batch\nIOSchedulingClass=idle\nUMask=0077\n\n"
        f"{_hardening(job)}"
    )


def _who(job: Job) -> str:
    return f"User={_escaped(job.user)}\nGroup={_escaped(job.group or '')}\n" if job.user else ""


def _exec_start(words: tuple[str, ...]) -> str:
    if set(words[0]) & set("\"'\\$"):  # systemd takes no program of such a name, and replaces no $$ in it
        words = (*BY_SHELL, *words)
    return f"ExecStart={' '.join(quoted(word, is_replaced=True) for word in words)}\n"


def _environment(job: Job) -> str:
    return "".join(f"Environment={quoted(f'{name}={value}', is_replaced=False)}\n" for name, value in job.environment)


def _hardening(job: Job) -> str:
    if not job.sandbox:
        return f"{_ALONE}{_FILTER}"
    writable = " ".join(_path(folder) for folder in job.folders)
    return (
        f"# the write path makes new files beside the memory file\nReadWritePaths={writable}\n"
        f"{'PrivateTmp=yes' if job.hides_tmp else 'PrivateTmp=no'}\n"
        f"{'PrivateUsers=yes' if job.hides_users else 'PrivateUsers=no'}\n"
        f"{_SANDBOX}{_SYSTEM if job.user else ''}{_FILTER}"
    )


def _timer(job: Job) -> str:
    times = times_of("systemd", job.wish.cadence)
    return (
        f"# {MARK}; `memttl schedule systemd {job.wish.command} --remove` takes it away.\n"
        f"[Unit]\nDescription={_escaped(job.title)}\n\n"
        f"[Timer]\nOnCalendar={_calendar(times)}\n"
        "# a run that was missed while the machine was off is made up for\nPersistent=true\n"
        f"RandomizedDelaySec={_delay_s(job)}\nFixedRandomDelay=true\n\n[Install]\nWantedBy=timers.target\n"
    )


def _calendar(times: Times) -> str:
    if times.unit == "minute":
        return f"*:0/{times.n}"
    if times.unit == "hour":
        return f"0/{times.n}:00"
    return f"*-1/{times.n}-01 00:00:00" if times.unit == "month" else _SPELLED[times.unit]


def _delay_s(job: Job) -> int:
    """Give the longest random delay: a twelfth of the time between two runs, an hour at most."""
    return min(3600, job.wish.cadence.minutes * 5 or 3600)


def quoted(word: str, *, is_replaced: bool) -> str:
    """Write one word of a command line; `is_replaced`: a variable in it would be."""
    text = _escaped(word.replace("\\", "\\\\").replace('"', '\\"'))
    text = text.replace("$", "$$") if is_replaced else text
    return text if re.fullmatch(r"[\w@%+=:,./$-]+", text) else f'"{text}"'


def _path(path: str) -> str:
    """Write one path of a list: in it a backslash is a character like any other. `-`: it may be missing."""
    text = "-" + _escaped(path)
    if '"' not in text:
        return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else f'"{text}"'
    return '"' + text.replace('"', '"\'"\'"') + '"'


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
