"""Every race of a prune with a server that takes no lock, made to happen on purpose; and which designs lose it.

A check plays one race against a design and says whether all is kept. `LOSES` names, for each design, the checks that it
loses: the design that ships (rung A) loses none, and every check is lost by some weaker design, so that each can fail.
Rungs B and C are run without the quiet that they ask for, which is what their losses show the need of.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import NamedTuple

import pytest
from strangers import OLD, QUICK, Stranger, behind, leftovers, once, run_prune, state_folder

from memttl.errors import MemttlError
from memttl.files import recover, swap, writing
from memttl.files.commit import STEPS

pytestmark = pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="plays the strangers with Linux's O_PATH")
Step = Callable[[str], None]


class Design(NamedTuple):
    """How a prune is done: `run` prunes once; `weaken` takes something from the product's own write path."""

    run: Callable[[Path, Step], object]
    weaken: Callable[[pytest.MonkeyPatch], None] = lambda _: None
    loses: Set[str] = frozenset()


class Stage:
    """One check's stage: the file, its stranger, and the design under test."""

    def __init__(self, folder: Path, design: Design, name: str) -> None:
        self.path = folder / "memory.jsonl"
        self.server = Stranger(self.path)
        self.design = design
        self.leased = "leased" if name.startswith("A") else "verified"
        self.last = "linked" if name == "C" else "before exchange"  # the last step before the swap itself

    def prune(self, step: Step = lambda _: None) -> None:
        with contextlib.suppress(MemttlError, ValueError):
            self.design.run(self.path, step)

    def killed(self, step: Step) -> None:
        """Prune in a child that kills itself somewhere in `step`."""
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                self.prune(step)
            os._exit(0)
        os.waitpid(child, 0)

    def kept(self, *texts: str) -> bool:
        """Say whether the file holds exactly these, in whatever order."""
        with contextlib.suppress(ValueError):
            return sorted(self.server.load()) == sorted(texts)
        return False


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# ---------------------------------------------------------------- the races


def rename_after_the_last_look(at: Stage) -> bool:
    at.prune(once(at.last, lambda: at.server.rename([*at.server.load(), "k1"])))
    at.prune()
    return at.kept("k0", "k1")


def reader_inside_the_window_saves_later(at: Stage) -> bool:
    """A rename lands before the exchange, and the server's next call reads between exchange and undo."""
    seen: list[str] = []
    renames: list[int] = []
    may_save, calls = threading.Event(), []

    def call() -> None:
        seen.extend(at.server.load())
        may_save.wait(5)
        at.server.rename([*seen, "k2"])

    def step(name: str) -> None:
        if name == at.last and not renames:
            renames.append(1)
            at.server.rename([*at.server.load(), "k1"])
        elif name == "exchanged" and not calls:
            calls.append(behind(call))
        elif name == "start" and calls and not may_save.is_set():
            may_save.set()
            calls[0].join(5)

    at.prune(step)
    may_save.set()
    for thread in calls:
        thread.join(5)
    at.prune()
    return at.kept("k0", "k1", "k2")


def second_rename_before_the_undo(at: Stage) -> bool:
    renames: list[int] = []

    def step(name: str) -> None:
        if name == at.last and not renames:
            renames.append(1)
            at.server.rename([*at.server.load(), "k1"])
        elif name == "before undo" and len(renames) == 1:
            renames.append(2)
            at.server.rename(["k0", OLD, "k1", "k2"])

    at.prune(step)
    if len(renames) < 2:  # this design never undoes, so the second save comes after it
        at.server.rename([*at.server.load(), "k2"])
    at.prune()
    return at.kept("k0", "k1", "k2")


def reader_waits_on_a_version_that_lost_its_name(at: Stage) -> bool:
    renames: list[int] = []
    seen: list[str] = []
    may_save, calls = threading.Event(), []

    def call() -> None:
        seen.extend(at.server.load())
        may_save.wait(5)
        at.server.rename([*seen, "k3"])

    def step(name: str) -> None:
        if name == at.last and not renames:
            renames.append(1)
            at.server.rename([*at.server.load(), "k1"])
        elif name == "before undo" and len(renames) == 1:
            renames.append(2)
            calls.append(behind(call))
            at.server.rename(["k0", OLD, "k1", "k2"])
        elif name == "start" and calls and not may_save.is_set():
            may_save.set()
            calls[0].join(5)

    at.prune(step)
    may_save.set()
    for thread in calls:
        thread.join(5)
    at.prune()
    return at.kept("k0", "k1", "k2", "k3") if calls else at.kept("k0", "k1")  # B and A alone undo


