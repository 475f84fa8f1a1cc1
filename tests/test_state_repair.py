"""The state mended by `doctor --repair`: what of a damaged ledger and log is kept, and that runs go on after it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from archives import EXPIRED, archive_of, graph, laid, run
from ledgers import baseline_of, edit, first_seen, ledger_path, opened, pin, pin_entity, scanned, sightings, written
from process import aged, memttl, tree
from pruning import AT_ONCE, at, events_of, pruned, state_folder
from support import entity

from memttl.core.repair_outcome import RepairOutcome
from memttl.core.sightings import Sighting, pack
from memttl.errors import ClockBehind, LedgerLost
from memttl.files import audit
from memttl.files.ledger_open import Ledger, _connect
from memttl.files.ledger_rows import sealed
from memttl.files.mending import STEPS
from memttl.files.state import state_of
from memttl.settings import Given, resolve
from memttl.workflow.log import verified
from memttl.workflow.prune import Request as PruneRequest
from memttl.workflow.prune import prune
from memttl.workflow.repair import Request, repair
from memttl.workflow.undo import Request as UndoRequest
from memttl.workflow.undo import undo

OLD = "[session] 2026-04-01: old"
CLOCK = datetime(2026, 6, 10, 12, tzinfo=UTC)


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A memory file with a state: pinned by text and by entity, and pruned once, so that one run can be undone."""
    path = written(tmp_path / "memory.jsonl", {"A": ["kept", "x"], "B": [OLD]})
    scanned(path, "2026-05-01T12:00:00Z")
    pin(path, "A", "kept")
    pin_entity(path, "C*")
    outcome = pruned(path, now="2026-06-01T12:00:00Z", force=True)
    assert outcome.applied
    return aged(path)


def repaired(
    path: Path, *, clock: datetime = CLOCK, dry_run: bool = False, step: Callable[[str], None] = lambda _: None
) -> RepairOutcome:
    settings = resolve(str(path), Given(), {}, clock)
    return repair(settings, Request(dry_run=dry_run, pace=AT_ONCE), step=step)


def log_of(path: Path) -> Path:
    return state_folder(path) / "audit.jsonl"


def set_aside(path: Path) -> list[bytes]:
    return [found.read_bytes() for found in sorted(state_folder(path).glob("audit.jsonl.damaged-*"))]


def pins(path: Path) -> tuple[list[tuple[str, str | None]], list[str]]:
    with opened(path) as ledger:
        return [(s.entity, s.text) for s in ledger.settings() if s.asked.pinned], ledger.entity_pins()


BOTH = ([("A", "kept")], ["C*"])


def lose_ledger(path: Path) -> None:
    ledger_path(path).unlink()


def edit_log(path: Path, old: bytes = b'"tier":"session"', new: bytes = b'"tier":"sessiom"') -> None:
    data = log_of(path).read_bytes()
    assert old in data
    log_of(path).write_bytes(data.replace(old, new, 1))


def tear_log(path: Path) -> None:
    """Tear the first line, which holds the baseline, in the middle."""
    first, rest = log_of(path).read_bytes().split(b"\n", 1)
    log_of(path).write_bytes(first[:30] + b"\n" + rest)


def cut_log(path: Path) -> None:
    lines = log_of(path).read_bytes().splitlines(keepends=True)
    log_of(path).write_bytes(b"".join(lines[:-2]))


def is_mended(path: Path) -> bool:
    later = max(CLOCK + timedelta(days=60), datetime.now(UTC))  # no stamp of a test lies after it
    is_whole = verified(resolve(str(path), Given(), {}, later)).found.broken is None
    return is_whole and audit.is_whole(log_of(path)) and not repaired(path, clock=later).state


def test_a_sound_state_is_left_alone(used: Path) -> None:
    before = tree(used.parent)
    outcome = repaired(used)
    assert (outcome.state, outcome.is_state_mended) == ((), False)
    assert tree(used.parent) == before


