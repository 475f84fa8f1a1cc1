"""What a command knows besides the file: from the ledger, or rebuilt; a pin holds whatever happened to the ledger."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ledgers import (
    DAY,
    baseline_of,
    edit,
    first_seen,
    ledger_path,
    opened,
    pin,
    pin_entity,
    scanned,
    written,
)
from process import memttl, tree
from pruning import pruned, settings_of, state_folder
from support import NOW

from memttl.core.outcome import PruneOutcome
from memttl.core.selection import Choice
from memttl.errors import LedgerLost, MemttlError
from memttl.workflow.explain import explain

OLD = " [expires 2026-01-01]"
TEXTS = {"A": ["pinned" + OLD, "goes" + OLD, "stays"], "P": ["of a pinned entity" + OLD], "C": ["x"]}


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory file that was scanned on 1 June, with a pinned observation and a pinned entity."""
    path = written(tmp_path / "memory.jsonl", TEXTS)
    scanned(path)
    pin(path, "A", "pinned" + OLD)
    pin_entity(path, "P*")
    return path


def log_of(path: Path) -> Path:
    return state_folder(path) / "audit.jsonl"


def removed(path: Path, **request: object) -> list[str]:
    outcome = pruned(path, now=DAY.format(2), **request)
    return [v.observation for v in outcome.plan.removals]


def explained(path: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """The reason for each observation, and the warnings."""
    outcome = explain(settings_of(path, now=DAY.format(2)), Choice())
    return {v.observation: v.reason for v, _ in outcome.explanation.verdicts}, outcome.warnings


def lose(path: Path) -> None:
    ledger_path(path).unlink()


def scramble(path: Path) -> None:
    ledger_path(path).write_bytes(b"no database" * 99)


def test_pins_hold(memory: Path) -> None:
    assert removed(memory) == ["goes" + OLD]


def test_explain_tells_who_pinned(memory: Path) -> None:
    reasons, warnings = explained(memory)
    assert reasons["pinned" + OLD] == "pinned"
    assert reasons["of a pinned entity" + OLD] == "its entity was pinned (P*)"
    assert warnings == ()


# a ledger that was lost is rebuilt


@pytest.mark.parametrize("damage", [lose, scramble])
@pytest.mark.parametrize("dry_run", [True, False])
def test_pins_hold_when_the_ledger_is_lost(memory: Path, damage: Callable[[Path], None], dry_run: bool) -> None:
    damage(memory)
    assert removed(memory, dry_run=dry_run) == ["goes" + OLD]


@pytest.mark.parametrize(("damage", "word"), [(lose, "missing"), (scramble, "damaged")])
@pytest.mark.parametrize("run", [pruned, scanned])
def test_rebuilding_is_said(memory: Path, damage: Callable[[Path], None], word: str, run: Callable) -> None:
    damage(memory)
    warnings = run(memory, now=DAY.format(2)).warnings
    assert [
        w for w in warnings if w.startswith(f"the ledger is {word}: 2 settings and the time of the first look")
    ] != []
    assert run(memory, now=DAY.format(2)).warnings == ()


@pytest.mark.parametrize("damage", [lose, scramble])
def test_dry_run_says_it_too_and_writes_nothing(memory: Path, damage: Callable[[Path], None]) -> None:
    damage(memory)
    before = tree(memory.parent)
    outcome = pruned(memory, now=DAY.format(2), dry_run=True)
    assert any("ages start again" in warning for warning in outcome.warnings)
    assert tree(memory.parent) == before


@pytest.mark.parametrize("damage", [lose, scramble])
def test_rebuilt_ledger_has_settings_and_baseline_and_new_ages(memory: Path, damage: Callable[[Path], None]) -> None:
    damage(memory)
    scanned(memory, DAY.format(9))
    assert baseline_of(memory) == NOW
    assert first_seen(memory, "C") == ["2026-06-09"]
    with opened(memory) as ledger:
        assert [(s.entity, s.text) for s in ledger.settings()] == [("A", "pinned" + OLD)]
        assert ledger.entity_pins() == ["P*"]


def test_damaged_ledger_is_kept_aside(memory: Path) -> None:
    scramble(memory)
    damaged = ledger_path(memory).read_bytes()
    warnings = scanned(memory).warnings
    aside = state_folder(memory) / "ledger.db.damaged-1"
    assert aside.read_bytes() == damaged
    assert any(str(aside) in warning for warning in warnings)


def test_grace_still_holds_a_newcomer(memory: Path) -> None:
    lose(memory)
    written(memory, {**TEXTS, "N": ["[session] 2026-01-01: new"]})
    assert removed(memory) == ["goes" + OLD]
    assert removed(memory) == []


def test_clock_behind_the_baseline_is_refused_without_a_ledger(memory: Path) -> None:
    lose(memory)
    for run in (scanned, pruned):
        with pytest.raises(MemttlError) as refused:
            run(memory, now="2026-05-20")
        assert refused.value.exit_code == 75


def test_first_run_warns_of_nothing(tmp_path: Path) -> None:
    for name, run in (("scan", scanned), ("prune", pruned)):
        (tmp_path / name).mkdir()
        path = written(tmp_path / name / "memory.jsonl", TEXTS)
        assert run(path, now=DAY.format(1)).warnings == ()
        assert run(path, now=DAY.format(2)).warnings == ()


def test_first_run_that_was_refused_is_no_lost_ledger(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"A": [f"{i}{OLD}" for i in range(30)]})
    assert pruned(path, now=DAY.format(1)).exit_code == 4
    assert pruned(path, now=DAY.format(1), force=True).warnings == ()


