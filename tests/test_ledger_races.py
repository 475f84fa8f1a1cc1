"""Runs beside each other, killed and out of room: no sighting is lost, no age is made up, the next run goes on."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from ledgers import (
    DAY,
    baseline_of,
    die,
    first_seen,
    in_killed_child,
    ledger_path,
    numbered,
    scanned,
    sightings,
    written,
)
from process import memttl
from pruning import at, events_of, names_in, pruned, state_folder
from support import NOW

from memttl.core.digests import text_key
from memttl.errors import MemttlError
from memttl.files import audit, looking
from memttl.files.knowledge import knowledge_of
from memttl.files.ledger import Ledger
from memttl.files.rebuild import baseline_in_log
from memttl.files.state import prepare, state_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
OLD = " [expires 2026-01-01]"
ROUNDS = int(os.environ.get("LEDGER_ROUNDS", "20"))
SEED = 20261129


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return written(tmp_path / "memory.jsonl", {"A": ["stays", "goes" + OLD]})


def started(act: Callable[[], object]) -> int:
    """Start `act` in a child, which ends with its exit code, 99 for a traceback; give its process id."""
    child = os.fork()
    if not child:
        code = 99
        try:
            act()
            code = 0
        except MemttlError as e:
            code = e.exit_code
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def baselines(path: Path) -> list[str]:
    return [event["baseline"] for event in events_of(path) if event["event"] == "baseline"]


# beside each other


def test_runs_at_once_lose_no_sighting(memory: Path) -> None:
    texts: list[str] = []
    for number in range(ROUNDS):
        now = f"2026-06-{1 + number // 24:02}T{number % 24:02}:00:00Z"
        texts += [f"text {number}", f"other {number}"]
        written(memory, {"A": [*texts, f"old {number}{OLD}"], f"E{number}": ["x"]})
        children = [
            started(lambda: scanned(memory, now)),  # noqa: B023
            started(lambda: pruned(memory, now=now)),  # noqa: B023
            started(lambda: scanned(memory, now)),  # noqa: B023
        ]
        codes = {ended(child) for child in children}
        assert codes <= {0, 75}
        assert 0 in codes
        found = sightings(memory, "A")
        assert {text_key(text) for text in texts} <= found.keys()
        assert text_key(f"x{OLD}") not in found
    instants = [found[text_key(f"text {n}")].first_seen - NOW.timestamp() for n in range(ROUNDS)]
    assert instants == [3600 * n - 12 * 3600 for n in range(ROUNDS)]
    assert json.loads(memory.read_bytes().split(b"\n")[0])["observations"] == texts
    # where the prune was the very first of all, its `begin` tells the baseline, and no line of its own is written
    assert len(baselines(memory)) <= 1
    assert baseline_of(memory) == baseline_in_log(state_of(memory)) == NOW - timedelta(hours=12)


@pytest.mark.parametrize("first", ["scan", "prune"])
def test_baseline_is_told_once_by_whatever_command_came_first(memory: Path, first: str) -> None:
    for command in sorted(["scan", "prune"], key=lambda name: name != first):
        scanned(memory) if command == "scan" else pruned(memory)
    assert len(baselines(memory)) == (first == "scan")
    assert events_of(memory)[0]["event"] == {"scan": "baseline", "prune": "begin"}[first]
    assert baseline_of(memory) == baseline_in_log(state_of(memory)) == NOW


def test_first_runs_at_once_make_one_baseline(memory: Path) -> None:
    children = [started(lambda: scanned(memory)) for _ in range(4)]
    assert [ended(child) for child in children] == [0, 0, 0, 0]
    assert baselines(memory) == ["2026-06-01T12:00:00Z"]


def test_readers_beside_writers_end_well(memory: Path) -> None:
    scanned(memory)
    for number in range(5):
        written(memory, numbered(200, of=f"round {number}", entities=4))
        children = [started(lambda: scanned(memory, accept_vanished=True))]
        children += [started(lambda: pruned(memory, dry_run=True, now=DAY.format(1))) for _ in range(3)]
        assert {ended(child) for child in children} <= {0, 75}


def test_ledger_that_is_made_between_the_look_at_it_and_at_the_log_is_no_lost_one(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(state_of(memory), memory.stat())  # the folder is there, and nothing of a run yet
    real, others = audit.read_events, [lambda: scanned(memory)]

    def read_events(path: Path, **how: Any) -> list[dict[str, Any]]:
        while others:
            others.pop()()  # the very first command, whole: ledger, log and mark
        return real(path, **how)

    monkeypatch.setattr(audit, "read_events", read_events)
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert knowledge.warnings == ()
        assert knowledge.baseline == NOW
    assert not others


def test_reader_of_the_ledger_sees_one_state_while_another_writes(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned(memory)
    written(memory, {"A": ["stays", "new"]})
    real, others = Ledger._checksum, list[subprocess.Popen[bytes]]()
    scan_it = [sys.executable, "-m", "memttl", "scan", "--file", str(memory), "--now", DAY.format(2)]

    def checksum(self: Ledger) -> int:
        if not others:  # not a forked child, which would have this process's connection
            others.append(subprocess.Popen(scan_it, stdout=subprocess.DEVNULL))
            with contextlib.suppress(subprocess.TimeoutExpired):
                others[0].wait(3)  # a writer that is not held off is long through
        return real(self)

    monkeypatch.setattr(Ledger, "_checksum", checksum)
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert knowledge.warnings == ()
        assert knowledge.newest in (NOW, NOW + timedelta(days=1))
    assert [other.wait() for other in others] == [0]
    with knowledge_of(state_of(memory), must_know=True) as knowledge:
        assert knowledge.newest == NOW + timedelta(days=1)


# killed


def killed_scan(path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, *, before: bool) -> None:
    """Kill a scan of the first of June just before, or just behind, a call."""
    real = getattr(owner, name)

    def call(*args: Any, **named: Any) -> None:
        if not before:
            real(*args, **named)
        die()

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, call)
        in_killed_child(lambda: scanned(path, DAY.format(1)))


KILLS: list[tuple[object, str, bool]] = [
    (looking.audit, "append", True),
    (looking.audit, "append", False),
    (Ledger, "record", True),
    (Ledger, "record", False),
]


@pytest.mark.parametrize(("owner", "name", "before"), KILLS)
@pytest.mark.parametrize("run", [scanned, pruned])
def test_first_scan_that_was_killed_is_followed_by_another(
    memory: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, before: bool, run: Callable
) -> None:
    killed_scan(memory, monkeypatch, owner, name, before=before)
    assert run(memory, now=DAY.format(3)).warnings == ()
    assert baseline_of(memory) == baseline_in_log(state_of(memory))
    assert first_seen(memory, "A") == ["2026-06-03"]


@pytest.mark.parametrize(("owner", "name", "before"), KILLS[2:])
def test_later_scan_that_was_killed_leaves_the_ages(
    memory: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, before: bool
) -> None:
    scanned(memory, "2026-05-20")
    written(memory, {"A": ["stays", "goes" + OLD], "B": ["new"]})
    killed_scan(memory, monkeypatch, owner, name, before=before)
    assert scanned(memory, DAY.format(3)).found.new == 1
    assert (first_seen(memory, "A"), first_seen(memory, "B")) == (["2026-05-20"], ["2026-06-03"])


@pytest.mark.parametrize(
    "step", ["start", "backup written", "begin logged", "exchanged", "end logged", "ledger written"]
)
def test_first_prune_that_was_killed_is_followed_by_another(memory: Path, step: str) -> None:
    in_killed_child(lambda: pruned(memory, now=DAY.format(1), step=at(step, die)))
    outcome = pruned(memory, now=DAY.format(3))
    assert not [w for w in outcome.warnings if "ledger" in w]
    assert baseline_of(memory) == baseline_in_log(state_of(memory))
    assert b"goes" not in memory.read_bytes()
    seen = "2026-06-01" if step == "ledger written" else "2026-06-03"
    assert first_seen(memory, "A") == [seen]


@pytest.mark.parametrize("step", ["begin logged", "exchanged", "end logged", "ledger written"])
def test_kill_between_memory_file_and_ledger_makes_nothing_older(memory: Path, step: str) -> None:
    scanned(memory, "2026-05-20")
    written(memory, {"A": ["stays", "goes" + OLD, "new"]})
    in_killed_child(lambda: pruned(memory, now=DAY.format(1), step=at(step, die)))
    pruned(memory, now=DAY.format(3))
    new = "2026-06-01" if step == "ledger written" else "2026-06-03"
    assert first_seen(memory, "A") == ["2026-05-20", new]


def test_scan_killed_at_a_random_instant_leaves_a_ledger_that_can_be_read(memory: Path) -> None:
    chance, kills = random.Random(SEED), 0
    scanned(memory)
    for number in range(ROUNDS):
        graph = {"A": ["stays"], **numbered(300, of=f"{number}", entities=30)}
        written(memory, graph)
        child = started(lambda: scanned(memory, accept_vanished=True))
        time.sleep(chance.uniform(0, 0.04))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        kills += ended(child) == -signal.SIGKILL
        assert pruned(memory, now=DAY.format(1), dry_run=True).exit_code in (0, 4)
        assert scanned(memory, accept_vanished=True).found.observations == 301
        assert first_seen(memory, "A") == ["2026-06-01"]
    assert kills > ROUNDS // 4
    assert len(baselines(memory)) == 1


# out of room


def limited(size: int) -> Callable[[], None]:
    """What lets a process write no file larger than `size` bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 50, 1024, 20_000])
