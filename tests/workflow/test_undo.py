"""The use case undo on a real file: which run, what is pinned, and files in every state."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asking import NO_TEXT, changed, listed, pins
from process import FIXTURES, aged, copy_of, memttl, tree
from pruning import AT_ONCE, at, events_of, pruned, settings_of, state_folder
from support import entity, relation

from memttl.core.chain import lines_of
from memttl.core.model import UserSettings
from memttl.core.past_runs import runs_of
from memttl.core.selection import Choice
from memttl.core.thinning import thinned
from memttl.core.undo_outcome import UndoOutcome
from memttl.core.wish import Wish
from memttl.errors import Foreign, NoMemoryFile, NoPermission, RunThinned, UnknownBackup, UnknownRun, UsageError
from memttl.files import audit
from memttl.workflow.undo import Request, undo

OLD = "[session] 2026-01-05: old"
OLDER = "[operational] 2025-01-05: older"
PINNED = UserSettings(pinned=True)
BY_UNDO = UserSettings(pinned=True, pinned_by_undo=True)


def memory(folder: Path, *lines: bytes) -> Path:
    path = folder / "memory.jsonl"
    path.write_bytes(b"\n".join(lines or (entity([OLD, "note", OLDER], name="A"), entity(["x"], name="B"))))
    return aged(path)


def undone(
    path: Path,
    *,
    policy: str = "",
    ask: Callable[[UndoOutcome], bool] | None = None,
    step: Callable[[str], None] = lambda _: None,
    **request: Any,
) -> UndoOutcome:
    settings = settings_of(path, policy=policy)
    return undo(settings, Request(**{"pace": AT_ONCE, **request}), ask=ask, step=step)


def texts(path: Path) -> list[list[Any]]:
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return [line["observations"] for line in lines if line["type"] == "entity"]


def asked(path: Path) -> dict[str | None, UserSettings]:
    return {text: settings for _, text, _, settings in listed(path)}


def test_all_comes_back_pinned_and_survives_the_next_prune(tmp_path: Path) -> None:
    path = memory(tmp_path)
    before = path.read_bytes()
    pruned(path)
    outcome = undone(path)
    assert path.read_bytes() == before
    assert outcome.applied
    assert asked(path) == {OLD: BY_UNDO, OLDER: BY_UNDO}
    assert pruned(path).plan.removals == ()
    assert path.read_bytes() == before


def test_without_a_pin_the_next_prune_takes_it_again(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    undone(path, pin=False)
    assert asked(path) == {}
    assert len(pruned(path).plan.removals) == 2


def test_what_was_set_before_stays_set(tmp_path: Path) -> None:
    path = memory(tmp_path)
    changed(path, Wish("set", Choice("A", OLD, exact=True), tier="operational"))
    pruned(path, now="2027-06-01")
    undone(path)
    assert asked(path)[OLD] == UserSettings(pinned=True, pinned_by_undo=True, tier="operational")


def test_undo_of_an_undo_is_the_pruned_state_and_keeps_what_the_user_set(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    after = path.read_bytes()
    first = undone(path)
    changed(path, Wish("set", Choice("A", OLD, exact=True), tier="operational"))
    changed(path, Wish("pin", Choice("B", "x")))
    second = undone(path, run=first.run)
    assert path.read_bytes() == after
    assert asked(path) == {OLD: UserSettings(tier="operational"), "x": PINNED}
    assert second.plan is not None
    assert [m.item.raw for m in second.plan.inverse.out] == [json.dumps(OLD), json.dumps(OLDER)]


def test_a_pin_that_the_user_had_given_before_stays_after_an_undo_of_the_undo(tmp_path: Path) -> None:
    path = memory(tmp_path, entity([OLD], name="A"))
    pruned(path)
    path.write_bytes(entity([OLD], name="A"))
    changed(path, Wish("pin", Choice("A", "old")))
    path.write_bytes(entity([], name="A"))
    first = undone(aged(path))
    assert texts(path) == [[OLD]]
    undone(path, run=first.run)
    assert asked(path) == {OLD: PINNED}


def test_a_pin_that_the_user_gives_since_is_not_taken_by_an_undo_of_the_undo(tmp_path: Path) -> None:
    path = memory(tmp_path, entity([OLD, OLDER], name="A"))
    pruned(path, force=True)
    first = undone(path)
    changed(path, Wish("pin", Choice("A", "older")))  # pinned by the undo already
    undone(path, run=first.run)
    assert asked(path) == {OLDER: PINNED}


def test_without_a_name_the_newest_run_that_is_not_undone_is_meant(tmp_path: Path) -> None:
    path = memory(tmp_path)
    one = pruned(path, tiers=("session",)).run
    two = pruned(path, tiers=("operational",)).run
    assert [undone(path).plan.run.run for _ in range(2)] == [two, one]  # type: ignore[union-attr]
    nothing = undone(path)
    assert (nothing.plan, nothing.applied) == (None, False)
    assert "no run" in nothing.nothing


def test_after_an_undo_of_the_undo_that_run_is_the_newest_that_removed_something(tmp_path: Path) -> None:
    path = memory(tmp_path)
    before = path.read_bytes()
    pruned(path)
    first = undone(path)
    second = undone(path, run=first.run)
    third = undone(path)
    assert third.plan is not None
    assert third.plan.run.run == second.run
    assert path.read_bytes() == before
    assert [run.undone_by for run in runs_of(events_of(path))] == [third.run and first.run, "", third.run, ""]


def test_the_head_of_a_runs_name_is_enough(tmp_path: Path) -> None:
    path = memory(tmp_path)
    run = pruned(path).run
    assert run is not None
    assert undone(path, run=run[:4]).applied
    with pytest.raises(UnknownRun):
        undone(path, run="zzzz")


def test_a_run_that_is_undone_already_has_nothing_to_put_back(tmp_path: Path) -> None:
    path = memory(tmp_path)
    run = pruned(path).run
    undone(path)
    before, log = path.stat(), len(events_of(path))
    outcome = undone(path, run=run)
    assert outcome.plan is not None
    assert outcome.plan.does_nothing
    assert (path.stat().st_ino, len(events_of(path))) == (before.st_ino, log)


def test_filters_narrow_it_and_the_rest_can_be_undone_later(tmp_path: Path) -> None:
    path = memory(tmp_path)
    before = path.read_bytes()
    pruned(path)
    undone(path, tiers=("session",))
    assert texts(path)[0] == [OLD, "note"]
    undone(path)
    assert path.read_bytes() == before


def test_an_entity_narrows_it_too(tmp_path: Path) -> None:
    path = memory(tmp_path, entity([OLD], name="A"), entity([OLD], name="B"))
    pruned(path, force=True)
    undone(path, entities=("B",))
    assert texts(path) == [[], [OLD]]
    with pytest.raises(UsageError, match="moved nothing of an entity 'C'"):
        undone(path, entities=("C",))
    with pytest.raises(UsageError, match="nothing of a tier"):
        undone(path, tiers=("sesion",))


def test_a_part_is_looked_for_in_earlier_runs_too(tmp_path: Path) -> None:
    path = memory(tmp_path, entity([OLD], name="A"), entity([OLDER], name="B"))
    pruned(path, tiers=("session",), force=True)
    pruned(path, tiers=("operational",), force=True)
    undone(path, entities=("A",))
    assert texts(path) == [[OLD], []]


def test_a_pin_is_no_run_that_can_be_undone_and_is_named(tmp_path: Path) -> None:
    path = memory(tmp_path)
    run = changed(path, Wish("pin", Choice("A", "note"))).run
    with pytest.raises(UnknownRun, match="is a pin"):
        undone(path, run=run)


def test_all_that_was_added_since_stays(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    path.write_bytes(b"\n".join([entity(["note", "new"], name="A"), entity(["x", OLD], name="C"), relation("A", "C")]))
    undone(aged(path))
    assert texts(path) == [[OLD, "note", OLDER, "new"], ["x", OLD]]
    assert b"relation" in path.read_bytes()


def test_empty_entities_and_their_relations_come_back(tmp_path: Path) -> None:
    path = memory(tmp_path, entity([OLD], name="A"), entity(["x"], name="B"), relation("A", "B"))
    before = path.read_bytes()
    pruned(path, policy="[prune]\nremove_empty_entities = true\n")
    assert b'"A"' not in path.read_bytes()
    undone(path)
    assert path.read_bytes() == before


def test_a_missing_or_empty_file_is_made_again(tmp_path: Path) -> None:
    path = memory(tmp_path)
    path.chmod(0o640)
    run = pruned(path).run
    path.unlink()
    planned = undone(path, dry_run=True)
    assert planned.plan is not None
    assert any(f"backups restore {run}" in warning for warning in planned.warnings)
    assert not path.exists()
    assert undone(path).applied
    assert texts(path) == [[OLD, OLDER]]
    assert path.stat().st_mode & 0o777 == 0o640
    path.write_bytes(b"")
    assert undone(aged(path), run=run).applied
    assert texts(path) == [[OLD, OLDER]]


def test_a_missing_file_of_which_nothing_is_kept_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryFile, match="kept nothing"):
        undone(tmp_path / "memory.jsonl")


def test_a_damaged_file_gets_back_what_was_removed_and_keeps_its_damage(tmp_path: Path) -> None:
    path = memory(tmp_path)
    before = path.read_bytes()
    pruned(path)
    path.write_bytes(path.read_bytes() + b'\n{"type":"enti')
    outcome = undone(aged(path))
    assert path.read_bytes() == before + b'\n{"type":"enti'
    assert any("doctor --repair" in warning for warning in outcome.warnings)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    path.write_bytes("{}".encode("utf-16"))
    with pytest.raises(Foreign, match="UTF-16"):
        undone(aged(path))


@pytest.mark.parametrize("policy", ["", NO_TEXT], ids=["with texts", "digests only"])
def test_from_the_log_alone_or_from_the_backup(tmp_path: Path, policy: str) -> None:
    path = memory(tmp_path)
    before = path.read_bytes()
    pruned(path, policy=policy)
    log = (state_folder(path) / "audit.jsonl").read_text()
    assert ("older" in log) == (not policy)
    if not policy:
        for backup in (state_folder(path) / "backups").iterdir():
            backup.unlink()
    first = undone(path)
    assert path.read_bytes() == before
    undone(path, run=first.run)
    assert texts(path)[0] == ["note"]
    assert undone(path).applied  # the undo of the undo has its backup as well
    assert path.read_bytes() == before


def test_what_neither_log_nor_backup_holds_is_said(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path, policy=NO_TEXT)
    for backup in (state_folder(path) / "backups").iterdir():
        backup.unlink()
    with pytest.raises(UnknownBackup, match="2 of what it removed"):
        undone(path)


def test_a_run_that_was_thinned_cannot_be_undone_and_names_its_backup(tmp_path: Path) -> None:
    path = memory(tmp_path)
    run = pruned(path).run
    log = state_folder(path) / "audit.jsonl"
    made = thinned(lines_of(log.read_bytes()), lambda _: True, at="2027-01-01T00:00:00.000Z", keep=0)
    assert made is not None
    audit.rewrite(log, b"".join(line + b"\n" for line in made.lines), time="2027-01-01T00:00:00.000Z")
    with pytest.raises(RunThinned, match="its texts are gone") as error:
        undone(path, run=run)
    assert f"-{run}.jsonl" in error.value.hint
    assert undone(path).run is None


def test_a_run_that_was_not_applied_removed_nothing(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path, ask=lambda _: False)
    assert "no run" in undone(path).nothing


def test_a_no_changes_nothing(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    before = path.read_bytes()
    outcome = undone(path, ask=lambda _: False)
    assert (outcome.declined, outcome.applied, path.read_bytes()) == (True, False, before)


def test_what_was_approved_is_the_most_that_comes_back(tmp_path: Path) -> None:
    path = memory(tmp_path, entity([OLD, "note"], name="A"), entity([OLD, "x"], name="B"))
    pruned(path)
    path.write_bytes(entity([OLD, "note"], name="A") + b"\n" + entity(["x"], name="B"))

    def gone_meanwhile(_: UndoOutcome) -> bool:
        path.write_bytes(entity(["note"], name="A") + b"\n" + entity(["x"], name="B"))
        aged(path)
        return True

    undone(aged(path), ask=gone_meanwhile)
    assert texts(path) == [["note"], [OLD, "x"]]


def test_a_server_that_adds_during_the_write_loses_nothing(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)

    def add() -> None:
        path.write_bytes(entity(["note", "meanwhile"], name="A") + b"\n" + entity(["x"], name="B"))

    undone(path, step=at("new version written", add))
    assert texts(path) == [[OLD, "note", OLDER, "meanwhile"], ["x"]]


def test_a_server_that_saves_the_version_of_before_does_not_undo_the_undo(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    stale = entity(["note", "added"], name="A") + b"\n" + entity(["x"], name="B")

    def save() -> None:
        temporary = path.with_name("temporary")
        temporary.write_bytes(stale)
        os.replace(temporary, path)

    outcome = undone(path, step=at("end logged", save))
    assert texts(path) == [[OLD, "note", "added", OLDER], ["x"]]
    assert any("version of before" in warning for warning in outcome.warnings)


def test_a_dry_run_leaves_no_trace(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    before = tree(tmp_path)
    assert undone(path, dry_run=True).plan is not None
    assert tree(tmp_path) == before


def test_hard_links_and_read_only_files_are_refused(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    os.link(path, tmp_path / "second")
    with pytest.raises(NoPermission, match="hard links"):
        undone(path)
    (tmp_path / "second").unlink()
    path.chmod(0o400)
    with pytest.raises(NoPermission, match="read-only"):
        undone(path)


def test_pins_of_an_undo_outlive_the_ledger(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    undone(path)
    (state_folder(path) / "ledger.db").unlink()
    assert asked(path) == {OLD: BY_UNDO, OLDER: BY_UNDO}
    assert pins(path) == ()


def test_a_lost_ledger_does_not_keep_anything_from_coming_back(tmp_path: Path) -> None:
    path = memory(tmp_path)
    before = path.read_bytes()
    pruned(path)
    (state_folder(path) / "ledger.db").unlink()
    log = state_folder(path) / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"limits"', b'"edited"'))
    outcome = undone(path)
    assert path.read_bytes() == before
    assert any("cannot be rebuilt" in warning for warning in outcome.warnings)


def test_first_sightings_survive_prune_and_undo(tmp_path: Path) -> None:
    path = memory(tmp_path)
    pruned(path)
    undone(path, pin=False)
    later = settings_of(path).clock + timedelta(days=1)
    assert memttl("scan", "--file", path, "--now", later.isoformat()).returncode in (0, 75)
    explained = json.loads(memttl("explain", "B", "x", "--file", path, "--json").stdout)
    assert explained["verdicts"][0]["age_source"] == "seen"


@pytest.mark.parametrize("fixture", sorted((FIXTURES / "memory").glob("*.jsonl")), ids=lambda path: path.stem)
def test_prune_and_undo_on_every_fixture(tmp_path: Path, fixture: Path) -> None:
    path = copy_of(fixture, tmp_path)
    ended = memttl("prune", "--yes", "--force", "--file", path, "--now", "2030-01-01", "--json")
    if ended.returncode or not json.loads(ended.stdout)["applied"]:
        pytest.skip("nothing is pruned here")
    back = memttl("undo", "--yes", "--file", path, "--json")
    assert back.returncode == 0, back.stderr
    assert path.read_bytes() == fixture.read_bytes()