@pytest.mark.parametrize("harm", [edit_log, tear_log, cut_log], ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("with_ledger", [True, False])
def test_pins_outlive_a_log_that_was_edited_torn_or_cut(
    used: Path, harm: Callable[[Path], None], *, with_ledger: bool
) -> None:
    memory = used.read_bytes()
    harm(used)
    damaged = log_of(used).read_bytes()
    if not with_ledger:
        lose_ledger(used)
        with pytest.raises(LedgerLost):
            pruned(used, now="2026-06-10T12:00:00Z")
    outcome = repaired(used)
    assert outcome.is_state_mended
    assert not outcome.applied
    assert used.read_bytes() == memory
    assert set_aside(used) == [damaged]
    assert pins(used) == BOTH
    assert is_mended(used)
    lose_ledger(used)  # a later loss is rebuilt from the new log
    scanned(used, "2026-06-11T12:00:00Z")
    assert pins(used) == BOTH


@pytest.mark.parametrize("log_bytes", [None, b""])
def test_pins_outlive_a_log_that_is_gone_while_the_ledger_is_sound(used: Path, log_bytes: bytes | None) -> None:
    log_of(used).unlink()
    if log_bytes is not None:
        log_of(used).write_bytes(log_bytes)
    assert [m.what for m in repaired(used).state] == ["audit log"]
    assert set_aside(used) == []
    lose_ledger(used)
    scanned(used, "2026-06-11T12:00:00Z")
    assert pins(used) == BOTH
    assert is_mended(used)


def test_where_both_are_lost_it_begins_anew_and_says_so(used: Path) -> None:
    ledger_path(used).write_bytes(b"x" * 200)
    log_of(used).write_bytes(b"")
    outcome = repaired(used)
    assert [m.what for m in outcome.state] == ["audit log", "ledger"]
    assert "pins and settings made so far may be missing" in outcome.state[1].done
    assert pins(used) == ([], [])
    assert (state_folder(used) / "ledger.db.damaged-1").read_bytes() == b"x" * 200
    assert len(list((state_folder(used) / "backups").iterdir())) == 1
    assert is_mended(used)
    assert pruned(used, now="2026-06-20T12:00:00Z").plan.removals == ()


def test_without_a_baseline_the_oldest_backup_tells_one(used: Path) -> None:
    (backup,) = (state_folder(used) / "backups").iterdir()
    backup.rename(backup.with_name("20260401T120000Z-ab.jsonl"))
    lose_ledger(used)
    log_of(used).write_bytes(b"")
    repaired(used)
    assert baseline_of(used) == datetime(2026, 4, 1, 12, tzinfo=UTC)


def test_what_arrives_after_a_lost_baseline_has_its_days_of_grace(used: Path) -> None:
    for backup in (state_folder(used) / "backups").iterdir():
        backup.unlink()
    ledger_path(used).write_bytes(b"x" * 200)
    log_of(used).write_bytes(b"")
    written(used, {"B": [OLD]})
    repaired(used)
    assert pruned(used, now="2026-06-10T12:00:00Z", force=True).plan.removals == ()


def test_a_folder_that_was_emptied_is_begun_anew(used: Path) -> None:
    lose_ledger(used)
    log_of(used).unlink()
    (state_folder(used) / "audit.head").unlink()
    with pytest.raises(LedgerLost, match="another state folder"):
        pruned(used, now="2026-06-10T12:00:00Z")
    assert repaired(used).is_state_mended
    pruned(used, now="2026-06-11T12:00:00Z")


def test_a_ledger_that_the_log_tells_is_made_anew(used: Path) -> None:
    lose_ledger(used)
    outcome = repaired(used)
    assert [(m.what, m.done.partition(":")[0]) for m in outcome.state] == [("ledger", "missing")]
    assert set_aside(used) == []
    assert pins(used) == BOTH


def test_a_run_that_is_whole_in_the_damaged_log_can_still_be_undone(used: Path) -> None:
    tear_log(used)
    lose_ledger(used)
    repaired(used)
    undo(resolve(str(used), Given(), {}, CLOCK), UndoRequest(pace=AT_ONCE))
    assert OLD in used.read_text()


def test_a_removal_whose_text_was_edited_is_left_out(used: Path) -> None:
    edit_log(used, b"2026-04-01: old", b"2026-04-01: new")
    outcome = repaired(used)
    assert "1 line cannot be relied on" in outcome.state[0].done
    assert all(event["event"] != "removed" for event in events_of(used))


def test_an_edited_line_takes_no_pin_away(used: Path) -> None:
    digest = next(e["digest"] for e in events_of(used) if e["event"] == "set" and "digest" in e)
    line = {"event": "set", "entity": "A", "digest": digest, "settings": {"tier": "session"}}
    audit.append(log_of(used), [line, {"event": "accepted"}], used.stat())
    edit_log(used, b'"settings":{"tier":"session"}', b'"settings":{}')
    lose_ledger(used)
    outcome = repaired(used)
    assert "may have been edited" in outcome.state[1].done
    assert [entity_ for entity_, _ in pins(used)[0]] == ["A"]


def test_a_whole_line_does_take_a_pin_away(used: Path) -> None:
    audit.append(
        log_of(used), [{"event": "set", "entity_pin": "C*", "settings": {}}, {"event": "accepted"}], used.stat()
    )
    tear_log(used)
    lose_ledger(used)
    repaired(used)
    assert pins(used) == ([("A", "kept")], [])


def test_the_ledger_wins_over_the_kept_lines(used: Path) -> None:
    edit(used, "DELETE FROM entity_pin")
    tear_log(used)
    repaired(used)
    assert pins(used) == ([("A", "kept")], [])
    lose_ledger(used)
    scanned(used, "2026-06-11T12:00:00Z")
    assert pins(used) == ([("A", "kept")], [])


def test_what_the_log_has_set_and_the_ledger_lacks_is_kept(used: Path) -> None:
    audit.append(log_of(used), [{"event": "set", "entity_pin": "D", "settings": {"pinned": True}}], used.stat())
    tear_log(used)
    repaired(used)
    assert pins(used)[1] == ["C*", "D"]


def test_texts_stay_out_of_the_new_log_where_the_policy_says_so(used: Path) -> None:
    log_of(used).unlink()
    (used.parent / "memttl.toml").write_text("[audit]\ntext = false\n")
    repaired(used)
    assert "kept" not in log_of(used).read_text()


def test_the_set_aside_log_has_the_memory_files_mode(used: Path) -> None:
    used.chmod(0o600)
    tear_log(used)
    repaired(used)
    (aside,) = state_folder(used).glob("audit.jsonl.damaged-*")
    assert aside.stat().st_mode & 0o777 == 0o600


def test_a_later_cut_of_the_new_log_shows(used: Path) -> None:
    tear_log(used)
    repaired(used)
    cut_log(used)
    assert not audit.is_whole(log_of(used))


# stamps after the clock

LATE = int((CLOCK + timedelta(days=400)).timestamp())
A_DAY_LATE = LATE // 86_400


def run_ahead(path: Path) -> None:
    """A ledger of a machine whose clock had run ahead: one text first seen then, one last seen then."""
    connection = _connect(ledger_path(path), "rw")
    with Ledger(connection).transaction(write=True):
        rows = {bytes(8): Sighting(LATE), b"1" * 8: Sighting(1_700_000_000, A_DAY_LATE)}
        connection.execute("INSERT INTO entity VALUES (NULL, x'5a', x'', ?, ?)", (A_DAY_LATE, sealed(pack(rows), b"Z")))
        connection.execute("UPDATE meta SET value = ? WHERE key IN ('newest', 'looked', 'baseline')", (LATE,))
        Ledger(connection).seal_numbers()
    connection.close()


def test_stamps_after_the_clock_are_lowered_to_it(used: Path) -> None:
    run_ahead(used)
    settings = resolve(str(used), Given(), {}, CLOCK)
    with pytest.raises(ClockBehind):
        prune(settings, PruneRequest(pace=AT_ONCE))
    outcome = repaired(used)
    assert [(m.what, m.done.partition(" after")[0]) for m in outcome.state] == [("ledger", "5 stamps")]
    assert any("set the clock first" in warning for warning in outcome.warnings)
    found = sightings(used, "Z")
    assert found[bytes(8)].first_seen == int(CLOCK.timestamp())
    assert found[b"1" * 8] == Sighting(1_700_000_000, int(CLOCK.timestamp()) // 86_400)
    assert baseline_of(used) == CLOCK
    prune(settings, PruneRequest(pace=AT_ONCE))
    assert is_mended(used)


def test_stamps_and_a_damaged_log_are_mended_together(used: Path) -> None:
    run_ahead(used)
    tear_log(used)
    assert [m.what for m in repaired(used).state] == ["audit log", "ledger"]
    assert baseline_of(used) == CLOCK
    assert is_mended(used)


def test_a_clock_of_1970_lowers_nothing(used: Path) -> None:
    before = ledger_path(used).read_bytes()
    outcome = repaired(used, clock=datetime(1970, 1, 1, tzinfo=UTC))
    assert outcome.state == ()
    assert any("no memory server yet" in warning for warning in outcome.warnings)
    assert ledger_path(used).read_bytes() == before


def test_other_sightings_stay(used: Path) -> None:
    run_ahead(used)
    repaired(used)
    assert first_seen(used, "A") == ["2026-05-01"]


# kills


def killed_at(path: Path, step: str) -> None:
    child = os.fork()
    if not child:
        try:
            repaired(path, step=at(step, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), f"no step {step}"


# a ledger that is made anew has no stamps to lower
KILLS = [(step, lost) for step in STEPS for lost in (True, False) if not (lost and step == "stamps logged")]


@pytest.mark.parametrize(("step", "lost"), KILLS)
def test_a_kill_leaves_ledger_and_log_old_or_new_and_the_next_repair_finishes(
    used: Path, step: str, *, lost: bool
) -> None:
    memory = used.read_bytes()
    if step == "stamps logged":
        run_ahead(used)
    else:
        tear_log(used)
    if lost:
        ledger_path(used).write_bytes(b"x" * 200)
    killed_at(used, step)
    assert used.read_bytes() == memory
    repaired(used)
    assert pins(used) == BOTH
    assert is_mended(used)
    assert len(set_aside(used)) == (step != "stamps logged")
    undo(resolve(str(used), Given(), {}, CLOCK), UndoRequest(pace=AT_ONCE))
    assert OLD in used.read_text()


# as a process


def test_file_and_state_are_shown_and_asked_as_one(used: Path) -> None:
    used.write_bytes(used.read_bytes().rstrip(b"\n") + b"]}\n")
    tear_log(aged(used))
    before = tree(used.parent)
    planned = memttl("doctor", "--repair", "--dry-run", "--file", used)
    assert planned.returncode == 0
    assert "audit log: line 1 is" in planned.stdout
    assert "Would repair: 1 change" in planned.stdout
    assert "Would mend: 1 thing" in planned.stdout
    assert tree(used.parent) == before
    done = memttl("doctor", "--repair", "--yes", "--json", "--file", used)
    document = json.loads(done.stdout)
    assert document["applied"]
    assert [list(mending) for mending in document["state"]] == [["what", "done"]]
    assert is_mended(used)


def test_only_the_state_is_mended_where_the_file_is_sound(used: Path) -> None:
    tear_log(used)
    before = used.stat()
    done = memttl("doctor", "--repair", "--yes", "--file", used)
    assert done.returncode == 0
    assert "the memory file needs no repair and is as it was" in done.stdout
    after = used.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


@pytest.mark.parametrize("command", [("doctor",), ("prune", "--yes"), ("log", "verify")])
def test_who_meets_the_loss_is_told_of_repair(used: Path, command: tuple[str, ...]) -> None:
    tear_log(used)
    lose_ledger(used)
    told = memttl(*command, "--file", used)
    assert "memttl doctor --repair" in told.stdout + told.stderr


def test_forget_erases_in_the_set_aside_log_too(used: Path) -> None:
    written(used, {"A": ["kept", "x", "hunter2"]})
    pin(used, "A", "hunter2")
    tear_log(used)
    repaired(used)
    assert any(b"hunter2" in data for data in set_aside(used))
    assert memttl("forget", "A", "hunter2", "--yes", "--for-good", "--file", used).returncode == 0
    assert not [p for p in used.parent.rglob("*") if p.is_file() and b"hunter2" in p.read_bytes()]


def test_the_repair_stands_in_the_timeline(used: Path) -> None:
    tear_log(used)
    repaired(used)
    assert "repair: mended audit log; the log of before is audit.jsonl.damaged-" in memttl("log", "--file", used).stdout


# archives


def test_a_damaged_archive_is_repaired_without_a_ledger_and_taken_into_use_again(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([f"a {EXPIRED}"], name="E"))
    run(path)
    archive = archive_of(path)
    archive.write_bytes(archive.read_bytes() + b"]}")
    repaired(aged(archive), clock=datetime.now(UTC))
    assert not state_of(archive).ledger.exists()
    assert graph(archive) == [("E", [f"a {EXPIRED}"])]
    path.write_bytes(entity([f"b {EXPIRED}"], name="E"))
    run(path)
    assert graph(archive) == [("E", [f"a {EXPIRED}", f"b {EXPIRED}"])]
