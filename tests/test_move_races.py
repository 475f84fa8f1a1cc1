"""Strangers who write the old place while a file is moved: each of their updates lies at the new place afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from moving import moved
from process import aged
from pruning import at
from strangers import QUICK, Stranger, behind, text_of

from memttl.files.moving_carry import STEPS

STAGES = STEPS[: STEPS.index("exchanged")]
Save = Callable[[Stranger, list[str]], object]
SAVES: dict[str, Save] = {
    "rename": lambda server, found: server.rename(found),
    "in place": lambda server, found: server.in_place(found),
}


def observations(path: Path) -> set[str]:
    return set(Stranger.load(Stranger.__new__(Stranger), str(path)))


def served(folder: Path) -> Stranger:
    server = Stranger(folder / "memory.jsonl")
    aged(server.path)
    return server


@pytest.mark.parametrize("link", [True, False])
@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("stage", STAGES)
def test_what_a_stranger_saves_before_the_exchange_is_moved_too(
    tmp_path: Path, stage: str, save: str, link: bool
) -> None:
    server, new = served(tmp_path), tmp_path / "new.jsonl"

    def act() -> None:
        found = [*server.load(), "added"]
        behind(lambda: SAVES[save](server, found))

    done = moved(server.path, new, step=at(stage, act), link=link, pace=QUICK)
    assert observations(new) >= {"k0", "added"}
    assert (done.returned == server.path.is_file() and not server.path.is_symlink()) or done.returned is False
    assert os.path.lexists(server.path) == (link or done.returned)


@pytest.mark.parametrize("stage", ["before exchange", "exchanged", "settled", "released", "synced"])
def test_a_writer_that_had_looked_up_the_old_file_is_heard(tmp_path: Path, stage: str) -> None:
    server, new = served(tmp_path), tmp_path / "new.jsonl"
    descriptor, late = server.looked_up()
    found = [*server.load(), "late"]
    moved(server.path, new, step=at(stage, lambda: behind(lambda: server.in_place(found, late))), link=True, pace=QUICK)
    os.close(descriptor)
    assert "late" in observations(new)


@pytest.mark.parametrize("stage", ["exchanged", "settled", "released", "logged", "watched"])
def test_a_server_that_replaces_the_link_is_told_and_a_further_move_brings_in_what_it_wrote(
    tmp_path: Path, stage: str
) -> None:
    server, new = served(tmp_path), tmp_path / "new.jsonl"
    before = server.load()
    done = moved(server.path, new, step=at(stage, lambda: server.rename([*before, "added"])), link=True, pace=QUICK)
    everywhere = observations(new) | (observations(server.path) if server.path.exists() else set())
    assert everywhere >= {"k0", "added"}
    assert done.returned == (not server.path.is_symlink())
    if done.returned:
        again = moved(server.path, new, link=False, pace=QUICK)
        assert again.kind == "bring in"
    assert observations(new) >= {"k0", "added"}
    assert server.path.is_symlink() != done.returned


def test_a_memory_that_a_server_began_anew_at_the_old_place_takes_nothing_away(tmp_path: Path) -> None:
    server, new = served(tmp_path), tmp_path / "new.jsonl"
    moved(server.path, new, link=False)
    server.path.write_bytes(text_of(["began anew"]))
    aged(server.path)
    done = moved(server.path, new, link=False)
    assert (done.kind, done.applied, done.merged) == ("bring in", True, 1)
    assert observations(new) >= {"k0", "began anew"}
    assert not os.path.lexists(server.path)
    assert not (tmp_path / ".memttl" / "memory.jsonl").exists()
