"""Edits of overlapping calls into few writes: one thread applies all that wait, in order, in one swap of the file.

The event loop hands them over with `submit`; each call gets its own answer once its edit is durable. The same thread
does all else that writes, so that calls of one process never wait for its own lock.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from memttl.core.graph_edits import Answer, DeleteEntities, DeleteObservations, DeleteRelations, Edit
from memttl.errors import Bug, MemttlError, of_system

R = TypeVar("R")
_IDLE_S = 0.2  # how long nothing came before what can wait is done
_FIRST_S = 1.0  # the first requests come at once, and are not to wait for a look at the file
_LONGEST_S = 60.0
_Job = tuple[Edit | Callable[[], Any], "Future[Any]"]


class Rest(Protocol):
    """What is called when nothing has come for a moment, and at the end; gives when it wants to be called again."""

    def __call__(self, *, is_over: bool = False) -> float: ...


class Writer:
    """The writing thread. `apply` writes edits and gives an answer or an error for each; `tell` is told of faults."""

    def __init__(
        self,
        apply: Callable[[Sequence[Edit]], Sequence[Answer | MemttlError]],
        rest: Rest,
        *,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._apply, self._rest, self._tell = apply, rest, tell
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="memttl-writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, *, within_s: float | None = None) -> bool:
        """Finish what waits, and end the thread; give False where that takes longer, and it is left to itself."""
        self._jobs.put(None)
        self._thread.join(within_s)
        return not self._thread.is_alive()

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
        """Never ends by an error: then all later calls would wait for ever."""
        wait_s, is_over = _FIRST_S, False
        while not is_over:
            try:
                job = self._jobs.get(timeout=wait_s)
            except queue.Empty:
                wait_s = self._rested(is_over=False)
                continue
            jobs, is_over = self._all_that_wait(job)
            self._do(jobs)
            wait_s = _IDLE_S
        self._rested(is_over=True)

    def _rested(self, *, is_over: bool) -> float:
        try:
            return self._rest(is_over=is_over)
        except Exception as e:
            self._tell(f"{type(e).__name__}: {e}")
            return _LONGEST_S

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
            if not future.set_running_or_notify_cancel():
                continue  # the call was cancelled before anything was done for it
            if callable(work):
                self._write(edits)
                edits = []
                _settle(future, *self._outcome(work))
            else:
                if _would_hide(edits, work):
                    self._write(edits)
                    edits = []
                edits.append((work, future))
        self._write(edits)

    def _outcome(self, work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        try:
            return work(), None
        except MemttlError as e:
            return None, e
        except OSError as e:  # a disk that fails
            return None, of_system(e)
        except Exception as e:
            told = f"memttl met something that it did not reckon with ({type(e).__name__}: {e})"
            self._tell(told)
            return None, Bug(f"{told}.")

    def _write(self, edits: Sequence[tuple[Edit, Future[Any]]]) -> None:
        if not edits:
            return
        results, error = self._outcome(lambda: self._apply([edit for edit, _ in edits]))
        for at, (_, future) in enumerate(edits):
            result = error or results[at]
            _settle(future, result, result if isinstance(result, BaseException) else None)


def _settle(future: Future[Any], result: object, error: BaseException | None) -> None:
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


def _would_hide(edits: Sequence[tuple[Edit, Future[Any]]], edit: Edit) -> bool:
    """Say whether an edit may bring again, in the same write, what one before it deletes: no run would tell of that."""
    deletes = (DeleteEntities, DeleteObservations, DeleteRelations)
    return not isinstance(edit, deletes) and any(isinstance(other, deletes) for other, _ in edits)
