"""Runs git for reading: nothing is run that a repository's config names, nothing written, nothing fetched.

`gitwalk.py` and `githistory.py` ask it. A repository may come from a stranger: people clone memory files.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from memttl.errors import NoHistory

Word = str | bytes

# where memttl is run from a git hook, these name the repository of that hook, or change how names are understood
_NOT_PASSED_ON = {
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE"),
    *("GIT_NO_REPLACE_OBJECTS", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG", "GIT_QUARANTINE_PATH"),
    *("GIT_ATTR_SOURCE", "GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_FLUSH", "GIT_LITERAL_PATHSPECS"),
    *("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
}
_CONFIG = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=false",
    "core.sshCommand=false",
    "diff.relative=false",
    "gc.auto=0",
    "log.diffMerges=separate",  # else it changes what -m means
    "log.follow=false",
    "log.mailmap=false",
    "log.showRoot=true",
    "log.showSignature=false",  # else gpg.program is run
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
)
_LAST_LINES = 20


class Ended(NamedTuple):
    """What a short git command came to: exit code, standard output, and the lines of its standard error."""

    code: int
    out: bytes
    said: tuple[str, ...]


class Running:
    """A git process whose output is read while it runs. Only `running` makes one."""

    def __init__(self, command: list[Word], *, fed: bool) -> None:
        # no cwd: a "." in PATH would then be the repository's folder, where a stranger's "git" may lie
        stdin = subprocess.PIPE if fed else subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
        )
        self._said: deque[str] = deque(maxlen=_LAST_LINES)
        # a thread, so that a git that complains a lot never waits for somebody to read it
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.strip():
                self._said.append(line.decode("utf-8", "replace").strip())

    @property
    def out(self) -> IO[bytes]:
        """Its standard output."""
        assert self._process.stdout is not None
        return self._process.stdout

    def tell(self, data: bytes) -> None:
        """Write to its standard input at once. One that has died meanwhile is noticed where its answer is read."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass

    def wait(self) -> Ended:
        """Wait for its end, its output having been read."""
        _close(self._process.stdin)
        code = self._process.wait()
        self._listener.join(timeout=1)
        return Ended(code, b"", tuple(self._said))

    def kill(self) -> None:
        """End it, whatever it does, and leave no zombie and no open pipe."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        _close(self._process.stdin)
        self._listener.join(timeout=1)
        if not self._listener.is_alive():
            _close(self._process.stderr)
        _close(self._process.stdout)


def _close(pipe: IO[bytes] | None) -> None:
    try:
        if pipe is not None:
            pipe.close()
    except BrokenPipeError:
        pass  # something that was told to a dead process


@contextmanager
def running(folder: Path, *words: Word, fed: bool = False) -> Iterator[Running]:
    """Run git in `folder` for as long as the block takes; it is killed where the block is left early.

    Raises:
        NoHistory: git is missing or cannot be run, or it failed: what it said last.
    """
    try:
        child = Running(_command(folder, *words), fed=fed)
    except OSError as e:
        raise _not_run(folder, e) from None
    try:
        yield child
        ended = child.wait()
    finally:
        child.kill()
    if ended.code:
        raise failure(folder, words, ended)


def run(folder: Path, *words: Word, told: bytes = b"") -> Ended:
    """Run a git whose answer is short, whatever its exit code.

    Raises:
        NoHistory: git is missing or cannot be run.
    """
    try:
        done = subprocess.run(_command(folder, *words), input=told, capture_output=True, env=_environment())
    except OSError as e:
        raise _not_run(folder, e) from None
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return Ended(done.returncode, done.stdout, tuple(line.strip() for line in lines if line.strip()))


def failure(folder: Path, words: tuple[Word, ...], ended: Ended) -> NoHistory:
    """Give the error of a git that failed, with the last line that it said."""
    last = ended.said[-1] if ended.said else f"it said nothing (exit code {ended.code})"
    command = f"git {os.fsdecode(words[0])}"
    return NoHistory(
        f"The history could not be read: {command} failed in {folder}: {last}; nothing was done.",
        hint=f"`git -C {folder} fsck` may say more; a partial clone may lack what it takes. "
        "Old copies of the file can be given with --from instead.",
    )


def _not_run(folder: Path, e: OSError) -> NoHistory:
    if isinstance(e, FileNotFoundError):
        return NoHistory(
            f"There is no git on this machine's PATH to read the history in {folder} with; nothing was done.",
            hint="Install git, or give old copies of the file with --from instead.",
        )
    return NoHistory(f"git cannot be run in {folder} ({e.strerror}); nothing was done.")


def _command(folder: Path, *words: Word) -> list[Word]:
    config = [word for setting in _CONFIG for word in ("-c", setting)]
    return ["git", "--no-pager", "--literal-pathspecs", *config, "-C", os.fsencode(folder), *words]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",  # from 2.45 on; for the older ones:
        # beats every protocol.<name>.allow of the repository's; a name that a hostile config cannot foresee, since it
        # may define a helper or an alias for any other
        "GIT_ALLOW_PROTOCOL": f"none-{secrets.token_hex(8)}",
    }