def test_scan_that_has_no_room_is_73_and_the_next_one_goes_on(memory: Path, size: int) -> None:
    before = memory.read_bytes()
    run = memttl("scan", "--file", memory, "--now", DAY.format(1), preexec_fn=limited(size))
    assert (run.returncode, "Traceback" in run.stderr) == (73, False)
    assert memory.read_bytes() == before
    again = memttl("scan", "--file", memory, "--now", DAY.format(1))
    assert (again.returncode, again.stderr) == (0, "")
    assert len(baselines(memory)) == 1


def test_later_scan_that_has_no_room_leaves_the_ledger(memory: Path) -> None:
    scanned(memory)
    before = ledger_path(memory).read_bytes()
    written(memory, numbered(3000))
    run = memttl("scan", "--file", memory, "--now", DAY.format(2), preexec_fn=limited(40_000))
    assert run.returncode == 73
    assert ledger_path(memory).read_bytes() == before
    assert scanned(memory, DAY.format(3)).found.new == 3000


def test_first_prune_that_has_no_room_for_a_ledger_writes_nothing(memory: Path) -> None:
    before = memory.read_bytes()
    run = memttl("prune", "--yes", "--json", "--file", memory, "--now", DAY.format(1), preexec_fn=limited(10_000))
    assert run.returncode == 73
    assert memory.read_bytes() == before
    assert "the memory file is as it was" in json.loads(run.stdout)["error"]["message"]


