"""A restore beside the real memory server: what it acknowledged after the write is there, and it reads the result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from backups import keep, log_run, memory_of, restored
from server import RELEASES, Server
from support import entity

from memttl.files.pace import DEFAULT_PACE

pytestmark = [pytest.mark.server]
BACK = b"\n".join([entity(["kept"], name="A"), entity(["back"], name="B")])
TODAY = entity(["kept"], name="A")
ROUNDS = 4


@pytest.mark.parametrize("release", RELEASES)
def test_nothing_acknowledged_after_a_restore_is_lost(tmp_path: Path, release: str) -> None:
    path = memory_of(tmp_path, TODAY)
    log_run(path, "aaaa0001")
    keep(path, BACK)
    added, since, done = list[str](), 0, threading.Event()
    with Server(release, path) as server:

        def add() -> None:  # with a pause: a file that is never still is no restore's, but exit code 75
            while not done.wait(0.05):
                name = f"N{len(added)}"
                server.call("create_entities", entities=[{"name": name, "entityType": "t", "observations": ["x"]}])
                added.append(name)

        thread = threading.Thread(target=add)
        thread.start()
        try:
            for _ in range(ROUNDS):
                acknowledged = list(added)
                outcome = restored(path, "aaaa0001", pace=DEFAULT_PACE)
                kept = Path(str(outcome.backup)).read_text()
                assert all(f'"{name}"' in kept for name in acknowledged[since:])
                since = len(added) + 1  # the one that is under way may have come before the write or after it
                wait_until(lambda at_least=since + 3: len(added) > at_least, thread)
        finally:
            done.set()
            thread.join()
        graph = {e["name"]: e["observations"] for e in server.call("read_graph")["entities"]}
    assert graph["B"] == ["back"]
    assert set(added[since:]) <= set(graph)


def wait_until(is_so: Callable[[], bool], thread: threading.Thread) -> None:
    while not is_so():
        assert thread.is_alive()
        time.sleep(0.01)
