"""A prune killed at every step and at random instants, beside nobody and beside a writer: the file stays whole.

Whole old or whole new; the next run tidies up; no acknowledged update is missing. `CRASH_KILLS=300` plays the full
number of random kills; without it a seeded tenth.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from strangers import OLD, QUICK, Stranger, events, leftovers, once, run_prune, state_folder, text_of

from memttl.errors import MemttlError
from memttl.files.commit import STEPS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
KILLS = int(os.environ.get("CRASH_KILLS", "30"))
SEED = 20261129
STEPS_OF = {
    "auto": [s for s in STEPS if s != "linked"],
    "exchange": [s for s in STEPS if s not in ("leased", "linked")],
    "replace": [s for s in STEPS if s != "leased"],
}


def forked(act: Callable[[], object]) -> int:
    """Start `act` in a child; give its process id."""
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            act()
        os._exit(0)
    return child


def killed(path: Path, delay_s: float, write_path: str = "auto") -> bool:
    """Prune in a child and kill it after a while; say whether the kill met it alive."""
    child = forked(lambda: run_prune(path, write_path=write_path))
    time.sleep(delay_s)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def tidied(path: Path) -> list[str]:
    """Prune once, and again once what came out is old enough to go; give what is left all the same."""
    run_prune(path)
    time.sleep(QUICK.keep_s)
    run_prune(path)
    return leftovers(path)


def log_is_whole(path: Path) -> bool:
    """Every begin has its end, and the last write that removed something is said to have been applied."""
    names = [event["event"] for event in events(path) if event["event"] in ("begin", "end")]
    return names == ["begin", "end"] * (len(names) // 2)


@pytest.mark.parametrize(("write_path", "step"), [(rung, step) for rung, steps in STEPS_OF.items() for step in steps])
def test_a_run_killed_at_a_step_leaves_a_whole_file_and_the_next_one_tidies_up(
    tmp_path: Path, write_path: str, step: str
) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    kill = once(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: run_prune(server.path, step=kill, write_path=write_path)), 0)
    assert os.WIFSIGNALED(status), f"no step {step} on this rung"
    swapped = server.load() == ["k0"]
    assert swapped or server.load() == ["k0", OLD]
    assert swapped == (STEPS.index(step) >= STEPS.index("exchanged"))
    assert tidied(server.path) == []
    assert server.load() == ["k0"]
    assert log_is_whole(server.path)
    ends = [event["applied"] for event in events(server.path) if event["event"] == "end"]
    assert ends.count(True) == 1  # of the killed run, or of the next one


@pytest.mark.parametrize("write_path", ["auto", "exchange", "replace"])
def test_a_run_killed_at_a_random_instant_leaves_a_whole_file(tmp_path: Path, write_path: str) -> None:
    chance, path = random.Random(SEED), tmp_path / "memory.jsonl"
    old = text_of([f"obs {i}" + (" [expires 2020-01-02]" if i % 3 == 0 else "") for i in range(300)])
    new = text_of([f"obs {i}" for i in range(300) if i % 3])
    kills = 0
    for _ in range(KILLS):
        path.write_bytes(old)
        kills += killed(path, chance.uniform(0, 0.12), write_path)
        assert path.read_bytes() in (old, new)
        run_prune(path)
        assert path.read_bytes() == new
    assert kills > KILLS // 4
    assert tidied(path) == []
    assert log_is_whole(path)


@pytest.mark.parametrize("save", ["rename", "in_place"])
def test_no_acknowledged_update_is_missing_after_kills_beside_a_writer(tmp_path: Path, save: str) -> None:
    chance = random.Random(SEED)
    for first in range(0, KILLS, 30):  # a fresh file every so often: this writer only ever adds
        folder = tmp_path / str(first)
        folder.mkdir()
        kill_beside_a_writer(folder, save, min(30, KILLS - first), chance)


def kill_beside_a_writer(folder: Path, save: str, kills: int, chance: random.Random) -> None:
    server = Stranger(folder / "memory.jsonl")
    writer = forked(lambda: add_without_pause(server, save, folder / "stop", folder / "acknowledged"))
    for n in range(kills):
        killed(server.path, chance.uniform(0, 0.12))
        if n % 3 == 0:
            with contextlib.suppress(MemttlError):
                run_prune(server.path, pace=QUICK._replace(patience_s=1))
    (folder / "stop").touch()
    os.waitpid(writer, 0)
    acknowledged = int((folder / "acknowledged").read_text())
    assert tidied(server.path) == []
    assert acknowledged > kills
    assert {f"k{i}" for i in range(acknowledged + 1)} <= set(server.load())


def add_without_pause(server: Stranger, save: str, stop: Path, acknowledged: Path) -> None:
    """Play a server that adds one observation that stays and one that has expired, again and again."""
    count = 0
    while not stop.exists():
        try:
            seen = server.load()
        except ValueError:
            continue  # this stranger reads its own half-written file no better than the real one
        getattr(server, save)([*seen, f"k{count + 1}", OLD])
        count += 1
        time.sleep(0.004)
    acknowledged.write_text(str(count))


def test_two_runs_at_once_prune_once(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    children = [forked(lambda: run_prune(server.path)) for _ in range(2)]
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert server.load() == ["k0"]
    removed = [event for event in events(server.path) if event["event"] == "removed"]
    assert len(removed) == 1
    assert log_is_whole(server.path)


def test_an_update_that_only_a_leftover_holds_is_said_by_a_dry_run_and_merged_by_the_next(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    held, late = server.looked_up()
    run_prune(server.path)
    server.in_place(["k0", OLD, "k1"], late)
    os.close(held)
    told = run_prune(server.path, dry_run=True)
    assert any("holds an update" in warning for warning in told.warnings)
    assert server.load() == ["k0"]
    told = run_prune(server.path)
    assert any("was merged" in warning for warning in told.warnings)
    assert server.load() == ["k0", "k1"]


def test_a_leftover_that_stays_half_written_is_set_aside_and_said(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    run_prune(server.path)
    swap = next(state_folder(server.path).glob("*.swap"))
    swap.write_bytes(b'{"type":"enti')
    told = run_prune(server.path)
    assert any("cannot be read" in warning for warning in told.warnings)
    assert (swap.parent / f"rescued-{swap.name}").read_bytes() == b'{"type":"enti'
    assert server.load() == ["k0"]


def test_an_undone_swap_leaves_a_log_of_one_run_and_no_word_of_a_kill(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    told = run_prune(server.path, step=once("before exchange", lambda: server.rename(["k0", OLD, "k1"])))
    assert server.load() == ["k0", "k1"]
    assert [event["event"] for event in events(server.path)] == ["begin", "removed", "end"]
    assert told.warnings == ()


def test_what_a_server_puts_back_is_removed_again_and_logged(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    seen = server.load()
    later = [*seen, "k1", "y [expires 2020-01-02]"]  # the last one was in nobody's plan
    told = run_prune(server.path, step=once("settled", lambda: server.rename(later)))
    assert server.load() == ["k0", "k1", "y [expires 2020-01-02]"]
    assert any("put 1 of the removed observations back" in warning for warning in told.warnings)
    names = [event["event"] for event in events(server.path)]
    assert names == ["begin", "removed", "end", "begin", "removed_again", "end"]


def test_what_a_server_puts_back_for_ever_is_removed_three_times(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    seen, writes = server.load(), []

    def step(name: str) -> None:
        if name == "settled":
            writes.append(name)
            server.rename(seen)

    run_prune(server.path, step=step)
    assert len(writes) == 4
    assert json.loads(server.path.read_bytes())["observations"] == seen


@pytest.mark.slow
def test_a_run_that_is_stopped_past_the_lease_break_loses_nothing(tmp_path: Path) -> None:
    """45 s after a writer came the kernel lets it in; the run then finds its leases gone, and undoes or merges."""
    server = Stranger(tmp_path / "memory.jsonl")
    held, late = server.looked_up()
    child = forked(lambda: run_prune(server.path, step=once("exchanged", lambda: os.kill(os.getpid(), signal.SIGSTOP))))
    os.waitpid(child, os.WUNTRACED)
    writers = [
        threading.Thread(target=lambda: server.in_place(["k0", OLD, "k1"], late), daemon=True),
        threading.Thread(target=lambda: server.in_place(["k0", "k2"]), daemon=True),
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(100)
        assert not writer.is_alive()
    os.kill(child, signal.SIGCONT)
    os.waitpid(child, 0)
    os.close(held)
    assert tidied(server.path) == []
    assert sorted(server.load()) == ["k0", "k1", "k2"]
