"""Exchange and leases as the kernel gives them; other platforms and old C libraries by injection."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from memttl.files import swap, syscalls
from memttl.files.folder import READ, Folder
from memttl.files.ladder import Rung
from memttl.files.mounts import Mount, mount_of, mounted_alone, parse_mounts
from memttl.files.swap import replace_patiently
from memttl.files.syscalls import exchange, holds_read_lease, lease_break_s, take_lease

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's calls")


@on_linux
def test_two_names_in_two_folders_change_places(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_text("one")
    (tmp_path / "sub/b").write_text("two")
    with Folder(tmp_path) as outer, Folder(tmp_path / "sub") as inner:
        exchange(outer, "a", inner, "b")
    assert ((tmp_path / "a").read_text(), (tmp_path / "sub/b").read_text()) == ("two", "one")


@on_linux
def test_an_exchange_with_nothing_fails_and_moves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    with Folder(tmp_path) as folder, pytest.raises(FileNotFoundError):
        exchange(folder, "a", folder, "b")
    assert os.listdir(tmp_path) == ["a"]


@on_linux
def test_a_c_library_without_the_call_is_passed_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes
    import platform

    by_number = syscalls._by_number(ctypes.CDLL(None, use_errno=True), syscalls._RENAMEAT2[platform.machine()])
    monkeypatch.setattr(syscalls, "_renamer", lambda system, machine: by_number)
    test_two_names_in_two_folders_change_places(tmp_path)


@pytest.mark.parametrize(("system", "machine"), [("win32", "AMD64"), ("sunos5", "sun4v")])
def test_a_platform_without_an_exchange_says_so(system: str, machine: str) -> None:
    import ctypes

    if system != "win32" and hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("this C library has the call whatever the platform's name")
    assert syscalls._renamer.__wrapped__(system, machine)(0, b"", 0, b"", 2) == -1
    assert ctypes.get_errno() == errno.ENOSYS


@on_linux
def test_a_lease_is_refused_while_a_writer_has_the_file_open(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with path.open("a"):
        descriptor = os.open(path, READ)
        with pytest.raises(BlockingIOError):
            take_lease(descriptor, write=False)
    take_lease(descriptor, write=False)
    assert holds_read_lease(descriptor)
    with pytest.raises(BlockingIOError):
        os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # a writer: it would wait, and breaks the lease
    assert not holds_read_lease(descriptor)
    os.close(descriptor)


def test_the_kernels_patience_is_known() -> None:
    assert lease_break_s() > 0


MOUNTINFO = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /mnt/my\\040disk rw - fuse.sshfs host: rw
31 22 254:0 /home/a/memory.jsonl /srv/memory.jsonl rw - ext4 /dev/vda rw
broken line
"""


def test_mounts_are_read_with_their_escapes() -> None:
    found = parse_mounts(MOUNTINFO)
    assert [(m.id, m.point, m.fs_type) for m in found] == [
        (22, "/", "ext4"),
        (30, "/mnt/my disk", "fuse.sshfs"),
        (31, "/srv/memory.jsonl", "ext4"),
    ]


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    for process, space in (("self", "1"), ("77", "2")):
        (tmp_path / process / "ns").mkdir(parents=True)
        (tmp_path / process / "ns/mnt").symlink_to(f"mnt:[{space}]")
        (tmp_path / process / "mountinfo").write_text(MOUNTINFO if process == "77" else MOUNTINFO.splitlines()[0])
    (tmp_path / "self/fdinfo").mkdir()
    (tmp_path / "self/fdinfo/5").write_text("pos:\t0\nflags:\t02\nmnt_id:\t22\n")
    return tmp_path


def test_the_file_system_is_found_by_the_mount_of_a_descriptor(proc: Path) -> None:
    found = mount_of(5, proc)
    assert found is not None
    assert found.fs_type == "ext4"
    assert mount_of(6, proc) is None


def test_a_file_that_a_container_has_mounted_by_itself_is_found(proc: Path) -> None:
    root = Mount(22, "254:0", "/", "/", "ext4")
    assert mounted_alone("/home/a/memory.jsonl", root, proc) == "/srv/memory.jsonl"
    assert mounted_alone("/home/a/other.jsonl", root, proc) is None
    assert mounted_alone("/srv/memory.jsonl", root, proc) is None  # another namespace's mount point, not our file


class Busy:
    """A folder whose replace fails a few times, as on Windows while somebody has the file open."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def replace_from(self, other: object, name: str, own: str) -> None:
        if self.failures:
            self.failures -= 1
            raise PermissionError(errno.EACCES, "sharing violation")


def attempt_on(folder: Busy, path: Path) -> swap.Attempt:
    from memttl.files.snapshot import Snapshot
    from memttl.files.versions import Journal

    snapshot = Snapshot(path, b"", os.stat(path.parent))
    return swap.Attempt(folder, path.name, folder, Journal("a", 1, "", ""), snapshot, -1, -1)  # type: ignore[arg-type]


def test_windows_waits_while_a_program_has_the_file_open(tmp_path: Path) -> None:
    waits: list[float] = []
    replace_patiently(attempt_on(Busy(3), tmp_path / "m"), "new", platform="win32", sleep=waits.append)
    assert len(waits) == 3
    assert waits == sorted(waits)


def test_windows_gives_up_in_the_end_and_says_try_again(tmp_path: Path) -> None:
    from memttl.errors import TryAgain

    with pytest.raises(TryAgain, match="held open"):
        replace_patiently(attempt_on(Busy(10**6), tmp_path / "m"), "new", platform="win32", sleep=lambda _: None)


def test_elsewhere_a_refusal_is_final(tmp_path: Path) -> None:
    from memttl.errors import NoPermission

    with pytest.raises(NoPermission):
        replace_patiently(attempt_on(Busy(1), tmp_path / "m"), "new", platform="linux", sleep=lambda _: None)


def test_only_the_first_rung_goes_without_quiet() -> None:
    assert [rung.waits_for_quiet for rung in Rung] == [False, True, True]
