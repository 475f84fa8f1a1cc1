"""An old copy of the memory file: one version, dated by its mtime or by the caller."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from support import entity, instant

from memttl.core.history import Version
from memttl.errors import NoMemoryFile
from memttl.files.old_copy import copy_version

THEN = instant("2026-01-05T10:00:00.25Z")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl.old"
    path.write_bytes(entity(["a"]))
    os.utime(path, ns=(0, int(THEN.timestamp() * 1000) * 10**6))
    return path


def test_copy_is_dated_by_its_mtime(copy: Path) -> None:
    assert copy_version(copy) == Version(THEN, str(copy), entity(["a"]))


def test_compressed_backup_is_unpacked(copy: Path) -> None:
    packed = copy.with_name("20260105T100000Z-a.jsonl.gz")
    packed.write_bytes(gzip.compress(entity(["a"])))
    assert copy_version(packed, THEN).data == entity(["a"])


def test_date_of_the_caller_goes_before_the_mtime(copy: Path) -> None:
    assert copy_version(copy, instant("2025-12-24T00:00Z")).when == instant("2025-12-24T00:00Z")


def test_mtime_of_before_1970_is_a_date_too(copy: Path) -> None:
    os.utime(copy, ns=(0, -500_000_000))
    assert copy_version(copy).when == instant("1969-12-31T23:59:59.5Z")


def test_link_to_a_copy_is_followed(copy: Path) -> None:
    link = copy.with_name("link")
    link.symlink_to(copy)
    assert copy_version(link) == Version(THEN, str(link), entity(["a"]))


@pytest.mark.parametrize("make", [lambda path: None, Path.mkdir, lambda path: path.symlink_to(path)])
def test_what_is_no_file_is_no_copy(tmp_path: Path, make) -> None:
    make(tmp_path / "x")
    with pytest.raises(NoMemoryFile):
        copy_version(tmp_path / "x")
