"""Moves beside the real memory server, which adds without pause: all of it lies at one of both places."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest
from moving import killed_at, log_of, moved
from process import FIXTURES, copy_of
from server import RELEASES, Server

from memttl.core.move_outcome import MoveOutcome
from memttl.errors import TryAgain
from memttl.files.pace import Pace

pytestmark = pytest.mark.server
EXAMPLE = FIXTURES / "memory/example.jsonl"
PACE = Pace(keep_s=0.3)


class Adder:
    """Adds observations in another thread, until it is stopped; `added` are the acknowledged ones.

    It does so without pause, but for `pause_s` between two.
    """

    def __init__(self, server: Server) -> None:
        self.server, self.added, self.failed = server, list[str](), list[str]()
        self.pause_s = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            text, number = f"added {number}", number + 1
            try:
                self.server.call("add_observations", observations=[{"entityName": "web-client", "contents": [text]}])
                self.added.append(text)
            except Exception as e:
                self.failed.append(str(e))
            time.sleep(self.pause_s)

    def __enter__(self) -> Adder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def moved_beside(adder: Adder, path: Path, new: Path) -> MoveOutcome:
    """Move as a person would, who runs it again after exit code 75: a loaded machine gives a writer no quiet moment."""
    while True:
        try:
            return moved(path, new, link=True, pace=PACE)
        except TryAgain:
            assert not path.is_symlink()
            adder.pause_s += 0.005


def texts_in(path: Path) -> set[str]:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {str(text) for record in records for text in record.get("observations", ())}


@pytest.mark.parametrize("release", RELEASES)
def test_nothing_is_lost_when_a_file_moves_away_under_a_server(tmp_path: Path, release: str) -> None:
    path, new = copy_of(EXAMPLE, tmp_path), tmp_path / "elsewhere" / "memory.jsonl"
    before = texts_in(path)
    with Server(release, path) as server, Adder(server) as adder:
        while len(adder.added) < 20:
            pass
        done = moved_beside(adder, path, new)
        count = len(adder.added)
        while len(adder.added) < count + 20:
            pass
    assert not adder.failed
    found = texts_in(new) | texts_in(path)
    assert found >= before | set(adder.added)
    assert texts_in(new) >= before
    assert done.returned == (release == "2026-8-31")  # that one replaces the link
    assert path.is_symlink() == (release == "2026-7-4")
    if done.returned:
        again = moved(path, new, link=False, pace=PACE)
        assert again.kind == "bring in"
    assert texts_in(new) >= before | set(adder.added)
    assert log_of(new)[-1]["event"] == "moved"


@pytest.mark.parametrize("release", RELEASES)
def test_without_a_link_a_server_begins_anew_and_all_that_it_said_can_be_added(tmp_path: Path, release: str) -> None:
    path, new = copy_of(EXAMPLE, tmp_path), tmp_path / "elsewhere" / "memory.jsonl"
    before = texts_in(path)
    with Server(release, path) as server:
        server.call("add_observations", observations=[{"entityName": "web-client", "contents": ["first"]}])
        moved(path, new, link=False, pace=PACE)
        server.call("create_entities", entities=[{"name": "X", "entityType": "t", "observations": ["second"]}])
    assert texts_in(path) == {"second"}
    assert moved(path, new, link=False, pace=PACE).kind == "bring in"
    assert texts_in(new) == before | {"first", "second"}
    assert not path.exists()


@pytest.mark.parametrize("release", RELEASES)
def test_a_memory_that_a_server_begins_anew_after_a_kill_takes_nothing_away(tmp_path: Path, release: str) -> None:
    path, new = copy_of(EXAMPLE, tmp_path), tmp_path / "elsewhere" / "memory.jsonl"
    before = texts_in(path)
    with Server(release, path) as server:
        server.call("search_nodes", query="nothing")
        killed_at(path, new, "old file gone", link=False, pace=PACE)
        server.call("create_entities", entities=[{"name": "X", "entityType": "t", "observations": ["anew"]}])
        moved(path, new, link=False, pace=PACE)
    assert texts_in(new) == before | {"anew"}


@pytest.mark.parametrize("release", RELEASES)
def test_what_a_server_deletes_through_the_link_after_a_kill_is_gone(tmp_path: Path, release: str) -> None:
    path, new = copy_of(EXAMPLE, tmp_path), tmp_path / "elsewhere" / "memory.jsonl"
    before = texts_in(path)
    with Server(release, path) as server:
        killed_at(path, new, "watched", link=True, pace=PACE)
        server.text("delete_entities", entityNames=["web-client"])
        moved(path, new, link=True, pace=PACE)
    assert texts_in(new) < before
    assert "web-client" not in {json.loads(line).get("name") for line in new.read_text().splitlines()}
