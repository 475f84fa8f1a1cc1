"""Exit codes 73, 75 and 77 by a whole process: what keeps a prune from writing, and that it then has not written."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from process import FIXTURES, copy_of, error_of, memttl
from without_root import NOBODY, memttl_as_nobody, needs_root, nobodys_folder

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


def test_73_the_backups_cannot_be_kept(memory: Path) -> None:
    folder = memory.parent / ".memttl/memory.jsonl"
    folder.mkdir(parents=True)
    (folder / "backups").write_bytes(b"a file where a folder belongs")
    error = error_of(memttl("prune", "--yes", "--json", "--file", memory, *NOW))
    assert error["code"] == 73
    assert "the memory file is as it was" in error["message"]
    assert memory.read_bytes() == EXAMPLE.read_bytes()


def test_73_the_disk_is_full(memory: Path) -> None:
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))  # noqa: E731
    ended = memttl("prune", "--yes", "--file", memory, *NOW, preexec_fn=limit)
    assert ended.returncode == 73
    assert memory.read_bytes() == EXAMPLE.read_bytes()
    assert os.listdir(memory.parent / ".memttl/memory.jsonl/backups") == []


def test_73_a_result_that_cannot_be_printed_says_that_it_was_applied(memory: Path) -> None:
    with open("/dev/full", "w") as full:
        ended = memttl("prune", "--yes", "--file", memory, *NOW, capture_output=False, stdout=full, stderr=-1)
    assert ended.returncode == 73
    assert "had been written before" in ended.stderr
    assert memory.read_bytes() != EXAMPLE.read_bytes()


def test_75_a_file_that_never_comes_to_rest(memory: Path) -> None:
    memory.write_bytes(EXAMPLE.read_bytes()[:-1])  # a tail cut off
    stranger = subprocess.Popen(["sh", "-c", f"while :; do touch '{memory}'; sleep 0.3; done"])
    try:
        error = error_of(memttl("prune", "--yes", "--json", "--file", memory, *NOW))
    finally:
        stranger.kill()
        stranger.wait()
    assert error["code"] == 75
    assert "did not come to rest" in error["message"]


def test_77_hard_links(memory: Path) -> None:
    os.link(memory, memory.with_name("second.jsonl"))
    for how in ("--yes", "--dry-run"):
        error = error_of(memttl("prune", how, "--json", "--file", memory, *NOW))
        assert error["code"] == 77
        assert "2 names (hard links)" in error["message"]


@needs_root
def test_77_a_file_that_may_not_change(memory: Path) -> None:
    if subprocess.run(["chattr", "+i", memory], capture_output=True).returncode:
        pytest.skip("this file system has no immutable files")
    try:
        assert memttl("prune", "--yes", "--file", memory, *NOW).returncode == 77
        assert memttl("prune", "--dry-run", "--file", memory, *NOW).returncode == 0
    finally:
        subprocess.run(["chattr", "-i", memory], check=True)
    assert sorted(os.listdir(memory.parent / ".memttl/memory.jsonl")) == [
        "audit.jsonl",
        "backups",
        "ledger.db",
        "lock",
        "outcomes.jsonl",
    ]


@pytest.mark.parametrize("mode", [0o444, 0o400])
def test_77_a_file_that_is_read_only(memory: Path, mode: int) -> None:
    memory.chmod(mode)
    ended = memttl("prune", "--yes", "--file", memory, *NOW)
    assert ended.returncode == 77
    assert f"read-only (mode {mode:04o})" in ended.stderr
    assert not (memory.parent / ".memttl").exists()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A mount of its own, with the example in it."""
    folder = tmp_path / "mount"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True).returncode:
        pytest.skip("mounting needs root")
    try:
        yield copy_of(EXAMPLE, folder)
    finally:
        subprocess.run(["umount", folder], check=True)


def test_77_a_read_only_mount(mounted: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", mounted.parent], check=True)
    error = error_of(memttl("prune", "--yes", "--json", "--file", mounted, *NOW))
    assert (error["code"], error["name"]) == (77, "NoPermission")
    assert "Read-only file system" in error["message"]


def test_77_a_file_that_is_mounted_alone(mounted: Path, memory: Path) -> None:
    subprocess.run(["mount", "--bind", mounted, memory], check=True)
    try:
        error = error_of(memttl("prune", "--yes", "--json", "--file", memory, *NOW))
        assert error["code"] == 77
        assert "mounted by itself" in error["message"]
        assert memory.read_bytes() == EXAMPLE.read_bytes()
    finally:
        subprocess.run(["umount", memory], check=True)


@needs_root
def test_77_somebody_elses_file() -> None:
    with nobodys_folder() as folder:
        path = copy_of(EXAMPLE, folder)
        path.chmod(0o666)
        ended = memttl_as_nobody("prune", "--yes", "--file", path, *NOW)
        assert ended.returncode == 77
        assert "belongs to another user" in ended.stderr
        assert os.listdir(folder) == ["memory.jsonl"]


@needs_root
def test_77_a_folder_that_may_not_be_written() -> None:
    with nobodys_folder() as folder:
        path = copy_of(EXAMPLE, folder)
        os.chown(path, NOBODY, NOBODY)
        os.chown(folder, 0, 0)
        ended = memttl_as_nobody("prune", "--yes", "--file", path, *NOW)
        assert (ended.returncode, "Permission denied" in ended.stderr) == (77, True)


@needs_root
def test_77_a_file_that_may_not_be_read() -> None:
    with nobodys_folder() as folder:
        path = copy_of(EXAMPLE, folder)
        path.chmod(0o600)
        assert memttl_as_nobody("prune", "--dry-run", "--file", path, *NOW).returncode == 77
