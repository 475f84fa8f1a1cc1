"""The new file is the old one in all but its text, on every rung; and a file that cannot be replaced is refused."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from process import FIXTURES, copy_of
from pruning import ACL, pruned, set_attribute
from strangers import OLD as EXPIRED
from strangers import once, run_prune, text_of
from without_root import NOBODY, in_child, needs_root, nobodys_folder

from memttl.errors import CannotCreate, NoPermission
from memttl.files.ladder import WritePath

OLD, NEW = text_of(["k0", EXPIRED]), text_of(["k0"])


@pytest.fixture(params=["auto", "exchange", "replace"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(OLD)
    RUNGS[path] = request.param
    return path


RUNGS: dict[Path, WritePath] = {}  # which rung a test's file is written on


def replaced(memory: Path) -> Path:
    """Put NEW in the place of the memory file."""
    assert run_prune(memory, write_path=RUNGS.get(memory, "auto")).applied
    return memory


def test_new_file_has_the_new_text_and_another_inode(memory: Path) -> None:
    inode = memory.stat().st_ino
    assert replaced(memory).read_bytes() == NEW
    assert memory.stat().st_ino != inode
    assert sorted(os.listdir(memory.parent)) == [".memttl", "memory.jsonl"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755], ids=oct)
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


def test_two_names_are_refused_and_left_alone(memory: Path) -> None:
    os.link(memory, memory.with_name("other"))
    with pytest.raises(NoPermission, match="2 names"):
        replaced(memory)
    assert memory.read_bytes() == OLD


def test_two_names_are_parted_where_that_is_asked_for(memory: Path) -> None:
    other = memory.with_name("other")
    os.link(memory, other)
    outcome = run_prune(memory, write_path=RUNGS[memory], break_hard_links=True)
    assert (memory.read_bytes(), other.read_bytes()) == (NEW, OLD)
    assert Path(str(outcome.backup)).stat().st_ino != other.stat().st_ino


def test_a_second_name_of_our_own_is_no_hard_link(memory: Path) -> None:
    """A run on rung C was killed between the link and the replace."""
    kill = once("linked", lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert in_child(lambda: run_prune(memory, write_path="replace", step=kill) and 0, 1, 2) == -signal.SIGKILL
    assert memory.stat().st_nlink == 2
    assert run_prune(memory, dry_run=True).plan.removals
    assert replaced(memory).read_bytes() == NEW


def test_full_small_disk_changes_nothing(tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=128k") as folder:
        memory = folder / "memory.jsonl"
        memory.write_bytes(text_of(["k" * 20000, EXPIRED]))
        (folder / "fill").write_bytes(b"x" * 80000)
        before = memory.read_bytes()
        with pytest.raises(CannotCreate):
            replaced(memory)
        assert memory.read_bytes() == before
        (folder / "fill").unlink()
        assert replaced(memory).read_bytes() == text_of(["k" * 20000])


def test_read_only_file_system_is_refused(tmp_path: Path) -> None:
    with mounted(tmp_path / "ro", "size=64k") as folder:
        memory = folder / "memory.jsonl"
        memory.write_bytes(OLD)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        with pytest.raises(NoPermission):
            replaced(memory)
        assert run_prune(memory, dry_run=True).plan.removals
        assert memory.read_bytes() == OLD


@needs_root
def test_immutable_folder_is_refused(memory: Path) -> None:
    if subprocess.run(["chattr", "+i", memory.parent], capture_output=True).returncode:
        pytest.skip("this file system has no immutable flag")
    try:
        with pytest.raises(NoPermission):
            replaced(memory)
    finally:
        subprocess.run(["chattr", "-i", memory.parent], check=True)
    assert memory.read_bytes() == OLD


@needs_root
def test_immutable_file_is_refused(memory: Path) -> None:
    if subprocess.run(["chattr", "+i", memory], capture_output=True).returncode:
        pytest.skip("this file system has no immutable flag")
    try:
        with pytest.raises(NoPermission):
            replaced(memory)
    finally:
        subprocess.run(["chattr", "-i", memory], check=True)
    assert memory.read_bytes() == OLD


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A small file system of its own."""
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("mounts are not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@needs_root
def test_file_that_is_mounted_alone_is_refused(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(OLD)
    if subprocess.run(["mount", "--bind", tmp_path / "source", memory], capture_output=True).returncode:
        pytest.skip("bind mounts are not allowed here")
    try:
        with pytest.raises(NoPermission, match="mounted"):
            replaced(memory)
    finally:
        subprocess.run(["umount", memory], check=True)


@needs_root
def test_file_that_is_mounted_alone_elsewhere_is_refused(memory: Path, tmp_path: Path) -> None:
    """`docker -v file:file`: whoever has it there would keep the old file."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()
    if subprocess.run(["mount", "--bind", memory, elsewhere], capture_output=True).returncode:
        pytest.skip("bind mounts are not allowed here")
    try:
        with pytest.raises(NoPermission, match="mounted by itself"):
            replaced(memory)
    finally:
        subprocess.run(["umount", elsewhere], check=True)
    assert memory.read_bytes() == OLD


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