def _in_place_at(stage: str) -> Callable[[Stage], bool]:
    def check(at: Stage) -> bool:
        calls: list[threading.Thread] = []
        name = at.leased if stage == "leased" else at.last
        at.prune(once(name, lambda: calls.append(behind(lambda: at.server.in_place(["k0", OLD, "k1"])))))
        for thread in calls:
            thread.join(5)
        at.prune()
        return at.kept("k0", "k1")

    return check


def looked_up_before_opened_while_settling(at: Stage) -> bool:
    held, late = at.server.looked_up()
    calls: list[threading.Thread] = []
    at.prune(once("exchanged", lambda: calls.append(behind(lambda: at.server.in_place(["k0", OLD, "k1"], late)))))
    for thread in calls:
        thread.join(5)
    os.close(held)
    at.prune()
    return at.kept("k0", "k1")


def looked_up_before_opened_after_all(at: Stage) -> bool:
    """The update lies in the state folder until the next run."""
    held, late = at.server.looked_up()
    at.prune()
    at.server.in_place(["k0", OLD, "k1"], late)
    os.close(held)
    at.prune()
    return at.kept("k0", "k1")


def _read_before_saved_after(save: str) -> Callable[[Stage], bool]:
    def check(at: Stage) -> bool:
        seen = at.server.load()
        at.prune(once("settled", lambda: getattr(at.server, save)([*seen, "k1"])))
        if not at.kept("k0", "k1"):  # C keeps no hold on an in-place writer: the next run finds it
            at.prune()
        return at.kept("k0", "k1")

    return check


def _half_written(length: int) -> Callable[[Stage], bool]:
    def check(at: Stage) -> bool:
        from strangers import text_of

        whole = text_of(["k0", "k1", OLD])
        descriptor = os.open(at.path, os.O_WRONLY | os.O_TRUNC)
        os.write(descriptor, whole[:length])

        def rest() -> None:
            time.sleep(0.2)
            os.write(descriptor, whole[length:])
            os.close(descriptor)

        writer = behind(rest)
        at.prune()
        writer.join(5)
        at.prune()
        return at.kept("k0", "k1")

    return check


def _killed_at(stage: str) -> Callable[[Stage], bool]:
    def check(at: Stage) -> bool:
        at.killed(once(stage, kill_self))
        whole = at.kept("k0", OLD) or at.kept("k0")
        at.prune()
        time.sleep(QUICK.keep_s)
        at.prune()  # what came out was too young to go
        left = leftovers(at.path) if state_folder(at.path).exists() else []
        return whole and at.kept("k0") and not left

    return check


def killed_before_it_saw_what_came_out(at: Stage) -> bool:
    """A rename landed before the exchange, then the kill: the update lies in the state folder alone."""

    rename = once(at.last, lambda: at.server.rename([*at.server.load(), "k1"]))
    kill = once("exchanged", kill_self)
    at.killed(lambda name: (rename(name), kill(name)))
    at.server.rename([*at.server.load(), "k2"])
    at.prune()
    return at.kept("k0", "k1", "k2")


def killed_while_a_late_writer_waits(at: Stage) -> bool:
    held, late = at.server.looked_up()
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            at.prune(once("exchanged", lambda: (os.write(writes, b"x"), time.sleep(5))))
        os._exit(0)
    os.close(writes)
    os.read(reads, 1)
    os.close(reads)
    writer = behind(lambda: at.server.in_place(["k0", OLD, "k1"], late))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    writer.join(5)
    os.close(held)
    at.prune()
    return at.kept("k0", "k1")


KILLS = ("start", "new version written", "begin logged", "verified", "before exchange", "exchanged", "settled")
CHECKS: dict[str, Callable[[Stage], bool]] = {
    "rename after the last look": rename_after_the_last_look,
    "reader inside the window saves later": reader_inside_the_window_saves_later,
    "second rename before the undo": second_rename_before_the_undo,
    "reader waits on a version that lost its name": reader_waits_on_a_version_that_lost_its_name,
    "in place once leased": _in_place_at("leased"),
    "in place after the last look": _in_place_at("last"),
    "looked up before, opened while settling": looked_up_before_opened_while_settling,
    "looked up before, opened after all": looked_up_before_opened_after_all,
    "read before, renamed after": _read_before_saved_after("rename"),
    "read before, written in place after": _read_before_saved_after("in_place"),
    "half-written": _half_written(40),
    "truncated": _half_written(0),
    **{f"killed at {stage}": _killed_at(stage) for stage in KILLS},
    "killed before it saw what came out": killed_before_it_saw_what_came_out,
    "killed while a late writer waits": killed_while_a_late_writer_waits,
}


