"""Undo beside the real memory server: what it was told between prune and undo, and during the undo, all stays."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, copy_of, memttl
from server import RELEASES, Server

pytestmark = pytest.mark.server
EXAMPLE = FIXTURES / "memory/example.jsonl"
LATER = ("--now", "2027-06-01", "--yes")
CALLS = 50


def observations(graph: dict[str, Any]) -> dict[str, list[str]]:
    return {entity["name"]: entity["observations"] for entity in graph["entities"]}


def call(server: Server, number: int) -> None:
    """One of the tools, in turn: new observations, entities, relations, and deletions of what was added before."""
    name = f"New {number}"
    if number % 3 == 0:
        server.call("create_entities", entities=[{"name": name, "entityType": "t", "observations": [f"n{number}"]}])
    elif number % 3 == 1:
        server.call("add_observations", observations=[{"entityName": "web-client", "contents": [f"n{number}"]}])
    else:
        made = {"from": f"New {number - 2}", "to": "web-client", "relationType": "r"}
        server.call("create_relations", relations=[made])


@pytest.mark.parametrize("release", RELEASES)
def test_prune_fifty_calls_and_undo_keep_all_fifty(tmp_path: Path, release: str) -> None:
    path = copy_of(EXAMPLE, tmp_path)
    with Server(release, path) as server:
        first = server.call("read_graph")
        assert memttl("prune", "--file", path, *LATER).returncode == 0
        pruned = observations(server.call("read_graph"))
        for number in range(CALLS):
            call(server, number)
        since = server.call("read_graph")
        assert memttl("undo", "--file", path, "--yes").returncode == 0
        last = server.call("read_graph")
    assert pruned != observations(first)
    assert last["relations"] == since["relations"]
    found = observations(last)
    for name, texts in observations(first).items():
        added = [text for text in observations(since)[name] if text not in pruned[name]]
        assert found[name] == [*texts, *added]
    assert {f"New {n}" for n in range(0, CALLS, 3)} <= found.keys()


@pytest.mark.parametrize("release", RELEASES)
def test_an_undo_while_the_server_is_told_more_keeps_all_of_it(tmp_path: Path, release: str) -> None:
    path = copy_of(EXAMPLE, tmp_path)
    before = path.read_bytes()
    run = json.loads(memttl("prune", "--json", "--file", path, *LATER).stdout)["run"]
    with Server(release, path) as server:
        told: list[str] = []
        done = threading.Event()

        def tell() -> None:
            while not done.is_set() or not told:
                text = f"told {len(told)}"
                server.call("add_observations", observations=[{"entityName": "web-client", "contents": [text]}])
                told.append(text)
                done.wait(0.02)

        teller = threading.Thread(target=tell)
        teller.start()
        codes = []
        for _ in range(12):  # the file may not stay still for some of them
            codes.append(memttl("undo", run, "--file", path, "--yes").returncode)
            if codes[-1] == 0:
                break
        done.set()
        teller.join()
        # a server that read before the swap may save long after, on a loaded machine; what is there stays as it is
        assert memttl("undo", run, "--file", path, "--yes").returncode == 0
        found = observations(server.call("read_graph"))
    assert codes[-1] == 0
    path.write_bytes(before)
    with Server(release, path) as server:
        whole = observations(server.call("read_graph"))
    assert set(told) <= set(found["web-client"])
    assert all(set(texts) <= set(found[name]) for name, texts in whole.items())
    assert all(len(set(texts)) == len(texts) for texts in found.values())
