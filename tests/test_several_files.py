"""Several memory files in one call: each by its own policy, all done, one summary, and never a file of memttl's own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from checkups import written
from process import Terminal, memttl, tree
from support import entity

from memttl.errors import NoPermission
from memttl.files.archive_mark import refuse_archive
from memttl.files.state import lies_in_state, state_of

NOW = ("--now", "2026-06-01")
DATED = "[session] 2026-01-01: an old note"


def folder(root: Path, name: str, data: bytes | None = None, *, policy: str = "") -> Path:
    """A memory file in a folder of its own, with a policy beside it."""
    (root / name).mkdir()
    if policy:
        (root / name / "memttl.toml").write_text(policy)
    return written(root / name, entity([DATED, "stays"], name=name) if data is None else data)


def summary(*args: str | Path) -> tuple[int, str]:
    """The exit code and the last line of stdout."""
    ended = memttl(*args, *NOW)
    return ended.returncode, ended.stdout.splitlines()[-1]


def test_policy_beside_each_file_holds(tmp_path: Path) -> None:
    folder(tmp_path, "a")
    folder(tmp_path, "b", policy="[tiers]\nsession = 'never'\n")
    document = json.loads(memttl("prune", "-n", "--json", "--file", tmp_path / "*/memory.jsonl", *NOW).stdout)
    assert [d["counts"]["removed"] for d in document["files"]] == [1, 0]


def test_every_file_is_done_and_the_highest_code_returned(tmp_path: Path) -> None:
    good = folder(tmp_path, "a")
    folder(tmp_path, "b", b"{")
    folder(tmp_path, "c", policy="nonsense = 1\n")
    missing = tmp_path / "d/memory.jsonl"
    last = folder(tmp_path, "e")
    code, line = summary("prune", "--yes", "--file", tmp_path / "*/memory.jsonl", "--file", missing)
    assert code == 78
    assert line == (
        "5 files: 2 done, 3 not (1 file 65 damaged or foreign, 1 file 66 missing, 1 file 78 bad policy). "
        "Removed 2 of 4 observations."
    )
    assert DATED.encode() not in good.read_bytes() + last.read_bytes()


def test_files_come_in_the_order_in_which_they_were_named_each_once(tmp_path: Path) -> None:
    first, second, third = (folder(tmp_path, name) for name in "cab")
    args = [word for path in (second, tmp_path / "*/memory.jsonl", first) for word in ("--file", path)]
    document = json.loads(memttl("prune", "-n", "--json", *args, *NOW).stdout)
    assert [d["file"] for d in document["files"]] == [str(path) for path in (second, third, first)]
    assert list(document) == ["schema", "files"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["prune", "-n"], "2 files: 2 done. Would remove 2 of 4 observations."),
        (["prune", "--check"], "2 files: 2 done. Would remove 2 of 4 observations."),
        (["scan"], "2 files: 2 done. 4 new, 0 gone, 0 known."),
        (["report"], "2 files: 2 done. 2 of 4 observations have expired."),
        (["pin", "--entity", "*", "--yes"], "2 files: 2 done."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_summary_sums_up_what_the_command_counts(tmp_path: Path, command: list[str], words: str) -> None:
    folder(tmp_path, "a")
    folder(tmp_path, "b")
    assert summary(*command, "--file", tmp_path / "*/memory.jsonl")[1] == words


def test_doctor_sums_up_what_is_amiss(tmp_path: Path) -> None:
    folder(tmp_path, "a")
    folder(tmp_path, "b", b"{")
    ended = memttl("doctor", "--file", tmp_path / "*/memory.jsonl")
    assert ended.stdout.splitlines()[-1].startswith("2 files: 1 done, 1 not (65 damaged or foreign). 1 error")


def test_one_file_has_no_summary(tmp_path: Path) -> None:
    assert "1 file" not in memttl("scan", "--file", folder(tmp_path, "a")).stdout


@pytest.mark.parametrize("options", [["prune", "-n", "-q"], ["report", "--format", "csv"], ["explain"]], ids=" ".join)
def test_quiet_documents_and_lists_have_no_summary(tmp_path: Path, options: list[str]) -> None:
    folder(tmp_path, "a")
    folder(tmp_path, "b")
    ended = memttl(*options, "--file", tmp_path / "*/memory.jsonl", *NOW)
    assert "2 files" not in ended.stdout + ended.stderr


def test_quiet_still_tells_errors(tmp_path: Path) -> None:
    folder(tmp_path, "a")
    ended = memttl("scan", "-q", "--file", tmp_path / "a/memory.jsonl", "--file", tmp_path / "none")
    assert (ended.returncode, ended.stdout) == (66, "")
    assert "none" in ended.stderr


def test_refusal_by_a_limit_is_counted(tmp_path: Path) -> None:
    folder(tmp_path, "a")
    folder(tmp_path, "b", policy="[limits]\nmax_prune_count = 0\n")
    assert summary("prune", "--yes", "--file", tmp_path / "*/memory.jsonl") == (
        4,
        "2 files: 1 done, 1 not (4 refused by a limit). Removed 1 of 2 observations.",
    )


def test_ctrl_c_stops_before_the_next_file(tmp_path: Path) -> None:
    first, second, third = (folder(tmp_path, name) for name in "abc")
    terminal = Terminal("prune", "--file", tmp_path / "*/memory.jsonl", *NOW)
    terminal.read_until(f"from {first}? [y/N]")
    terminal.type("y\n")
    terminal.read_until(f"from {second}? [y/N]")
    terminal.type("\x03")
    ended = terminal.end()
    assert ended.code == 130
    assert "3 files: 1 done, 1 not (130 interrupted), 1 not begun. Removed 1 of 2 observations." in ended.screen
    assert [DATED.encode() in path.read_bytes() for path in (first, second, third)] == [False, True, True]


def pruned_once(root: Path, env: dict[str, str] | None = None) -> Path:
    """A memory file with a backup, an audit log and outcomes."""
    path = folder(root, "a")
    assert memttl("prune", "--yes", "--file", path, *NOW, env=env).returncode == 0
    return path


def own_files(root: Path) -> dict[str, tuple[object, ...]]:
    return {name: at for name, at in tree(root).items() if lies_in_state(root / name) and "outcomes" not in name}


@pytest.mark.parametrize("glob", ["**/*.jsonl", "**", "**/*", "*/.*/*/*.jsonl", "**/.memttl/**/*.jsonl"])
def test_glob_never_prunes_what_memttl_keeps(tmp_path: Path, glob: str) -> None:
    path = pruned_once(tmp_path)
    other = folder(tmp_path, "b")
    backup = next((tmp_path / "a/.memttl/memory.jsonl/backups").iterdir())
    kept = backup.read_bytes()
    memttl("prune", "--yes", "--file", tmp_path / glob, "--file", other, *NOW)
    assert backup.read_bytes() == kept
    assert os.listdir(backup.parent) == [backup.name]
    assert memttl("log", "verify", "--file", path).returncode == 0


def test_glob_never_prunes_what_memttl_keeps_elsewhere(tmp_path: Path) -> None:
    env = {"MEMTTL_STATE_DIR": str(tmp_path / "state")}
    pruned_once(tmp_path, env)
    folder(tmp_path, "b")
    (backup,) = (tmp_path / "state").glob("*/backups/*.jsonl")
    before = own_files(tmp_path)[str(backup.relative_to(tmp_path))]
    ended = memttl("prune", "--yes", "--json", "--file", tmp_path / "**/*.jsonl", *NOW, env=env)
    assert ended.returncode == 0
    assert [d["file"] for d in json.loads(ended.stdout)["files"]] == [f"{tmp_path}/{n}/memory.jsonl" for n in "ab"]
    assert own_files(tmp_path)[str(backup.relative_to(tmp_path))] == before


def test_backup_that_is_named_is_read_and_not_written(tmp_path: Path) -> None:
    pruned_once(tmp_path)
    backup = next((tmp_path / "a/.memttl/memory.jsonl/backups").iterdir())
    before = tree(backup.parent)
    assert memttl("explain", "--file", backup, *NOW).returncode == 0
    for command in (["prune", "--yes"], ["scan"], ["pin", "a", "--yes"]):
        ended = memttl(*command, "--file", backup, *NOW)
        assert (ended.returncode, "keeps its own state" in ended.stderr) == (77, True)
    assert tree(backup.parent) == before


def test_glob_of_backups_alone_is_read(tmp_path: Path) -> None:
    pruned_once(tmp_path)
    assert memttl("report", "--file", tmp_path / "a/.memttl/*/backups/*.jsonl", *NOW).returncode == 0


def test_own_folder_that_happens_to_have_such_a_name_is_no_state(tmp_path: Path) -> None:
    for name in (".memttl", "notes-0123456789abcdef"):
        (tmp_path / name).mkdir()
        path = folder(tmp_path / name, "a")
        refuse_archive(state_of(path))
        assert not lies_in_state(path)


def test_state_folder_that_a_link_leads_to_is_found(tmp_path: Path) -> None:
    pruned_once(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "a/.memttl/memory.jsonl/backups")
    (backup,) = (tmp_path / "link").iterdir()
    with pytest.raises(NoPermission):
        refuse_archive(state_of(backup.resolve()))


def test_archive_and_folders_are_passed_over_and_counted(tmp_path: Path) -> None:
    folder(tmp_path, "a", policy='[archive]\npath = "archive.jsonl"\n')
    (tmp_path / "a/folder.jsonl").mkdir()
    path = tmp_path / "a/*.jsonl"
    assert memttl("prune", "--yes", "--file", path, *NOW).returncode == 0
    written(tmp_path / "a", entity([DATED], name="b"), name="other.jsonl")
    code, line = summary("scan", "--file", path)
    assert (code, line.partition(". ")[0]) == (0, "3 files: 2 done, 1 passed over")


def test_hidden_file_is_met_only_where_it_is_named(tmp_path: Path) -> None:
    path = folder(tmp_path, "a")
    hidden = path.with_name(".hidden.jsonl")
    hidden.write_bytes(path.read_bytes())
    memttl("prune", "--yes", "--file", tmp_path / "**/*.jsonl", *NOW)
    assert DATED.encode() in hidden.read_bytes()
