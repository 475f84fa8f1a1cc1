"""The use case repair on a real file: what is written, what lies in quarantine, and who is asked."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, aged, copy_of, tree
from pruning import AT_ONCE, at, events_of, settings_of, state_folder
from support import entity, relation

from memttl.core.memory import read_lines
from memttl.core.quarantine import read_quarantine
from memttl.core.repair import plan_repair
from memttl.core.repair_outcome import RepairOutcome
from memttl.errors import CannotCreate, Foreign, NoMemoryFile, NoPermission, TryAgain
from memttl.files import audit
from memttl.workflow.repair import Request, repair

A, B, R = entity(["one", "two"], name="A"), entity(["x"], name="B"), relation("A", "B")
DEBRIS = b'x","y\xff"]}'
DAMAGED = b"\n".join([A + DEBRIS, B, R[:-9]])
MENDED = b"\n".join([A, B])


def memory(folder: Path, data: bytes = DAMAGED) -> Path:
    path = folder / "memory.jsonl"
    path.write_bytes(data)
    return aged(path)


def repaired(
    path: Path,
    *,
    policy: str = "",
    ask: Callable[[RepairOutcome], bool] | None = None,
    step: Callable[[str], None] = lambda _: None,
    **request: Any,
) -> RepairOutcome:
    return repair(settings_of(path, policy=policy), Request(**{"pace": AT_ONCE, **request}), ask=ask, step=step)


def quarantined(path: Path) -> list[bytes]:
    """What lies in the quarantine of a memory file, all files of it."""
    folder = state_folder(path) / "quarantine"
    files = sorted(folder.iterdir()) if folder.exists() else []
    return [raw for file in files for _, raw in read_quarantine(file.read_bytes())]


def test_the_file_is_mended_and_what_went_lies_in_quarantine(tmp_path: Path) -> None:
    path = memory(tmp_path)
    outcome = repaired(path)
    assert path.read_bytes() == MENDED
    assert outcome.applied
    assert quarantined(path) == [DEBRIS, b"\n", R[:-9]]
    assert Path(outcome.backup or "").read_bytes() == DAMAGED


def test_a_piece_in_quarantine_says_where_it_stood(tmp_path: Path) -> None:
    path = memory(tmp_path)
    data = Path(repaired(path).quarantine or "").read_bytes()
    heads = [head for head, _ in read_quarantine(data)]
    assert next((head["line"], head["offset"], head["bytes"]) for head in heads) == (1, len(A), len(DEBRIS))
    assert data.startswith(b'{"quarantine":"')


def test_the_log_tells_the_repair_and_each_piece(tmp_path: Path) -> None:
    path = memory(tmp_path)
    repaired(path)
    names = [event["event"] for event in events_of(path) if event["event"] != "baseline"]
    assert names == ["begin", "quarantined", "quarantined", "quarantined", "end"]
    first = next(event for event in events_of(path) if event["event"] == "quarantined")
    assert first["raw"].encode("utf-8", "surrogateescape") == DEBRIS
    assert first["raw_digest"] == hashlib.sha256(DEBRIS).hexdigest()
    assert next(event for event in events_of(path) if event["event"] == "begin")["command"] == "repair"
    assert audit.is_whole(state_folder(path) / "audit.jsonl")


def test_no_text_of_the_log_means_digests_alone(tmp_path: Path) -> None:
    path = memory(tmp_path)
    repaired(path, policy="[audit]\ntext = false\n")
    assert all("raw" not in event for event in events_of(path))
    assert quarantined(path)[0] == DEBRIS


def test_a_good_file_is_left_alone(tmp_path: Path) -> None:
    path = memory(tmp_path, MENDED)
    before = tree(tmp_path)
    assert not repaired(path).plan.is_needed
    assert tree(tmp_path) == before


def test_an_empty_file_needs_no_repair(tmp_path: Path) -> None:
    assert not repaired(memory(tmp_path, b"")).plan.is_needed


def test_a_dry_run_writes_nothing_at_all(tmp_path: Path) -> None:
    path = memory(tmp_path)
    before = tree(tmp_path)
    outcome = repaired(path, dry_run=True)
    assert outcome.plan.data == MENDED
    assert tree(tmp_path) == before


def test_a_no_to_the_question_writes_nothing_at_all(tmp_path: Path) -> None:
    path = memory(tmp_path)
    before = tree(tmp_path)
    assert repaired(path, ask=lambda _: False).declined
    assert tree(tmp_path) == before


def test_a_missing_file_is_none_to_repair(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryFile) as error:
        repaired(tmp_path / "memory.jsonl")
    assert "memttl undo" in error.value.hint


def test_a_compressed_file_is_refused(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/gzip.jsonl", tmp_path)
    with pytest.raises(Foreign):
        repaired(path)
    assert not state_folder(path).exists()


def test_quarantine_has_the_memory_files_mode(tmp_path: Path) -> None:
    path = memory(tmp_path)
    path.chmod(0o640)
    kept = Path(repaired(path).quarantine or "")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o750


def test_quarantine_follows_no_link(tmp_path: Path) -> None:
    path = memory(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    state_folder(path).mkdir(parents=True)
    (state_folder(path) / "quarantine").symlink_to(elsewhere)
    with pytest.raises(NoPermission):
        repaired(path)
    assert path.read_bytes() == DAMAGED
    assert list(elsewhere.iterdir()) == []


def test_where_quarantine_cannot_be_written_the_file_is_as_it_was(tmp_path: Path) -> None:
    path = memory(tmp_path)
    state_folder(path).mkdir(parents=True)
    (state_folder(path) / "quarantine").write_bytes(b"")
    with pytest.raises(CannotCreate):
        repaired(path)
    assert path.read_bytes() == DAMAGED


def test_a_file_that_was_mended_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = memory(tmp_path)
    outcome = repaired(path, ask=lambda _: bool(path.write_bytes(MENDED)))
    assert not outcome.applied
    assert path.read_bytes() == MENDED
    assert quarantined(path) == []


def test_damage_that_came_after_the_answer_is_not_taken_out_unasked(tmp_path: Path) -> None:
    path = memory(tmp_path)
    with pytest.raises(TryAgain):
        repaired(path, ask=lambda _: bool(path.write_bytes(DAMAGED + b'\n{"type":"enti') and aged(path)))
    assert path.read_bytes() == DAMAGED + b'\n{"type":"enti'
    assert quarantined(path) == []


def test_a_record_that_came_after_the_answer_stays(tmp_path: Path) -> None:
    path = memory(tmp_path, A + b"}}")
    repaired(path, ask=lambda _: bool(path.write_bytes(A + b"}}\n" + B) and aged(path)))
    assert path.read_bytes() == A + b"\n" + B


def test_a_stranger_who_writes_before_the_swap_is_planned_in(tmp_path: Path) -> None:
    path = memory(tmp_path, A + b"}}")
    repaired(path, step=at("begin logged", lambda: aged(memory(tmp_path, A + b"}}\n" + B))))
    assert path.read_bytes() == A + b"\n" + B
    assert quarantined(path) == [b"}}"]


def test_several_repairs_keep_several_quarantines(tmp_path: Path) -> None:
    path = memory(tmp_path)
    repaired(path)
    repaired(memory(tmp_path, A + b"}}"))
    assert len(list((state_folder(path) / "quarantine").iterdir())) == 2


@pytest.mark.parametrize("name", ["utf-16-le-with-bom", "pretty-printed-array", "one-line-graph-object", "nul-padding"])
def test_what_prune_takes_for_anothers_is_repaired_with_its_bytes_in_quarantine(tmp_path: Path, name: str) -> None:
    path = copy_of(FIXTURES / f"memory/{name}.jsonl", tmp_path)
    before = path.read_bytes()
    repaired(path)
    assert path.read_bytes() == plan_repair(before).data
    assert [line for line in read_lines(path.read_bytes()) if line.kind == "malformed"] == []
    assert sum(map(len, quarantined(path))) <= len(before)


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "link"), reason="hard links")
def test_a_file_with_more_names_is_refused(tmp_path: Path) -> None:
    path = memory(tmp_path)
    os.link(path, tmp_path / "other")
    with pytest.raises(NoPermission):
        repaired(path)
    assert repaired(path, break_hard_links=True).applied
