"""The state folder: the memory file's owner, group and mode, never wider; no link is written through."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest
from pruning import ACL, names_in, set_attribute
from without_root import NOBODY, in_child, needs_root, nobodys_folder

from memttl.errors import CannotCreate, MemttlError, NoPermission
from memttl.files.audit import append, read_events
from memttl.files.leftovers import needs_recovery
from memttl.files.lock import locked
from memttl.files.state import State, prepare, read_own, refusal, state_of


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"")
    path.chmod(0o600)
    return path


def made(memory: Path, elsewhere: Path | None = None) -> State:
    """The state of a memory file after its folders, its lock and its log have been made."""
    state, like = state_of(memory, elsewhere), memory.stat()
    prepare(state, like)
    with locked(state, like):
        append(state.audit, [{"event": "x"}], like)
    return state


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize(
    ("file", "folder", "ours"),
    [
        (0o600, 0o700, 0o600),
        (0o640, 0o750, 0o640),
        (0o644, 0o755, 0o644),
        (0o664, 0o775, 0o664),
        (0o666, 0o777, 0o666),
        (0o755, 0o755, 0o644),
        (0o4644, 0o755, 0o644),
        (0o444, 0o755, 0o644),
        (0o400, 0o700, 0o600),
    ],
    ids=oct,
)
def test_modes_are_those_of_the_memory_file(memory: Path, file: int, folder: int, ours: int) -> None:
    memory.chmod(file)
    state = made(memory)
    assert {mode_of(p) for p in (state.beside.parent, state.beside, state.backups)} == {folder}
    assert {mode_of(p) for p in (state.lock, state.audit, state.beside.parent / ".gitignore")} == {ours}


def test_umask_plays_no_part(memory: Path) -> None:
    memory.chmod(0o664)
    before = os.umask(0o077)
    try:
        assert mode_of(made(memory).audit) == 0o664
    finally:
        os.umask(before)


@needs_root
def test_owner_and_group_are_those_of_the_memory_file(memory: Path, tmp_path: Path) -> None:
    os.chown(memory, NOBODY, NOBODY - 1)
    made(memory, tmp_path / "new/state")
    entries = [p for p in tmp_path.rglob("*") if p != memory]
    assert len(entries) == 11
    assert {(p.lstat().st_uid, p.lstat().st_gid) for p in entries} == {(NOBODY, NOBODY - 1)}


@needs_root
def test_group_that_cannot_be_given_gets_no_right() -> None:
    with nobodys_folder() as folder:
        path = folder / "memory.jsonl"
        path.write_bytes(b"")
        os.chown(path, NOBODY, 0)
        path.chmod(0o660)

        def run() -> int:
            made(path)
            return 0

        assert in_child(run, 1, 2, user=NOBODY) == 0
        state = state_of(path)
        assert {mode_of(p) for p in (state.beside.parent, state.beside, state.backups)} == {0o700}
        assert {mode_of(p) for p in (state.lock, state.audit)} == {0o600}


def test_folder_is_narrowed_when_the_memory_file_was_closed_to_others(memory: Path) -> None:
    memory.chmod(0o644)
    state = made(memory)
    memory.chmod(0o600)
    made(memory)
    assert {mode_of(p) for p in (state.beside, state.backups)} == {0o700}


def test_access_that_the_folder_would_pass_on_is_not_added(memory: Path) -> None:
    set_attribute(memory.parent, "system.posix_acl_default", ACL)
    memory.chmod(0o640)
    state = made(memory)
    for path in (state.beside.parent, state.beside, state.backups, state.lock, state.audit):
        assert os.listxattr(path) == []
    assert (mode_of(state.beside), mode_of(state.audit)) == (0o750, 0o640)


def test_git_is_told_to_leave_it_alone(memory: Path) -> None:
    assert (made(memory).beside.parent / ".gitignore").read_bytes() == b"*\n"


def test_gitignore_that_is_there_stays(memory: Path) -> None:
    (memory.parent / ".memttl").mkdir()
    (memory.parent / ".memttl/.gitignore").write_bytes(b"!mine\n")
    assert (made(memory).beside.parent / ".gitignore").read_bytes() == b"!mine\n"


@pytest.mark.parametrize("name", ["", "memory.jsonl", "memory.jsonl/backups"])
def test_planted_link_to_a_folder_is_refused(memory: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "target").mkdir()
    link = tmp_path / ".memttl" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "target")
    with pytest.raises(NoPermission, match="is a link"):
        made(memory)
    assert names_in(tmp_path / "target") == []


@pytest.mark.parametrize("name", ["lock", "audit.jsonl"])
def test_planted_link_to_a_file_is_refused(memory: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious\n")
    state = state_of(memory)
    state.beside.mkdir(parents=True)
    (state.beside / name).symlink_to(target)
    with pytest.raises(NoPermission, match="a link stands in its place"):
        made(memory)
    assert target.read_bytes() == b"precious\n"


def test_log_is_read_through_no_link(memory: Path, tmp_path: Path) -> None:
    state = made(memory)
    state.audit.unlink()
    state.audit.symlink_to("/dev/zero")
    with pytest.raises(NoPermission, match="a link stands in its place"):
        read_events(state.audit)


def test_pipe_in_place_of_a_file_is_refused(memory: Path) -> None:
    state = made(memory)
    state.audit.unlink()
    os.mkfifo(state.audit)
    with pytest.raises(CannotCreate, match="no regular file"):
        read_own(state.audit)


def test_file_in_place_of_a_folder_is_refused(memory: Path) -> None:
    (memory.parent / ".memttl").write_bytes(b"")
    with pytest.raises(CannotCreate, match="is no folder"):
        made(memory)


def test_state_elsewhere_is_named_by_the_real_path(memory: Path, tmp_path: Path) -> None:
    state = made(memory, tmp_path / "state")
    digest = hashlib.sha256(bytes(memory)).hexdigest()[:16]
    assert names_in(tmp_path / "state") == [f"memory.jsonl-{digest}"]
    assert names_in(state.kept) == ["audit.head", "audit.jsonl", "backups", "path"]
    assert names_in(state.beside) == ["lock"]


def test_state_elsewhere_says_whose_it_is(memory: Path, tmp_path: Path) -> None:
    assert (made(memory, tmp_path / "state").kept / "path").read_bytes() == bytes(memory) + b"\n"


def test_state_elsewhere_of_another_file_is_refused(memory: Path, tmp_path: Path) -> None:
    (made(memory, tmp_path / "state").kept / "path").write_bytes(b"/another/memory.jsonl\n")
    with pytest.raises(CannotCreate, match="belongs to another memory file"):
        made(memory, tmp_path / "state")


def test_only_what_the_write_path_names_counts_as_left_over(memory: Path) -> None:
    state = made(memory)
    assert not needs_recovery(state)
    (state.beside / "notes.new").write_bytes(b"")
    assert not needs_recovery(state)
    (state.beside / f"{'ab' * 16}.base").write_bytes(b"")
    assert needs_recovery(state)


def test_looking_for_leftovers_makes_no_folder(memory: Path) -> None:
    assert not needs_recovery(state_of(memory))
    assert names_in(memory.parent) == ["memory.jsonl"]


def test_folder_that_went_away_is_told(tmp_path: Path) -> None:
    memory = tmp_path / "folder/memory.jsonl"
    memory.parent.mkdir()
    memory.write_bytes(b"")
    like = memory.stat()
    memory.unlink()
    memory.parent.rmdir()
    with pytest.raises(CannotCreate, match="cannot be made"):
        prepare(state_of(memory), like)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, NoPermission),
        (errno.EPERM, NoPermission),
        (errno.EROFS, NoPermission),
        (errno.ELOOP, NoPermission),
        (errno.ENOSPC, CannotCreate),
        (errno.EDQUOT, CannotCreate),
        (errno.EIO, CannotCreate),
    ],
    ids=errno.errorcode.get,
)
def test_no_of_the_system_is_one_of_ours(number: int, kind: type[MemttlError]) -> None:
    error = refusal(OSError(number, os.strerror(number)), "It cannot be written")
    assert type(error) is kind
    assert "the memory file is as it was" in error.message
