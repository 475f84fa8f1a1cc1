"""A review killed at every step, or beside strangers who write: the file stays whole, and what was set is kept."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import asked, forked
from pruning import STEPS, at, events_of, names_in, pruned, state_folder
from reviewing import OLD, OLDER, reviewed, three_entities
from strangers import QUICK
from support import entity

from memttl.core.model import UserSettings
from memttl.errors import Interrupted, MemttlError, TryAgain

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
PINNED = {OLD: UserSettings(pinned=True)}
DROP, PIN = "d", "p"  # of OLDER and OLD


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return three_entities(tmp_path)


def killed(path: Path, step: str) -> None:
    """Drop OLDER and pin OLD in a child that is killed at a step."""
    kill = at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: reviewed(path, DROP, PIN, step=kill)), 0)
    assert os.WIFSIGNALED(status), f"no step {step}"


def without(path: Path, text: str) -> bytes:
    """The file as it is without one text of C."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return b"\n".join(
        entity([o for o in line["observations"] if o != text], name=line["name"], kind=line["entityType"])
        for line in lines
    )


@pytest.mark.parametrize("step", ["put", "logged", "kept"])
def test_a_review_killed_while_it_records_has_dropped_nothing(memory: Path, step: str) -> None:
    before = memory.read_bytes()
    killed(memory, step)
    assert memory.read_bytes() == before
    assert asked(memory) == ({} if step == "put" else PINNED)


@pytest.mark.parametrize("step", [*STEPS, "ledger written"])
def test_a_review_killed_while_it_writes_leaves_a_whole_file_and_what_was_set(memory: Path, step: str) -> None:
    old, new = memory.read_bytes(), without(memory, OLDER)
    killed(memory, step)
    assert memory.read_bytes() in (old, new)
    assert asked(memory) == PINNED
    pruned(memory, force=True)
    assert memory.read_bytes() == new  # OLDER has expired as well
    ends = [e["event"] for e in events_of(memory) if e["event"] in ("begin", "end")]
    assert ends == ["begin", "end"] * (len(ends) // 2)


def test_what_a_killed_review_left_is_tidied_up_by_the_next(memory: Path) -> None:
    killed(memory, "exchanged")
    reviewed(memory, DROP)  # OLDER came out of the swap
    reviewed(memory, "s", DROP)
    assert set(names_in(state_folder(memory))) <= {"lock", "ledger.db", "audit.head", "audit.jsonl", "backups"}


@pytest.mark.parametrize("step", ["put", "logged"])
def test_ctrl_c_while_it_records_drops_nothing(memory: Path, step: str) -> None:
    before = memory.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        reviewed(memory, DROP, PIN, step=at(step, _interrupt))
    assert memory.read_bytes() == before


def test_ctrl_c_before_the_write_says_what_was_recorded(memory: Path) -> None:
    before = memory.read_bytes()
    with pytest.raises(Interrupted) as caught:
        reviewed(memory, DROP, PIN, step=at("old version kept", _interrupt))
    assert "the memory file is as it was" in caught.value.message
    assert "What was set for 1 observation had been recorded" in caught.value.message
    assert (memory.read_bytes(), asked(memory)) == (before, PINNED)


def test_ctrl_c_after_the_write_says_that_it_was_written(memory: Path) -> None:
    with pytest.raises(MemttlError) as caught:
        reviewed(memory, DROP, PIN, step=at("ledger written", _interrupt))
    assert caught.value.applied
    assert "nothing was dropped" not in caught.value.message
    assert OLDER not in memory.read_text()


def _interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["start", "new version written"])  # later an open would wait for the lease
@pytest.mark.parametrize("how", ["rename", "in place"])
def test_what_a_stranger_writes_meanwhile_is_kept(memory: Path, step: str, how: str) -> None:
    def add() -> None:
        data = memory.read_bytes() + b"\n" + entity(["new"], name="N")
        if how == "rename":
            (memory.parent / "t").write_bytes(data)
            (memory.parent / "t").replace(memory)
        else:
            memory.write_bytes(data)

    outcome = reviewed(memory, DROP, PIN, step=at(step, add))
    assert [v.observation for v in outcome.removals] == [OLDER]
    assert b'"new"' in memory.read_bytes()
    assert OLDER.encode() not in memory.read_bytes()


def test_beside_a_busy_writer_no_addition_is_lost(memory: Path) -> None:
    stop, added = threading.Event(), list[str]()

    def write() -> None:
        while not stop.is_set():
            text = f"added {len(added)}"
            (memory.parent / "t").write_bytes(memory.read_bytes().rstrip() + b"\n" + entity([text], name=text))
            (memory.parent / "t").replace(memory)
            added.append(text)
            stop.wait(0.005)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        outcome = reviewed(memory, DROP, PIN, pace=QUICK)
    finally:
        stop.set()
        writer.join()
    data = memory.read_text()
    assert [text for text in added if f'"{text}"' not in data] == []
    assert (OLDER in data, outcome.run is not None, asked(memory)) == (False, True, PINNED)


def test_a_file_that_would_not_stay_still_says_what_was_recorded(memory: Path) -> None:
    def again() -> Callable[[str], None]:
        def step(name: str) -> None:
            if name == "new version written":
                memory.write_bytes(memory.read_bytes() + b"\n" + entity(["x"], name="N"))

        return step

    with pytest.raises(TryAgain) as caught:
        reviewed(memory, DROP, PIN, step=again(), pace=QUICK._replace(patience_s=0.3))
    assert "What was set for 1 observation had been recorded" in caught.value.message
    assert (OLDER in memory.read_text(), asked(memory)) == (True, PINNED)
