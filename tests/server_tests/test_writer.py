"""The writing thread of `memttl serve`: overlapping calls in few writes, and no error that ends it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from served import add, take

from memttl.core.graph_edits import Answer, Edit
from memttl.errors import Bug, MemttlError, TryAgain
from memttl.server import writer as module
from memttl.server.writer import Writer

Apply = Callable[[Sequence[Edit]], Sequence[Answer | MemttlError]]


class Rests:
    """Counts the calls of `rest`, which may fail."""

    def __init__(self, *, fails: bool = False) -> None:
        self.calls, self.fails = list[bool](), fails

    def __call__(self, *, is_over: bool = False) -> float:
        self.calls.append(is_over)
        if self.fails:
            raise RuntimeError("rest")
        return 60.0


@contextmanager
def writing(apply: Apply, rest: Rests | None = None) -> Iterator[tuple[Writer, list[str]]]:
    """A writer at work, and what it tells."""
    told: list[str] = []
    writer = Writer(apply, rest or Rests(), tell=told.append)
    writer.start()
    try:
        yield writer, told
    finally:
        writer.stop()


def all_of(*calls: Coroutine[Any, Any, Any]) -> list[Any]:
    """What overlapping calls give or raise."""

    async def run() -> list[Any]:
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(run())


def fine(edits: Sequence[Edit]) -> list[Answer]:
    """An answer to each."""
    return [Answer(repr(edit)) for edit in edits]


def test_what_comes_behind_a_deletion_goes_into_a_write_of_its_own() -> None:
    sizes, is_free = list[int](), threading.Event()

    def apply(edits: Sequence[Edit]) -> list[Answer]:
        if not sizes:
            is_free.wait(5)
        sizes.append(len(edits))
        return fine(edits)

    with writing(apply) as (writer, _):

        async def run() -> None:
            first = asyncio.ensure_future(writer.submit(add("A", "one")))
            await asyncio.sleep(0.05)
            rest = [take("A", "one"), take("A", "two"), add("A", "one"), add("A", "two"), take("A", "three")]
            calls = [asyncio.ensure_future(writer.submit(edit)) for edit in rest]
            await asyncio.sleep(0)
            is_free.set()
            await asyncio.gather(first, *calls)

        asyncio.run(run())
    assert sizes == [1, 2, 3]


def test_calls_that_come_during_a_write_go_into_the_next_one() -> None:
    sizes, is_written = list[int](), threading.Event()

    def apply(edits: Sequence[Edit]) -> list[Answer]:
        if not sizes:
            is_written.wait(5)
        sizes.append(len(edits))
        return fine(edits)

    async def run(writer: Writer) -> list[Answer]:
        first = asyncio.ensure_future(writer.submit(add("A", "0")))
        await asyncio.sleep(0.05)
        rest = [asyncio.ensure_future(writer.submit(add("A", str(n)))) for n in range(1, 20)]
        await asyncio.sleep(0)
        is_written.set()
        return [await call for call in (first, *rest)]

    with writing(apply) as (writer, _):
        answers = asyncio.run(run(writer))
    assert sizes == [1, 19]
    assert [answer.refusal for answer in answers] == [repr(add("A", str(n))) for n in range(20)]


def test_each_call_gets_its_own_error() -> None:
    def apply(edits: Sequence[Edit]) -> list[Answer | MemttlError]:
        return [TryAgain("no") if edit == add("A", "bad") else Answer() for edit in edits]

    with writing(apply) as (writer, told):
        good, bad = all_of(writer.submit(add("A", "good")), writer.submit(add("A", "bad")))
    assert (type(good), type(bad), told) == (Answer, TryAgain, [])


def test_fault_goes_to_the_callers_and_the_next_call_is_served() -> None:
    has_failed: list[bool] = []

    def apply(edits: Sequence[Edit]) -> list[Answer]:
        if not has_failed:
            has_failed.append(True)
            raise RuntimeError("odd")
        return fine(edits)

    with writing(apply) as (writer, told):
        (failed,) = all_of(writer.submit(add("A", "one")))
        (served,) = all_of(writer.submit(add("A", "two")))
    assert (type(failed), type(served)) == (Bug, Answer)
    assert told == ["memttl met something that it did not reckon with (RuntimeError: odd)"]


def test_other_work_stands_in_line_and_its_error_is_raised() -> None:
    order: list[str] = []

    def apply(edits: Sequence[Edit]) -> list[Answer]:
        order.extend("edit" for _ in edits)
        return fine(edits)

    def work() -> None:
        order.append("work")
        raise TryAgain("no")

    with writing(apply) as (writer, _):
        found = all_of(writer.submit(add("A", "1")), writer.run(work), writer.submit(add("A", "2")))
    assert order == ["edit", "work", "edit"]
    assert [type(one) for one in found] == [Answer, TryAgain, Answer]


def test_rest_comes_when_nothing_does_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_S", 0.01)
    rest = Rests(fails=True)
    with writing(fine, rest) as (writer, told):
        for _ in range(500):
            if rest.calls:
                break
            time.sleep(0.01)
        assert rest.calls == [False]
        assert [type(one) for one in all_of(writer.submit(add("A", "1")))] == [Answer]
    assert rest.calls[-1]
    assert told[0] == "RuntimeError: rest"
