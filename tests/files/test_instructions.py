"""An assistant's instruction file: only the block changes, whole or not at all, and in no file of another kind."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from process import tree

from memttl.core.marked_block import BEGIN, END, BlockChange
from memttl.errors import CannotCreate, NoPermission, TryAgain, UsageError
from memttl.files import instructions
from memttl.files.instructions import make_change, plan_append, plan_removal

TEXT = "- one\n"
OLD = b"# Rules \xff\r\n\r\nBe kind.\r\n"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(OLD)
    return path


def appended(path: Path, text: str = TEXT) -> BlockChange:
    change = plan_append(str(path), text, [], [])
    make_change(change)
    return change


def removed(path: Path) -> BlockChange:
    change = plan_removal(str(path), [], [])
    make_change(change)
    return change


def test_it_is_added_once_updated_in_place_and_taken_out(target: Path) -> None:
    assert appended(target).deed == "appended"
    once = target.read_bytes()
    assert once.startswith(OLD)
    assert appended(target, "- two\n").deed == "updated"
    assert target.read_bytes() == once.replace(b"- one", b"- two")
    assert removed(target).deed == "removed"
    assert target.read_bytes() == OLD


def test_nothing_is_written_where_nothing_changes(target: Path) -> None:
    appended(target)
    before = tree(target.parent)
    assert appended(target).deed == "unchanged"
    assert tree(target.parent) == before
    removed(target)
    before = tree(target.parent)
    assert removed(target).deed == "unchanged"
    assert tree(target.parent) == before


def test_planning_writes_nothing(target: Path) -> None:
    before = tree(target.parent)
    plan_append(str(target), TEXT, [], [])
    plan_append(str(target.with_name("new.md")), TEXT, [], [])
    assert tree(target.parent) == before


def test_a_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    assert appended(path).deed == "created"
    assert path.read_text(encoding="utf-8") == f"{BEGIN}\n\n- one\n\n{END}\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_mode_and_links_are_kept(target: Path) -> None:
    target.chmod(0o640)
    link = target.with_name("AGENTS.md")
    link.symlink_to(target.name)
    appended(link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_bytes().startswith(OLD)
    assert [p.name for p in sorted(target.parent.iterdir())] == ["AGENTS.md", "CLAUDE.md"]


def test_a_link_that_leads_to_nothing_yet_is_followed(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    appended(tmp_path / "CLAUDE.md")
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert BEGIN in (tmp_path / "AGENTS.md").read_text(encoding="utf-8")


def test_what_an_editor_saved_in_between_is_not_written_over(target: Path) -> None:
    change = plan_append(str(target), TEXT, [], [])
    target.write_bytes(b"saved\n")
    with pytest.raises(TryAgain, match="written by somebody else"):
        make_change(change)
    assert target.read_bytes() == b"saved\n"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(target: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = tree(target.parent)
    change = plan_append(str(target), TEXT, [], [])
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(CannotCreate, match="No space left"):
            make_change(change)
    found = tree(target.parent)
    assert found.pop(".")[0] == before.pop(".")[0]
    assert found == before


def fifo(path: Path) -> None:
    os.mkfifo(path)


def wide(path: Path) -> None:
    path.write_bytes("# Rules\n".encode("utf-16"))


def memory(path: Path) -> None:
    path.write_bytes(b'\n{"type":"entity","name":"E","entityType":"x","observations":[]}\n')


def used(path: Path) -> None:
    path.write_bytes(b"")
    (path.parent / ".memttl" / path.name).mkdir(parents=True)


def hard_link(path: Path) -> None:
    path.write_bytes(b"# Rules\n")
    os.link(path, path.with_name("other"))


def huge(path: Path) -> None:
    path.write_bytes(b"a\n")
    os.truncate(path, (16 << 20) + 1)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (lambda path: path.mkdir(), "is a folder"),
    "a pipe": (fifo, "is no regular file"),
    "UTF-16": (wide, "is no text in UTF-8"),
    "NUL": (lambda path: path.write_bytes(b"a\0"), "is no text in UTF-8"),
    "JSON lines": (memory, "holds JSON"),
    "a memory file by its state": (used, "is no file of instructions"),
    "more names": (hard_link, "has 2 names"),
    "broken markers": (
        lambda path: path.write_text(f"a\n{BEGIN}\n"),
        "CLAUDE.md: the block that line 2 begins is",
    ),
    "too large": (huge, "larger than 16 MiB"),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("plan", [lambda p: plan_append(p, TEXT, [], []), lambda p: plan_removal(p, [], [])])
def test_no_other_kind_of_file_is_touched(tmp_path: Path, what: str, plan: Callable[[str], object]) -> None:
    make, words = REFUSED[what]
    make(tmp_path / "CLAUDE.md")
    before = tree(tmp_path)
    with pytest.raises(UsageError, match=words):
        plan(str(tmp_path / "CLAUDE.md"))
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["memory.jsonl", "package.JSON", "memttl.toml", ".memttl/x.md", "sub/"])
def test_no_name_of_another_kind_is_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        plan_append(f"{tmp_path}/{name}", TEXT, [], [])


def test_what_memttl_reads_and_keeps_is_refused(target: Path, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    with pytest.raises(UsageError, match="memttl reads here"):
        plan_append(str(target), TEXT, [target], [])
    with pytest.raises(UsageError, match="keeps its own state"):
        plan_append(str(tmp_path / "state/new.md"), TEXT, [], [tmp_path / "state"])


@pytest.mark.parametrize("name", ["nosuch/CLAUDE.md", "CLAUDE.md/x.md", "loop"])
def test_a_place_where_nothing_can_be_written_is_told_on_a_dry_run_too(target: Path, name: str) -> None:
    target.with_name("loop").symlink_to("loop")
    with pytest.raises(CannotCreate, match="cannot be written"):
        plan_append(f"{target.parent}/{name}", TEXT, [], [])


def test_a_file_that_may_not_be_written_is_told_on_a_dry_run_too(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions.os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(NoPermission):
        plan_append(str(target), TEXT, [], [])


def test_nothing_can_be_taken_out_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no file"):
        plan_removal(str(tmp_path / "CLAUDE.md"), [], [])


@pytest.mark.parametrize("text", ["{{ title }}\n", "{not json\n", "[link](x)\n", "{% raw %}\n"])
def test_a_text_that_only_begins_like_json_is_a_text(target: Path, text: str) -> None:
    target.write_text(text)
    assert appended(target).deed == "appended"
