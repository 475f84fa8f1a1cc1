"""The memory file's versions in its git repository: one `git log` walk for the blobs, one `git cat-file` for the bytes.

`memttl backfill --git` lets `core/history.py` meet them. They are read one at a time: few are in memory at once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memttl.core.history import Version
from memttl.errors import NoHistory
from memttl.files.git import Running, failure, running
from memttl.files.gitwalk import Commit, Repository, follow, repository_of

CACHE_BYTES = 32 << 20  # of blobs: what stood before is nearly always what was read a moment ago
_LABEL_LENGTH = 10


class _Change(NamedTuple):
    """A version before its bytes are read: its blob, and those before it."""

    when: datetime
    label: str
    blob: bytes
    before: tuple[bytes, ...]


@dataclass(frozen=True)
class History:
    """The history of a memory file. Iterating gives its versions, oldest first, one at a time.

    `names` are all that the file bore, in the repository. Of a shallow clone (`is_shallow`) the history reaches back to
    `oldest` only, the date of the oldest commit that changed the file: what that one holds may be older. `missing`
    holds the ids of blobs that a partial or damaged clone lacks, and grows while the versions are read: such a version
    is left out, and the one behind it seems to bring all that it holds.
    """

    path: Path
    names: tuple[str, ...]
    oldest: datetime
    is_shallow: bool
    missing: set[str]
    _repository: Repository = field(repr=False)
    _changes: Sequence[_Change] = field(repr=False)
    _on_progress: Callable[[int, int], None] = field(repr=False)

    def __len__(self) -> int:
        return len(self._changes)

    def __iter__(self) -> Iterator[Version]:
        """Read the versions. Closing the iterator, or leaving it, ends git.

        Raises:
            NoHistory: git failed half way.
        """
        self._on_progress(0, len(self))
        with running(self._repository.top, "cat-file", "--batch", fed=True) as git:
            blobs = _Blobs(git, self._repository, self._changes, self.missing)
            for done, change in enumerate(self._changes, 1):
                data = blobs.get(change.blob)
                if data is not None:
                    before = [blobs.get(blob) for blob in change.before]
                    yield Version(change.when, change.label, data, tuple(b for b in before if b is not None))
                self._on_progress(done, len(self))


def git_versions(path: Path, *, on_progress: Callable[[int, int], None] = lambda done, total: None) -> History:
    """Find the versions of the file at `path` (links resolved) in the history of the commit that is checked out.

    `on_progress` is called with how many versions were read, and how many there are. Nothing is written, nothing
    fetched, and nothing run that the repository names.

    Raises:
        NoHistory: no git, no repository, one that git does not trust, no commit that holds the file, or git failed.
    """
    repository = repository_of(path)
    names, commits = follow(repository)
    if not commits:
        raise NoHistory(
            f"No commit holds {path} (looked from {repository.head[:_LABEL_LENGTH]} back); nothing was done.",
            hint="`git check-ignore -v` says whether it is ignored. Old copies of it can be given with --from instead.",
        )
    return History(
        path=path,
        names=tuple(os.fsdecode(name) for name in names),
        oldest=min(commit.when for commit in commits),
        is_shallow=repository.is_shallow,
        missing=set(),
        _repository=repository,
        _changes=[change for commit in commits for change in _changes_of(commit)],
        _on_progress=on_progress,
    )


def _changes_of(commit: Commit) -> Iterator[_Change]:
    """Yield the versions that the commit brought: of each file that is like that in no parent.

    A pure rename brings nothing: its bytes stood under another name in the parent.
    """
    counts = Counter(entry.path for entry in commit.entries)
    before = tuple(dict.fromkeys(entry.old for entry in commit.entries if entry.old is not None))
    label = commit.name[:_LABEL_LENGTH].decode()
    for path, blob in dict.fromkeys((entry.path, entry.new) for entry in commit.entries):
        if blob is not None and blob not in before and counts[path] >= len(commit.parents):
            yield _Change(commit.when, label, blob, before)


class _Blobs:
    """The bytes of blobs, asked one by one of a `git cat-file --batch`; those read last are kept."""

    def __init__(self, git: Running, repository: Repository, changes: Sequence[_Change], missing: set[str]) -> None:
        self._git = git
        self._top = repository.top
        self._missing = missing
        self._kept: dict[bytes, bytes] = {}
        self._kept_bytes = 0
        # a git before 2.45 dies of the first blob that it may not fetch
        self._here = _present(repository.top, changes) if repository.is_partial else None

    def get(self, blob: bytes) -> bytes | None:
        """Give the bytes of a blob; None for one that is not there, which is noted."""
        data = self._kept.get(blob)
        if data is not None:
            return data
        if self._here is None or blob in self._here:
            data = self._ask(blob)
        if data is None:
            self._missing.add(blob.decode())
            return None
        self._keep(blob, data)
        return data

    def _keep(self, blob: bytes, data: bytes) -> None:
        self._kept[blob] = data
        self._kept_bytes += len(data)
        while self._kept_bytes > CACHE_BYTES and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.pop(next(iter(self._kept))))

    def _ask(self, blob: bytes) -> bytes | None:
        self._git.tell(blob + b"\n")  # one question at a time: neither side ever waits for the other to read
        head = self._git.out.readline().split()
        if len(head) == 2:  # missing, or ambiguous
            return None
        size = int(head[2]) if head else 0
        data = self._git.out.read(size + 1)
        if not head or len(data) <= size:
            raise failure(self._top, ("cat-file",), self._git.wait())
        return data[:-1] if head[1] == b"blob" else None


def _present(top: Path, changes: Sequence[_Change]) -> set[bytes]:
    """Give those of the blobs that a partial clone has."""
    wanted = {blob for change in changes for blob in (change.blob, *change.before)}
    words = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered")
    with running(top, *words) as git:
        return {blob for line in git.out if (blob := line.rstrip()) in wanted}
