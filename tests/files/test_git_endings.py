"""However the reading of a git history ends, no process is left, and a git that failed is quoted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from repositories import needs_git, program, refused, thirty_versions

from memttl.files import git as our_git
from memttl.files import githistory
from memttl.files.githistory import git_versions

pytestmark = needs_git


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return thirty_versions(tmp_path / "repository")


def children() -> set[str]:
    """The running children of this process and its threads, zombies included."""
    return {pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split()}


def test_git_is_ended_when_the_reader_leaves_early(memory: Path) -> None:
    versions = iter(git_versions(memory))
    before = children()
    next(versions)
    assert children() - before
    versions.close()  # type: ignore[attr-defined]
    assert not children() - before


def test_git_is_ended_on_an_interrupt(memory: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    before = children()
    with pytest.raises(KeyboardInterrupt):
        list(git_versions(memory, on_progress=interrupt))
    assert not children() - before


def test_nothing_is_left_of_a_finished_reading(memory: Path) -> None:
    before, threads = children(), threading.active_count()
    descriptors = len(os.listdir("/proc/self/fd"))
    assert len(list(git_versions(memory))) == 30
    assert (children(), threading.active_count(), len(os.listdir("/proc/self/fd"))) == (before, threads, descriptors)


@pytest.fixture
def dying(memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Have one git command end otherwise: a program that runs the real one for all the others."""
    real = next(p for folder in os.environ["PATH"].split(":") if (p := Path(folder) / "git").exists())

    def die(word: str, instead: str) -> None:
        program(
            tmp_path / "bin/git", f'real={real}\ncase " $* " in *" {word} "*) {instead};; *) exec $real "$@";; esac'
        )
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    return die


@pytest.mark.parametrize(
    ("word", "half"), [("log", '$real "$@" | head -c 2000'), ("cat-file", 'read id; echo $id | $real "$@"')]
)
def test_git_that_dies_half_way_is_an_error_with_its_last_words(memory: Path, dying, word: str, half: str) -> None:
    dying(word, f'{half}; echo first >&2; echo "fatal: out of luck" >&2; exit 128')
    assert f"git {word} failed in {memory.parent}: fatal: out of luck; nothing" in refused(memory)


def test_git_that_is_killed_is_an_error(memory: Path, dying) -> None:
    dying("cat-file", "kill -9 $$")
    assert "git cat-file failed" in refused(memory)


def test_git_that_complains_a_lot_is_waited_for(memory: Path, dying) -> None:
    dying("log", "seq 3000 | sed 's/^/warning: this is complaint /' >&2; exec $real \"$@\"")
    assert len(list(git_versions(memory))) == 30


def test_blobs_larger_than_the_cache_are_read(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(githistory, "CACHE_BYTES", 10)
    versions = list(git_versions(memory))
    assert [v.before for v in versions[1:]] == [(v.data,) for v in versions[:-1]]


def test_each_blob_is_asked_for_once(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    tell = our_git.Running.tell
    monkeypatch.setattr(our_git.Running, "tell", lambda self, data: asked.append(data) or tell(self, data))
    assert len(list(git_versions(memory))) == len(asked) == 30
