"""`memttl serve --prune-every`: a clean-up at the start and every so many hours, which never stops the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from called import Called, served
from pruning import state_folder
from support import entity

from memttl.errors import BadPolicy, UsageError
from memttl.files.outcomes import read_outcomes
from memttl.files.state import state_of
from memttl.server import cleaning
from memttl.server.cleaning import clean_up, every_of

EVERY_S = 0.01
OLD, NEW = "old [expires 2026-01-01]", "new"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([OLD, NEW]) + b"\n")
    return path


@pytest.fixture
def call(path: Path) -> Iterator[Called]:
    with served(path) as called:
        yield called


def cleaned(call: Called, *, times: int = 1) -> list[str]:
    """Clean up until so many lines are said; give them."""
    said: list[str] = []

    async def run() -> None:
        enough = asyncio.Event()
        loop = asyncio.get_running_loop()

        def say(line: str) -> None:
            said.append(line)
            if len(said) == times:
                loop.call_soon_threadsafe(enough.set)

        task = asyncio.create_task(clean_up(call.serving, call.writer, EVERY_S, first_s=0, changed=call.note, say=say))
        await asyncio.wait_for(enough.wait(), 30)
        await call.writer.run(lambda: None)  # the one that has said it is over
        await asyncio.sleep(0)
        task.cancel()

    call.runner.run(run())
    return said[:times]


@pytest.mark.parametrize(
    ("text", "hours"), [("6", 6), ("0.5", 0.5), ("6h", 6), ("1d", 24), ("P1D", 24), ("2 weeks", 336), ("1e2", 100)]
)
def test_number_is_hours_and_anything_else_a_duration(text: str, hours: float) -> None:
    assert every_of(text) == hours * 3600


@pytest.mark.parametrize("text", ["0", "-1", "0.01", "nan", "inf", "never", "", "often", "6 h 3 min"])
def test_what_is_no_such_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--prune-every"):
        every_of(text)


def test_first_one_is_at_the_start_and_the_client_is_told_of_it(call: Called, path: Path) -> None:
    (line,) = cleaned(call)
    assert line.startswith("clean-up: removed 1 of 2 observations (run ")
    assert (OLD in path.read_text(encoding="utf-8"), call.changed) == (False, 1)


def test_next_one_takes_what_has_expired_by_then(call: Called, path: Path) -> None:
    cleaned(call)
    call("create_entities", entities=[{"name": "F", "entityType": "t", "observations": [OLD]}])
    assert "removed 1 of 2" in cleaned(call, times=2)[0]
    assert OLD not in path.read_text(encoding="utf-8")


def sleeps_of(seconds: float, monkeypatch: pytest.MonkeyPatch, *, jump_s: float = 0.0) -> list[float]:
    """The sleeps of one wait, by clocks that go on with them; the day's clock jumps ahead at the first."""
    clocks, slept = {"monotonic": 50.0, "time": 1_800_000_000.0}, list[float]()

    async def sleep(for_s: float) -> None:
        clocks["monotonic"] += for_s
        clocks["time"] += for_s + (0.0 if slept else jump_s)
        slept.append(for_s)

    monkeypatch.setattr(cleaning.asyncio, "sleep", sleep)
    for name in clocks:
        monkeypatch.setattr(cleaning.time, name, lambda name=name: clocks[name])
    asyncio.run(cleaning._sleep(seconds))
    return slept


def test_wait_lasts_as_long_as_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = sleeps_of(6 * 3600 + 30, monkeypatch)
    assert sum(slept) == pytest.approx(6 * 3600 + 30)
    assert max(slept) <= 60  # so that a machine that slept is not waited for much longer


def test_time_that_the_machine_slept_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(sleeps_of(6 * 3600, monkeypatch, jump_s=5 * 3600)) == pytest.approx(3600)


def test_clean_ups_are_as_far_apart_as_was_asked(call: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(cleaning, "_sleep", wait)
    cleaned(call, times=3)
    assert set(waited) == {EVERY_S}


def test_limits_hold_and_the_refusal_is_said_and_kept_for_doctor(call: Called, path: Path) -> None:
    path.write_bytes(entity([f"{n} [expires 2026-01-01]" for n in range(30)]))
    state_folder(path).mkdir(parents=True)
    (line,) = cleaned(call)
    assert line.startswith("clean-up refused, and nothing was removed: 30 of 30 observations would go")
    assert [(row["command"], row["code"]) for row in read_outcomes(state_of(path))][:1] == [("prune", 4)]
    assert call.changed == 0


def test_damaged_file_is_left_alone_and_the_server_goes_on(call: Called, path: Path) -> None:
    damaged = b"{\n" + path.read_bytes()
    path.write_bytes(damaged)
    said = cleaned(call, times=2)[1]
    assert said.startswith("clean-up failed: 1 line that the memory server cannot read")
    assert "line 1, column 2" in said
    assert path.read_bytes() == damaged


def test_policy_that_cannot_be_used_prunes_nothing(call: Called, path: Path) -> None:
    call.bad_policy = BadPolicy("memttl.toml", ("no TOML",))
    assert cleaned(call) == ["clean-up failed: The policy memttl.toml has 1 problem; nothing was done: no TOML"]
    assert OLD in path.read_text(encoding="utf-8")
