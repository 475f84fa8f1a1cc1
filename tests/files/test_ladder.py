"""Which rung is stood on: by platform, file system type and error, injected; this machine is only one of many."""

from __future__ import annotations

import errno

import pytest

from memttl.errors import ExitCode, NoPermission, UsageError
from memttl.files.ladder import LEASE_FILE_SYSTEMS, Rung, first_rung, next_rung, read_write_path, refused


@pytest.mark.parametrize("fs_type", sorted(LEASE_FILE_SYSTEMS))
def test_leases_are_taken_where_they_are_known_to_hold_writers(fs_type: str) -> None:
    assert first_rung("auto", platform="linux", fs_type=fs_type) is Rung.LEASES


@pytest.mark.parametrize("fs_type", ["fuse.sshfs", "fuseblk", "nfs4", "cifs", "9p", "virtiofs", "vfat", None])
def test_no_lease_is_taken_by_hope(fs_type: str | None) -> None:
    """FUSE grants leases that hold nobody."""
    assert first_rung("auto", platform="linux", fs_type=fs_type) is Rung.EXCHANGE


@pytest.mark.parametrize(
    ("platform", "rung"), [("darwin", Rung.EXCHANGE), ("win32", Rung.REPLACE), ("freebsd14", Rung.REPLACE)]
)
def test_other_platforms_stand_lower(platform: str, rung: Rung) -> None:
    assert first_rung("auto", platform=platform, fs_type=None) is rung


def test_the_user_may_stand_lower_but_windows_never_higher() -> None:
    assert first_rung("exchange", platform="linux", fs_type="ext4") is Rung.EXCHANGE
    assert first_rung("replace", platform="linux", fs_type="ext4") is Rung.REPLACE
    assert first_rung("exchange", platform="win32", fs_type=None) is Rung.REPLACE


@pytest.mark.parametrize("code", [errno.EACCES, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_without_leases_the_exchange_is_next(code: int) -> None:
    assert next_rung("lease", code, write_path="auto") is Rung.EXCHANGE


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP])
def test_without_an_exchange_the_replace_is_next(code: int) -> None:
    assert next_rung("exchange", code, write_path="auto") is Rung.REPLACE


def test_without_an_exchange_the_user_who_asked_for_one_is_refused() -> None:
    with pytest.raises(NoPermission, match="--write-path exchange"):
        next_rung("exchange", errno.EINVAL, write_path="exchange")


def test_an_error_that_says_nothing_of_rungs_is_no_step_down() -> None:
    assert next_rung("exchange", errno.EIO, write_path="auto") is None


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (errno.EBUSY, "single file"),
        (errno.EPERM, "immutable"),
        (errno.EACCES, "may not be written"),
        (errno.EROFS, "read-only"),
        (errno.EXDEV, "another file system"),
    ],
)
def test_a_refusal_says_why(code: int, word: str) -> None:
    error = refused(code, "memory.jsonl")
    assert error is not None
    assert error.exit_code == ExitCode.NO_PERMISSION
    assert word in error.message
    assert error.hint


def test_other_errors_are_no_refusal() -> None:
    assert refused(errno.ENOSPC, "memory.jsonl") is None


def test_an_unknown_write_path_is_a_usage_error() -> None:
    assert read_write_path("replace") == "replace"
    with pytest.raises(UsageError, match="knows no 'hope'"):
        read_write_path("hope")
