"""`memttl doctor` on real files and folders: each finding is made once, a clean file has none, nothing is written."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from checkups import GOOD, checked, names, one, only, written
from ledgers import edit, leave_hot_journal, ledger_path, scanned
from process import FIXTURES, Terminal, aged, copy_of, error_of, memttl, tree
from pruning import STEPS, at, pruned, state_folder
from support import entity
from without_root import NOBODY, memttl_as_nobody, needs_root, nobodys_folder

from memttl.core.findings import SEVERITIES
from memttl.files import audit
from memttl.files.foreign_lock import wait_for_foreign_lock
from memttl.files.lock import locked
from memttl.files.outcomes import keep_outcome
from memttl.files.state import prepare, state_of
from memttl.report.doctor import render

EXPIRED = entity(["old [expires 2026-01-01]", "stays"], name="A") + b"\n"
ALL = sorted([*(FIXTURES / "memory").glob("*.jsonl"), *(FIXTURES / "from-servers").glob("*.jsonl")])


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return written(tmp_path)


@pytest.fixture
def used(memory: Path) -> Path:
    """A memory file that has been scanned and pruned once."""
    memory.write_bytes(EXPIRED)
    scanned(aged(memory), now=datetime.now(UTC).isoformat())
    pruned(memory, now=datetime.now(UTC).isoformat())
    return aged(memory)


# ---- all is well


def test_clean_file_has_no_finding(memory: Path) -> None:
    assert names(checked(memory)) == []
    assert checked(memory).exit_code == 0


def test_clean_file_after_runs_has_no_finding(used: Path) -> None:
    assert names(checked(used)) == []


def test_text_says_first_that_all_is_well(memory: Path) -> None:
    assert render(checked(memory)).startswith(f"{memory}: all is well")


# ---- the file


def test_missing_file(tmp_path: Path) -> None:
    ended = memttl("doctor", "--json", "--file", tmp_path / "memory.jsonl")
    document = json.loads(ended.stdout)
    assert ended.returncode == 66
    assert [f["name"] for f in document["findings"]] == ["missing"]
    assert os.listdir(tmp_path) == []


def test_missing_file_with_backups_names_them(used: Path) -> None:
    used.unlink()
    outcome = checked(used)
    assert outcome.exit_code == 66
    assert "memttl backups list" in one(outcome, "missing").help


def test_missing_file_is_put_back_by_the_command_that_is_named(used: Path) -> None:
    used.unlink()
    help_ = one(checked(used), "missing").help
    assert memttl(*shlex.split(help_.split("`")[3])[1:], "--yes").returncode == 0
    assert used.read_bytes() == EXPIRED


def test_missing_folder_with_backups_kept_elsewhere_names_what_writes_one_out(tmp_path: Path) -> None:
    elsewhere = {"MEMTTL_STATE_DIR": str(tmp_path / "state")}
    folder = tmp_path / "gone"
    folder.mkdir()
    path = written(folder, EXPIRED)
    assert memttl("prune", "--yes", "--file", path, env=elsewhere).returncode == 0
    shutil.rmtree(folder)
    command = one(checked(path, **elsewhere), "missing").help.split("`")[3]
    assert "backups show" in command
    words = shlex.split(command.partition(" > ")[0])[1:]
    assert memttl(*words, env=elsewhere).stdout.encode() == EXPIRED


def test_pipe_in_its_place_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "memory.jsonl")
    outcome = checked(tmp_path / "memory.jsonl")
    assert (outcome.exit_code, names(outcome)) == (66, ["no-regular-file"])


def test_folder_in_its_place(tmp_path: Path) -> None:
    assert "no-regular-file" in names(checked(tmp_path))


@needs_root
def test_file_that_may_not_be_read() -> None:
    with nobodys_folder() as folder:
        path = written(folder)
        path.chmod(0o600)
        ended = memttl_as_nobody("doctor", "--json", "--file", path)
    assert (ended.returncode, found_by(ended)) == (77, ["unreadable"])


def found_by(ended: subprocess.CompletedProcess[str]) -> list[str]:
    """The names of the findings in a document, but for that of a lower rung."""
    return [f["name"] for f in json.loads(ended.stdout)["findings"] if f["name"] != "lower-rung"]


def test_damaged_file(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{")
    outcome = checked(aged(memory))
    assert (outcome.exit_code, only(outcome, "malformed-line").line) == (65, 3)


def test_file_that_a_server_is_writing_is_read_again(memory: Path) -> None:
    memory.write_bytes(GOOD[:-5])
    child = subprocess.Popen(["sh", "-c", f"sleep 0.5; cp '{written(memory.parent, name='whole')}' '{memory}'"])
    try:
        assert checked(memory).exit_code == 0
    finally:
        child.wait()


def test_memory_that_vanished(memory: Path) -> None:
    memory.write_bytes(entity([f"note {n}" for n in range(40)]))
    scanned(aged(memory))
    memory.write_bytes(b"")
    outcome = checked(aged(memory))
    assert "--accept-vanished" in one(outcome, "vanished").help


def emptied(path: Path, data: bytes = b"") -> Path:
    """A memory file that holds `data` in place of forty observations, which the last look saw and a backup holds."""
    path.write_bytes(entity([f"note {n}" for n in range(40)]) + b"\n" + EXPIRED)
    scanned(aged(path), now=datetime.now(UTC).isoformat())
    pruned(path, now=datetime.now(UTC).isoformat())
    path.write_bytes(data)
    return aged(path)


def run_of(path: Path) -> str:
    """The run of the one backup."""
    (backup,) = (state_folder(path) / "backups").iterdir()
    return backup.stem.partition("-")[2]


def test_vanished_memory_is_first_to_be_put_back_and_last_accepted(memory: Path) -> None:
    help_ = one(checked(emptied(memory)), "vanished").help
    words = ("memttl backups list", f"memttl backups restore {run_of(memory)} ", "--accept-vanished")
    assert 0 < help_.find(words[0]) < help_.find(words[1]) < help_.find(words[2])


def test_backup_that_is_named_is_the_newest_that_holds_something(memory: Path) -> None:
    emptied(memory)
    run = run_of(memory)
    (state_folder(memory) / "backups" / "20990101T000000Z-ff.jsonl").write_bytes(b"\n")
    assert f"restore {run} " in one(checked(memory), "vanished").help


def test_restore_that_is_named_puts_the_memory_back(memory: Path) -> None:
    help_ = one(checked(emptied(memory)), "vanished").help
    assert memttl(*shlex.split(help_.split("`")[3])[1:], "--yes").returncode == 0
    assert names(checked(aged(memory))) == []


def test_empty_file_does_not_say_that_all_is_well_beside_memory_that_vanished(memory: Path) -> None:
    outcome = checked(emptied(memory))
    assert "Nothing needs to be done" not in one(outcome, "empty").help
    shutil.rmtree(state_folder(memory) / "backups")
    assert "Nothing needs to be done" not in one(checked(memory), "empty").help


def test_what_cannot_be_read_is_not_offered_to_be_accepted_as_gone(memory: Path) -> None:
    help_ = one(checked(emptied(memory, b"{")), "vanished").help
    assert "Mend the file first" in help_
    assert "--accept-vanished" not in help_


def test_all_that_is_gone_is_not_counted_twice(memory: Path) -> None:
    assert one(checked(emptied(memory)), "vanished").message.startswith("all 41 observations")


# ---- its place


def test_symbolic_link(memory: Path) -> None:
    link = memory.with_name("link.jsonl")
    link.symlink_to(memory)
    assert "replaces the link" in only(checked(link), "symbolic-link").server


def test_hard_links(memory: Path) -> None:
    os.link(memory, memory.with_name("second"))
    outcome = checked(memory)
    assert "2 names" in only(outcome, "hard-links").message
    assert outcome.sizes.rung == "D"


def test_second_name_of_a_killed_run_is_no_hard_link(memory: Path) -> None:
    prepare(state_of(memory), memory.stat())
    os.link(memory, state_folder(memory) / "own")
    assert "hard-links" not in names(checked(memory))


def test_npx_cache(tmp_path: Path) -> None:
    folder = tmp_path / "_npx/15b07286cbcc3329/node_modules/x/dist"
    folder.mkdir(parents=True)
    assert names(checked(written(folder))) == ["npx-cache"]


def test_synced_folder(tmp_path: Path) -> None:
    folder = tmp_path / "Dropbox/notes"
    folder.mkdir(parents=True)
    assert "Dropbox" in only(checked(written(folder)), "synced-folder").message


def test_read_only_file(memory: Path) -> None:
    memory.chmod(0o444)
    assert "0444" in only(checked(memory), "read-only").message


def test_server_leftovers(memory: Path) -> None:
    left = memory.with_name(f"memory.jsonl.{'a' * 32}.tmp")
    left.write_bytes(GOOD)
    assert names(checked(memory)) == []
    os.utime(left, (time.time() - 100,) * 2)
    assert left.name in only(checked(memory), "server-leftover").message


def test_foreign_lock_fresh_and_stale(memory: Path) -> None:
    lock = memory.with_name("memory.jsonl.lock")
    lock.mkdir()
    assert only(checked(memory), "foreign-lock").severity == "note"
    os.utime(lock, (time.time() - 100,) * 2)
    assert only(checked(memory), "stale-lock").severity == "warning"
    assert wait_for_foreign_lock(memory, deadline=time.monotonic() + 1, stale_s=30)


@contextmanager
def mounted(*words: str | Path) -> Iterator[None]:
    if subprocess.run(["mount", *map(str, words)], capture_output=True).returncode:
        pytest.skip("mounting needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", str(words[-1])], check=True)


def test_single_file_mount(memory: Path) -> None:
    source = written(memory.parent, name="source")
    with mounted("--bind", source, memory):
        outcome = checked(memory)
    assert "single-file-mount" in names(outcome)
    assert outcome.sizes.rung == "D"


def test_state_folder_on_another_file_system(used: Path) -> None:
    with mounted("-t", "tmpfs", "none", used.parent / ".memttl"):
        prepare(state_of(used), used.stat())
        assert "state-on-another-file-system" in names(checked(used))


def test_state_folder_that_is_a_mount_of_the_same_file_system(used: Path) -> None:
    copy = used.with_name("copy")
    shutil.copytree(used.parent / ".memttl", copy)
    with mounted("--bind", copy, used.parent / ".memttl"):
        assert "state-on-another-file-system" in names(checked(used))


def test_read_only_folder_is_told_and_gets_no_trace(tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "none", tmp_path):
        path = copy_of(FIXTURES / "memory/every-mark.jsonl", tmp_path)
        memttl("prune", "--yes", "--file", path)
        before = tree(tmp_path)
        subprocess.run(["mount", "-o", "remount,ro", tmp_path], check=True)
        ended = memttl("doctor", "--json", "--file", path)
        assert ended.returncode == 0
        assert "read-only-folder" in [f["name"] for f in json.loads(ended.stdout)["findings"]]
        assert tree(tmp_path) == before


def test_lower_rung_is_a_note(tmp_path: Path) -> None:
    with mounted("-t", "ramfs", "none", tmp_path):
        outcome = checked(written(tmp_path))
        assert one(outcome, "lower-rung").severity == "note"
        assert outcome.sizes.rung == "B"


@needs_root
def test_home_of_another_user_hides_no_schedule_and_is_no_finding(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("config/systemd/user", "state/memttl"):
        (home / name).mkdir(parents=True)
    home.chmod(0o700)
    with nobodys_folder() as folder:
        path = written(folder)
        env = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": str(home / "state")}
        found = found_by(memttl_as_nobody("doctor", "--json", "--file", path, env=env))
    assert "could-not-be-checked" not in found


@needs_root
def test_file_of_another_user() -> None:
    with nobodys_folder() as folder:
        path = written(folder)
        path.chmod(0o644)
        os.chown(path, 0, 0)
        ended = memttl_as_nobody("doctor", "--json", "--file", path)
    assert found_by(ended) == ["another-owner"]
    assert json.loads(ended.stdout)["summary"]["rung"] == "D"


@needs_root
def test_state_folder_that_the_owner_of_the_file_cannot_write() -> None:
    with nobodys_folder() as folder:
        path = written(folder)
        os.chown(path, NOBODY, NOBODY)
        memttl_as_nobody("scan", "--file", path)
        state_of(path).kept.chmod(0o555)
        ended = memttl_as_nobody("doctor", "--json", "--file", path)
        assert "state-unwritable" in found_by(ended)


def test_npx_cache_does_not_say_to_copy_a_file_that_is_not_there(tmp_path: Path) -> None:
    help_ = one(checked(tmp_path / "_npx/x/memory.jsonl"), "npx-cache").help
    assert "`cp" not in help_
    assert "MEMORY_FILE_PATH" in help_


# ---- the policy


def test_help_with_a_policy_says_once_what_to_do(memory: Path) -> None:
    memory.with_name("memttl.toml").write_text('default_teir = "x"\n')
    help_ = only(checked(memory), "bad-policy").help
    assert help_ == f"Correct the policy; `memttl policy check --file {memory}` tells whether all is right then."


def test_every_problem_of_a_policy_is_a_finding(memory: Path) -> None:
    memory.with_name("memttl.toml").write_text('default_teir = "x"\n[tiers]\nsession = "0d"\n')
    outcome = checked(memory, check=True)
    assert [f.name for f in outcome.of("error")] == ["bad-policy", "bad-policy"]
    assert (outcome.exit_code, outcome.sizes.observations) == (3, 2)
    assert "memttl policy check" in outcome.findings[0].help


def test_policy_that_is_no_toml_or_not_there(memory: Path) -> None:
    memory.with_name("memttl.toml").write_bytes(b"\xff[")
    assert names(checked(memory)) == ["bad-policy"]
    assert names(checked(memory, MEMTTL_POLICY="/nowhere/x.toml")) == ["bad-policy"]


def test_warning_of_a_policy(memory: Path) -> None:
    memory.with_name("memttl.toml").write_text('default_tier = "session"\n')
    assert only(checked(memory), "policy-warning").severity == "warning"


# ---- the state folder


def test_damaged_ledger(used: Path) -> None:
    ledger_path(used).write_bytes(b"no database at all, but long enough to be read as one" * 10)
    finding = only(checked(used), "ledger-damaged")
    assert finding.severity == "error"
    assert "memttl scan" in finding.help


def test_ledger_with_a_damaged_index(used: Path) -> None:
    edit(used, "PRAGMA writable_schema = ON", "DELETE FROM sqlite_master WHERE name = 'entity_gone'")
    assert names(checked(used)) == ["ledger-damaged"]


def test_missing_ledger(used: Path) -> None:
    ledger_path(used).unlink()
    assert only(checked(used), "ledger-missing").severity == "warning"


def test_lost_ledger(used: Path) -> None:
    ledger_path(used).write_bytes(b"x" * 200)
    (state_folder(used) / "audit.jsonl").write_bytes(b"")
    (state_folder(used) / "audit.head").unlink()
    assert only(checked(used), "ledger-lost").severity == "error"


def test_ledger_of_a_newer_memttl(used: Path) -> None:
    edit(used, "PRAGMA user_version = 99")
    assert "newer memttl" in only(checked(used), "newer-state").message


def test_damaged_ledger_that_was_moved_aside(used: Path) -> None:
    shutil.copy(ledger_path(used), state_folder(used) / "ledger.db.damaged-1")
    assert only(checked(used), "damaged-ledger-aside").severity == "note"


def test_state_that_lies_in_another_folder(used: Path) -> None:
    shutil.move(state_folder(used) / "audit.jsonl", used.with_name("audit.jsonl"))
    ledger_path(used).unlink()
    assert "state-elsewhere" in names(checked(used))


def test_state_of_another_memory_file(used: Path, tmp_path: Path) -> None:
    outcome = memttl("scan", "--file", used, env={"MEMTTL_STATE_DIR": str(tmp_path / "state")})
    assert outcome.returncode == 73  # its ledger lies beside it
    kept = state_of(used, tmp_path / "state").kept
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "path").write_text("/another/file\n")
    assert "state-of-another" in names(checked(used, MEMTTL_STATE_DIR=str(tmp_path / "state")))


def test_link_in_place_of_the_state_folder(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / ".memttl").symlink_to(tmp_path / "target")
    assert only(checked(memory), "state-link").severity == "warning"


def test_edited_audit_log(used: Path) -> None:
    log = state_folder(used) / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"entity":"A"', b'"entity":"B"'))
    assert "memttl log verify" in only(checked(used), "audit-broken").help


def test_torn_audit_log_is_a_note(used: Path) -> None:
    with (state_folder(used) / "audit.jsonl").open("ab") as f:
        f.write(b'{"v":1,"ev')
    assert only(checked(used), "audit-torn").severity == "note"


def test_audit_log_of_a_newer_memttl(used: Path) -> None:
    with (state_folder(used) / "audit.jsonl").open("ab") as f:
        f.write(b'{"v":99}\n')
    assert "newer-state" in names(checked(used))


def test_backup_that_an_undo_would_need_is_gone(memory: Path) -> None:
    memory.write_bytes(EXPIRED)
    now = datetime.now(UTC).isoformat()
    pruned(aged(memory), now=now, policy="[audit]\ntext = false\n")
    assert names(checked(memory)) == []
    (backup,) = (state_folder(memory) / "backups").iterdir()
    backup.unlink()
    assert backup.name in only(checked(memory), "backup-gone").message


def killed_at(path: Path, step: str) -> None:
    """Kill a prune of the file at one of its steps."""
    child = os.fork()
    if not child:
        pruned(path, now=datetime.now(UTC).isoformat(), step=at(step, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("step", STEPS)
def test_killed_run_is_told_at_whatever_step(memory: Path, step: str) -> None:
    memory.write_bytes(EXPIRED)
    killed_at(aged(memory), step)
    told = set(names(checked(aged(memory))))
    assert told <= {"unfinished-run", "leftover", "ledger-missing"}
    assert "unfinished-run" in told or step in (STEPS[0], STEPS[-1]) or "leftover" in told


def test_update_that_waits_to_be_merged(memory: Path) -> None:
    prepare(state_of(memory), memory.stat())
    (state_folder(memory) / f"abcd-1-{'0' * 32}-{'1' * 32}.swap").write_bytes(b"another")
    assert "unmerged-update" in names(checked(memory))


def test_pipe_with_the_name_of_a_leftover_does_not_hang(memory: Path) -> None:
    prepare(state_of(memory), memory.stat())
    os.mkfifo(state_folder(memory) / f"abcd-1-{'0' * 32}-{'1' * 32}.swap")
    assert "leftover" in names(checked(memory))


def test_version_that_was_set_aside(memory: Path) -> None:
    prepare(state_of(memory), memory.stat())
    (state_folder(memory) / f"rescued-abcd-1-{'0' * 32}-{'1' * 32}.swap").write_bytes(b"{")
    (state_folder(memory) / f"{'0' * 32}.base").write_bytes(b"")
    assert names(checked(memory)) == ["rescued-version"]


def test_lock_is_told_with_its_holder(used: Path) -> None:
    state = state_of(used)
    with locked(state, used.stat()):
        message = only(checked(used), "lock-held").message
    assert f"process {os.getpid()}" in message
    assert os.path.basename(sys.executable) in message
    assert names(checked(used)) == []


def test_unfinished_run_of_a_memttl_at_work_is_no_fault(used: Path) -> None:
    state = state_of(used)
    audit.append(state.audit, [{"event": "begin", "run": "x", "time": "2026-01-01T00:00:00Z"}], used.stat())
    with locked(state, used.stat()):
        assert names(checked(used)) == ["lock-held"]
    assert names(checked(used)) == ["unfinished-run"]


def test_wider_permissions(used: Path) -> None:
    used.chmod(0o600)
    finding = only(checked(used), "wide-permissions")
    assert "backups" in finding.message
    subprocess.run(["sh", "-c", finding.help.split("`")[1]], check=True)
    assert names(checked(used)) == []


@needs_root
def test_state_of_another_owner(used: Path) -> None:
    os.chown(state_folder(used) / "audit.jsonl", 1234, -1)
    assert "audit.jsonl" in only(checked(used), "state-of-another-owner").message


def test_state_is_looked_at_without_a_trace(used: Path) -> None:
    leave_hot_journal(used)
    before = tree(used.parent)
    assert names(checked(used)) == []
    assert tree(used.parent) == before


# ---- the clock


def test_clock_that_runs_behind(used: Path) -> None:
    before = (datetime.now(UTC) - timedelta(days=3)).isoformat()
    assert only(checked(used, now=before), "clock-behind").severity == "error"


def test_clock_of_1970(memory: Path) -> None:
    assert only(checked(memory, now="1970-01-01"), "clock-behind").severity == "error"


def test_stamps_after_the_clock(used: Path) -> None:
    later = int(time.time()) + 7200
    edit(used, f"UPDATE meta SET value = {later} WHERE key = 'newest'")
    from memttl.files.ledger_open import Ledger, _connect

    connection = _connect(ledger_path(used), "rw")
    Ledger(connection).seal_numbers()
    connection.close()
    assert only(checked(used), "stamps-after-clock").severity == "warning"


# ---- runs that nobody watched


def test_scheduled_runs_that_failed(used: Path) -> None:
    for _ in range(3):
        keep_outcome(state_of(used), command="prune", code=65, message="damaged")
    assert "the last 3 scheduled runs of prune ended 65" in only(checked(used), "failed-runs").message


def test_timer_that_fails_is_told_by_doctor(used: Path) -> None:
    used.write_bytes(GOOD + b"{")
    for _ in range(2):
        assert memttl("prune", "--yes", "--quiet", "--file", aged(used)).returncode == 65
    assert "the last 2 scheduled runs of prune ended 65" in one(checked(used), "failed-runs").message


# ---- what cannot be looked at


@pytest.mark.parametrize("name", ["ledger.db", "audit.jsonl", "outcomes.jsonl"])
def test_pipe_in_place_of_state_is_a_finding(used: Path, name: str) -> None:
    path = state_folder(used) / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    outcome = checked(used)
    assert outcome.findings
    assert outcome.exit_code == 0


@pytest.mark.parametrize("name", ["ledger.db", "audit.jsonl", "outcomes.jsonl", "backups", "lock"])
def test_link_in_place_of_state_is_a_finding(used: Path, name: str) -> None:
    path = state_folder(used) / name
    if path.exists():
        path.rename(used.with_name("moved"))
    path.symlink_to(used.with_name("moved"))
    assert checked(used).exit_code == 0


@needs_root
def test_state_that_may_not_be_read_is_told_once_a_reason() -> None:
    with nobodys_folder() as folder:
        path = written(folder)
        os.chown(path, NOBODY, NOBODY)
        prepare(state_of(path), path.stat())
        os.chown(state_folder(path), 0, 0)
        state_folder(path).chmod(0o700)
        ended = memttl_as_nobody("doctor", "--json", "--file", path)
    assert ended.returncode == 0
    assert "could-not-be-checked" in found_by(ended)
    messages = [f["message"] for f in json.loads(ended.stdout)["findings"]]
    assert len({message.partition(": ")[2] for message in messages}) == len(messages)


# ---- the command


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_every_fixture_is_checked_without_a_traceback_and_without_a_trace(path: Path, tmp_path: Path) -> None:
    copy = copy_of(path, tmp_path)
    before = tree(tmp_path)
    outcome = checked(copy)
    assert outcome.exit_code in (0, 65)
    assert render(outcome)
    assert tree(tmp_path) == before


def test_refused_fixtures_are_damaged_and_the_others_not(tmp_path: Path) -> None:
    expected = json.loads((FIXTURES / "memory/expected.json").read_text(encoding="utf-8"))
    differ = set()
    for name, row in expected.items():
        if (checked(copy_of(FIXTURES / "memory" / name, tmp_path)).exit_code == 65) != (row["exit"] == 65):
            differ.add(name)
    assert differ == {"bom-at-start.jsonl", "null-line.jsonl"}  # a prune passes them through


def test_fixtures_of_servers_name_every_bad_line(tmp_path: Path) -> None:
    for path in (FIXTURES / "from-servers").glob("*.jsonl"):
        copy = copy_of(path, tmp_path)
        refused = error_of(memttl("prune", "--dry-run", "--json", "--file", copy))
        bad = [f for f in checked(copy).findings if f.name == "malformed-line"]
        assert all(f"line {f.line}, column {f.column}" in refused["message"] for f in bad)
        assert len(bad) == refused["message"].count("\n  line ")


def test_check_exits_3_for_what_is_less_than_damage(memory: Path) -> None:
    memory.chmod(0o444)
    assert memttl("doctor", "--file", memory).returncode == 0
    assert memttl("doctor", "--check", "--file", memory).returncode == 3


def test_check_exits_0_for_notes_and_65_for_damage(memory: Path) -> None:
    memory.write_bytes(GOOD + b"\n\n" + GOOD.replace(b'"A"', b'"C"').replace(b'"B"', b'"D"'))
    assert memttl("doctor", "--check", "--file", aged(memory)).returncode == 0
    memory.write_bytes(b"{" + GOOD)
    assert memttl("doctor", "--check", "--file", aged(memory)).returncode == 65


def test_json_has_exactly_its_keys(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{\n" + GOOD)
    document = json.loads(memttl("doctor", "--json", "--file", aged(memory)).stdout)
    assert list(document) == ["schema", "file", "now", "findings", "summary"]
    assert list(document["summary"]) == [
        "bytes", "lines", "entities", "relations", "observations", "malformed_lines", "tokens_estimated", "rung",
    ]  # fmt: skip
    first, second, *_ = document["findings"]
    assert list(first) == ["severity", "name", "message", "help", "line", "column", "first_bytes"]
    assert list(second) == ["severity", "name", "message", "help", "line"]
    assert [f["severity"] for f in document["findings"]] == sorted(
        (f["severity"] for f in document["findings"]), key=SEVERITIES.index
    )


def test_text_has_a_block_for_each_severity_and_says_alike_help_once(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{\n[\n\n" + GOOD)
    text = render(checked(aged(memory)))
    assert "not all is well: 2 errors, 2 warnings, 1 note." in text.splitlines()[0]
    assert [line for line in text.splitlines() if line.endswith(":")] == ["Errors:", "Warnings:", "Good to know:"]
    assert text.split("Warnings:")[0].count("What helps:") == 1


def test_control_characters_of_the_file_are_spelled_out(memory: Path) -> None:
    memory.write_bytes(b'{"type":"entity","name":"\x1b[31m')
    ended = memttl("doctor", "--file", aged(memory))
    assert "\x1b" not in ended.stdout
    assert "\\x1b[31m" in ended.stdout


def test_several_files_give_the_highest_code(memory: Path) -> None:
    bad = written(memory.parent, b"{", name="bad.jsonl")
    ended = memttl("doctor", "--json", "--file", memory, "--file", bad)
    assert ended.returncode == 65
    assert [len(d["findings"]) > 0 for d in json.loads(ended.stdout)["files"]] == [False, True]


def test_quiet_prints_nothing(memory: Path) -> None:
    ended = memttl("doctor", "--quiet", "--file", memory)
    assert (ended.stdout, ended.stderr) == ("", "")


def test_no_named_file_is_66() -> None:
    assert error_of(memttl("doctor", "--json"))["code"] == 66


def test_malformed_file_is_sent_to_doctor(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{")
    hint = error_of(memttl("prune", "--dry-run", "--json", "--file", aged(memory)))["hint"]
    assert "memttl doctor" in hint
    assert "--keep-malformed" in hint


def test_lock_is_not_taken_and_nothing_waits(used: Path) -> None:
    with locked(state_of(used), used.stat()):
        assert memttl("doctor", "--file", used, timeout=8).returncode == 0
        assert memttl("scan", "--file", used, timeout=30).returncode == 75


def test_quiet_says_one_line_for_each_file_whose_code_is_not_0(memory: Path) -> None:
    bad = written(memory.parent, GOOD + b"{", name="bad.jsonl")
    ended = memttl("doctor", "--quiet", "--file", memory, "--file", bad)
    assert (ended.returncode, ended.stdout) == (65, "")
    assert ended.stderr == f"memttl: {bad}: not all is well: 1 error (malformed-line).\n"


def test_quiet_json_says_nothing_besides(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{")
    ended = memttl("doctor", "--quiet", "--json", "--file", aged(memory))
    assert (ended.returncode, ended.stderr) == (65, "")
    assert json.loads(ended.stdout)["findings"]


def test_sentences_are_wrapped_to_the_screen_with_a_hanging_indent(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{\n")
    lines = render(checked(aged(memory)), width=80).splitlines()
    assert max(map(len, lines)) <= max(80, len(f"      `memttl doctor --repair --file {memory}`"))
    place = next(i for i, line in enumerate(lines) if "What happens:" in line)
    assert lines[place].endswith(" leaves the")
    assert lines[place + 1].startswith("      file as it is;")


def test_command_is_not_broken_where_it_fits(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{\n")
    command = f"`memttl doctor --repair --file {memory}`"
    text = render(checked(aged(memory)), width=len(command) + 10)
    assert command in text


def test_what_happens_and_helps_is_said_once_for_all_lines_of_one_kind(memory: Path) -> None:
    memory.write_bytes(GOOD + b'{"a\n["\xff"]\n' * 40)
    text = render(checked(aged(memory)), width=80)
    assert text.count("What helps:") == 1
    assert text.count("What happens:") == 2
    assert "and 20 more of these" in text


def test_terminal_gets_wrapped_sentences(memory: Path) -> None:
    memory.write_bytes(GOOD + b"{\n")
    ended = Terminal("doctor", "--file", aged(memory)).end()
    assert ended.code == 65
    assert "\n      " in ended.screen.replace("\r", "")
