"""Most of the memory gone since the last look, and a clock behind it: refused by scan and prune, whatever is forced."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from ledgers import DAY, die, first_seen, in_killed_child, numbered, scanned, written
from process import tree
from pruning import at, pruned, settings_of, state_folder

from memttl.core.selection import Choice
from memttl.errors import ClockBehind
from memttl.workflow.explain import explain

EXPIRED = " [expires 2026-01-01]"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return written(tmp_path / "memory.jsonl", {"A": ["one", "two"], "B": ["three"]})


def counts(path: Path, now: str) -> tuple[int, int, int]:
    """New, gone and known observations of a scan."""
    found = scanned(path, now).found
    return found.new, found.gone, found.known


def shrunk(path: Path, graph: dict[str, list[str]], then: int = 40, entities: int = 4, **how: bool) -> int:
    """The exit code of a scan of another graph, after one of `then` observations."""
    written(path, numbered(then, entities=entities))
    scanned(path)
    written(path, graph)
    return scanned(path, DAY.format(2), **how).exit_code


@pytest.mark.parametrize(
    ("then", "now", "code"),
    [(19, 0, 0), (20, 0, 4), (40, 13, 4), (40, 19, 4), (40, 20, 0), (40, 21, 0), (1000, 0, 4)],
)
def test_truncated_file_is_refused(memory: Path, then: int, now: int, code: int) -> None:
    assert shrunk(memory, numbered(now, entities=4), then=then) == code


def test_swapped_file_is_refused(memory: Path) -> None:
    other = {f"Other {i}": [f"thing {j}" for j in range(10)] for i in range(4)}
    assert shrunk(memory, other) == 4


def test_half_of_each_entity_reworded_is_ordinary(memory: Path) -> None:
    graph = {name: [t if i % 2 else t + "!" for i, t in enumerate(ts)] for name, ts in numbered(40, entities=4).items()}
    assert shrunk(memory, graph) == 0


def test_all_of_each_entity_reworded_is_ordinary(memory: Path) -> None:
    graph = {name: [text + "!" for text in texts] for name, texts in numbered(40, entities=4).items()}
    assert shrunk(memory, graph) == 0


def test_slow_rewording_over_months_is_ordinary(memory: Path) -> None:
    graph = numbered(60, entities=6)
    for month in range(1, 6):
        graph = {
            name: [f"{t}{month}" if i % 3 == month % 3 else t for i, t in enumerate(ts)] for name, ts in graph.items()
        }
        assert scanned(written(memory, graph), f"2026-0{month}-01").exit_code == 0


def test_refused_look_leaves_the_ledger(memory: Path) -> None:
    written(memory, numbered(40))
    scanned(memory)
    before = [tree(state_folder(memory))[name] for name in ("ledger.db", "audit.jsonl")]
    written(memory, {})
    assert scanned(memory, DAY.format(2)).exit_code == 4
    assert [tree(state_folder(memory))[name] for name in ("ledger.db", "audit.jsonl")] == before


def test_what_vanished_and_came_back_is_as_old_as_it_was(memory: Path) -> None:
    whole = numbered(40)
    scanned(written(memory, whole))
    scanned(written(memory, {}), DAY.format(2))
    assert counts(written(memory, whole), DAY.format(3)) == (0, 0, 40)
    assert first_seen(memory, "E0") == ["2026-06-01"]


def test_accepted_loss_is_recorded(memory: Path) -> None:
    assert shrunk(memory, {"E0": ["text 0"]}, accept_vanished=True) == 0
    assert scanned(memory, DAY.format(3)).exit_code == 0
    assert pruned(memory, now=DAY.format(3)).exit_code == 0


@pytest.mark.parametrize(
    "how", [{}, {"force": True}, {"dry_run": True}, {"check": True}, {"dry_run": True, "force": True}]
)
def test_prune_refuses_it_too_whatever_is_forced(memory: Path, how: dict[str, bool]) -> None:
    written(memory, numbered(40))
    scanned(memory)
    written(memory, {"E0": ["text 0", "text 1" + EXPIRED]})
    before = tree(memory.parent)
    outcome = pruned(memory, now=DAY.format(2), ask=None, **how)
    assert (outcome.exit_code, outcome.applied) == (4, False)
    assert tree(memory.parent) == before


def test_prune_of_what_has_expired_is_no_loss(memory: Path) -> None:
    graph = {"A": [f"text {i}" + EXPIRED * (i % 10 > 2) for i in range(40)]}
    scanned(written(memory, graph))
    assert pruned(memory, now=DAY.format(2), force=True).plan.counts.removed == 28
    assert pruned(memory, now=DAY.format(3)).exit_code == 0
    assert scanned(memory, DAY.format(3)).exit_code == 0


@pytest.mark.parametrize("step", ["exchanged", "settled", "synced", "end logged"])
def test_what_a_killed_prune_removed_is_no_loss(memory: Path, step: str) -> None:
    graph = {"A": [f"text {i}" + EXPIRED * (i % 10 > 2) for i in range(40)]}
    scanned(written(memory, graph))
    in_killed_child(lambda: pruned(memory, now=DAY.format(2), force=True, step=at(step, die)))
    assert len(json.loads(memory.read_bytes())["observations"]) == 12
    assert pruned(memory, now=DAY.format(3)).exit_code == 0
    assert scanned(memory, DAY.format(3)).exit_code == 0


@pytest.mark.parametrize("step", ["exchanged", "settled", "synced", "end logged"])
def test_dry_run_and_scan_after_a_killed_prune_come_to_the_same_as_the_next_run(memory: Path, step: str) -> None:
    graph = {"A": [f"text {i}" + EXPIRED * (i % 10 > 2) for i in range(40)]}
    scanned(written(memory, graph))
    in_killed_child(lambda: pruned(memory, now=DAY.format(2), force=True, step=at(step, die)))
    assert pruned(memory, now=DAY.format(3), dry_run=True, ask=None).exit_code == 0
    assert scanned(memory, DAY.format(3)).exit_code == 0
    assert pruned(memory, now=DAY.format(3)).exit_code == 0


def test_what_a_killed_prune_removed_is_no_loss_to_a_scan(memory: Path) -> None:
    graph = {"A": [f"text {i}" + EXPIRED * (i % 10 > 2) for i in range(40)]}
    scanned(written(memory, graph))
    in_killed_child(lambda: pruned(memory, now=DAY.format(2), force=True, step=at("end logged", die)))
    outcome = scanned(memory, DAY.format(3))
    assert (outcome.exit_code, outcome.found.gone) == (0, 28)


def test_loss_after_a_killed_prune_is_still_one(memory: Path) -> None:
    graph = {"A": [f"text {i}" + EXPIRED * (i % 4 == 0) for i in range(80)]}
    scanned(written(memory, graph))
    in_killed_child(lambda: pruned(memory, now=DAY.format(2), step=at("end logged", die)))
    written(memory, {"A": ["text 1"]})
    assert pruned(memory, now=DAY.format(3)).exit_code == 4


# the clock


@pytest.mark.parametrize("now", ["2026-06-08T12:00:00Z", "2026-06-07T12:00:00Z"])
def test_now_up_to_a_day_behind_will_do(memory: Path, now: str) -> None:
    scanned(memory, "2026-06-08T12:00:00Z")
    assert counts(memory, now) == (0, 0, 3)
    assert pruned(memory, now=now).exit_code == 0


@pytest.mark.parametrize("record", [scanned, pruned, partial(pruned, dry_run=True)], ids=["scan", "prune", "dry run"])
def test_now_more_than_a_day_behind_is_refused(memory: Path, record: Callable[..., object]) -> None:
    scanned(memory, "2026-06-08T12:00:00Z")
    before = tree(memory.parent)
    with pytest.raises(ClockBehind):
        record(memory, now="2026-06-07T11:59:59Z")
    assert tree(memory.parent) == before


def test_explain_is_never_refused_for_the_clock(memory: Path) -> None:
    scanned(memory, "2026-06-08T12:00:00Z")
    assert explain(settings_of(memory, now="2025-01-01"), Choice()).explanation.verdicts


def test_now_after_the_clock_is_stamped_with_the_clock(memory: Path) -> None:
    outcome = scanned(memory, "2999-01-01")
    assert outcome.baseline is not None
    assert outcome.baseline - settings_of(memory).clock < timedelta(seconds=1)
