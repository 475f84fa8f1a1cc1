"""What surrounds the reading of a git history: strange repositories, strange environments, no git at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from repositories import DAY, MONDAY, commit, git, needs_git, new_repository, program, refused, sign, thirty_versions
from without_root import needs_root

from memttl.errors import NoHistory
from memttl.files.githistory import git_versions

pytestmark = needs_git


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return thirty_versions(tmp_path / "repository")


def tree_of(folder: Path) -> dict[str, tuple[int, int]]:
    """All files below a folder, with size and mtime."""
    return {str(p): (p.lstat().st_size, p.lstat().st_mtime_ns) for p in folder.rglob("*")}


def test_file_that_was_never_committed_is_refused(memory: Path) -> None:
    (memory.parent / "other").write_bytes(b"")
    assert f"No commit holds {memory.parent / 'other'}" in refused(memory.parent / "other")


def test_ignored_file_is_refused(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r")
    (folder / "m").write_bytes(b"")
    commit(folder, {".gitignore": b"m\n"}, MONDAY)
    assert "No commit holds" in refused(folder / "m")


def test_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "r")
    (folder / "m").write_bytes(b"")
    assert "has no commit yet" in refused(folder / "m")


def test_file_outside_of_repositories_is_refused(tmp_path: Path) -> None:
    assert "lies in no git repository" in refused(tmp_path / "m")


def test_file_inside_the_git_folder_is_refused(memory: Path) -> None:
    assert "lies in no git repository" in refused(memory.parent / ".git/config")


def test_bare_repository_around_the_file_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    assert "lies in no git repository" in refused(tmp_path / "bare/m")


def test_folder_that_is_gone_is_refused(tmp_path: Path) -> None:
    assert "git rev-parse failed" in refused(tmp_path / "gone/m")


def test_broken_config_is_quoted(memory: Path) -> None:
    (memory.parent / ".git/config").write_text("[core\n")
    assert "bad config" in refused(memory)


def test_missing_git_is_refused(memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no git on this machine's PATH" in refused(memory)


def test_git_that_cannot_be_run_is_refused(memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin/git", "").write_bytes(b"\x7fELF")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "git cannot be run" in refused(memory)


def test_repository_of_somebody_else_is_refused(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(NoHistory, match="belongs to somebody else") as caught:
        git_versions(memory)
    assert f"git config --global --add safe.directory {memory.parent}" in caught.value.hint


@needs_root
def test_repository_of_another_user_is_refused(memory: Path) -> None:
    os.chown(memory.parent, 65534, 65534)
    assert "belongs to somebody else" in refused(memory)


def test_safe_directory_of_the_environment_is_heeded(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    for name, value in (("COUNT", "1"), ("KEY_0", "safe.directory"), ("VALUE_0", "*")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert len(git_versions(memory)) == 30


def test_variables_of_a_git_hook_do_not_lead_elsewhere(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repository(tmp_path / "other")
    for name in git(other, "rev-parse", "--local-env-vars").decode().split():
        if not name.startswith("GIT_CONFIG_"):
            monkeypatch.setenv(name, str(other / ".git"))
    for name in ("GIT_ICASE_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert len(list(git_versions(memory))) == 30


def test_bare_bones_environment_suffices(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.environ["PATH"]
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", path)
    assert len(list(git_versions(memory))) == 30


PROGRAMS = [
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "core.alternateRefsCommand"),
    *("core.askPass", "pager.log", "pager.cat-file", "diff.external", "diff.x.command", "diff.x.textconv"),
    *("filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.program", "gpg.openpgp.program", "gpg.ssh.program"),
    *("merge.x.driver", "credential.helper", "sequence.editor", "interactive.diffFilter", "uploadpack.packObjectsHook"),
    *("alias.log", "alias.cat-file", "alias.rev-parse", "alias.remote-", "alias.remote-none"),
]
SWITCHES = {
    "log.showSignature": "true",
    "log.follow": "true",
    "log.showRoot": "false",
    "log.diffMerges": "first-parent",
    "log.decorate": "full",
    "log.mailmap": "true",
    "log.date": "human",
    "diff.renames": "copies",
    "diff.relative": "true",
    "diff.orderFile": "nowhere",
    "diff.noprefix": "true",
    "diff.renameLimit": "1",
    "color.ui": "always",
    "format.pretty": "fuller",
    "notes.displayRef": "*",
    "core.abbrev": "7",
    "core.quotePath": "true",
    "submodule.recurse": "true",
    "diff.submodule": "log",
    "diff.algorithm": "patience",
}
HOOKS = ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout", "fsmonitor-watchman")


def test_nothing_is_run_that_a_repository_names_and_no_setting_of_it_counts(memory: Path, tmp_path: Path) -> None:
    commit(memory.parent, {"memory.jsonl": None, "new": memory.read_bytes()}, MONDAY + 50 * DAY)
    sign(memory.parent)
    git(memory.parent, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(memory.parent, {"x": b"x"}, MONDAY + 50 * DAY)
    git(memory.parent, "merge", "-q", "--no-commit", "main")
    commit(memory.parent, {"new": memory.with_name("new").read_bytes() + b"\n\n"}, MONDAY + 51 * DAY)
    commit(memory.parent, {".gitattributes": b"* diff=x filter=x merge=x\n"}, MONDAY + 51 * DAY)
    expected = list(git_versions(memory.parent / "new"))
    ran = tmp_path / "ran"
    evil = program(tmp_path / "evil", f"echo $0 $* >> {ran}; exit 1")
    for hook in HOOKS:
        program(memory.parent / ".git/hooks" / hook, f"echo {hook} >> {ran}")
    for name in PROGRAMS:
        git(memory.parent, "config", name, f"!{evil}" if name.startswith(("alias", "credential")) else str(evil))
    for name, value in SWITCHES.items():
        git(memory.parent, "config", name, value)
    before = tree_of(memory.parent)
    assert [*git_versions(memory.parent / "new")] == expected
    assert len(expected) == 31
    assert not ran.exists()
    assert tree_of(memory.parent) == before


@pytest.mark.parametrize("url", ["ext::{}", "evil::x", "ssh://host/x", "file:///nowhere", "::x"])
def test_partial_clone_calls_no_transport_whatever_its_config_allows(memory: Path, tmp_path: Path, url: str) -> None:
    ran = tmp_path / "ran"
    evil = program(tmp_path / "evil", f"echo $0 $* >> {ran}; exit 1")
    blob = git(memory.parent, "rev-parse", "HEAD~3:memory.jsonl").decode().strip()
    (memory.parent / ".git/objects" / blob[:2] / blob[2:]).unlink()
    settings = {"remote.x.url": url.format(evil), "remote.x.promisor": "true", "core.sshCommand": str(evil)}
    settings |= {f"protocol.{name}.allow": "always" for name in ("ext", "ssh", "file", "evil", "none")}
    settings |= {"protocol.allow": "always", "alias.remote-": f"!{evil}", "alias.remote-evil": f"!{evil}"}
    settings |= {"core.repositoryFormatVersion": "1", "extensions.partialClone": "x"}
    if url == "::x":
        settings["remote.x.vcs"] = ""
    for name, value in settings.items():
        git(memory.parent, "config", name, value)
    history = git_versions(memory)
    assert (len(list(history)), history.missing) == (29, {blob})
    assert not ran.exists()


def test_program_named_git_in_the_repository_is_not_run(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(memory.parent / "git", f"touch {memory.parent}/ran")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    assert len(list(git_versions(memory))) == 30
    assert not (memory.parent / "ran").exists()


def test_read_only_repository_can_be_read(memory: Path) -> None:
    for path in (memory.parent, *memory.parent.rglob("*")):
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    assert len(list(git_versions(memory))) == 30
