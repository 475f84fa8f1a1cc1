"""Which memory file, policy and state folder, and which instant is now: resolved once, from options and environment.

Commands make one `Settings` for each memory file that is meant; everything below takes values.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memttl.core.dates import DateReader, read_instant
from memttl.core.policy import Policy
from memttl.core.progress import Progress, no_progress
from memttl.core.zones import in_zone
from memttl.errors import BadPolicy, NoMemoryFile, UsageError
from memttl.policies import POLICY_BESIDE, find_policy, lies_beside, own_policy, policies_beside
from memttl.setup.moved import move_words


class Given(NamedTuple):
    """What the options of every command said; None or empty where one was not given."""

    file: Sequence[str] = ()
    policy: str | None = None
    now: str | None = None


class Settings(NamedTuple):
    """One memory file and all that goes with it: `named` is the path as given, `memory` with links resolved.

    `state_elsewhere` is a folder for ledger, backups and audit log, None for beside the file; `archive` keeps what is
    removed, None where the policy names none; `clock` is the machine's
    instant, and `now_is_later` true when the user named one after it. `progress` is told how far long work has come.
    `bad_policy` is what is wrong with the policy, where the built-in one stands in for it (`resolve_anyway`).
    `put_off` is what the policy says by now and a server takes up only when it is started again, each a sentence.
    """

    named: str
    memory: Path
    policy: Policy
    now: datetime
    now_is_later: bool
    clock: datetime
    state_elsewhere: Path | None
    warnings: tuple[str, ...] = ()
    progress: Progress = no_progress
    archive: Path | None = None
    bad_policy: BadPolicy | None = None
    put_off: tuple[str, ...] = ()

    @property
    def now_here(self) -> datetime:
        """The same instant in the policy's time zone, for words that people read."""
        return in_zone(self.now, self.policy.zone)


def resolve(named: str, given: Given, environ: Mapping[str, str], clock: datetime) -> Settings:
    """Resolve everything that goes with one memory file; `clock` is the machine's instant.

    Raises:
        BadPolicy: the policy cannot be read or is not valid.
        UsageError: `--now` cannot be read.
    """
    return _resolve(named, given, environ, clock, find_policy(named, given.policy, environ))


def resolve_anyway(named: str, given: Given, environ: Mapping[str, str], clock: datetime) -> Settings:
    """Resolve as `resolve`, with the built-in policy in place of one that cannot be used: for what looks for faults.

    Raises:
        UsageError: `--now` cannot be read, or `--policy` is empty.
    """
    try:
        return resolve(named, given, environ, clock)
    except BadPolicy as e:
        return _resolve(named, given, environ, clock, Policy())._replace(bad_policy=e)


def _resolve(named: str, given: Given, environ: Mapping[str, str], clock: datetime, policy: Policy) -> Settings:
    memory = Path(os.path.realpath(named))
    text = given.now if given.now is not None else environ.get("MEMTTL_NOW") or None
    source = "--now" if given.now is not None else "MEMTTL_NOW"
    now = read_now(text, policy, source) if text is not None else clock
    elsewhere, is_npx = _state_elsewhere(named, memory, policy, environ)
    return Settings(
        named=named,
        memory=memory,
        policy=policy,
        now=now,
        now_is_later=now > clock,
        clock=clock,
        state_elsewhere=elsewhere,
        warnings=_warnings(named, memory, environ, is_npx=is_npx),
        archive=_archive(named, memory, policy, elsewhere),
    )


def resolve_at(
    target: Path, given: Given, environ: Mapping[str, str], clock: datetime, policy: Policy | None
) -> Settings:
    """Resolve what goes with a memory file once it lies at `target`, where `policy` will lie, or the one there holds.

    Raises:
        BadPolicy, UsageError: as `resolve`.
    """
    named = str(target)
    return _resolve(named, given, environ, clock, policy or find_policy(named, given.policy, environ))


def policy_beside(settings: Settings, memory: Path) -> tuple[Path, bool, bool]:
    """Give where a policy beside the memory file lies or would, whether it is the one in use, and whether that is.

    The folder's links are resolved.
    """
    where = settings.policy.where
    is_beside = lies_beside(where, settings.named)
    path = where if is_beside else os.path.join(memory.parent, POLICY_BESIDE)
    return Path(os.path.realpath(os.path.dirname(path)), POLICY_BESIDE), path == where, is_beside


