"""Reads see the memory file whole, whoever writes it, and a second time at once."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from ledgers import scanned, written
from support import NOW, entity
from viewing import EXPIRED, shown

from memttl.core.graph import read_graph
from memttl.core.policy import Policy
from memttl.core.serving_notes import serving_notes
from memttl.core.serving_view import Reading, View
from memttl.errors import Foreign, NoMemoryFile
from memttl.files.state import state_of
from memttl.files.viewing import Viewing

WHOLE = entity(["a"]) + b"\n" + entity(["b"], name="F") + b"\n"


def aged(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def read(viewing: Viewing) -> View:
    return viewing.view(Policy(), NOW)


def texts(view: View) -> dict[str, list[str]]:
    return shown(view.read(Reading(), NOW))


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


@pytest.fixture
def viewing(memory: Path) -> Viewing:
    return Viewing(state_of(memory))


def test_missing_or_empty_file_is_an_empty_graph(memory: Path, viewing: Viewing) -> None:
    assert texts(read(viewing)) == {}
    aged(memory, b"")
    assert texts(read(viewing)) == {}


def test_what_is_no_file_is_refused(memory: Path, viewing: Viewing) -> None:
    memory.mkdir()
    with pytest.raises(NoMemoryFile):
        read(viewing)


@pytest.mark.parametrize("cut", [0, 20, len(WHOLE) - 1 - len(entity(["b"], name="F"))])
def test_half_written_file_is_waited_for(memory: Path, viewing: Viewing, cut: int) -> None:
    aged(memory, WHOLE)
    read(viewing)
    memory.write_bytes((WHOLE + entity(["c"], name="G"))[:cut])

    def finish() -> None:
        time.sleep(0.005)
        memory.write_bytes(WHOLE + entity(["c"], name="G"))

    writer = threading.Thread(target=finish)
    writer.start()
    assert texts(read(viewing)) == {"E": ["a"], "F": ["b"], "G": ["c"]}
    writer.join()


def test_damaged_file_at_rest_is_shown_without_its_damaged_lines(memory: Path, viewing: Viewing) -> None:
    aged(memory, WHOLE + b"{nope\n")
    view = read(viewing)
    assert texts(view) == {"E": ["a"], "F": ["b"]}
    assert [note for note in serving_notes(view.graph, "", None) if note.startswith("Line 3 ")]
    memory.touch()  # it need not be at rest to be known again
    assert read(viewing) is view


def test_many_damaged_lines_are_counted(memory: Path, viewing: Viewing) -> None:
    aged(memory, WHOLE + b"{nope\n" * 40)
    notes = list(serving_notes(read(viewing).graph, "", None))
    assert len(notes) == 6
    assert "35 more lines" in notes[-1]


def test_file_of_another_tool_is_refused_each_time(memory: Path, viewing: Viewing) -> None:
    aged(memory, b'{"role":"user","content":"hi"}\n' * 3)
    with pytest.raises(Foreign) as first:
        read(viewing)
    memory.touch()
    with pytest.raises(Foreign) as second:
        read(viewing)
    assert second.value is first.value
    aged(memory, WHOLE)
    assert texts(read(viewing))


def test_what_this_process_wrote_is_believed_at_once(memory: Path, viewing: Viewing) -> None:
    graph = read_graph(WHOLE)
    memory.write_bytes(WHOLE)
    viewing.wrote(graph)
    assert read(viewing).graph is graph


def test_what_the_ledger_knows_is_minded(memory: Path, viewing: Viewing) -> None:
    written(memory, {"E": [EXPIRED, "[session] undated"]})
    scanned(memory, "2026-04-01T00:00:00Z")
    assert texts(read(viewing)) == {"E": []}


def test_broken_ledger_hides_nothing_and_is_told(memory: Path, viewing: Viewing) -> None:
    written(memory, {"E": [EXPIRED]})
    scanned(memory)
    state = state_of(memory)
    state.ledger.unlink()
    state.audit.unlink()
    assert texts(read(viewing)) == {"E": [EXPIRED]}
    assert "cannot be rebuilt. Until it can, nothing counts as expired." in viewing.known.problem


def test_rows_that_have_gone_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    viewing = Viewing(state_of(path))
    for number in range(40):
        path.write_bytes(entity([f"text {number}"], name="E"))
        view = viewing.view(Policy(), NOW)
    assert len(view.made.entries) < 12
