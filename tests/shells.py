"""A real shell at a terminal, in which somebody types parts of command lines and presses the tab key."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shlex
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from process import TIMEOUT_S, environ

from memttl.commands.completion_scripts import SCRIPTS

# shell -> how it is started without anybody's settings
STARTS = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i"),
}
_BEFORE = {"zsh": "autoload -Uz compinit && compinit -u -D\n"}
# when a shell asks it is memttl; else it keeps the words that it was run with
_PROGRAM = """#!/bin/sh
if [ -n "$_MEMTTL_COMPLETE" ]; then exec {python} -m memttl "$@"; fi
printf '%s\\0' "$@" end >> {words}
"""


def words_after_tab(shell: str, typed: Sequence[str], folder: Path, **env: str) -> list[list[str]]:
    """Type each of the lines, the tab key and enter in one shell; give the words that memttl is then run with.

    The shell runs in `folder`, in which it may leave nothing of its own.
    """
    kept = folder.parent / f"{folder.name}-{shell}"
    kept.mkdir()
    words, program, script = kept / "words", kept / "memttl", kept / "script"
    words.touch()
    program.write_text(_PROGRAM.format(python=shlex.quote(sys.executable), words=shlex.quote(str(words))))
    program.chmod(0o755)
    script.write_text(_BEFORE.get(shell, "") + SCRIPTS[shell])
    env = environ(PATH=f"{kept}:{os.environ['PATH']}", TERM="xterm", HOME=str(kept), **env)
    with _Shell(STARTS[shell], folder, env) as at:
        at.type(f"source {shlex.quote(str(script))}\n")
        for count, line in enumerate(typed, start=1):
            at.type(f"{line}\t\n")
            at.wait_for(lambda count=count: len(_runs(words)) == count)
    return _runs(words)


def _runs(words: Path) -> list[list[str]]:
    return [run.split("\0")[:-1] for run in words.read_text(encoding="utf-8").split("end\0")[:-1]]


class _Shell:
    def __init__(self, start: tuple[str, ...], folder: Path, env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            start,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=env,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self._screen = b""

    def __enter__(self) -> _Shell:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_for(self, is_done) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not is_done():
            if time.monotonic() > deadline:
                raise AssertionError(f"memttl was not run; the terminal shows: {self._screen[-2000:]!r}")
            if select.select([self._master], [], [], 0.02)[0]:
                self._screen += os.read(self._master, 1 << 16)
