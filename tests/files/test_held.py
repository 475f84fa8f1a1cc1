"""Who holds a lock, by the kernel's list; nobody where there is no such list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memttl.files.held import holder_of


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "lock"
    path.write_bytes(b"")
    return path


def proc_with(folder: Path, line: str) -> Path:
    proc = folder / "proc"
    (proc / "77/fd").mkdir(parents=True)
    (proc / "77/cmdline").write_bytes(b"memttl\0prune\0--yes\0")
    (proc / "locks").write_text(line + "\n")
    return proc


def device(path: Path) -> str:
    found = path.stat()
    return f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"


def test_holder_is_told_with_its_command(lock: Path, tmp_path: Path) -> None:
    proc = proc_with(tmp_path, f"3: FLOCK  ADVISORY  WRITE 77 {device(lock)} 0 EOF")
    assert holder_of(lock, proc) == (77, "memttl prune --yes")


def test_same_inode_of_another_device_is_another_file(lock: Path, tmp_path: Path) -> None:
    proc = proc_with(tmp_path, f"3: FLOCK  ADVISORY  WRITE 77 ff:ff:{lock.stat().st_ino} 0 EOF")
    assert holder_of(lock, proc) is None
    (proc / "77/fd/3").symlink_to(lock)  # btrfs: the device differs, but the process has this very file open
    assert holder_of(lock, proc) == (77, "memttl prune --yes")


def test_process_that_waits_for_the_lock_is_no_holder(lock: Path, tmp_path: Path) -> None:
    assert holder_of(lock, proc_with(tmp_path, f"3: -> FLOCK  ADVISORY  WRITE 77 {device(lock)} 0 EOF")) is None


def test_lock_of_another_kind_is_none_of_ours(lock: Path, tmp_path: Path) -> None:
    assert holder_of(lock, proc_with(tmp_path, f"3: POSIX  ADVISORY  WRITE 77 {device(lock)} 0 EOF")) is None


def test_process_that_may_not_be_seen_has_no_command(lock: Path, tmp_path: Path) -> None:
    assert holder_of(lock, proc_with(tmp_path, f"3: FLOCK  ADVISORY  WRITE 78 {device(lock)} 0 EOF")) == (78, "")


def test_nobody_where_there_is_no_list_or_no_lock(lock: Path, tmp_path: Path) -> None:
    assert holder_of(lock, tmp_path / "none") is None
    assert holder_of(tmp_path / "missing") is None
