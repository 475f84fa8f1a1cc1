"""`prune --dry-run` as a whole process on every fixture: the promised exit code, one document, no byte written."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from process import FIXTURES, aged, copy_of, memttl, tree
from support import entity

NOW = ("--now", "2026-06-01T12:00:00Z")
EXPECTED: dict[str, dict[str, Any]] = json.loads((FIXTURES / "memory/expected.json").read_text(encoding="utf-8"))
EXIT_CODES = {f"memory/{name}": row["exit"] for name, row in EXPECTED.items()}
EXIT_CODES |= {f"from-servers/{path.name}": 65 for path in sorted((FIXTURES / "from-servers").glob("*.jsonl"))}
every_fixture = pytest.mark.parametrize("name", EXIT_CODES)
PRUNE_KEYS = [
    "schema", "file", "now", "dry_run", "applied", "run", "backup", "archive", "counts", "removed", "refusals",
    "warnings",
]  # fmt: skip
COUNT_KEYS = [
    "entities", "relations", "observations", "expired", "removed", "review_due", "unknown_age", "pinned",
    "malformed_lines",
]  # fmt: skip
VERDICT_KEYS = [
    "entity", "entity_type", "line", "index", "observation", "tier", "rule", "age_source", "created_at", "expires_at",
    "expired", "review_due", "pinned", "action", "reason",
]  # fmt: skip


class Run(NamedTuple):
    code: int
    document: dict[str, Any]
    stderr: str
    before: dict[str, tuple[object, ...]]
    after: dict[str, tuple[object, ...]]


@functools.cache
def dry_run(name: str) -> Run:
    """Run once for all facts about one fixture."""
    with tempfile.TemporaryDirectory() as folder:
        path = copy_of(FIXTURES / name, Path(folder))
        before = tree(Path(folder))
        ended = memttl("prune", "--dry-run", "--json", "--file", path, *NOW)
        return Run(ended.returncode, json.loads(ended.stdout), ended.stderr, before, tree(Path(folder)))


@every_fixture
def test_exit_code_is_the_one_of_the_spec(name: str) -> None:
    assert dry_run(name).code == EXIT_CODES[name]


@every_fixture
def test_document_has_exactly_the_keys_of_the_spec(name: str) -> None:
    document = dry_run(name).document
    if EXIT_CODES[name]:
        assert list(document) == ["schema", "error"]
        assert list(document["error"]) == ["code", "name", "message", "hint"]
    else:
        assert list(document) == PRUNE_KEYS
        assert list(document["counts"]) == COUNT_KEYS
        assert all(list(verdict) == VERDICT_KEYS for verdict in document["removed"])


@every_fixture
def test_json_leaves_stderr_empty(name: str) -> None:
    assert dry_run(name).stderr == ""


@every_fixture
def test_no_byte_no_time_and_no_entry_changes(name: str) -> None:
    assert dry_run(name).before == dry_run(name).after


@pytest.mark.parametrize("name", [name for name, row in EXPECTED.items() if row["exit"] == 0])
def test_counts_are_those_of_expected_json(name: str) -> None:
    document = dry_run(f"memory/{name}").document
    assert document["counts"]["observations"] == EXPECTED[name]["observations"]
    assert document["counts"]["expired"] == len(document["removed"]) == EXPECTED[name]["expired"]


@pytest.mark.parametrize(
    "options", [["--check"], ["--dry-run", "--verbose"], ["--dry-run", "--yes"], ["--dry-run", "--force"]]
)
def test_every_kind_of_dry_run_writes_nothing(tmp_path: Path, options: list[str]) -> None:
    path = copy_of(FIXTURES / "memory/example.jsonl", tmp_path)
    before = tree(tmp_path)
    assert memttl("prune", *options, "--file", path, *NOW).returncode == (3 if "--check" in options else 0)
    assert tree(tmp_path) == before


def test_dry_run_touches_no_state_that_lies_there(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/every-mark.jsonl", tmp_path)
    memttl("prune", "--yes", "--file", path, *NOW)
    before = tree(tmp_path)
    memttl("prune", "--dry-run", "--file", path, "--now", "2026-12-01")
    assert tree(tmp_path) == before


def test_dry_run_prints_what_the_applied_run_then_removes(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/example.jsonl", tmp_path)
    planned, applied = (
        json.loads(memttl("prune", how, "--json", "--file", path, *NOW).stdout) for how in ("--dry-run", "--yes")
    )
    assert planned["removed"] == applied["removed"]
    assert planned["counts"] == applied["counts"]


@pytest.fixture(scope="module")
def read_only_folder() -> Iterator[Path]:
    """A folder on a mount that nobody can write to, root included, with a copy of every fixture."""
    with tempfile.TemporaryDirectory() as name:
        if subprocess.run(["mount", "-t", "tmpfs", "none", name], capture_output=True).returncode:
            pytest.skip("mounting needs root")
        try:
            for fixture in EXIT_CODES:
                aged(Path(shutil.copy(FIXTURES / fixture, name)))
            subprocess.run(["mount", "-o", "remount,ro", name], check=True)
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True)


def test_dry_run_works_in_a_folder_that_nobody_can_write_to(read_only_folder: Path) -> None:
    ended = memttl("prune", "--dry-run", "--json", "--file", read_only_folder / "*.jsonl", *NOW)
    found = {
        os.path.basename(d["file"]): d.get("error", {"code": 0})["code"] for d in json.loads(ended.stdout)["files"]
    }
    assert found == {os.path.basename(name): code for name, code in EXIT_CODES.items()}


def test_single_line_of_25_mb_is_pruned_like_any_other(tmp_path: Path) -> None:
    texts = [
        "[session] 2026-04-01: old",
        *(f"note {i} {'x' * 1000}" for i in range(25_000)),
        "old [expires 2026-01-01]",
    ]
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(texts))
    applied = json.loads(memttl("prune", "--yes", "--json", "--file", path, *NOW).stdout)
    assert [v["index"] for v in applied["removed"]] == [0, len(texts) - 1]
    assert path.read_bytes() == entity(texts[1:-1])
