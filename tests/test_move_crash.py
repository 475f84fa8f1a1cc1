"""A move killed at every step: the whole memory lies at one place, and the same move again finishes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from moving import OLD, killed_at, log_of, moved, pruned_in
from process import aged
from pruning import pruned, settings_of, state_folder
from strangers import leftovers
from undoing import graph

from memttl.errors import NoMemoryFile, TryAgain
from memttl.files.moving_carry import STEPS
from memttl.workflow.doctor import doctor
from memttl.workflow.scan import scan

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
OF_RUNG = {
    "auto": STEPS,
    "exchange": [s for s in STEPS if s != "leased"],
    "replace": [s for s in STEPS if s not in ("leased", "released")],
}


def whole_at_one(path: Path, new: Path, data: bytes) -> bool:
    return any(os.path.isfile(p) and p.read_bytes() == data for p in (path, new))


@pytest.mark.parametrize("link", [True, False])
@pytest.mark.parametrize(("rung", "step"), [(rung, step) for rung, steps in OF_RUNG.items() for step in steps])
def test_a_move_killed_at_a_step_is_finished_by_the_next(tmp_path: Path, rung: str, step: str, link: bool) -> None:
    path, new = pruned_in(tmp_path / "old", "[prune]\n"), tmp_path / "new" / "m.jsonl"
    data = path.read_bytes()
    killed_at(path, new, step, link=link, write_path=rung)
    assert whole_at_one(path, new, data)
    if step != "done" or not link:
        again = moved(path, new, link=link, write_path=rung) if step != "done" else None
        assert again is None or again.applied
    assert new.read_bytes() == data
    assert path.is_symlink() == link
    assert os.path.lexists(path) == link
    assert not (path.parent / ".memttl").exists()
    assert not (path.parent / "memttl.toml").exists()
    assert [event["event"] for event in log_of(new)].count("moved") == 1
    pruned(aged(new))
    assert leftovers(new) == ["moved"]
    assert graph(new.read_bytes()) == graph(data)


def test_paths_with_a_semicolon_are_named_whole_where_a_move_was_killed(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "a; b"), tmp_path / "c; d" / "m.jsonl"
    killed_at(path, new, "new file in place", link=False)
    told = f"a move from {path} to {new} is at work, or was interrupted"
    finish = f"`memttl move '{new}' --file '{path}' --no-link` finishes it"
    found = next(f for f in doctor(settings_of(new)).findings if f.name == "move-under-way")
    assert [found.message, found.help] == [told, f"{finish}."]
    assert f"{told}; {finish}" in settings_of(new).warnings
    with pytest.raises(TryAgain) as error:
        scan(settings_of(new))
    assert str(error.value) == f"{new} cannot be written: {told}; nothing was done."


@pytest.mark.parametrize("step", STEPS[2:-1])
def test_until_a_killed_move_is_finished_nothing_is_written_at_either_place(tmp_path: Path, step: str) -> None:
    path, new = pruned_in(tmp_path / "old"), tmp_path / "new" / "m.jsonl"
    killed_at(path, new, step, link=False)
    for place in (path, new):
        if place.exists():
            with pytest.raises(TryAgain) as error:
                scan(settings_of(place))
            assert "memttl move" in error.value.hint


def test_an_archive_is_carried_by_the_next_move_where_one_was_killed(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "old", "[archive]\npath = 'arch.jsonl'\n"), tmp_path / "new" / "m.jsonl"
    archived = (path.parent / "arch.jsonl").read_bytes()
    for step in ("archive state copied", "archive exchanged", "archive done", "carried along"):
        killed_at(path, new, step, link=False)
    moved(path, new, link=False)
    assert (new.parent / "arch.jsonl").read_bytes() == archived
    assert os.listdir(path.parent) == []
    assert OLD.encode() in archived
    assert state_folder(new).is_dir()


@pytest.mark.parametrize("step", ["state copied", "new file in place"])
def test_where_the_new_place_is_gone_after_a_kill_the_way_out_is_told_and_works(tmp_path: Path, step: str) -> None:
    path, new = pruned_in(tmp_path / "old"), tmp_path / "disk" / "m.jsonl"
    data = path.read_bytes()
    killed_at(path, new, step, link=False)
    new.parent.rename(tmp_path / "away")
    with pytest.raises(TryAgain) as error:
        scan(settings_of(path))
    words = f"`rm {state_folder(path)}/moving` gives it up"
    assert words in error.value.hint
    assert any(words in finding.help for finding in doctor(settings_of(path)).findings)
    (state_folder(path) / "moving").unlink()
    scan(settings_of(path))
    assert path.read_bytes() == data


def test_where_the_old_place_is_gone_after_a_kill_the_way_out_is_told_and_works(tmp_path: Path) -> None:
    path, new = pruned_in(tmp_path / "disk"), tmp_path / "new" / "m.jsonl"
    data = path.read_bytes()
    killed_at(path, new, "old file read", link=False)
    path.parent.rename(tmp_path / "away")
    with pytest.raises(NoMemoryFile) as error:
        moved(path, new)
    assert f"`rm {state_folder(new)}/moving` ends the move" in error.value.hint
    (state_folder(new) / "moving").unlink()
    scan(settings_of(new))
    assert new.read_bytes() == data
