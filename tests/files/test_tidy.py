"""What an applied run thins at its end: outdated backups, but none that an undo needs; it compresses old ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from backups import OLD, keep, kept, log_run, memory_of
from pruning import pruned, state_folder
from support import entity

from memttl.files import compressing
from memttl.files.knowledge import ledger_of

KEEP_ONE = '[backups]\nkeep = 1\nmax_age = "1d"\n'
WITHOUT_TEXT = KEEP_ONE + "[audit]\ntext = false\n"
REMOVED = {"event": "removed", "entity": "E", "raw_digest": hashlib.sha256(b'"x"').hexdigest()}


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A file with something to prune, a ledger, and two old backups: of a run without texts in the log, of one with."""
    path = memory_of(tmp_path, entity(["x [expires 2020-01-02]", "y"]))
    log_run(path, "aaaa0001", REMOVED)
    log_run(path, "bbbb0002", {**REMOVED, "raw": '"x"'})
    with ledger_of_path(path):
        pass
    keep(path, OLD, "aaaa0001", "2026-01-01T00:00:00Z")
    keep(path, OLD, "bbbb0002", "2026-01-02T00:00:00Z")
    return path


def ledger_of_path(path: Path):
    from memttl.files.state import prepare, state_of

    state = state_of(path)
    prepare(state, path.stat())
    return ledger_of(state, path.stat(), lambda _: None)


def runs(path: Path) -> list[str]:
    return [name.split("-")[1].split(".")[0] for name in kept(path)]


def test_an_old_backup_that_no_undo_needs_goes(memory: Path) -> None:
    run = pruned(memory, policy=KEEP_ONE).run
    assert runs(memory) == ["aaaa0001", run]


def test_without_texts_in_the_log_the_backups_of_all_its_runs_stay(memory: Path) -> None:
    first = pruned(memory, policy=WITHOUT_TEXT).run
    memory.write_bytes(entity(["z [expires 2020-01-02]", "y"]))
    second = pruned(memory, policy=WITHOUT_TEXT).run
    assert set(runs(memory)) == {"aaaa0001", first, second}


def test_a_log_that_cannot_be_read_thins_nothing(memory: Path) -> None:
    from memttl.core.policy_load import load_policy
    from memttl.files.after_run import tidy
    from memttl.files.state import state_of

    log = state_folder(memory) / "audit.jsonl"
    log.write_bytes(b'{"v":99}\n')
    tidy(state_of(memory), load_policy(KEEP_ONE))
    assert runs(memory) == ["aaaa0001", "bbbb0002"]


def test_a_run_compresses_the_backups_before_its_own(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressing, "LEAST_BYTES", 1)
    run = pruned(memory).run
    assert [name.rpartition(".")[2] for name in kept(memory)] == ["gz", "gz", "jsonl"]
    assert runs(memory)[-1] == run