def surroundings(named: str, given: Given, environ: Mapping[str, str]) -> tuple[list[Path], list[Path]]:
    """Give the files that memttl reads for a memory file, or others lock it by, and where its state lies elsewhere.

    A policy that cannot be read is no error here.
    """
    memory = Path(os.path.realpath(named))
    policies = [given.policy or environ.get("MEMTTL_POLICY"), *policies_beside(named), own_policy()]
    folders = []
    with contextlib.suppress(BadPolicy, UsageError):
        elsewhere, _ = _state_elsewhere(named, memory, find_policy(named, given.policy, environ), environ)
        folders += [elsewhere] if elsewhere else []
    locks = memory.with_name(f"{memory.name}.lock")
    return [memory, locks, *(Path(os.path.expanduser(p)) for p in policies if p)], folders


def absolute(path: str) -> str:
    """Give a path made absolute, `~` expanded.

    Raises:
        NoMemoryFile: it is relative, and the folder in which this runs is gone.
    """
    try:
        return os.path.abspath(os.path.expanduser(path))
    except FileNotFoundError:
        raise no_folder(path) from None


def no_folder(path: str) -> NoMemoryFile:
    """Give the error for a relative path where the folder in which this runs is gone."""
    return NoMemoryFile(
        f"{path} is relative, and the folder in which this runs exists no longer; nothing was done.",
        hint="Change to a folder that exists, or give an absolute path.",
    )


def read_now(text: str, policy: Policy, source: str = "--now") -> datetime:
    """Read `--now` (or `source`): ISO 8601, without offset in the policy's zone; a bare date is its 00:00.

    Raises:
        UsageError: it cannot be read.
    """
    when = read_instant(text, DateReader((), policy.zone))
    if when is None:
        raise UsageError(
            f"{source} {text!r} cannot be read; nothing was done.",
            hint="Write it as 2026-06-01 or 2026-06-01T12:00:00Z.",
        )
    return when


def _state_elsewhere(named: str, memory: Path, policy: Policy, environ: Mapping[str, str]) -> tuple[Path | None, bool]:
    """Give the folder for backups and audit log if they do not lie beside the file, and whether npx is the reason."""
    is_npx = "_npx" in memory.parts
    if environ.get("MEMTTL_STATE_DIR"):
        return Path(absolute(environ["MEMTTL_STATE_DIR"])), is_npx
    if policy.state_dir:
        return _policy_state(named, memory, policy), is_npx
    if is_npx:
        import platformdirs

        return Path(platformdirs.user_state_dir("memttl", appauthor=False)), True
    return None, False


def _policy_state(named: str, memory: Path, policy: Policy) -> Path:
    assert policy.state_dir is not None
    return _named_path(named, memory, policy, "state.dir", policy.state_dir)


def _archive(named: str, memory: Path, policy: Policy, elsewhere: Path | None) -> Path | None:
    """Give the archive's path, links resolved; it may be `memory` itself, where the archive is looked at."""
    if policy.archive_path is None:
        return None
    path = _named_path(named, memory, policy, "archive.path", policy.archive_path)
    if ".memttl" in path.parts or (elsewhere is not None and path.is_relative_to(elsewhere)):
        problem = f'archive.path = "{policy.archive_path}": that lies in memttl\'s state folder'
        raise BadPolicy(policy.where, (problem,))
    return path


def _named_path(named: str, memory: Path, policy: Policy, key: str, text: str) -> Path:
    path = Path(os.path.realpath(memory.parent / os.path.expanduser(text)))
    # the policy's own text names nothing outside, but a link in a cloned repository may lead anywhere
    if lies_beside(policy.where, named) and not path.is_relative_to(memory.parent):
        raise BadPolicy(policy.where, (f'{key} = "{text}": a link leads out of the folder',))
    return path


def _warnings(named: str, memory: Path, environ: Mapping[str, str], *, is_npx: bool) -> tuple[str, ...]:
    found = []
    if os.path.islink(named):
        found.append(
            f"{named} is a symbolic link to {memory}: release 2026.8.31 of the memory server replaces the link by a "
            "file at its next write; let MEMORY_FILE_PATH name the file itself"
        )
    if is_npx:
        found.append(
            "this file lies in the npx cache, which the next update of the server deletes: `memttl move NEW --file "
            f"{shlex.quote(named)}` takes it to a place of your own"
        )
    return (*found, *move_words(memory, environ))