def test_prune_that_had_written_says_so_when_the_ledger_has_no_room(memory: Path) -> None:
    scanned(memory)
    written(memory, {"A": ["stays", "goes" + OLD, *numbered(3000)["E0"]]})
    run = memttl("prune", "--yes", "--json", "--file", memory, "--now", DAY.format(2), preexec_fn=limited(45_000))
    assert b"goes" not in memory.read_bytes()
    assert run.returncode == 73
    assert "as it was" not in run.stdout
    assert "Traceback" not in run.stderr
    assert pruned(memory, now=DAY.format(3)).exit_code == 0
    assert first_seen(memory, "A") == ["2026-06-01", "2026-06-03"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A mount of 128 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", folder], capture_output=True).returncode:
        pytest.skip("mounting needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_full_disk_is_73_and_no_harm(small_disk: Path) -> None:
    path = written(small_disk / "memory.jsonl", {"A": ["stays"]})
    filler = small_disk / "filler"
    filler.write_bytes(bytes(96 * 1024))
    before = path.read_bytes()
    run = memttl("scan", "--file", path, "--now", DAY.format(1))
    assert (run.returncode, "Traceback" in run.stderr) == (73, False)
    assert path.read_bytes() == before
    filler.unlink()
    assert memttl("scan", "--file", path, "--now", DAY.format(2)).returncode == 0
    assert "ledger.db" in names_in(state_folder(path))
