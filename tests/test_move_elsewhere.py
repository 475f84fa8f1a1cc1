"""Moves to another file system, by root of a user's file, by an ordinary user, and with access control lists."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from moving import WHOLE, killed_at, memory_in, moved, pruned_in
from process import aged, tree
from pruning import ACL, set_attribute, settings_of, state_folder
from test_move_anew import ANEW, MEMORY, NOW, graph_of, replaced, text_of
from test_move_command import findings

from memttl.errors import ExitCode, MemttlError, UsageError
from memttl.workflow.undo import Request as UndoRequest
from memttl.workflow.undo import undo

USER = 1000
is_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, or a skip."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "memttl", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def as_user(act: Callable[[], object]) -> int:
    """Act as an ordinary user in a forked child; give its exit code."""
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)
            act()
            code = 0
        except MemttlError as e:
            code = int(e.exit_code)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def reached() -> Iterator[Path]:
    """A folder that every user can reach: pytest's own lie in one that only root can enter."""
    with tempfile.TemporaryDirectory(prefix="memttl-user-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def owners(folder: Path) -> set[tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {(path.lstat().st_uid, path.lstat().st_gid) for path in found}


@is_root
@pytest.mark.parametrize("link", [True, False])
def test_a_file_moves_to_another_file_system_with_all_that_is_its_own(tmp_path: Path, disk: Path, link: bool) -> None:
    path, new = pruned_in(tmp_path / "old"), disk / "new" / "m.jsonl"
    data = path.read_bytes()
    moved(path, new, link=link)
    assert (new.read_bytes(), path.is_symlink()) == (data, link)
    assert undo(settings_of(aged(new)), UndoRequest()).applied
    assert new.read_bytes() == WHOLE
    assert findings(new) == []


@is_root
@pytest.mark.parametrize("step", ["new file in place", "exchanged", "noted as out", "old file gone", "carried along"])
def test_a_move_to_another_file_system_killed_at_a_step_loses_nothing(tmp_path: Path, disk: Path, step: str) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), disk / "m.jsonl"
    killed_at(path, new, step, link=False, pace=NOW)
    if not path.is_file() or path.is_symlink():
        replaced(path, ANEW)
    moved(path, new, link=False, pace=NOW)
    assert graph_of(new).items() >= MEMORY.items()
    assert not os.path.lexists(path)


@is_root
@pytest.mark.parametrize("link", [True, False])
def test_what_root_moves_stays_its_owners(tmp_path: Path, link: bool) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "deep" / "er" / "m.jsonl"
    for place in (path.parent, path):
        os.chown(place, USER, USER)
    moved(path, new, link=link)
    assert owners(tmp_path / "deep") == owners(tmp_path / "old") == {(USER, USER)}


@is_root
def test_an_ordinary_user_moves_a_file_without_leases_of_others(reached: Path) -> None:
    path, new = memory_in(reached / "old"), reached / "own" / "m.jsonl"
    new.parent.mkdir()
    for place in (path.parent, path, new.parent):
        os.chown(place, USER, USER)
    assert as_user(lambda: moved(path, new)) == 0
    assert (new.read_bytes(), os.path.lexists(path)) == (WHOLE, False)
    assert owners(new.parent) == {(USER, USER)}


@is_root
def test_an_ordinary_user_is_refused_where_the_new_folder_is_not_his_and_nothing_is_changed(reached: Path) -> None:
    path, new = memory_in(reached / "old"), reached / "other" / "m.jsonl"
    new.parent.mkdir(mode=0o755)
    for place in (path.parent, path):
        os.chown(place, USER, USER)
    assert as_user(lambda: moved(path, new)) == ExitCode.NO_PERMISSION
    assert (path.read_bytes(), os.listdir(new.parent)) == (WHOLE, [])
    assert not (state_folder(path) / "moving").exists()


@is_root
@pytest.mark.parametrize("name", ["m.jsonl", "sub/m.jsonl"])
@pytest.mark.parametrize("mode", [0o755, 0o555, 0o333, 0o000])
def test_a_dry_run_ends_as_the_move_where_the_new_folder_is_closed(reached: Path, mode: int, name: str) -> None:
    path, folder = memory_in(reached / "old"), reached / "other"
    folder.mkdir()
    for place in (path.parent, path, *((folder,) if mode == 0o555 else ())):
        os.chown(place, USER, USER)
    folder.chmod(mode)
    is_open = mode == 0o333 and name != "m.jsonl"  # one that may not be read cannot be synced
    code = as_user(lambda: moved(path, folder / name, dry_run=True))
    assert code == as_user(lambda: moved(path, folder / name))
    assert code == (0 if is_open else ExitCode.NO_PERMISSION)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_name_that_is_too_long_is_refused_before_anything_is_begun(tmp_path: Path, dry_run: bool) -> None:
    path = memory_in(tmp_path / "old")
    with pytest.raises(UsageError, match="too long"):
        moved(path, tmp_path / ("m" * 300), dry_run=dry_run)
    assert sorted(tree(tmp_path)) == [".", "old", "old/memory.jsonl"]


def test_attributes_and_an_access_control_list_go_along(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old"), tmp_path / "new.jsonl"
    set_attribute(path, "user.note", b"mine")
    set_attribute(path, "system.posix_acl_access", ACL)
    moved(aged(path), new)
    assert os.getxattr(new, "user.note") == b"mine"
    assert os.getxattr(new, "system.posix_acl_access") == ACL


@is_root
def test_what_the_new_file_system_does_not_keep_is_told(tmp_path: Path, disk: Path) -> None:
    path, new = memory_in(tmp_path / "old"), disk / "m.jsonl"
    set_attribute(path, "user.note", b"mine")
    done = moved(aged(path), new)
    is_kept = "user.note" in os.listxattr(new)
    assert is_kept or any("keeps no user.note" in warning for warning in done.warnings)
