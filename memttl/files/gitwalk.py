"""The walk over the memory file's history: which commits changed it, against which parents, from which blob to which.

`githistory.py` calls `follow`, which also finds what the file was called before: generation by generation, since
`git log --follow` loses renames across merges.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

from memttl.core.history import instant_of
from memttl.errors import NoHistory
from memttl.files.git import failure, run, running

# of `log` and `diff-tree`; -O/dev/null: no diff.orderFile
_RAW = ("--raw", "--no-abbrev", "-z", "--no-ext-diff", "--no-textconv", "--no-color", "-O/dev/null")
# full history: what a merge dropped was held by a commit of its side branch all the same
_WALK = ("--full-history", "-m", "--topo-order", "--reverse", "--no-renames")
_SHOWN = ("--format=%H|%P|%at|%ct", "--encoding=UTF-8", "--no-show-signature", "--no-notes", "--no-decorate")
_ALIKE = ("-M50%", "-l1000")  # a commit with more than 1,000 files that came and went: exact renames only
_PARTIAL = r"^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$"


class Entry(NamedTuple):
    """One file that one commit changed against one parent; a blob is None where no file was or is."""

    path: bytes
    old: bytes | None
    new: bytes | None
    source: bytes | None = None


class Commit(NamedTuple):
    """A commit, the later of its two dates, and what it changed against each of its parents, one after the other."""

    name: bytes
    parents: tuple[bytes, ...]
    when: datetime
    entries: list[Entry]


class Repository(NamedTuple):
    """Where the file's repository begins, the file's name in it, and what it has of its own history."""

    top: Path
    name: bytes
    head: str
    is_shallow: bool
    is_partial: bool


def repository_of(path: Path) -> Repository:
    """Find the repository in whose working tree the file at `path` lies, a submodule's or linked worktree's too.

    Raises:
        NoHistory: no git, no repository, one without a commit, one that git does not trust.
    """
    words = ("rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-cdup", "--show-prefix")
    ended = run(path.parent, *words)
    said = " ".join(ended.said)
    if "dubious ownership" in said or "unsafe repository" in said:
        raise NoHistory(
            f"The repository of {path} belongs to somebody else, so git does not read it; nothing was done.",
            hint=f"If you trust it: `{ended.said[-1]}`. Or give old copies of the file with --from instead.",
        )
    if "not a git repository" in said or "safe.bareRepository" in said or ended.out.startswith(b"false\n"):
        raise NoHistory(f"{path} lies in no git repository; nothing was done.")
    if ended.code:
        raise failure(path.parent, words, ended)
    # the prefix is last: a folder's name may hold line feeds
    _, shallow, up, prefix = ended.out[:-1].split(b"\n", 3)
    top = path.parent / os.fsdecode(up)
    # its id: a commit made meanwhile must not make one walk differ from the next
    head = run(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head.code:
        raise NoHistory(f"The git repository of {path} has no commit yet; nothing was done.")
    return Repository(
        top=top,
        name=prefix + os.fsencode(path.name),
        head=head.out.decode().strip(),
        is_shallow=shallow == b"true",
        is_partial=not run(top, "config", "--get-regexp", _PARTIAL).code,
    )


def follow(repository: Repository) -> tuple[list[bytes], list[Commit]]:
    """Give all names that the file bore and the commits that changed it under any of them, parents first.

    Each walk shows where the files of known names appear; what they were renamed from is walked for too, until no name
    is new.

    Raises:
        NoHistory: git failed.
    """
    names, asked = [repository.name], set[tuple[bytes, bytes]]()
    while True:
        commits = list(_walk(repository, names))
        appeared = [(commit, path) for commit in commits for path in _appearing(commit)]
        new = [(commit, path) for commit, path in appeared if (commit.name, path) not in asked]
        asked |= {(commit.name, path) for commit, path in new}
        sources = _sources(repository, new) - set(names)
        if not sources:
            return names, commits
        names += sorted(sources)


def _walk(repository: Repository, names: Iterable[bytes]) -> Iterator[Commit]:
    """Yield the commits that changed one of the files, parents first, each with its entries against all parents."""
    commit: Commit | None = None
    with running(repository.top, "log", *_WALK, *_RAW, *_SHOWN, repository.head, "--", *names) as git:
        for item in _items(git.out):
            if isinstance(item, Entry):
                if commit is not None and item.path in names:  # a file's name may have been a folder's
                    commit.entries.append(item)
            elif commit is None or not item.startswith(commit.name):  # a merge's name stands before each parent's
                if commit is not None:
                    yield commit
                commit = _commit_of(item)
    if commit is not None:
        yield commit


def _items(out: IO[bytes]) -> Iterator[bytes | Entry]:
    """Yield the commits' heads and the entries of a raw diff (-z)."""
    tokens = _tokens(out)
    for token in tokens:
        token = token.lstrip(b"\n")
        if token.startswith(b":"):
            old_mode, new_mode, old, new, status = token[1:].split(b" ")
            source = next(tokens, b"") if status[:1] in b"RC" else None
            yield Entry(next(tokens, b""), _blob(old_mode, old), _blob(new_mode, new), source)
        elif token:
            yield token


def _tokens(out: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while piece := out.read(1 << 16):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def _blob(mode: bytes, blob: bytes) -> bytes | None:
    return blob if mode.startswith(b"100") else None  # neither a link, nor a submodule, nor nothing


def _commit_of(head: bytes) -> Commit:
    name, parents, *dates = head.split(b"|")
    # an unreadable date is given as nothing, an absurd one in full: Python reads 4,300 digits at most
    seconds = max(int(date[:30] or 0) for date in dates)
    return Commit(name, tuple(parents.split()), instant_of(seconds), [])


def _appearing(commit: Commit) -> set[bytes]:
    """Give the files that are in no parent. A merge's other new files are from one of its parents."""
    counts = Counter(e.path for e in commit.entries if e.old is None and e.new is not None)
    return {path for path, count in counts.items() if commit.parents and count >= len(commit.parents)}


def _sources(repository: Repository, appeared: Iterable[tuple[Commit, bytes]]) -> set[bytes]:
    """Ask what these files were called in the parents of the commits in which they appear, in one `git diff-tree`."""
    paths: dict[bytes, set[bytes]] = {}
    asked: dict[bytes, None] = {}
    for commit, path in appeared:
        paths.setdefault(commit.name, set()).add(path)
        asked.update((b"%b %b\n" % (commit.name, parent), None) for parent in commit.parents)
    if not asked:
        return set()
    # a partial clone lacks the bytes by which files are alike, but knows the ids
    alike = ("-M100%",) if repository.is_partial else _ALIKE
    words = ("diff-tree", "--stdin", "-r", *_RAW, *alike, "--no-rename-empty", "--diff-filter=R")
    ended = run(repository.top, *words, told=b"".join(asked))
    if ended.code:
        raise failure(repository.top, words, ended)
    found, here = set[bytes](), set[bytes]()
    for item in _items(BytesIO(ended.out)):
        if isinstance(item, bytes):
            here = paths.get(item, here)
        elif item.path in here and item.source is not None and item.old is not None:
            found.add(item.source)
    return found


def commits_of(path: Path) -> int:
    """Count the commits that changed the file at `path` (links resolved) under its present name; 0 where none is known.

    Cheap: no version is read, and no rename followed.
    """
    try:
        repository = repository_of(path)
        ended = run(repository.top, "rev-list", "--count", repository.head, "--", repository.name)
    except NoHistory:
        return 0
    return 0 if ended.code else int(ended.out)
