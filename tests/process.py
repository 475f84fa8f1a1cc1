"""memttl as a whole process, at a pipe or at a terminal, in an environment that holds nothing of this user."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
TIMEOUT_S = 60.0
HOME = Path(tempfile.mkdtemp(prefix="memttl-home-"))
HOME.chmod(0o755)
atexit.register(shutil.rmtree, HOME, ignore_errors=True)


def environ(**extra: str) -> dict[str, str]:
    """A clean environment: no MEMTTL_*, no MEMORY_FILE_PATH, an empty home, and memttl of this checkout."""
    return {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(HOME),
        "XDG_CONFIG_HOME": str(HOME / "config"),
        "XDG_STATE_HOME": str(HOME / "state"),
        "PYTHONPATH": str(ROOT),
        **extra,
    }


def memttl(
    *args: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None, shell: str = "", **popen: Any
) -> subprocess.CompletedProcess[str]:
    """Run memttl to its end, without standard input; `env` is added to the clean environment.

    `shell` is a line of bash in which `"$@"` is the command.
    """
    command = [sys.executable, "-m", "memttl", *map(str, args)]
    if shell:
        command = ["bash", "-c", shell, "bash", *command]
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": TIMEOUT_S, **popen}
    return subprocess.run(
        command, env=environ(**(env or {})), cwd=cwd, encoding="utf-8", errors="surrogateescape", **options
    )


def copy_of(source: Path, folder: Path, *, name: str = "memory.jsonl") -> Path:
    """A copy of a fixture, left alone for so long that a damaged one is believed at once."""
    path = folder / name
    path.write_bytes(source.read_bytes())
    return aged(path)


def aged(path: Path) -> Path:
    """The same file, dated ten seconds back."""
    then = time.time() - 10
    os.utime(path, (then, then))
    return path


def tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """All that a folder holds: of each entry its kind, mode, inode, time and bytes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        is_file = path.is_file() and not path.is_symlink()
        about = path.lstat()
        data = path.read_bytes() if is_file else b""
        found[str(path.relative_to(folder))] = (about.st_mode, about.st_ino, about.st_mtime_ns, data)
    return found


def error_of(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The error of a JSON document, whose code must be the process's own."""
    document = json.loads(ended.stdout)
    assert list(document) == ["schema", "error"]
    assert document["error"]["code"] == ended.returncode
    error: dict[str, Any] = document["error"]
    return error


class Ended(NamedTuple):
    """How a process at a terminal ended: its exit code, what the screen got, and stdout where it was piped."""

    code: int
    screen: str
    stdout: str


class Terminal:
    """memttl at a terminal of `columns`; Ctrl-C and Ctrl-D reach it as they would from a keyboard.

    With `piped` its standard output is a pipe, and only input and errors are the terminal. `program` are the words for
    Python that come before the command. The progress bar, which a loaded machine shows at any time, is taken out of
    what the screen got, unless `with_bars`.
    """

    def __init__(
        self,
        *args: str | Path,
        columns: int = 100,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        piped: bool = False,
        program: Sequence[str] = ("-m", "memttl"),
        with_bars: bool = False,
    ) -> None:
        self._bars = re.compile(b"(?!)" if with_bars else rb"\r[^\r\n\x1b]*\x1b\[K")
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, *program, *map(str, args)],
            stdin=slave,
            stdout=subprocess.PIPE if piped else slave,
            stderr=slave,
            env=environ(**{"TERM": "xterm-256color", **(env or {})}),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self._raw, self._stdout = b"", b""

    @property
    def _screen(self) -> bytes:
        return self._bars.sub(b"", self._raw)

    def read_until(self, text: str, *, timeout_s: float = TIMEOUT_S) -> str:
        """Read the screen until it shows `text`; give the whole screen so far."""
        deadline = time.monotonic() + timeout_s
        while text.encode() not in self._screen:
            if not self._read(deadline):
                raise AssertionError(f"the terminal never showed {text!r}, but: {self._screen.decode()!r}")
        return self._screen.decode()

    def type(self, text: str) -> None:
        """Type on the keyboard."""
        os.write(self._master, text.encode())

    def end(self, *, timeout_s: float = TIMEOUT_S) -> Ended:
        """Wait for the end of the process."""
        deadline = time.monotonic() + timeout_s
        while self._read(deadline):
            pass
        code = self._process.wait(timeout=max(0.1, deadline - time.monotonic()))
        if self._process.stdout:
            self._process.stdout.close()
        os.close(self._master)
        return Ended(code, self._screen.decode("utf-8", "surrogateescape"), self._stdout.decode())

    def _read(self, deadline: float) -> bool:
        """Take what there is; False at the end of everything."""
        sources = [self._master, *([self._process.stdout.fileno()] if self._process.stdout else [])]
        ready = select.select(sources, [], [], max(0.0, deadline - time.monotonic()))[0]
        if not ready:
            self._process.kill()
            raise AssertionError(f"the process did not go on; the screen shows: {self._screen.decode()!r}")
        got = False
        for source in ready:
            try:
                piece = os.read(source, 1 << 16)
            except OSError:  # EIO: the terminal's other side is closed
                piece = b""
            got |= bool(piece)
            if source == self._master:
                self._raw += piece
            else:
                self._stdout += piece
        return got
