"""memttl in a forked child that has given up root: for root, permission bits forbid nothing.

The interpreter itself may lie where only root can read, so the child runs what this process has imported already.
"""

from __future__ import annotations

import importlib
import io
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from process import environ

import memttl as package

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up root")


def memttl_as_nobody(*args: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run memttl as the user nobody, without standard input."""
    _import_everything()
    words, clean = ["memttl", *map(str, args)], environ(**(env or {}))

    def run() -> int:
        from memttl.cli import run

        os.environ.clear()
        os.environ.update(clean)
        sys.argv = words
        return run()

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = in_child(run, out.fileno(), err.fileno(), user=NOBODY)
        return subprocess.CompletedProcess(words, code, _text(out), _text(err))


def in_child(function: Callable[[], int], stdout: int, stderr: int, *, user: int | None = None) -> int:
    """Fork, give up root for `user`, call the function with these two as its output; give its exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for place, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), stdout, stderr)):
                os.dup2(descriptor, place)
            sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
            sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            code = function()
        except BaseException as e:
            print(f"Traceback: {e!r}", file=sys.stderr)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _text(file: io.BufferedRandom) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")


def _import_everything() -> None:
    for module in pkgutil.walk_packages(package.__path__, "memttl."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    import difflib
    import zoneinfo  # noqa: F401

    import portalocker

    assert portalocker.LockFlags
    assert difflib


@contextmanager
def nobodys_folder() -> Iterator[Path]:
    """A folder that the user nobody owns and can reach (pytest's own lie in a folder that only root can enter)."""
    with tempfile.TemporaryDirectory(prefix="memttl-nobody-") as name:
        folder = Path(name)
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o755)
        yield folder
