"""Forget beside strangers who write as the memory servers do, and beside real ones: what they put back goes again."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path

import pytest
from forgetting import holding
from server import RELEASES, Server, need_server
from strangers import QUICK, Stranger, once, run_prune, settings_of, state_folder

from memttl.core.forget_outcome import ForgetOutcome
from memttl.core.selection import Choice
from memttl.errors import TryAgain
from memttl.files.writing import Options, Step
from memttl.workflow.forget import forget

SECRET = "the secret"


def run_forget(path: Path, *, step: Step = lambda _: None) -> ForgetOutcome:
    """Forget the secret, without a question, at the strangers' pace."""
    return forget(settings_of(path), Choice("*", SECRET), options=Options(pace=QUICK, step=step))


def test_what_a_server_puts_back_is_erased_again_and_said(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    server.rename(["k0", SECRET])
    seen = server.load()
    outcome = run_forget(server.path, step=once("settled", lambda: server.rename([*seen, "k1"])))
    assert server.load() == ["k0", "k1"]
    assert any("put 1 of the observations back" in warning for warning in outcome.warnings)
    assert holding(tmp_path, SECRET) == []


def test_what_a_late_writer_adds_to_the_old_version_is_kept_without_the_secret(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    server.rename(["k0", SECRET])
    held, late = server.looked_up()
    run_forget(server.path, step=once("end logged", lambda: server.in_place(["k0", SECRET, "k1"], late)))
    os.close(held)
    assert server.load() == ["k0", "k1"]
    assert holding(tmp_path, SECRET) == []


def test_an_update_that_only_a_leftover_holds_is_merged_without_the_secret(tmp_path: Path) -> None:
    server = Stranger(tmp_path / "memory.jsonl")
    held, late = server.looked_up()
    run_prune(server.path)
    server.in_place(["k0", SECRET], late)
    os.close(held)
    run_forget(server.path)
    assert server.load() == ["k0"]
    assert holding(tmp_path, SECRET) == []


@pytest.mark.server
def forgotten_in_the_end(path: Path) -> ForgetOutcome:
    """Forget, again where the file would not stay still: a loaded machine may need a further try."""
    for _ in range(3):
        with contextlib.suppress(TryAgain):
            return forget(settings_of(path), Choice("a", SECRET))
    return forget(settings_of(path), Choice("a", SECRET))


@pytest.mark.parametrize("release", RELEASES)
def test_beside_a_server_at_work_nothing_it_added_is_lost_and_the_secret_is_gone(tmp_path: Path, release: str) -> None:
    need_server(release)
    path, added = tmp_path / "memory.jsonl", list[str]()
    with Server(release, path) as server:
        entity = {"name": "a", "entityType": "t", "observations": [SECRET, "k"]}
        server.call("create_entities", entities=[entity])
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                text = f"added {len(added)}"
                server.call("add_observations", observations=[{"entityName": "a", "contents": [text]}])
                added.append(text)
                stop.wait(0.02)

        worker = threading.Thread(target=work)
        worker.start()
        try:
            outcome = forgotten_in_the_end(path)
        finally:
            stop.set()
            worker.join()
        found = server.call("read_graph")["entities"][0]["observations"]
    assert set(added) <= set(found)
    # a server that never pauses may put it back again and again; then the outcome says where it still stands
    assert SECRET not in found or any("memory.jsonl" in place.place for place in outcome.remaining)
    assert json.loads(path.read_bytes().splitlines()[0])["observations"] == found
    assert holding(tmp_path, SECRET) == []
    assert state_folder(path).exists()
