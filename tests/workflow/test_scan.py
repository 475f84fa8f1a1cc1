"""The use case scan: it records what is there and touches nothing else; most of the memory gone is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ledgers import DAY, first_seen, ledger_path, numbered, scanned, sightings, written
from process import FIXTURES, aged, copy_of, memttl, tree
from pruning import events_of, names_in, pruned, settings_of, state_folder
from support import entity

from memttl.core.selection import Choice
from memttl.errors import Foreign, LedgerLost, Malformed, NoMemoryFile
from memttl.workflow.explain import explain
from memttl.workflow.prune import Request, prune
from memttl.workflow.scan import scan

EXPIRED = " [expires 2026-01-01]"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return written(tmp_path / "memory.jsonl", {"A": ["one", "two"], "B": ["three"]})


def counts(path: Path, now: str = DAY.format(1), **how: bool) -> tuple[int, int, int]:
    """New, gone and known observations of a scan."""
    found = scanned(path, now, **how).found
    return found.new, found.gone, found.known


def print_of(path: Path) -> tuple[object, ...]:
    """What moves when a file is written: bytes, inode, times."""
    about = path.stat()
    return path.read_bytes(), about.st_ino, about.st_mtime_ns, about.st_ctime_ns


def test_first_scan_finds_all_of_it_new(memory: Path) -> None:
    assert counts(memory) == (3, 0, 0)


def test_second_scan_knows_all_of_it(memory: Path) -> None:
    scanned(memory)
    assert counts(memory) == (0, 0, 3)


def test_scan_says_what_is_new_gone_and_known(memory: Path) -> None:
    scanned(memory)
    written(memory, {"A": ["one", "four", "five"], "C": ["three"]})
    assert counts(memory) == (3, 2, 1)


def test_empty_file_is_an_empty_graph(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {})
    outcome = scanned(path)
    assert (outcome.exit_code, outcome.found.observations, outcome.found.entities) == (0, 0, 0)
    assert outcome.baseline is not None


def test_what_came_after_an_empty_first_scan_is_a_newcomer(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {})
    scanned(path)
    written(path, {"A": ["x" + EXPIRED, "[session] 2026-01-01: y"]})
    plan = pruned(path, now=DAY.format(2), dry_run=True).plan
    assert [v.observation for v in plan.removals] == ["x" + EXPIRED]


def test_scan_writes_nothing_but_state(memory: Path) -> None:
    before = print_of(memory)
    scanned(memory)
    assert print_of(memory) == before
    assert names_in(memory.parent) == [".memttl", "memory.jsonl"]
    assert names_in(state_folder(memory)) == ["audit.head", "audit.jsonl", "backups", "ledger.db", "lock"]


def test_scan_that_finds_nothing_new_writes_nothing(memory: Path) -> None:
    scanned(memory)
    before = [print_of(ledger_path(memory)), print_of(state_folder(memory) / "audit.jsonl")]
    for _ in range(3):
        scanned(memory)
    assert [print_of(ledger_path(memory)), print_of(state_folder(memory) / "audit.jsonl")] == before


def test_another_day_is_written_once(memory: Path) -> None:
    scanned(memory)
    scanned(memory, DAY.format(2))
    before = print_of(ledger_path(memory))
    scanned(memory, DAY.format(2))
    assert print_of(ledger_path(memory)) == before


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (entity(["x"]) + b'\n{"type":"enti', Malformed),
        (b'{"role":"user"}\n', Foreign),
        (b"[]", Foreign),
        (b"\x1f\x8b\x08\x00", Foreign),
        (None, NoMemoryFile),
    ],
)
def test_what_is_no_memory_file_is_refused_without_a_folder(
    tmp_path: Path, data: bytes | None, error: type[Exception]
) -> None:
    path = tmp_path / "memory.jsonl"
    if data is not None:
        path.write_bytes(data)
        aged(path)
    before = tree(tmp_path)
    with pytest.raises(error):
        scanned(path)
    assert tree(tmp_path) == before


def test_file_damaged_later_is_refused_and_the_ledger_stays(memory: Path) -> None:
    scanned(memory)
    before = print_of(ledger_path(memory))
    memory.write_bytes(memory.read_bytes()[:-5])
    with pytest.raises(Malformed):
        scanned(aged(memory))
    assert print_of(ledger_path(memory)) == before


@pytest.mark.parametrize("name", ["example", "every-mark", "duplicate-entity-names", "lone-surrogate-escapes"])
def test_fixture_scanned_twice_is_known(tmp_path: Path, name: str) -> None:
    path = copy_of(FIXTURES / f"memory/{name}.jsonl", tmp_path)
    new, _, _ = counts(path)
    assert counts(path) == (0, 0, new)


def test_scan_and_prune_record_alike(tmp_path: Path) -> None:
    for name, record in (("scan", scanned), ("prune", pruned)):
        (tmp_path / name).mkdir()
        path = written(tmp_path / name / "memory.jsonl", {"A": ["one", "two"], "B": ["three"]})
        record(path, now=DAY.format(3))
        assert first_seen(path, "A") == ["2026-06-03"]
        assert counts(path, DAY.format(3)) == (0, 0, 3)


def test_what_a_scan_saw_has_its_age(memory: Path) -> None:
    scanned(memory)
    verdict, _ = explain(settings_of(memory, now=DAY.format(9)), Choice("A", "one")).explanation.verdicts[0]
    assert (verdict.age_source, str(verdict.created_at)) == ("seen", "2026-06-01 12:00:00+00:00")


def test_text_that_was_seen_expires_by_its_first_sighting(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"A": ["[session] x", "y"]})
    scanned(path, DAY.format(1))
    assert not pruned(path, now="2026-07-01T11:59:59Z", dry_run=True).plan.removals
    assert pruned(path, now="2026-07-01T12:00:00Z").plan.counts.removed == 1


# the whole command


def run(*args: str | Path, **how: Any) -> tuple[int, dict[str, Any]]:
    ended = memttl("scan", "--json", *args, **how)
    return ended.returncode, json.loads(ended.stdout)


def test_document_has_its_keys(memory: Path) -> None:
    code, document = run("--file", memory, "--now", "2026-06-01")
    assert code == 0
    assert document == {
        "schema": 1, "file": str(memory), "now": "2026-06-01T00:00:00Z", "recorded": True,
        "baseline": "2026-06-01T00:00:00Z", "new": 3, "gone": 0, "known": 0, "observations": 3, "entities": 2,
        "refusals": [], "warnings": [],
    }  # fmt: skip


def test_refusal_is_exit_4_and_names_the_way_out(memory: Path) -> None:
    scanned(written(memory, numbered(40)))
    written(memory, {})
    code, document = run("--file", memory, "--now", "2026-06-02")
    assert (code, document["recorded"], len(document["refusals"])) == (4, False, 1)
    told = memttl("scan", "--file", memory, "--now", "2026-06-02").stdout
    assert 0 < told.find("memttl backups list") < told.find("--accept-vanished")
    assert run("--file", memory, "--now", "2026-06-02", "--accept-vanished")[0] == 0


def test_prune_says_what_accepts_the_loss(memory: Path) -> None:
    scanned(written(memory, numbered(40)))
    written(memory, {"E0": ["text 0" + EXPIRED]})
    ended = memttl("prune", "--force", "--yes", "--file", memory, "--now", "2026-06-02")
    assert ended.returncode == 4
    assert 0 < ended.stdout.find("memttl backups list") < ended.stdout.find("--accept-vanished")


def test_text_names_the_three_numbers(memory: Path) -> None:
    ended = memttl("scan", "--file", memory, "--now", "2026-06-01")
    assert ended.stdout == f"{memory}: 3 new, 0 gone, 0 known; 3 observations in 2 entities.\n"
    assert ended.stderr == ""


@pytest.mark.parametrize(("fixture", "code"), [("truncated-tail", 65), ("chat-log", 65), ("empty", 0)])
def test_exit_codes(tmp_path: Path, fixture: str, code: int) -> None:
    path = copy_of(FIXTURES / f"memory/{fixture}.jsonl", tmp_path)
    assert memttl("scan", "--file", path, "--now", "2026-06-01").returncode == code
    assert (tmp_path / ".memttl").exists() == (code == 0)


def test_missing_file_is_66(tmp_path: Path) -> None:
    assert memttl("scan", "--file", tmp_path / "no.jsonl").returncode == 66
    assert names_in(tmp_path) == []


def test_ledger_lies_where_state_lies(memory: Path, tmp_path: Path) -> None:
    assert memttl("scan", "--file", memory, env={"MEMTTL_STATE_DIR": str(tmp_path / "state")}).returncode == 0
    (kept,) = (tmp_path / "state").iterdir()
    assert names_in(kept) == ["audit.head", "audit.jsonl", "backups", "ledger.db", "outcomes.jsonl", "path"]
    assert names_in(state_folder(memory)) == ["lock"]


def test_policy_may_put_the_ledger_elsewhere(memory: Path) -> None:
    policy = '[state]\ndir = "state"\n'
    scanned(memory, policy=policy)
    (kept,) = (memory.parent / "state").iterdir()
    assert (kept / "ledger.db").exists()
    assert names_in(state_folder(memory)) == ["lock"]
    assert scanned(memory, policy=policy).found.known == 3


def test_duplicates_count_once_an_entity(memory: Path) -> None:
    written(memory, {"A": ["x", "x", {"text": "x"}, None, 5]})
    assert counts(memory) == (1, 0, 0)
    assert len(sightings(memory, "A")) == 1


def test_accepted_loss_is_in_the_audit_log(memory: Path) -> None:
    scanned(written(memory, numbered(40)))
    written(memory, {"E0": ["text 0"]})
    scan(settings_of(memory, now=DAY.format(2)), accept_vanished=True)
    assert [(e["event"], e.get("gone")) for e in events_of(memory)] == [("baseline", None), ("accepted", 39)]


def test_file_that_was_used_with_another_state_folder_is_refused(memory: Path, tmp_path: Path) -> None:
    scanned(memory)
    other = settings_of(memory, now=DAY.format(2), MEMTTL_STATE_DIR=str(tmp_path / "other"))
    for use in (lambda: scan(other), lambda: prune(other, Request(dry_run=True)), lambda: prune(other, Request())):
        with pytest.raises(LedgerLost, match="used with another state folder"):
            use()
    assert not (tmp_path / "other").exists()
