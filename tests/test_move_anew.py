"""A move killed at every step, and what a server then makes at the old place: only what was meant to go is gone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from moving import killed_at, log_of, memory_in, moved
from process import aged
from pruning import at, pruned, settings_of
from test_move_crash import OF_RUNG

from memttl.errors import TryAgain
from memttl.files.kept_backups import kept_backups
from memttl.files.pace import Pace
from memttl.files.state import state_of
from memttl.workflow.undo import Request as UndoRequest
from memttl.workflow.undo import undo

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
NOW = Pace(settle_s=0.005, watch_s=0.01, rest_s=0.3, keep_s=0, quiet_s=0)
MEMORY = {"A": ["a 1", "a 2"], "B": ["b 1", "b 2"], "C": ["c 1", "c 2"]}
LESS = {"A": ["a 1", "a 2", "added"], "C": ["c 1", "c 2"]}
ANEW = {"N": ["begun anew"]}
SOONEST = {rung: [s for s in steps if s != "done"] for rung, steps in OF_RUNG.items()}
KILLS = [(rung, step) for rung, steps in SOONEST.items() for step in steps]
KILLS_OUT = [(rung, step) for rung, step in KILLS if SOONEST[rung].index(step) >= SOONEST[rung].index("exchanged")]


def text_of(graph: dict[str, list[str]]) -> bytes:
    lines = [{"type": "entity", "name": n, "entityType": "t", "observations": o} for n, o in graph.items()]
    return "\n".join(json.dumps(line, separators=(",", ":")) for line in lines).encode()


def graph_of(path: Path) -> dict[str, list[str]]:
    return {r["name"]: r["observations"] for r in map(json.loads, path.read_bytes().splitlines())}


def replaced(path: Path, graph: dict[str, list[str]]) -> None:
    """Save as release 2026.8.31 does, which replaces a link by a file."""
    temporary = path.with_name("tmp")
    temporary.write_bytes(text_of(graph))
    temporary.replace(path)
    aged(path)


@pytest.mark.parametrize("link", [True, False])
@pytest.mark.parametrize(("rung", "step"), KILLS_OUT)
def test_a_memory_begun_anew_after_a_kill_only_adds(tmp_path: Path, rung: str, step: str, link: bool) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    killed_at(path, new, step, link=link, write_path=rung, pace=NOW)
    path.unlink(missing_ok=True)  # somebody has removed the link
    replaced(path, ANEW)
    done = moved(path, new, link=link, write_path=rung, pace=NOW)
    assert done.applied
    assert graph_of(new) == MEMORY | ANEW
    assert any("began anew" in warning for warning in done.warnings)


@pytest.mark.parametrize(("rung", "step"), KILLS)
def test_what_a_server_deletes_on_purpose_after_a_kill_goes_and_an_undo_puts_it_back(
    tmp_path: Path, rung: str, step: str
) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    killed_at(path, new, step, link=True, write_path=rung, pace=NOW)
    replaced(path, LESS)
    done = moved(path, new, link=True, write_path=rung, pace=NOW)
    assert graph_of(new) == LESS
    runs = {event["run"] for event in log_of(new) if event["event"].startswith("removed")}
    if done.kind == "finish":
        assert len(runs) == 1
        assert any(f"memttl undo {run}" in warning for run in runs for warning in done.warnings)
        undo(settings_of(new), UndoRequest(run=runs.pop()))
        assert graph_of(new) == LESS | MEMORY | {"A": LESS["A"]}


@pytest.mark.parametrize(("rung", "step"), KILLS_OUT)
def test_what_a_server_writes_through_the_link_after_a_kill_stands(tmp_path: Path, rung: str, step: str) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    killed_at(path, new, step, link=True, write_path=rung, pace=NOW)
    path.write_bytes(text_of(LESS))
    aged(new)
    moved(path, new, link=True, write_path=rung, pace=NOW)
    assert graph_of(new) == LESS


@pytest.mark.parametrize("stage", ["exchanged", "settled", "noted as out", "watched"])
def test_a_memory_begun_anew_while_a_move_without_a_link_is_at_work_only_adds(tmp_path: Path, stage: str) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    act = at(stage, lambda: replaced(path, LESS | ANEW))
    moved(path, new, link=False, write_path="replace", pace=NOW, step=act)
    assert graph_of(new) == {"A": ["a 1", "a 2", "added"], "B": ["b 1", "b 2"], "C": ["c 1", "c 2"], **ANEW}


def test_what_is_brought_in_by_a_kill_on_top_of_a_kill_only_adds(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    killed_at(path, new, "old file gone", link=False, pace=NOW)
    replaced(path, LESS | ANEW)
    killed_at(path, new, "logged", link=False, pace=NOW)
    moved(path, new, link=False, pace=NOW)
    assert graph_of(new) == MEMORY | ANEW | {"A": LESS["A"]}


def test_a_busy_server_that_has_begun_anew_does_not_stop_a_move_without_a_link(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    killed_at(path, new, "old file gone", link=False, pace=NOW)
    count = 0

    def save(_: str) -> None:
        nonlocal count
        count += 1
        replaced(path, {"N": [f"anew {count}"]})

    replaced(path, ANEW)
    done = moved(path, new, link=False, pace=NOW._replace(patience_s=0.1), step=save)
    assert done.applied
    assert done.returned
    assert graph_of(new).keys() == {*MEMORY, "N"}


def test_where_the_old_file_is_never_still_the_hint_says_to_stop_the_server(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    count = 0

    def save(name: str) -> None:
        nonlocal count
        if name == "old file read":
            count += 1
            replaced(path, MEMORY | {"N": [f"new {count}"]})

    with pytest.raises(TryAgain) as error:
        moved(path, new, link=False, pace=NOW._replace(patience_s=0.1), step=save)
    assert "Stop the memory server" in error.value.hint


def test_the_backup_of_a_move_is_named(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    moved(path, new, link=False, pace=NOW)
    assert [kept.source.command for kept in kept_backups(state_of(new)).backups] == ["move"]


def test_an_undo_without_a_name_leaves_what_another_program_removed_on_purpose(tmp_path: Path) -> None:
    path, new = memory_in(tmp_path / "old", text_of(MEMORY)), tmp_path / "new.jsonl"
    moved(path, new, link=True, pace=NOW, step=at("old file read", lambda: replaced(path, LESS)))
    assert graph_of(new) == LESS
    done = undo(settings_of(new), UndoRequest())
    assert done.plan is None
    assert any("puts back what another program had removed" in warning for warning in done.warnings)


def test_a_late_writer_that_took_an_empty_file_for_an_empty_memory_undoes_no_memory(tmp_path: Path) -> None:
    path = memory_in(tmp_path / "old", text_of(MEMORY | {"O": ["[session] 2026-01-05: old"]}))
    late = os.open(path, os.O_WRONLY)

    def save() -> None:
        os.truncate(late, 0)
        os.write(late, text_of(ANEW))
        os.close(late)

    done = pruned(path, write_path="exchange", step=at("released", save), pace=NOW._replace(keep_s=0.2))
    assert graph_of(path) == MEMORY | {"O": []} | ANEW
    assert any("began anew" in warning for warning in done.warnings)
