"""Undo of runs that changed the whole file: a restore and a repair, with and without what came since."""

from __future__ import annotations

from pathlib import Path

import pytest
from forgetting import forgot
from process import FIXTURES, aged, copy_of, memttl
from pruning import AT_ONCE, events_of, pruned, settings_of, state_folder
from support import entity, relation

from memttl.core.past_runs import runs_of
from memttl.core.undo_outcome import UndoOutcome
from memttl.core.undo_whole import was_forgotten_since
from memttl.errors import UsageError
from memttl.files import audit
from memttl.workflow import repair as repairing
from memttl.workflow.restore import RestoreRequest, restore
from memttl.workflow.undo import Request, undo

OLD = "[session] 2026-01-05: old"
FIRST = b"\n".join([entity([OLD, "note"], name="A", kind="t"), entity(["x"], name="B"), relation("A", "B")])
SECOND = b"\n".join([entity(["note", "new"], name="A", kind="u"), b'{"type": "_aim"}', relation("A", "C")]) + b"\n"
DAMAGED = sorted([*(FIXTURES / "from-servers").glob("*.jsonl"), *(FIXTURES / "memory").glob("*.jsonl")])


def undone(path: Path, run: str | None, **request: object) -> UndoOutcome:
    return undo(settings_of(path), Request(run=run, pace=AT_ONCE, **request))  # type: ignore[arg-type]


def restored(folder: Path) -> tuple[Path, str]:
    """A file whose first version was put back in place of a second one; and the run that did."""
    path = folder / "memory.jsonl"
    path.write_bytes(FIRST)
    pruned(aged(path))
    path.write_bytes(SECOND)
    outcome = restore(settings_of(aged(path)), RestoreRequest("latest", pace=AT_ONCE))
    assert path.read_bytes() == FIRST
    assert outcome.run is not None
    return path, outcome.run


def test_a_restore_is_undone_byte_for_byte_and_that_undo_too(tmp_path: Path) -> None:
    path, run = restored(tmp_path)
    first = undone(path, run)
    assert path.read_bytes() == SECOND
    second = undone(path, first.run)
    assert path.read_bytes() == FIRST
    undone(path, second.run)
    assert path.read_bytes() == SECOND


def test_what_came_since_a_restore_stays_when_it_is_undone(tmp_path: Path) -> None:
    path, run = restored(tmp_path)
    path.write_bytes(FIRST.replace(b'"note"', b'"note","since"') + b"\n" + entity(["s"], name="S"))
    undone(aged(path), run)
    found = path.read_bytes()
    assert b'"note","new","since"' in found or b'"note","since","new"' in found
    assert OLD.encode() not in found
    assert b'"S"' in found
    assert b'{"type": "_aim"}' in found


def test_a_restore_whose_backups_are_gone_is_undone_from_the_log(tmp_path: Path) -> None:
    path, run = restored(tmp_path)
    for backup in (state_folder(path) / "backups").iterdir():
        backup.unlink()
    undone(path, run)
    found = path.read_bytes()
    assert b'"new"' in found
    assert OLD.encode() not in found
    assert b'{"type": "_aim"}' in found


def test_a_part_of_a_restore_can_be_undone(tmp_path: Path) -> None:
    path, run = restored(tmp_path)
    undone(path, run, entities=("A",))
    assert OLD.encode() not in path.read_bytes()
    assert b'"B"' in path.read_bytes()


def repaired(folder: Path, fixture: Path) -> tuple[Path, str]:
    path = copy_of(fixture, folder)
    outcome = repairing.repair(settings_of(path), repairing.Request(pace=AT_ONCE))
    if outcome.run is None:
        pytest.skip("nothing is to be repaired here")
    return path, outcome.run


@pytest.mark.parametrize("fixture", DAMAGED, ids=lambda path: path.stem)
def test_a_repair_is_undone_byte_for_byte(tmp_path: Path, fixture: Path) -> None:
    if memttl("doctor", "--repair", "-n", "--file", fixture).returncode == 65:
        pytest.skip("a repair refuses it")
    path, run = repaired(tmp_path, fixture)
    mended = path.read_bytes()
    first = undone(path, run)
    assert path.read_bytes() == fixture.read_bytes()
    if "utf-16" not in fixture.name:  # what is put back is no text, into which nothing can be put
        undone(path, first.run)
        assert path.read_bytes() == mended


def test_what_came_since_a_repair_stays_when_it_is_undone(tmp_path: Path) -> None:
    path, run = repaired(tmp_path, FIXTURES / "memory/two-objects-on-one-line.jsonl")
    path.write_bytes(path.read_bytes() + b"\n" + entity(["since"], name="S"))
    undone(aged(path), run)
    damaged = (FIXTURES / "memory/two-objects-on-one-line.jsonl").read_bytes()
    assert all(line in path.read_bytes() for line in damaged.split(b"\n"))
    assert b'"since"' in path.read_bytes()


def test_a_repair_that_can_no_longer_be_undone_is_said(tmp_path: Path) -> None:
    path, run = repaired(tmp_path, FIXTURES / "memory/utf-16-le-with-bom.jsonl")
    path.write_bytes(path.read_bytes() + b"\n" + entity(["since"], name="S"))
    with pytest.raises(UsageError, match="no longer be undone"):
        undone(aged(path), run)
    with pytest.raises(UsageError, match="only be undone whole"):
        undone(path, run, entities=("S",))


def test_a_repair_whose_backup_a_forget_rewrote_is_not_said_to_have_lost_it(tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(entity(["secret", "note"], name="A") + entity(["x"], name="B") + b"\n")
    path, run = repaired(tmp_path, path)
    forgot(path, "*", "secret")
    with pytest.raises(UsageError, match="what it held was forgotten since"):
        undone(aged(path), run)


def test_a_forget_before_a_repair_is_not_why_it_cannot_be_undone(tmp_path: Path) -> None:
    path, run = repaired(tmp_path, FIXTURES / "memory/two-objects-on-one-line.jsonl")
    log = audit.read_events(state_folder(path) / "audit.jsonl")
    made = next(found for found in runs_of(log) if found.run == run)
    told = {"event": "forgotten", "run": "f"}
    assert not was_forgotten_since(made, b"other", [told, *log])
    assert was_forgotten_since(made, b"other", [*log, told])


def test_an_undo_says_in_the_log_what_it_undid(tmp_path: Path) -> None:
    path, run = restored(tmp_path)
    undone(path, run)
    begin = [event for event in events_of(path) if event["event"] == "begin"][-1]
    assert (begin["undoes"], begin["whole"]) == (run, True)
