"""Where the schedules of each kind lie, and which commands start and stop them.

`workflow/schedule.py` writes and runs what this says.
"""

from __future__ import annotations

from pathlib import Path

from memttl.core.schedule import Job, Kind, Wish
from memttl.setup import cron, launchd, systemd, windows
from memttl.setup.here import Here
from memttl.setup.namespaces import user_manager_answers
from memttl.setup.targets import Crontab, Target, Task, UnitFile

Commands = tuple[tuple[str, ...], ...]


def targets_of(name: str, wish: Wish, here: Here) -> tuple[Target, ...]:
    """Give the places of one schedule, in the order in which they are written."""
    if wish.kind == "systemd":
        folder = here.system_units if wish.system else here.user_units
        return UnitFile(folder / f"{name}.service"), UnitFile(folder / f"{name}.timer")
    if wish.kind == "launchd":
        return (UnitFile((here.daemons if wish.system else here.agents) / f"{name}.plist"),)
    if wish.kind == "cron":
        return (UnitFile(here.cron_folder / name) if wish.system else Crontab(name, here.environ),)
    return (Task(name, here.environ),)


def contents_of(job: Job, here: Here) -> tuple[str, ...]:
    """Give what each of the places holds.

    Raises:
        UsageError: the scheduler cannot do it so often, or not for the whole machine.
    """
    if job.wish.kind == "systemd":
        return tuple(text for _, text in systemd.units(job))
    if job.wish.kind == "launchd":
        return (launchd.property_list(job, here.logs),)
    return (cron.block(job) if job.wish.kind == "cron" else windows.task(job),)


def starting(name: str, wish: Wish, here: Here, *, is_update: bool) -> Commands:
    """Give the commands that start a schedule once its files are there."""
    if wish.kind == "systemd":
        systemctl = _systemctl(wish)
        again = ((*systemctl, "restart", f"{name}.timer"),) if is_update else ()
        return (*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", f"{name}.timer"), *again
    if wish.kind == "launchd":
        path = str((here.daemons if wish.system else here.agents) / f"{name}.plist")
        bootstrap = ("launchctl", "bootstrap", _domain(wish, here), path)
        return (*(stopping(name, wish, here) if is_update else ()), bootstrap)
    return ()


def stopping(name: str, wish: Wish, here: Here) -> Commands:
    """Give the commands that stop a schedule before its files go."""
    if wish.kind == "systemd":
        return ((*_systemctl(wish), "disable", "--now", f"{name}.timer"),)
    if wish.kind == "launchd":
        return (("launchctl", "bootout", f"{_domain(wish, here)}/{name}"),)
    return ()


def stopped(wish: Wish) -> Commands:
    """Give the commands that make the scheduler forget files that are gone."""
    return ((*_systemctl(wish), "daemon-reload"),) if wish.kind == "systemd" else ()


def can_run(wish: Wish, here: Here) -> bool:
    """Say whether the scheduler runs here and hears us."""
    if wish.kind == "systemd":
        return here.is_booted and (wish.system or user_manager_answers(here.environ))
    return True


def links_of(name: str, wish: Wish, here: Here) -> tuple[Path, ...]:
    """Give the links by which systemd starts a timer at boot; `systemctl disable` removes them where systemd runs."""
    if wish.kind != "systemd":
        return ()
    folder = here.system_units if wish.system else here.user_units
    link = folder / "timers.target.wants" / f"{name}.timer"
    return (link,) if link.is_symlink() else ()


def own_kind(here: Here) -> Kind:
    """Give the scheduler that this machine has."""
    if here.platform == "win32":
        return "windows"
    if here.platform == "darwin":
        return "launchd"
    return "systemd" if here.is_booted else "cron"


def kinds_of(here: Here) -> tuple[Kind, ...]:
    """Give the schedulers that a machine of this kind can have, its own first."""
    if here.platform == "win32":
        return ("windows",)
    return ("launchd", "cron") if here.platform == "darwin" else ("systemd", "cron")


def notes_of(name: str, wish: Wish) -> tuple[str, ...]:
    """Give what is to be known of a schedule once it is there."""
    if wish.kind == "systemd":
        start = f"`{' '.join((*_systemctl(wish), 'start', name))}.service` runs it once now"
        linger = "while you are not logged in it runs only after `loginctl enable-linger`"
        manager = " ".join(_systemctl(wish))
        journal = f"journalctl {'-u' if wish.system else '--user -u'} {name}"
        see = f"`{manager} list-timers {name}.timer` shows when it runs next, `{journal}` what its runs said"
        return (start, see) if wish.system else (start, see, linger)
    if wish.kind == "cron":
        return ("cron does not make up for a run at which the machine was off",)
    return ("it runs only while you are logged on",) if not wish.system else ()


def _systemctl(wish: Wish) -> tuple[str, ...]:
    return ("systemctl",) if wish.system else ("systemctl", "--user")


def _domain(wish: Wish, here: Here) -> str:
    return "system" if wish.system else f"gui/{here.user}"
