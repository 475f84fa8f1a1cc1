"""Globs: as Python's own on trees without links; with links, they end, and name each file once by its own name."""

from __future__ import annotations

import glob
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from memttl.setup.globs import files_of

PLACES = ("m.jsonl", "a/m.jsonl", "a/b/m.jsonl", "a/b/c.d/x", ".h/m.jsonl", "a/.h/m.jsonl", "[a]/m.jsonl", "a/.m.jsonl")
NAMES = ("**", "**", "*", "a", "b", "m.jsonl", "*.jsonl", "?", ".*", "[[]a]", "[ab]", "**x", "", ".", "a/..", ".h")


@pytest.fixture(scope="module")
def tree() -> Path:
    top = Path(tempfile.mkdtemp())
    for place in PLACES:
        (top / place).parent.mkdir(parents=True, exist_ok=True)
        (top / place).touch()
    return top


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5), st.booleans())
@settings(max_examples=100, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_without_links_it_names_what_python_names(tree: Path, names: list[str], is_absolute: bool) -> None:
    pattern = "/".join(names)
    pattern = f"{tree}/{pattern}" if is_absolute else pattern.lstrip("/") or "*"
    before = os.getcwd()
    os.chdir(tree)
    try:
        theirs = {os.path.realpath(p) for p in glob.glob(pattern, recursive=True) if os.path.isfile(p)}
        assert {os.path.realpath(p) for p in files_of(pattern)} == theirs
    finally:
        os.chdir(before)


@pytest.mark.parametrize("pattern", ["**", "**/*.jsonl", "a/**/m.jsonl", "**/b/**/*"])
def test_without_links_it_spells_names_as_python_does(tree: Path, pattern: str) -> None:
    theirs = sorted(p for p in glob.glob(f"{tree}/{pattern}", recursive=True) if os.path.isfile(p))
    assert files_of(f"{tree}/{pattern}") == theirs


def test_loops_of_links_end(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").touch()
    for name in "abc":
        (tmp_path / name).symlink_to(".")
    assert files_of(f"{tmp_path}/**/*.jsonl") == [f"{tmp_path}/m.jsonl"]


def test_folder_that_is_a_link_is_entered_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "real/deep/m.jsonl").touch()
    (tmp_path / "link").symlink_to("real")
    assert files_of(f"{tmp_path}/link/**/m.jsonl") == [f"{tmp_path}/link/deep/m.jsonl"]


@pytest.mark.parametrize("link", ["ln.jsonl", "zz.jsonl"])
def test_of_two_names_of_one_file_the_one_that_is_no_link_is_taken(tmp_path: Path, link: str) -> None:
    (tmp_path / "memory.jsonl").touch()
    (tmp_path / link).symlink_to("memory.jsonl")
    assert files_of(f"{tmp_path}/*.jsonl") == [f"{tmp_path}/memory.jsonl"]


def test_of_two_ways_to_a_file_the_one_through_no_link_is_taken(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/m.jsonl").touch()
    (tmp_path / "a").symlink_to("real")
    assert files_of(f"{tmp_path}/*/m.jsonl") == [f"{tmp_path}/real/m.jsonl"]


def test_link_to_a_file_elsewhere_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "ln.jsonl").symlink_to("real")
    assert files_of(f"{tmp_path}/*.jsonl") == [f"{tmp_path}/ln.jsonl"]