# lost for good


def edit_log(path: Path) -> None:
    lose(path)
    log_of(path).write_bytes(log_of(path).read_bytes().replace(b'"pinned":true', b'"pinned":null', 1))


def lose_both(path: Path) -> None:
    pruned(path, now=DAY.format(1))
    lose(path)
    log_of(path).unlink()


def empty_log(path: Path) -> None:
    pruned(path, now=DAY.format(1))
    lose(path)
    log_of(path).write_bytes(b"")


def scramble_and_lose_log(path: Path) -> None:
    scramble(path)
    log_of(path).unlink()


FOR_GOOD = [edit_log, lose_both, empty_log, scramble_and_lose_log]


@pytest.mark.parametrize("damage", FOR_GOOD)
@pytest.mark.parametrize("how", [{}, {"dry_run": True}, {"check": True}, {"force": True}])
def test_prune_refuses_and_changes_nothing(memory: Path, damage: Callable[[Path], None], how: dict) -> None:
    damage(memory)
    before = tree(memory.parent)
    with pytest.raises(LedgerLost) as refused:
        pruned(memory, now=DAY.format(2), **how)
    assert refused.value.exit_code == 73
    assert tree(memory.parent) == before


@pytest.mark.parametrize("damage", FOR_GOOD)
def test_scan_refuses_too(memory: Path, damage: Callable[[Path], None]) -> None:
    damage(memory)
    with pytest.raises(LedgerLost):
        scanned(memory, DAY.format(2))


@pytest.mark.parametrize("damage", FOR_GOOD)
def test_scan_that_was_refused_does_not_hide_the_loss_from_a_prune(
    memory: Path, damage: Callable[[Path], None]
) -> None:
    damage(memory)
    for run in (scanned, pruned):
        with pytest.raises(LedgerLost):
            run(memory, now=DAY.format(2))


@pytest.mark.parametrize("damage", FOR_GOOD)
def test_explain_warns_and_goes_on(memory: Path, damage: Callable[[Path], None]) -> None:
    damage(memory)
    reasons, warnings = explained(memory)
    assert "stays" in reasons
    assert len(warnings) == 1
    assert "cannot be rebuilt" in warnings[0]


@pytest.mark.parametrize("damage", [lose, scramble, *FOR_GOOD])
def test_dry_run_and_real_run_give_the_same_exit_code(memory: Path, damage: Callable[[Path], None]) -> None:
    damage(memory)
    codes = [
        memttl("prune", how, "--file", memory, "--now", DAY.format(2)).returncode for how in ("--dry-run", "--yes")
    ]
    assert codes in ([0, 0], [73, 73])


def test_torn_last_line_of_the_log_is_no_loss(memory: Path) -> None:
    lose(memory)
    with log_of(memory).open("ab") as f:
        f.write(b'{"v":1,"eve')
    assert removed(memory) == ["goes" + OLD]


# damage of every kind, never a pin lost, never a traceback


def outcome_of(run: Callable[[], PruneOutcome]) -> list[str] | int:
    """What a prune removed, or the exit code of its refusal; anything else is raised."""
    try:
        return [v.observation for v in run().plan.removals]
    except MemttlError as e:
        return e.exit_code


def assert_pins_hold(path: Path) -> None:
    for _ in range(2):  # the first run may rebuild it, and the second reads what was made
        found = outcome_of(lambda: pruned(path, now=DAY.format(2)))
        assert found in (["goes" + OLD], [], 73, 75, 77)
        assert b"pinned [expires" in path.read_bytes()
        assert b"of a pinned entity [expires" in path.read_bytes()


@pytest.mark.parametrize("page", range(8))
def test_flipped_byte_never_loses_a_pin(memory: Path, tmp_path: Path, page: int) -> None:
    data = ledger_path(memory).read_bytes()
    start = page * 4096
    if start >= len(data):
        pytest.skip("the ledger has fewer pages")
    used = [at for at in range(start, start + 4096) if data[at]]
    for number, at in enumerate(used[:: max(1, len(used) // 60)]):
        folder = tmp_path / str(number)
        shutil.copytree(memory.parent, folder, ignore=shutil.ignore_patterns("[0-9]*"))
        path = folder / "memory.jsonl"
        flipped = bytearray(data)
        flipped[at] ^= 0x55
        ledger_path(path).write_bytes(flipped)
        assert_pins_hold(path)
        explained(path)
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM meta",
        "UPDATE setting SET digest = upper(digest)",
        "UPDATE setting SET asked = '{}'",
        "UPDATE setting SET entity = x'42'",
        "UPDATE entity_pin SET pattern = x'42'",
        "UPDATE entity SET sightings = x'0102'",
        "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM setting; END",
        "DROP TABLE setting",
        "DROP TABLE entity_pin",
        "PRAGMA application_id = 5",
        "PRAGMA user_version = 9",
    ],
)
def test_damaged_row_never_loses_a_pin(memory: Path, statement: str) -> None:
    edit(memory, statement)
    assert_pins_hold(memory)
