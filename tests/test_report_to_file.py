"""`memttl report -o FILE` with several memory files, state elsewhere, odd targets: never over what memttl needs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from process import FIXTURES, copy_of, memttl, tree

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two memory files in folders of their own."""
    for name in "ab":
        (tmp_path / name).mkdir()
    return copy_of(EXAMPLE, tmp_path / "a"), copy_of(EXAMPLE, tmp_path / "b")


def files(two: tuple[Path, Path]) -> list[str | Path]:
    return ["--file", two[0], "--file", two[1]]


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "csv"]])
@pytest.mark.parametrize("what", ["memory.jsonl", "memttl.toml", "memory.jsonl.lock", ".memttl", ".memttl/x"])
@pytest.mark.parametrize("is_broken", [False, True])
def test_what_any_of_several_files_needs_is_not_written_over(
    two: tuple[Path, Path], options: list[str], what: str, is_broken: bool
) -> None:
    target = two[1].parent / what
    if is_broken:
        (two[1].parent / "memttl.toml").write_text("no = policy")
    before = tree(two[1].parent)
    ended = memttl("report", *options, *files(two), "-o", target, *NOW)
    assert ended.returncode == 2
    assert str(target) in ended.stdout + ended.stderr
    assert tree(two[1].parent) == before


@pytest.mark.parametrize("how", ["variable", "policy"])
def test_state_that_lies_elsewhere_is_not_written_over(two: tuple[Path, Path], how: str) -> None:
    folder = two[0].parent / "state"
    env = {"MEMTTL_STATE_DIR": str(folder)} if how == "variable" else {}
    if how == "policy":
        (two[0].parent / "memttl.toml").write_text('[state]\ndir = "state"\n')
    assert memttl("scan", "--file", two[0], env=env).returncode == 0
    (ledger,) = folder.glob("*/ledger.db")
    before = tree(folder)
    for target in (ledger, ledger.parent / "audit.jsonl", ledger.parent / "new"):
        assert memttl("report", "--file", two[0], "-o", target, env=env).returncode == 2
    assert tree(folder) == before


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "csv"]])
def test_report_that_would_lack_a_file_is_not_written(two: tuple[Path, Path], options: list[str]) -> None:
    target = two[0].parent / "out"
    target.write_text("old")
    two[1].write_bytes(b"\xff\xfeU\0T\0F\0")
    ended = memttl("report", *options, *files(two), "-o", target, *NOW)
    assert ended.returncode == 65
    assert "was not written: not every memory file could be read" in ended.stderr
    assert target.read_text() == "old"
    assert ('"files"' in ended.stdout) is (options == ["--json"])  # the errors are told all the same


def test_links_that_lead_in_a_circle_are_left_alone(two: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    assert memttl("report", "--file", two[0], "-o", one, *NOW).returncode == 73
    assert one.is_symlink()


def test_folder_that_is_not_there_is_no_file_name(two: tuple[Path, Path], tmp_path: Path) -> None:
    assert memttl("report", "--file", two[0], "-o", f"{tmp_path}/sub/", *NOW).returncode == 2
    assert not (tmp_path / "sub").exists()


@pytest.mark.parametrize(
    ("mode", "mask", "made"), [(0o644, "077", 0o600), (0o666, "022", 0o644), (0o600, "000", 0o600)]
)
def test_new_file_is_no_wider_than_memory_file_and_umask(
    two: tuple[Path, Path], tmp_path: Path, mode: int, mask: str, made: int
) -> None:
    two[0].chmod(mode)
    shell = f'umask {mask}; exec "$@"'
    assert memttl("report", "--file", two[0], "-o", tmp_path / "out", *NOW, shell=shell).returncode == 0
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == made


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_file_that_is_there_keeps_its_owner_and_loses_what_runs_as_somebody(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    os.chown(target, 1000, 1000)
    target.chmod(0o4640)
    memttl("report", "--file", two[0], "-o", target, *NOW)
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1000, 1000, 0o640)


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("json", "{"), ("ndjson", '{"file"'), ("csv", '"file"'), ("md", "# Memory"), ("html", "<!"), ("txt", "/")],
)
def test_ending_names_the_format(two: tuple[Path, Path], tmp_path: Path, ending: str, begins: str) -> None:
    target = tmp_path / f"out.{ending}"
    memttl("report", "--file", two[0], "-o", target, *NOW)
    assert target.read_text().lower().startswith(begins.lower())
    memttl("report", "--file", two[0], "-o", target, "--format", "csv", *NOW)
    assert target.read_text().startswith('"file"')
