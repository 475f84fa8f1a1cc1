"""The places of schedules: a file that a scheduler reads, the crontab of a user, a task of Task Scheduler.

Each is read and compared, written whole or not at all, and removed only where memttl wrote it. Called by
`workflow/schedule.py`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from memttl.core.schedule import MARK
from memttl.errors import CannotCreate, MemttlError, NoPermission
from memttl.setup.cron import find_block, with_block

_NOT_DONE = "nothing of it was changed"


class Target(Protocol):
    """One place: what it is called, and what lies there."""

    @property
    def title(self) -> str:
        """The path, or words for a place that has none."""

    def read(self) -> str | None:
        """Give what lies there, None for nothing."""

    def write(self, content: str) -> None:
        """Put a schedule there, whole or not at all."""

    def remove(self) -> None:
        """Take it away."""


def is_ours(content: str) -> bool:
    """Say whether memttl wrote this: its mark stands near the top."""
    return MARK in content[:600]


class UnitFile(NamedTuple):
    """A file of its own that a scheduler reads."""

    path: Path

    @property
    def title(self) -> str:
        """Its path."""
        return str(self.path)

    def read(self) -> str | None:
        """Give its text; None where there is none.

        Raises:
            NoPermission, CannotCreate: it cannot be read.
        """
        try:
            return self.path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None
        except OSError as e:
            raise _refusal(e, self.path, "read") from None

    def write(self, content: str) -> None:
        """Write it whole or not at all; a link is followed, and the mode is one that every scheduler takes.

        Raises:
            NoPermission, CannotCreate: what was there is as it was.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _replace(os.path.realpath(self.path), content.encode())
        except OSError as e:
            raise _refusal(e, self.path, "written") from None

    def remove(self) -> None:
        """Remove it.

        Raises:
            NoPermission, CannotCreate: it is still there.
        """
        try:
            self.path.unlink()
        except OSError as e:
            raise _refusal(e, self.path, "removed") from None


class Crontab(NamedTuple):
    """The lines of one schedule in the crontab of whoever runs this, which the program `crontab` reads and writes."""

    name: str
    environ: Mapping[str, str]

    @property
    def title(self) -> str:
        """Words for it."""
        return "your crontab"

    def read(self) -> str | None:
        """Give the lines of this schedule alone.

        Raises:
            NoPermission, CannotCreate: the crontab cannot be read, or does not hold them as they were written.
        """
        return find_block(self.whole(), self.name)

    def write(self, content: str) -> None:
        """Put the lines into the crontab, all others as they are; "" takes them out.

        Raises:
            NoPermission, CannotCreate: the crontab is as it was.
        """
        text = with_block(self.whole(), self.name, content)
        ended = _run(("crontab", "-"), self.environ, text)
        if ended.returncode:
            raise CannotCreate(f"`crontab -` failed ({_said(ended)}); {_NOT_DONE}.", hint="Look at `crontab -l`.")

    def remove(self) -> None:
        """Take the lines out.

        Raises:
            NoPermission, CannotCreate: as `write`.
        """
        self.write("")

    def whole(self) -> str:
        """Give all lines; "" where there is no crontab.

        Raises:
            NoPermission, CannotCreate: they cannot be read.
        """
        ended = _run(("crontab", "-l"), self.environ)
        if ended.returncode and "no crontab for" in ended.stderr:
            return ""
        if ended.returncode:  # writing now would lose all lines that are there
            raise CannotCreate(
                f"The crontab cannot be read: `crontab -l` failed ({_said(ended)}); {_NOT_DONE}.",
                hint="Print the line with `memttl schedule cron`, and put it in place with `crontab -e`.",
            )
        return ended.stdout


class Task(NamedTuple):
    """One task of the Windows Task Scheduler, which the program `schtasks` reads and writes."""

    name: str
    environ: Mapping[str, str]

    @property
    def title(self) -> str:
        """Its name in Task Scheduler."""
        return f"\\memttl\\{self.name}"

    def read(self) -> str | None:
        """Give the task as Task Scheduler tells it; None where there is none.

        Raises:
            CannotCreate: there is no `schtasks`.
        """
        ended = _run(("schtasks", "/Query", "/XML", "/TN", self.title), self.environ)
        return None if ended.returncode else ended.stdout.replace("\r\n", "\n")

    def write(self, content: str) -> None:
        """Register the task, in place of one of before.

        Raises:
            CannotCreate: Task Scheduler takes it not.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "task.xml")
            # schtasks reads UTF-16 with a byte order mark, and no other Unicode
            Path(path).write_bytes(content.replace("\n", "\r\n").encode("utf-16"))
            self._run("/Create", "/XML", path, "/F")

    def remove(self) -> None:
        """Delete the task.

        Raises:
            CannotCreate: it is still there.
        """
        self._run("/Delete", "/F")

    def _run(self, verb: str, *words: str) -> None:
        ended = _run(("schtasks", verb, "/TN", self.title, *words), self.environ)
        if ended.returncode:
            raise CannotCreate(f"`schtasks {verb}` failed ({_said(ended)}); {_NOT_DONE}.", hint="Look at taskschd.msc.")


def run_command(words: tuple[str, ...], environ: Mapping[str, str]) -> str | None:
    """Run a scheduler's own program; give what it said where it failed, else None.

    Raises:
        CannotCreate: there is no such program.
    """
    ended = _run(words, environ)
    return _said(ended) if ended.returncode else None


def _run(
    words: tuple[str, ...], environ: Mapping[str, str], text: str | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        ended = subprocess.run(
            words,
            env={**environ, "LC_ALL": "C"},  # so that what it says can be understood
            input=None if text is None else text.encode("utf-8", "surrogateescape"),
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            timeout=60,
            check=False,
        )
        # not as text: that would make new lines of the CRs in other lines of a crontab
        said = [out.decode("utf-8", "surrogateescape") for out in (ended.stdout, ended.stderr)]
        return subprocess.CompletedProcess(words, ended.returncode, *said)
    except FileNotFoundError:
        raise CannotCreate(
            f"There is no program `{words[0]}` here; {_NOT_DONE}.",
            hint="`memttl schedule --help` names the other kinds.",
        ) from None
    except subprocess.TimeoutExpired:
        raise CannotCreate(f"`{' '.join(words)}` did not end within a minute.") from None
    except OSError as e:
        raise _refusal(e, Path(words[0]), "run") from None


def _said(ended: subprocess.CompletedProcess[str]) -> str:
    return (ended.stderr or ended.stdout).strip().partition("\n")[0] or f"exit code {ended.returncode}"


def _replace(real: str, data: bytes) -> None:
    # a name that no scheduler takes for a unit, should a kill leave it
    part = os.path.join(os.path.dirname(real), f".{os.path.basename(real)}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.chmod(part, 0o644)  # whatever the umask: cron takes no file that a group may write
        os.replace(part, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _refusal(e: OSError, path: Path, what: str) -> MemttlError:
    message = f"{path} cannot be {what} ({e.strerror or e}); {_NOT_DONE}."
    if isinstance(e, PermissionError):
        return NoPermission(message, hint="Look whom that folder belongs to.")
    return CannotCreate(message, hint="Look what lies at that path.")
