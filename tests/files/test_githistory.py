"""The versions that a git history holds: renames, merges, odd names, submodules, clones that lack something."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from repositories import DAY, MONDAY, Importer, commit, commit_index, git, label, needs_git, new_repository
from support import entity

from memttl.core.digests import text_key
from memttl.core.history import BirthFinder, wanted_of
from memttl.errors import NoHistory
from memttl.files.githistory import History, git_versions

pytestmark = needs_git

NOW = datetime.fromtimestamp(MONDAY + 100 * DAY, UTC)
FILL = [f"what else this entity says, number {n}, so that renamed files are alike" for n in range(6)]


def holding(*texts: str) -> bytes:
    """A memory file of one entity."""
    return entity([*FILL, *texts], name="E") + b"\n"


def found(path: Path) -> BirthFinder:
    finder = BirthFinder(wanted_of(path.read_bytes()), NOW)
    for version in git_versions(path):
        finder.meet(version)
    return finder


def born_in(path: Path, text: str) -> str | None:
    """The label of the commit that brought an observation."""
    birth = found(path).births.get(("E", text_key(text)))
    return birth.label if birth else None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")


@pytest.fixture
def memory(folder: Path) -> Path:
    """A file of three commits: a on Monday, b a day later, c another day later."""
    for day, texts in enumerate(("a", "ab", "abc")):
        commit(folder, {"memory.jsonl": holding(*texts)}, MONDAY + day * DAY)
    return folder / "memory.jsonl"


def test_versions_come_oldest_first_each_with_the_one_before(memory: Path) -> None:
    versions = list(git_versions(memory))
    assert [v.data for v in versions] == [holding("a"), holding("a", "b"), holding("a", "b", "c")]
    assert [v.before for v in versions] == [(), (holding("a"),), (holding("a", "b"),)]
    assert [v.when.timestamp() for v in versions] == [MONDAY, MONDAY + DAY, MONDAY + 2 * DAY]
    assert versions[-1].label == label(memory.parent)


def test_later_of_author_and_committer_date_counts(folder: Path) -> None:
    commit(folder, {"m": holding("a")}, MONDAY, authored=MONDAY + 3 * DAY)
    commit(folder, {"m": holding("b")}, MONDAY + 2 * DAY, authored=MONDAY)
    assert [v.when.timestamp() for v in git_versions(folder / "m")] == [MONDAY + 3 * DAY, MONDAY + 2 * DAY]


def test_progress_counts_the_versions(memory: Path) -> None:
    seen: list[tuple[int, int]] = []
    history = git_versions(memory, on_progress=lambda done, total: seen.append((done, total)))
    assert (list(history) and seen, len(history)) == ([(0, 3), (1, 3), (2, 3), (3, 3)], 3)


def test_history_can_be_read_twice(memory: Path) -> None:
    history = git_versions(memory)
    assert list(history) == list(history)


def test_chain_of_renames_is_followed(folder: Path) -> None:
    first = commit(folder, {"a": holding("a"), "noise": b"x" * 900}, MONDAY)
    commit(folder, {"a": None, "b/b": holding("a", "b")}, MONDAY + DAY)
    commit(folder, {"b/b": None, "c": holding("a", "b", "c")}, MONDAY + 2 * DAY)
    assert git_versions(folder / "c").names == ("c", "b/b", "a")
    assert born_in(folder / "c", "a") == first


def test_rename_without_a_change_is_no_version(memory: Path) -> None:
    commit(memory.parent, {"memory.jsonl": None, "new": holding("a", "b", "c")}, MONDAY + 9 * DAY)
    assert len(git_versions(memory.parent / "new")) == 3


def test_rename_on_a_side_branch_is_followed_through_the_merge(folder: Path) -> None:
    commit(folder, {"old": holding("a")}, MONDAY)
    git(folder, "checkout", "-q", "-b", "side")
    commit(folder, {"old": None, "new": holding("a", "side")}, MONDAY + DAY)
    git(folder, "checkout", "-q", "main")
    main = commit(folder, {"old": holding("a", "main")}, MONDAY + 2 * DAY)
    git(folder, "merge", "-q", "--no-commit", "-s", "ours", "side")
    merge = commit(folder, {"old": None, "new": holding("a", "side", "main", "evil")}, MONDAY + 3 * DAY)
    new = folder / "new"
    assert [born_in(new, text) for text in ("main", "evil")] == [main, merge]
    assert born_in(new, "side") == label(folder, "side")


def test_copy_that_left_the_old_file_is_no_rename(folder: Path) -> None:
    commit(folder, {"old": holding("a")}, MONDAY)
    second = commit(folder, {"new": holding("a")}, MONDAY + DAY)
    assert born_in(folder / "new", "a") == second


def test_side_branch_whose_change_the_merge_dropped_counts(folder: Path) -> None:
    commit(folder, {"m": holding("a")}, MONDAY)
    git(folder, "checkout", "-q", "-b", "side")
    side = commit(folder, {"m": holding("a", "b")}, MONDAY + DAY)
    git(folder, "checkout", "-q", "main")
    commit(folder, {"other": b"x"}, MONDAY + 2 * DAY)
    git(folder, "merge", "-q", "--no-commit", "-s", "ours", "side")
    commit_index(folder, MONDAY + 3 * DAY)
    commit(folder, {"m": holding("a", "b")}, MONDAY + 4 * DAY)
    assert born_in(folder / "m", "b") == side


def test_merge_that_is_like_one_parent_brings_nothing(folder: Path) -> None:
    commit(folder, {"m": holding("a")}, MONDAY)
    git(folder, "checkout", "-q", "-b", "side")
    commit(folder, {"m": holding("a", "b")}, MONDAY + DAY)
    git(folder, "checkout", "-q", "main")
    commit(folder, {"other": b"x"}, MONDAY + 2 * DAY)
    git(folder, "merge", "-q", "--no-ff", "--no-commit", "side")
    commit_index(folder, MONDAY + 3 * DAY)
    assert len(git_versions(folder / "m")) == 2


def test_file_that_first_appears_in_a_merge_is_born_there(folder: Path) -> None:
    commit(folder, {"x": b"x"}, MONDAY)
    git(folder, "checkout", "-q", "-b", "side")
    commit(folder, {"y": b"y"}, MONDAY)
    git(folder, "checkout", "-q", "main")
    commit(folder, {"z": b"z"}, MONDAY)
    git(folder, "merge", "-q", "--no-commit", "side")
    merge = commit(folder, {"m": holding("a")}, MONDAY + DAY)
    assert born_in(folder / "m", "a") == merge


def test_merge_of_three_branches_is_read(folder: Path) -> None:
    story = Importer()
    root = story.commit({"m": holding()}, [], authored=MONDAY, committed=MONDAY)
    sides = [story.commit({"m": holding(t)}, [root], authored=MONDAY, committed=MONDAY + DAY) for t in "abc"]
    story.commit({"m": holding(*"abcd")}, sides, authored=MONDAY, committed=MONDAY + 2 * DAY)
    path = story.into(folder / "sub") / "m"
    assert {born_in(path, text) for text in "abc"} == {label(folder / "sub", f"HEAD^{n}") for n in (1, 2, 3)}
    assert born_in(path, "d") == label(folder / "sub")


def test_two_roots_are_walked(folder: Path) -> None:
    story = Importer()
    roots = [story.commit({"m": holding(t)}, [], authored=MONDAY, committed=MONDAY) for t in "ab"]
    story.commit({"m": holding("a", "b")}, roots, authored=MONDAY, committed=MONDAY + DAY)
    path = story.into(folder / "sub") / "m"
    assert [born_in(path, text) for text in "ab"] == [label(folder / "sub", f"HEAD^{n}") for n in (1, 2)]
    assert git(folder / "sub", "rev-list", "--max-parents=0", "HEAD").count(b"\n") == 2


def test_file_that_was_removed_and_made_again_keeps_its_births(memory: Path) -> None:
    first = label(memory.parent, "HEAD~2")
    data = memory.read_bytes()
    commit(memory.parent, {"memory.jsonl": None}, MONDAY + 5 * DAY)
    commit(memory.parent, {"memory.jsonl": data}, MONDAY + 6 * DAY)
    assert born_in(memory, "a") == first


def test_file_that_was_a_folder_or_a_link_is_read_from_when_it_is_a_file(folder: Path) -> None:
    commit(folder, {"m/inner": b"{}"}, MONDAY)
    (folder / "m/inner").unlink()
    (folder / "m").rmdir()
    (folder / "m").symlink_to("elsewhere")
    commit(folder, {}, MONDAY + DAY)
    (folder / "m").unlink()
    last = commit(folder, {"m": holding("a")}, MONDAY + 2 * DAY)
    assert [v.label for v in git_versions(folder / "m")] == [last]


def test_malformed_commits_are_skipped_over(memory: Path) -> None:
    first = label(memory.parent, "HEAD~2")
    data = memory.read_bytes()
    broken = commit(memory.parent, {"memory.jsonl": data[:-9]}, MONDAY + 5 * DAY)
    commit(memory.parent, {"memory.jsonl": data}, MONDAY + 6 * DAY)
    finder = found(memory)
    assert finder.births["E", text_key("a")].label == first
    assert finder.unreadable == [broken]


@pytest.mark.parametrize("date", ["99999999999999999999999", "9" * 5000, "253402300800", "0", "-5", "abc", ""])
def test_absurd_date_is_not_taken(folder: Path, date: str) -> None:
    commit(folder, {"m": holding("a")}, MONDAY)
    tree = git(folder, "rev-parse", "HEAD^{tree}").decode().strip()
    raw = f"tree {tree}\nauthor A <a@b> {date} +0000\ncommitter A <a@b> {date} +0000\n\nx\n".encode()
    name = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", told=raw).decode().strip()
    git(folder, "update-ref", "refs/heads/main", name)
    finder = found(folder / "m")
    assert (finder.births, [row.observations for row in finder.not_taken]) == ({}, [7])


ODD_NAMES = ["a b", " ", "ü", "e\u0301", "*", "[a]?", ":(top)m", ":m", "-m", "a\nb", 'q"uote\\', "\t", "--", "a;b|c"]


@pytest.mark.parametrize("name", [*map(os.fsencode, ODD_NAMES), b"\xff\xfe"])
def test_every_name_is_taken_literally(folder: Path, name: bytes) -> None:
    odd = os.fsdecode(name)
    commit(folder, {f"{odd}/old {odd}": holding("a"), "m": holding("x"), "a": holding("y")}, MONDAY)
    commit(folder, {f"{odd}/old {odd}": None, f"{odd}/{odd}": holding("a", "b")}, MONDAY + DAY)
    history = git_versions(folder / odd / odd)
    assert history.names == (f"{odd}/{odd}", f"{odd}/old {odd}")
    assert [v.data for v in history] == [holding("a"), holding("a", "b")]


def test_repository_of_sha256_ids_is_read(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r", hash_of="sha256")
    first = commit(folder, {"old": holding("a")}, MONDAY)
    commit(folder, {"old": None, "m": holding("a", "b")}, MONDAY + DAY)
    assert born_in(folder / "m", "a") == first


def test_history_in_a_submodule_is_the_submodules(tmp_path: Path, memory: Path) -> None:
    outer = new_repository(tmp_path / "outer")
    git(outer, "submodule", "add", "-q", str(memory.parent), "sub dir/inner")
    commit(outer, {"x": b"x"}, MONDAY + 9 * DAY)
    assert born_in(outer / "sub dir/inner/memory.jsonl", "b") == label(memory.parent, "HEAD~1")


def test_history_in_a_linked_worktree_is_that_of_what_it_has_checked_out(tmp_path: Path, memory: Path) -> None:
    git(memory.parent, "worktree", "add", "-q", str(tmp_path / "linked"), "HEAD~1")
    assert len(git_versions(tmp_path / "linked/memory.jsonl")) == 2


def test_shallow_clone_says_so(tmp_path: Path, memory: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{memory.parent}", "shallow")
    history = git_versions(tmp_path / "shallow/memory.jsonl")
    assert (history.is_shallow, history.oldest.timestamp()) == (True, MONDAY + DAY)
    assert born_in(tmp_path / "shallow/memory.jsonl", "a") == label(memory.parent, "HEAD~1")


def test_whole_clone_is_not_shallow(memory: Path) -> None:
    history = git_versions(memory)
    assert (history.is_shallow, history.oldest.timestamp(), history.missing) == (False, MONDAY, set())


def partial_clone(memory: Path, clone: Path, what: str = "blob:none") -> Path:
    """A clone without blobs but those of the last commit, whose config would have git fetch the others."""
    git(memory.parent, "config", "uploadpack.allowFilter", "true")
    git(clone.parent, "clone", "-q", f"--filter={what}", f"file://{memory.parent}", clone.name)
    git(clone, "config", "protocol.file.allow", "always")
    return clone / "memory.jsonl"


def test_partial_clone_fetches_nothing_and_counts_what_is_missing(tmp_path: Path, memory: Path) -> None:
    path = partial_clone(memory, tmp_path / "partial")
    objects = sorted((tmp_path / "partial/.git/objects").rglob("*"))
    history = git_versions(path)
    assert [v.data for v in history] == [memory.read_bytes()]
    assert history.missing == {
        git(memory.parent, "rev-parse", f"HEAD~{n}:memory.jsonl").decode().strip() for n in (1, 2)
    }
    assert sorted((tmp_path / "partial/.git/objects").rglob("*")) == objects


def test_rename_in_a_partial_clone_is_followed_by_the_files_ids(tmp_path: Path, memory: Path) -> None:
    git(memory.parent, "mv", "memory.jsonl", "new")
    commit_index(memory.parent, MONDAY + 5 * DAY)
    partial_clone(memory, tmp_path / "partial")
    assert git_versions(tmp_path / "partial/new").names == ("new", "memory.jsonl")


def test_clone_without_trees_is_refused_and_fetches_nothing(tmp_path: Path, memory: Path) -> None:
    path = partial_clone(memory, tmp_path / "partial", "tree:0")
    objects = sorted((tmp_path / "partial/.git/objects").rglob("*"))
    with pytest.raises(NoHistory, match=r"git log failed in .*; nothing was done"):
        git_versions(path)
    assert sorted((tmp_path / "partial/.git/objects").rglob("*")) == objects


def test_lost_blob_is_counted_and_skipped(memory: Path) -> None:
    blob = git(memory.parent, "rev-parse", "HEAD~1:memory.jsonl").decode().strip()
    (memory.parent / ".git/objects" / blob[:2] / blob[2:]).unlink()
    history: History = git_versions(memory)
    assert ([v.data for v in history], history.missing) == ([holding("a"), holding("a", "b", "c")], {blob})
