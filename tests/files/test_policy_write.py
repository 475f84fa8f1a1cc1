"""A policy is written whole or not at all, never over one that nobody has seen, and never as somebody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memttl.errors import CannotCreate, NoPermission, TryAgain
from memttl.files import policy_write
from memttl.files.policy_write import read_existing, write_policy


def write(
    path: Path, text: str = "version = 1\n", *, over: bytes | None = None, like: Path | None = None
) -> Path | None:
    return write_policy(path, text, over=over, like=like.stat() if like else None)


def test_new_policy_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    assert write(tmp_path / "memttl.toml") is None
    assert [p.name for p in tmp_path.iterdir()] == ["memttl.toml"]
    assert (tmp_path / "memttl.toml").read_text() == "version = 1\n"


def test_folders_that_are_missing_are_made(tmp_path: Path) -> None:
    write(tmp_path / "a/b/policy.toml")
    assert (tmp_path / "a/b/policy.toml").is_file()


def test_policy_that_appeared_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "memttl.toml"
    path.write_text("theirs")
    with pytest.raises(TryAgain):
        write(path)
    assert [p.name for p in tmp_path.iterdir()] == ["memttl.toml"]
    assert path.read_text() == "theirs"


def test_link_that_leads_nowhere_is_followed_and_one_that_appeared_is_not(tmp_path: Path) -> None:
    (tmp_path / "memttl.toml").symlink_to(tmp_path / "real.toml")
    write(tmp_path / "memttl.toml")
    assert (tmp_path / "memttl.toml").is_symlink()
    assert (tmp_path / "real.toml").read_text() == "version = 1\n"


def test_replaced_policy_stays_beside_each_time_under_another_name(tmp_path: Path) -> None:
    path = tmp_path / "memttl.toml"
    path.write_text("first")
    path.chmod(0o640)
    assert write(path, "second", over=b"first") == tmp_path / "memttl.toml.old"
    assert write(path, "third", over=b"second") == tmp_path / "memttl.toml.old.2"
    assert [(tmp_path / n).read_text() for n in ("memttl.toml", "memttl.toml.old", "memttl.toml.old.2")] == [
        "third",
        "first",
        "second",
    ]
    assert path.stat().st_mode & 0o777 == 0o640


def test_policy_that_was_changed_since_it_was_shown_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "memttl.toml"
    path.write_text("changed")
    with pytest.raises(TryAgain):
        write(path, over=b"as shown")
    assert [p.name for p in tmp_path.iterdir()] == ["memttl.toml"]


def test_file_system_without_hard_links_gets_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(policy_write.os, "link", refuse)
    path = tmp_path / "memttl.toml"
    write(path, "first")
    with pytest.raises(TryAgain):
        write(path, "second")
    write(path, "second", over=b"first")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["memttl.toml", "memttl.toml.old"]
    assert path.read_text() == "second"


def test_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(policy_write.os, "fsync", full)
    with pytest.raises(CannotCreate, match="No space left"):
        write(tmp_path / "memttl.toml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes for others")
def test_root_gives_it_to_the_memory_files_owner(tmp_path: Path) -> None:
    memory = tmp_path / "memory.jsonl"
    memory.touch()
    memory.chmod(0o600)
    os.chown(memory, 1234, 1235)
    write(tmp_path / "new/memttl.toml", like=memory)
    made = [(tmp_path / "new").stat(), (tmp_path / "new/memttl.toml").stat()]
    assert [(m.st_uid, m.st_gid) for m in made] == [(1234, 1235)] * 2
    assert made[1].st_mode & 0o777 == 0o600


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert read_existing(tmp_path / "memttl.toml") is None
    with pytest.raises(CannotCreate):
        read_existing(tmp_path)
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(CannotCreate):
        read_existing(tmp_path / "pipe.toml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(NoPermission):
        write(tmp_path / "memttl.toml")
    tmp_path.chmod(0o700)
