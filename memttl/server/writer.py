"""Edits of overlapping calls into few writes: one thread applies all that wait, in order, in one swap of the file.

The event loop hands them over with `submit`; each call gets its own answer once its edit is durable. The same thread
does all else that writes, so that calls of one process never wait for its own lock.
"""

from __future__ import annotations

import asyncio
import functools
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from memttl.core.graph_edits import Answer, Edit
from memttl.errors import MemttlError

R = TypeVar("R")
_IDLE_S = 0.2  # how long nothing came before what was added goes into the ledger
_Job = tuple[Edit | Callable[[], Any], "Future[Any]"]


class Writer:
    """The writing thread. `apply` writes edits; `rest` is called when nothing has come for a moment."""

    def __init__(self, apply: Callable[[Sequence[Edit]], Sequence[Answer]], rest: Callable[[], None]) -> None:
        self._apply, self._rest = apply, rest
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="memttl-writer")

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what waits, and end the thread."""
        self._jobs.put(None)
        self._thread.join()

    async def submit(self, edit: Edit) -> Answer:
        """Have an edit written; give its answer once it is durable.

        Raises:
            MemttlError: it was not written.
        """
        future: Future[Answer] = Future()
        self._jobs.put((edit, future))
        return await asyncio.wrap_future(future)

    async def run(self, work: Callable[[], R]) -> R:
        """Have other work done that writes; give what it gives, and raise what it raises."""
        future: Future[R] = Future()
        self._jobs.put((work, future))
        return await asyncio.wrap_future(future)

    def _run(self) -> None:
        has_rested, is_over = True, False
        while not is_over:
            try:
                job = self._jobs.get(timeout=None if has_rested else _IDLE_S)
            except queue.Empty:
                self._rest()
                has_rested = True
                continue
            has_rested = False
            jobs, is_over = self._all_that_wait(job)
            self._do(jobs)

    def _all_that_wait(self, job: _Job | None) -> tuple[list[_Job], bool]:
        found: list[_Job] = []
        while job is not None:
            found.append(job)
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return found, False
        return found, True

    def _do(self, jobs: Sequence[_Job]) -> None:
        edits: list[tuple[Edit, Future[Any]]] = []
        for work, future in jobs:
            if callable(work):
                self._write(edits)
                edits = []
                _settle([future], functools.partial(_in_list, work))
            else:
                edits.append((work, future))
        self._write(edits)

    def _write(self, edits: Sequence[tuple[Edit, Future[Any]]]) -> None:
        if edits:
            _settle([future for _, future in edits], lambda: self._apply([edit for edit, _ in edits]))


def _settle(futures: Sequence[Future[Any]], work: Callable[[], Sequence[Any]]) -> None:
    try:
        results = work()
    except Exception as e:
        for future in futures:
            future.set_exception(e)
        if not isinstance(e, MemttlError):
            raise
        return
    for future, result in zip(futures, results, strict=True):
        future.set_result(result)


def _in_list(work: Callable[[], R]) -> list[R]:
    return [work()]
