"""The replace: the new file is the old one in all but its text, and a file that changed meanwhile is not replaced."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from process import FIXTURES, copy_of
from pruning import ACL, pruned, set_attribute
from without_root import NOBODY, in_child, needs_root, nobodys_folder

from memttl.errors import NoMemoryFile, NoPermission
from memttl.files.replace import Changed, replace, write_version
from memttl.files.snapshot import Snapshot, read_once

OLD, NEW = b"old\n", b"new\n"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(OLD)
    return path


def replaced(memory: Path) -> Path:
    """Put NEW in the place of the memory file."""
    snapshot = read_once(memory)
    new = memory.with_name("run.new")
    write_version(new, NEW, snapshot)
    replace(new, snapshot)
    return memory


def test_new_file_has_the_new_text_and_another_inode(memory: Path) -> None:
    inode = memory.stat().st_ino
    assert replaced(memory).read_bytes() == NEW
    assert memory.stat().st_ino != inode
    assert os.listdir(memory.parent) == ["memory.jsonl"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755, 0o400], ids=oct)
def test_mode_is_kept(memory: Path, mode: int) -> None:
    memory.chmod(mode)
    assert stat.S_IMODE(replaced(memory).stat().st_mode) == mode


@needs_root
def test_owner_and_group_are_kept(memory: Path) -> None:
    os.chown(memory, NOBODY, NOBODY - 1)
    found = replaced(memory).stat()
    assert (found.st_uid, found.st_gid) == (NOBODY, NOBODY - 1)


@needs_root
def test_owner_that_cannot_be_kept_is_refused() -> None:
    with nobodys_folder() as folder:
        memory = folder / "memory.jsonl"
        memory.write_bytes(OLD)
        memory.chmod(0o666)

        def run() -> int:
            try:
                replaced(memory)
            except NoPermission as e:
                return 7 if "belongs to another user" in e.message else 8
            return 0

        assert in_child(run, 1, 2, user=NOBODY) == 7
        assert memory.read_bytes() == OLD
        assert os.listdir(folder) == ["memory.jsonl"]


def test_extended_attributes_are_kept(memory: Path) -> None:
    set_attribute(memory, "user.origin", b"team \x00 server")
    assert os.getxattr(replaced(memory), "user.origin") == b"team \x00 server"


def test_access_control_list_is_kept(memory: Path) -> None:
    set_attribute(memory, "system.posix_acl_access", ACL)
    assert os.getxattr(replaced(memory), "system.posix_acl_access") == ACL


def test_access_that_the_folder_would_pass_on_is_not_added(memory: Path) -> None:
    # a default list of the folder names somebody whom the memory file does not
    set_attribute(memory.parent, "system.posix_acl_default", ACL)
    memory.chmod(0o640)
    assert os.listxattr(replaced(memory)) == []


def test_old_time_is_never_restored(memory: Path) -> None:
    os.utime(memory, (1e9, 1e9))
    assert replaced(memory).stat().st_mtime > 1.7e9


def rewritten(path: Path) -> None:
    path.write_bytes(b"their\n")


def swapped(path: Path) -> None:
    path.with_name("x").write_bytes(OLD)
    path.with_name("x").replace(path)


def touched(path: Path) -> None:
    os.utime(path)


def same_size_and_time(path: Path) -> None:
    about = path.stat()
    path.write_bytes(b"OLD\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


@pytest.mark.parametrize("change", [rewritten, swapped, touched, same_size_and_time])
def test_file_that_changed_since_the_reading_is_not_replaced(memory: Path, change: Callable[[Path], None]) -> None:
    snapshot = read_once(memory)
    new = memory.with_name("run.new")
    write_version(new, NEW, snapshot)
    change(memory)
    theirs = memory.read_bytes()
    with pytest.raises(Changed):
        replace(new, snapshot)
    assert memory.read_bytes() == theirs


def test_file_that_is_gone_is_not_made_anew(memory: Path) -> None:
    snapshot = read_once(memory)
    memory.unlink()
    with pytest.raises(NoMemoryFile):
        replace(memory.with_name("run.new"), snapshot)
    assert os.listdir(memory.parent) == []


def test_bytes_are_compared_where_stat_says_nothing(memory: Path) -> None:
    # on ext2 and ramfs 200 writes leave one mtime
    snapshot = read_once(memory)
    with pytest.raises(Changed):
        replace(memory, Snapshot(snapshot.path, b"OLD\n", snapshot.stat))


@needs_root
def test_file_that_is_mounted_alone_is_refused(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(OLD)
    if subprocess.run(["mount", "--bind", tmp_path / "source", memory], capture_output=True).returncode:
        pytest.skip("bind mounts are not allowed here")
    try:
        with pytest.raises(NoPermission, match="mounted as a single file"):
            replaced(memory)
    finally:
        subprocess.run(["umount", memory], check=True)


@pytest.mark.parametrize("target", ["../real/memory.jsonl", "/"])
def test_link_is_followed_and_stays_a_link(tmp_path: Path, target: str) -> None:
    for name in ("real", "linked"):
        (tmp_path / name).mkdir()
    real = copy_of(FIXTURES / "memory/example.jsonl", tmp_path / "real")
    link = tmp_path / "linked/memory.jsonl"
    link.symlink_to(real if target == "/" else target)
    before = os.readlink(link)
    outcome = pruned(link)
    assert outcome.applied
    assert os.readlink(link) == before
    assert real.read_bytes() != (FIXTURES / "memory/example.jsonl").read_bytes()
    assert sorted(os.listdir(real.parent)) == [".memttl", "memory.jsonl"]
    assert os.listdir(link.parent) == ["memory.jsonl"]
