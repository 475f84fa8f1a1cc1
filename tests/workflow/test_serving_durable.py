"""A write of `memttl serve` is on the disk before it is answered: what is synced, and in which order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from process import aged
from pruning import state_folder
from served import Served, add, take
from support import entity

from memttl.core.durations import parse_duration
from memttl.core.graph_edits import Edit
from memttl.core.wish import Patch
from memttl.files.ladder import WritePath

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux which file a descriptor is of")
SWAP = ["new version", "-> new version written"]
PLACED = ["-> exchanged", "folder", "state folder"]
BEGUN, ENDED = ["log", "-> begin logged"], ["-> synced", "log", "-> end logged"]
TOLD = {"new version written", "begin logged", "exchanged", "synced", "end logged"}


def role(path: Path, memory: Path) -> str:
    """What a synced file is to the memory file."""
    own = state_folder(memory)
    names = {memory.parent: "folder", own: "state folder", own / "audit.jsonl": "log"}
    if path.parent == own / "backups":
        return "backup"
    return names.get(path) or ("new version" if path.suffix == ".part" else str(path))


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["a", "b"], name="A"))
    return aged(path)


@pytest.fixture
def recorded(memory: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[WritePath, Edit], list[str]]:
    """Give what a write syncs, between the steps (`->`), up to the answer; after a first write, which makes files."""

    def record(write_path: WritePath, edit: Edit) -> list[str]:
        found: list[str] = []
        serving = Served(
            memory, write_path=write_path, step=lambda name: found.append(f"-> {name}") if name in TOLD else None
        )
        serving.answer(add("A", "first"))
        found.clear()
        sync = os.fsync

        def noted(descriptor: int) -> None:
            found.append(role(Path(os.readlink(f"/proc/self/fd/{descriptor}")), memory))
            sync(descriptor)

        monkeypatch.setattr(os, "fsync", noted)
        serving.answer(edit)
        return [*found, "answered"]

    return record


@pytest.mark.parametrize("write_path", ["auto", "exchange", "replace"])
def test_addition_with_settings_is_synced_with_its_log_before_the_answer(
    recorded: Callable[[WritePath, Edit], list[str]], write_path: WritePath
) -> None:
    edit = add("A", "new", patch=Patch(ttl=parse_duration("5d")))
    order = [*SWAP, *BEGUN, *PLACED, "-> synced", "-> end logged", "answered"]
    assert recorded(write_path, edit) == order


@pytest.mark.parametrize("write_path", ["auto", "exchange", "replace"])
def test_deletion_is_logged_before_it_is_done_and_synced_with_its_backup_before_the_answer(
    recorded: Callable[[WritePath, Edit], list[str]], write_path: WritePath
) -> None:
    order = [*SWAP, *BEGUN, *PLACED, "backup", *ENDED, "answered"]
    assert recorded(write_path, take("A", "a")) == order


def test_plain_addition_is_logged_before_it_is_placed(recorded: Callable[[WritePath, Edit], list[str]]) -> None:
    order = [*SWAP, *BEGUN, *PLACED, "-> synced", "-> end logged", "answered"]
    assert recorded("auto", add("A", "new")) == order
