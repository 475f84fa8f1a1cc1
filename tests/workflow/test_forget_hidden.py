"""Where a secret may hide from forget: archives of another policy, other encodings, lines of another shape, globs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from archives import EXPIRED, POLICY, archive_of, laid, run
from forgetting import SECRET, forgot, holding
from pruning import AT_ONCE, state_folder
from support import entity

from memttl.settings import Given, resolve
from memttl.workflow.prune import Request, prune

GONE = f"{SECRET} {EXPIRED}"


def archived(folder: Path) -> Path:
    """A memory file whose archive holds the secret, though the policy names no archive any more."""
    path = laid(folder, entity([GONE, "kept"], name="A"), policy=POLICY)
    run(path)
    (folder / "memttl.toml").write_text("")
    return path


def test_an_archive_that_the_policy_names_no_more_is_taken_in(tmp_path: Path) -> None:
    path = archived(tmp_path)
    assert "memory-archive.jsonl" in holding(tmp_path)
    forgot(path, None, SECRET)
    assert holding(tmp_path) == []


def test_one_that_only_its_mark_tells_of_is_taken_in(tmp_path: Path) -> None:
    path = archived(tmp_path)
    (state_folder(path) / "audit.jsonl").write_bytes(b"")
    forgot(path, None, SECRET)
    assert holding(tmp_path) == []


def test_one_in_another_folder_is_found_by_the_log(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    archive, policy = tmp_path / "far" / "kept.jsonl", tmp_path / "policy.toml"
    policy.write_text(f'[archive]\npath = "{archive}"\n')
    path = laid(tmp_path / "near", entity([GONE, "kept"], name="A"), policy="")
    settings = resolve(str(path), Given(policy=str(policy)), {}, datetime.now(UTC))
    prune(settings, Request(pace=AT_ONCE, force=True))
    assert "far/kept.jsonl" in holding(tmp_path)
    forgot(path, None, SECRET)
    assert holding(tmp_path) == []


def test_a_file_that_only_the_log_calls_an_archive_stays_and_is_named(tmp_path: Path) -> None:
    path = archived(tmp_path)
    (state_folder(archive_of(path)) / "archive").unlink()
    before = archive_of(path).read_bytes()
    outcome = forgot(path, None, SECRET)
    assert archive_of(path).read_bytes() == before
    assert any(str(archive_of(path)) in told for told in outcome.warnings)