# ---------------------------------------------------------------- the designs


def by_rung(write_path: str) -> Callable[[Path, Step], object]:
    return lambda path, step: run_prune(path, step=step, write_path=write_path)


def naive(path: Path, step: Step) -> None:
    """Read, compute, replace: what most tools do. Lines that cannot be read go."""
    data = path.read_bytes()
    step("start")
    new = data.replace(f',"{OLD}"'.encode(), b"") if data.endswith(b"]}") else b""
    mine = path.with_name("memory.jsonl.mine")
    mine.write_bytes(new)
    for name in ("new version written", "begin logged", "leased", "verified", "before exchange"):
        step(name)
    os.replace(mine, path)
    step("exchanged")
    step("settled")


def in_place(path: Path, step: Step) -> None:
    """Read, compute, truncate, write."""
    data = path.read_bytes()
    with path.open("wb") as f:
        for name in STEPS:
            step(name)
        f.write(data.replace(f',"{OLD}"'.encode(), b""))


def idle(path: Path, step: Step) -> None:
    """Do nothing at all: loses no update, and prunes nothing."""
    for name in STEPS:
        step(name)


def no_lease_on_the_new_version(patch: pytest.MonkeyPatch) -> None:
    take = swap.take_lease
    patch.setattr(swap, "take_lease", lambda fd, *, write: None if write else take(fd, write=False))


def no_undo(patch: pytest.MonkeyPatch) -> None:
    """What came out of the memory file's place is not looked at, and leftovers are thrown away."""
    patch.setattr(swap, "old_one_came_out", lambda _: True)
    no_recovery(patch)


def no_recovery(patch: pytest.MonkeyPatch) -> None:
    def throw_away(session: writing.Session) -> None:
        for name in session.beside.names():
            if name.endswith((".swap", ".base", ".part", ".new", ".link")):
                session.beside.unlink(name)

    patch.setattr(recover, "recover", throw_away)


READERS = {"reader inside the window saves later", "reader waits on a version that lost its name"}
RENAMES = READERS | {
    "rename after the last look",
    "second rename before the undo",
    "killed before it saw what came out",
}
LATE = {"looked up before, opened after all", "killed while a late writer waits"}
IN_PLACE = {"in place once leased", "in place after the last look", "looked up before, opened while settling"}
TORN = {"half-written", "truncated"}
KILLED = {f"killed at {stage}" for stage in KILLS}
DESIGNS = {
    "A": Design(by_rung("auto")),
    "B": Design(by_rung("exchange"), loses=READERS),
    "C": Design(by_rung("replace"), loses=RENAMES),
    "A without a lease on the new version": Design(by_rung("auto"), no_lease_on_the_new_version, READERS),
    "A without undo and recovery": Design(by_rung("auto"), no_undo, RENAMES | LATE),
    "A without recovery": Design(by_rung("auto"), no_recovery, LATE | {"killed before it saw what came out"}),
    "naive": Design(naive, loses=RENAMES | LATE | IN_PLACE | TORN),
    "in place": Design(in_place, loses=RENAMES | IN_PLACE | KILLED | {"read before, written in place after"}),
    "idle": Design(idle, loses=set(CHECKS)),
}


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    name = request.param
    patch = pytest.MonkeyPatch()
    DESIGNS[name].weaken(patch)
    yield Stage(tmp_path, DESIGNS[name], name)
    patch.undo()


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("stage", DESIGNS, indirect=True)
def test_a_race_is_lost_by_these_designs_alone(stage: Stage, check: str) -> None:
    try:
        kept = CHECKS[check](stage)
    except ValueError:  # the stranger itself could not read the file any more
        kept = False
    assert kept == (check not in stage.design.loses)


def test_every_check_can_fail() -> None:
    assert set(CHECKS) == {check for design in DESIGNS.values() for check in design.loses}


def test_there_are_as_many_checks_as_in_the_experiment() -> None:
    assert len(CHECKS) == 21


def test_pace_of_the_tests_is_not_that_of_the_product() -> None:
    assert QUICK.settle_s < writing.DEFAULT_PACE.settle_s
