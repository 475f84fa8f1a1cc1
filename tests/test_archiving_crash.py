"""A prune with an archive, killed at every step of its own write and of the archive's: the archive tells what went."""

from __future__ import annotations

import json
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from archives import EXPIRED, archive_of, entity, graph, laid, run
from strangers import QUICK, events, once
from test_crash import STEPS_OF, forked

from memttl.errors import MemttlError
from memttl.files import audit
from memttl.settings import Given, resolve
from memttl.workflow.undo import Request, undo

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
X, Y, OLDER = (f"{name} {EXPIRED}" for name in ("x", "y", "older"))
# "begin logged" comes before the archive's own steps, and "archived" after them
RUNGS = ("auto", "replace")
PLAYED = [(rung, name) for rung in RUNGS for name in (*STEPS_OF[rung], *(f"archive {step}" for step in STEPS_OF[rung]))]
PACE = QUICK._replace(keep_s=0)


@pytest.mark.parametrize(("rung", "step"), PLAYED)
def test_after_a_kill_the_archive_holds_what_applied_runs_removed(tmp_path: Path, rung: str, step: str) -> None:
    path = laid(tmp_path, entity([OLDER]))
    run(path, write_path=rung, pace=PACE)
    path.write_bytes(entity(["k0", X]))
    kill = once(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: run(path, step=kill, write_path=rung, pace=PACE)), 0)
    assert os.WIFSIGNALED(status), f"no step {step} on this rung"
    swapped = graph(path) == [("E", ["k0"])]
    if swapped:
        assert graph(archive_of(path)) == [("E", [OLDER, X])]  # written before the memory file is cut
    path.write_bytes(entity(["k0", Y]))  # the server removes what the killed run did not
    run(path, write_path=rung, pace=PACE)
    assert graph(path) == [("E", ["k0"])]
    assert graph(archive_of(path)) == [("E", [OLDER, *([X] if swapped else []), Y])]
    assert audit.is_whole(path.parent / ".memttl/memory-archive.jsonl/audit.jsonl")
    events(path)


@pytest.mark.parametrize("name", ["begin logged", "archived"])
def test_what_a_stranger_takes_away_meanwhile_is_not_in_the_archive(tmp_path: Path, name: str) -> None:
    path = laid(tmp_path, entity(["k0", X, Y]))

    def stranger() -> None:
        other = path.with_name("other")
        other.write_bytes(entity(["k0", "k1", Y]))
        os.rename(other, path)

    run(path, step=once(name, stranger))
    assert graph(path) == [("E", ["k0", "k1"])]
    assert graph(archive_of(path)) == [("E", [Y])]


def test_where_a_stranger_takes_all_away_nothing_is_in_the_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k0", X]))

    def stranger() -> None:
        other = path.with_name("other")
        other.write_bytes(entity(["k0", "k1"]))
        os.rename(other, path)

    assert not run(path, step=once("archived", stranger)).applied
    assert graph(archive_of(path)) == []
    ends = [e["applied"] for e in events(path) if e["event"] == "end"]
    assert ends == [False]


def test_a_failure_after_archiving_leaves_nothing_in_the_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k0", X]))

    def fail() -> None:
        raise MemttlError("no")

    with pytest.raises(MemttlError, match="no"):
        run(path, step=once("archived", fail))
    assert graph(path) == [("E", ["k0", X])]
    assert graph(archive_of(path)) == []


def test_ctrl_c_while_archiving_leaves_nothing_in_the_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k0", X]))

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(MemttlError) as raised:
        run(path, step=once("archive exchanged", interrupt))
    assert not raised.value.applied
    assert graph(path) == [("E", ["k0", X])]
    assert graph(archive_of(path)) == []


def test_no_update_of_a_server_on_the_archive_is_lost(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([OLDER]))
    run(path)
    path.write_bytes(entity(["k0", X]))
    archive = archive_of(path)

    def stranger() -> None:
        other = archive.with_name("other")
        other.write_bytes(entity([OLDER, "added by a server"]))
        os.rename(other, archive)

    run(path, step=once("archive before exchange", stranger))
    assert sorted(graph(archive)[0][1]) == sorted([OLDER, "added by a server", X])


def test_a_server_that_had_read_the_archive_before_does_not_undo_it(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([OLDER]))
    run(path)
    path.write_bytes(entity(["k0", X]))
    archive = archive_of(path)
    seen = json.loads(archive.read_bytes())["observations"]

    def stranger() -> None:
        other = archive.with_name("other")
        other.write_bytes(entity([*seen, "late"]))
        os.rename(other, archive)

    outcome = run(path, step=once("archive end logged", stranger))
    assert graph(archive) == [("E", [OLDER, "late", X])]
    assert any("had to be put in again" in warning for warning in outcome.warnings)


@pytest.mark.parametrize("step", ["begin logged", "exchanged", "released", "archive exchanged", "archive end logged"])
def test_an_undo_that_is_killed_leaves_in_the_archive_what_is_not_put_back(tmp_path: Path, step: str) -> None:
    path = laid(tmp_path, entity(["k0", X]))
    run(path)
    settings = resolve(str(path), Given(), {}, datetime.now(UTC))
    kill = once(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(forked(lambda: undo(settings, Request(pace=PACE), step=kill)), 0)
    assert os.WIFSIGNALED(status), f"no step {step}"
    put_back = graph(path) == [("E", ["k0", X])]
    path.write_bytes(entity(["k0", Y]))
    run(path, pace=PACE)
    assert graph(archive_of(path)) == [("E", [*([] if put_back else [X]), Y])]
