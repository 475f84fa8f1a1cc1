"""Git repositories that tests build: commits with dates of their own, many of them at once, and old ways of asking."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from support import entity

from memttl.errors import ExitCode, NoHistory
from memttl.files.githistory import git_versions

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

MONDAY = 1767607200  # 2026-01-05T10:00Z
DAY = 86400
SETTINGS = ("-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always", "-c", "gc.auto=0")
PERSON = {"NAME": "Somebody", "EMAIL": "somebody@example.org"}


def environ(**more: str) -> dict[str, str]:
    """An environment in which git knows nobody's settings, with an identity."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in PERSON.items()}
    return {**clean, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", **more}


def git(folder: Path, *words: str | bytes, told: bytes = b"", **more: str) -> bytes:
    """Run git in a folder and give what it printed."""
    command = ["git", *SETTINGS, "-C", str(folder), *words]
    done = subprocess.run(command, input=told, capture_output=True, env=environ(**more))
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def new_repository(folder: Path, *, hash_of: str = "sha1") -> Path:
    """Make an empty repository."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main", f"--object-format={hash_of}")
    return folder


def commit(folder: Path, files: Mapping[str, bytes | None], when: int, *, authored: int | None = None) -> str:
    """Write files (None: remove), commit all that changed, committed at `when`; give the commit's short hash."""
    for name, data in files.items():
        path = folder / name
        if data is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git(folder, "add", "-A")
    commit_index(folder, when, authored=authored)
    return label(folder)


def commit_index(folder: Path, when: int, *, authored: int | None = None) -> None:
    """Commit what the index holds; one that concludes a merge, too."""
    dates = {
        "GIT_COMMITTER_DATE": f"@{when} +0000",
        "GIT_AUTHOR_DATE": f"@{when if authored is None else authored} +0000",
    }
    git(folder, "commit", "-q", "--allow-empty", "-m", "x", **dates)


def sign(folder: Path) -> None:
    """Give the last commit a signature that no program will find good."""
    head, _, message = git(folder, "cat-file", "commit", "HEAD").partition(b"\n\n")
    signature = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = head + b"\n" + signature + b"\n\n" + message
    name = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", told=signed).decode().strip()
    git(folder, "reset", "-q", "--soft", name)


def label(folder: Path, revision: str = "HEAD") -> str:
    """The label that memttl gives a commit."""
    return git(folder, "rev-parse", revision).decode()[:10]


def thirty_versions(folder: Path) -> Path:
    """A memory file of 30 commits, a day apart, each with one observation more."""
    new_repository(folder)
    texts = [f"observation {n}" for n in range(30)]
    for n in range(30):
        commit(folder, {"memory.jsonl": entity(texts[: n + 1])}, MONDAY + n * DAY)
    return folder / "memory.jsonl"


def refused(path: Path) -> str:
    """The message of the error, which must have a hint and be one of usage."""
    with pytest.raises(NoHistory) as caught:
        list(git_versions(path))
    assert caught.value.exit_code == ExitCode.USAGE
    assert "nothing was done" in caught.value.message
    assert "--from" in caught.value.hint
    return caught.value.message


def program(path: Path, text: str) -> Path:
    """Write a program that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


class Importer:
    """Commits by the hundred through `git fast-import`: each is its whole tree, its parents and its two dates."""

    def __init__(self) -> None:
        self._stream: list[bytes] = []
        self._blobs: dict[bytes, int] = {}
        self._marks = 0

    def commit(self, files: Mapping[str, bytes], parents: Sequence[int], *, authored: int, committed: int) -> int:
        """Add a commit and give its mark."""
        blobs = {name: self._blob(data) for name, data in files.items()}
        self._marks += 1
        if not parents:
            self._say("reset refs/heads/main\n")  # else it would go on from the commit before
        self._say(f"commit refs/heads/main\nmark :{self._marks}")
        self._say(
            f"author A <a@example.org> {authored} +0000\ncommitter C <c@example.org> {committed} +0000\ndata 1\nx"
        )
        for place, parent in enumerate(parents):
            self._say(f"{'merge' if place else 'from'} :{parent}")
        self._say("deleteall")
        for name, blob in blobs.items():
            self._say(f"M 100644 :{blob} {name}")
        return self._marks

    def _blob(self, data: bytes) -> int:
        if data not in self._blobs:
            self._marks += 1
            self._blobs[data] = self._marks
            self._stream.append(b"blob\nmark :%d\ndata %d\n%b\n" % (self._marks, len(data), data))
        return self._blobs[data]

    def _say(self, text: str) -> None:
        self._stream.append(text.encode() + b"\n")

    def into(self, folder: Path) -> Path:
        """Make a repository of all commits, the one added last checked out."""
        new_repository(folder)
        git(folder, "fast-import", "--quiet", "--force", told=b"".join(self._stream))
        git(folder, "checkout", "-q", "-f", "main")
        return folder
