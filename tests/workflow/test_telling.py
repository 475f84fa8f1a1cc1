"""What the use cases tell of how far they are: each names its work, and comes to the end of the memory file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from process import FIXTURES, copy_of
from pruning import AT_ONCE, settings_of
from repositories import MONDAY, commit, needs_git, new_repository
from support import entity

from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.settings import Settings
from memttl.workflow.backfill import Sources, backfill
from memttl.workflow.change_settings import change_settings
from memttl.workflow.explain import explain
from memttl.workflow.list_settings import listed_settings
from memttl.workflow.prune import Request, prune
from memttl.workflow.scan import scan

Told = list[tuple[str, int, int | None]]


def told_by(path: Path, work: Callable[[Settings], object]) -> Told:
    """All that a use case tells while it works on `path`."""
    told: Told = []
    work(settings_of(path)._replace(progress=lambda *stand: told.append(stand)))
    return told


def names_of(told: Told) -> list[str]:
    """The names of the work, each time that it changes."""
    return [what for i, (what, _, _) in enumerate(told) if not i or told[i - 1][0] != what]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(FIXTURES / "memory/example.jsonl", tmp_path)


@pytest.mark.parametrize(
    ("work", "name"),
    [
        (lambda settings: prune(settings, Request(dry_run=True)), "judging"),
        (lambda settings: explain(settings, Choice()), "reading"),
        (lambda settings: change_settings(settings, Wish("pin", Choice("*")), dry_run=True), "reading"),
        (lambda settings: listed_settings(settings, Choice()), "reading"),
        (lambda settings: backfill(settings, Sources(copies=(str(settings.memory),)), dry_run=True), "judging"),
    ],
    ids=["prune", "explain", "pin", "list", "backfill"],
)
def test_use_case_comes_to_the_last_byte(memory: Path, work: Callable[[Settings], object], name: str) -> None:
    size = memory.stat().st_size
    assert (name, size, size) in told_by(memory, work)


def test_scan_tells_of_the_bytes_that_it_reads_and_of_what_it_records(memory: Path) -> None:
    told = told_by(memory, scan)
    assert ("reading", 0, memory.stat().st_size) in told
    assert names_of(told) == ["reading", "recording"]


def test_applied_prune_tells_of_judging_writing_and_recording(memory: Path) -> None:
    told = told_by(memory, lambda settings: prune(settings, Request(pace=AT_ONCE)))
    names = names_of(told)
    assert names[0] == "judging"
    assert "writing" in names
    assert names[-2:] == ["comparing", "recording"]


def test_change_of_settings_tells_that_it_records(memory: Path) -> None:
    assert names_of(told_by(memory, lambda s: change_settings(s, Wish("pin", Choice("*")))))[-1] == "recording"


@needs_git
def test_backfill_counts_the_versions_of_the_history(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r")
    for n in range(3):
        commit(folder, {"memory.jsonl": entity([f"text {i}" for i in range(n + 1)])}, MONDAY + n)
    told = told_by(folder / "memory.jsonl", lambda settings: backfill(settings, Sources(git=True)))
    assert "walking the history" in names_of(told)
    assert [stand for stand in told if "version" in stand[0]] == [
        (f"reading version {n} of 3", n, 3) for n in (0, 1, 2, 3)
    ]
