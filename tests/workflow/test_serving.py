"""The writing half of the use case serve: what lands in file, log and ledger, and what happens where it cannot."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ledgers import baseline_of, sightings, written
from process import aged, memttl
from pruning import AT_ONCE, NOW, events_of, names_in, pruned, settings_of, state_folder
from served import Served, add, drop, make, part, relate, take
from support import entity, relation

from memttl.core.digests import text_key
from memttl.core.durations import parse_duration
from memttl.core.graph_edits import Addition, AddObservations, Edit
from memttl.core.past_runs import runs_of
from memttl.core.wish import Patch
from memttl.errors import CannotCreate, Foreign, LedgerLost, Malformed, MemttlError, NoMemoryFile, NoPermission
from memttl.files import audit
from memttl.files.lock import locked
from memttl.files.state import state_of
from memttl.settings import Settings
from memttl.workflow.undo import Request, undo

LATER = "2026-06-03T12:00:00Z"
TTL = Patch(ttl=parse_duration("5d"))
BROKEN = b'{"type":"entity","name":"half'


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory file of two entities and a relation."""
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"\n".join([entity(["a", "b", "c"], name="A"), entity(["x"], name="B"), relation("A", "B")]))
    return aged(path)


def graph(path: Path) -> list[Any]:
    """The file's lines as JSON."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def texts(path: Path, name: str = "A") -> list[str]:
    """The texts of one entity in the file."""
    found: list[str] = next(line["observations"] for line in graph(path) if line.get("name") == name)
    return found


def kinds(path: Path) -> list[str]:
    """The kinds of the lines of the audit log."""
    return [event["event"] for event in events_of(path)]


def birth(path: Path, name: str, text: str) -> datetime:
    """When the ledger says that a text came."""
    return datetime.fromtimestamp(sightings(path, name)[text_key(text)].first_seen, UTC)


def test_additions_alone_are_no_run_and_make_no_backup(memory: Path) -> None:
    Served(memory).answers(add("A", "new"), make("C", "y"), relate("A", "C"))
    assert texts(memory) == ["a", "b", "c", "new"]
    assert kinds(memory) == ["arrived", "arrived"]
    assert names_in(state_folder(memory) / "backups") == []


def test_edits_of_one_write_are_one_swap(memory: Path) -> None:
    steps: list[str] = []
    found = Served(memory, step=steps.append).answers(*(add("A", f"new {n}") for n in range(20)))
    assert [answer.added for answer in found] == [(("A", (f"new {n}",)),) for n in range(20)]
    assert steps.count("exchanged") == 1


def test_edits_that_change_nothing_write_nothing(memory: Path) -> None:
    before, steps = memory.stat(), list[str]()
    Served(memory, step=steps.append).answers(add("A", "a"), take("A", "nope"), drop("nope"), relate("A", "B"))
    assert (memory.stat().st_ino, memory.stat().st_mtime_ns, steps) == (before.st_ino, before.st_mtime_ns, [])


def test_options_are_logged_before_the_answer(memory: Path) -> None:
    Served(memory).answer(add("A", "new", patch=TTL))
    came, event = events_of(memory)
    assert (came["event"], came["entity"], came["at"]) == ("arrived", "A", NOW)
    assert (event["event"], event["command"], json.loads(event["raw"])) == ("set", "serve", "new")
    assert event["settings"] == {"ttl": "5 days"}


def test_options_hold_at_once_and_hide_what_has_expired(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "new", patch=TTL))
    assert "new" in serving.shown()["A"]
    serving.now = "2026-06-06T12:00:00Z"
    assert "new" not in serving.shown()["A"]


def test_expired_text_that_is_added_again_is_shown_again(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "new", patch=TTL))
    serving.now = "2026-06-07T12:00:00Z"
    assert serving.answer(add("A", "new")).added == (("A", ("new",)),)
    assert "new" in serving.shown()["A"]
    assert texts(memory).count("new") == 1


def test_deleted_text_that_comes_back_is_born_anew(memory: Path) -> None:
    serving = Served(memory, policy='default_tier = "short"\n[tiers]\nshort = "30d"\n')
    serving.answer(add("A", "new"))
    serving.answer(take("A", "new"))
    serving.record()
    serving.now = "2026-09-01T00:00:00Z"
    serving.answer(add("A", "new"))
    assert "new" in serving.shown()["A"]


def test_ledger_has_the_second_of_each_arrival(memory: Path) -> None:
    serving = Served(memory)
    for second in (1, 2, 59):
        serving.now = f"2026-06-01T12:00:{second:02}Z"
        serving.answer(add("A", f"at {second}"))
    serving.now = LATER
    serving.rest(is_over=True)
    assert {birth(memory, "A", f"at {s}").second for s in (1, 2, 59)} == {1, 2, 59}
    assert birth(memory, "A", "a") == datetime.fromisoformat(LATER)


def test_arrival_is_as_old_as_it_is_although_another_looked_first(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "new"))
    Served(memory, now=LATER).look()
    serving.record()
    assert birth(memory, "A", "new") == datetime.fromisoformat(NOW)
    assert not sightings(memory, "A")[text_key("new")].backfilled


def test_first_rest_takes_the_first_look(memory: Path) -> None:
    serving = Served(memory)
    assert serving.rest() > 1
    assert baseline_of(memory) == datetime.fromisoformat(NOW)


def test_looks_are_a_minute_apart_but_for_the_last(memory: Path) -> None:
    serving = Served(memory)
    serving.rest()
    written(memory, {"A": ["stranger's"]})
    serving.rest()
    assert text_key("stranger's") not in sightings(memory, "A")
    serving.rest(is_over=True)
    assert text_key("stranger's") in sightings(memory, "A")


def test_memory_that_has_vanished_is_not_looked_at_and_told_once(memory: Path) -> None:
    serving = Served(written(memory, {"A": [f"text {n}" for n in range(30)]}))
    serving.rest()
    written(memory, {"B": ["all that is left"]})
    for _ in range(2):
        serving.look()
    assert len(serving.told) == 1
    assert "30 observations that were there at the last look are gone" in serving.told[0]
    assert text_key("all that is left") not in sightings(memory, "B")


def test_file_that_has_vanished_is_told_once_and_made_again(memory: Path) -> None:
    serving = Served(memory)
    serving.rest()
    memory.unlink()
    for _ in range(2):
        serving.look()
    assert [f"there is no file {memory}" in told for told in serving.told] == [True]
    serving.answer(make("A", "new"))
    assert texts(memory) == ["new"]


def test_damaged_file_is_not_looked_at(memory: Path) -> None:
    serving = Served(memory)
    serving.rest()
    memory.write_bytes(entity(["a"], name="A") + b"\n" + BROKEN)
    aged(memory)
    serving.look()
    assert serving.told == []
    assert text_key("x") in sightings(memory, "B")


def test_deletions_by_clients_are_no_loss_to_the_next_prune(memory: Path) -> None:
    old = "[expires 2020-01-01]"
    serving = Served(written(memory, {"A": [f"text {n}" for n in range(40)], "B": [f"{old}"]}))
    serving.rest()
    serving.answer(drop("A"))
    outcome = pruned(memory, now=LATER)
    assert outcome.applied


@pytest.mark.parametrize("edit", [drop("A"), take("A", "a", "c"), part("A", "B"), drop("A", "B"), take("B", "x")])
def test_undo_puts_back_what_a_client_deleted(memory: Path, edit: Edit) -> None:
    before = graph(memory)
    Served(memory).answer(edit)
    assert graph(memory) != before if memory.read_bytes() else True
    (run,) = runs_of(events_of(memory))
    assert (run.command, run.applied) == ("serve", True)
    undo(settings_of(memory), Request(run=run.run, pace=AT_ONCE))
    assert graph(memory) == before


def test_undo_leaves_what_was_added_with_the_deletion(memory: Path) -> None:
    Served(memory).answers(take("A", "b"), add("A", "new"))
    undo(settings_of(memory), Request(pace=AT_ONCE))
    assert sorted(texts(memory)) == ["a", "b", "c", "new"]


def test_log_tells_what_clients_did(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "new", patch=TTL))
    serving.answer(drop("A"))
    told = memttl("log", "--file", str(memory)).stdout
    assert "removed 4 observations, 1 entity and 1 relation" in told.replace(" and 1 entity and", ", 1 entity and")
    assert "serve: set 1 observation" in told


def test_what_is_deleted_and_added_again_in_one_write_is_no_run(memory: Path) -> None:
    Served(memory).answers(take("A", "c"), add("A", "c"), add("A", "new"))
    assert "begin" not in kinds(memory)


def test_deletion_has_a_backup_and_its_texts_in_the_log(memory: Path) -> None:
    before = memory.read_bytes()
    Served(memory).answer(take("A", "b"))
    (backup,) = names_in(state_folder(memory) / "backups")
    assert (state_folder(memory) / "backups" / backup).read_bytes() == before
    assert [e["raw"] for e in events_of(memory) if e["event"] == "removed"] == ['"b"']


def test_texts_stay_out_of_the_log_where_the_policy_says_so(memory: Path) -> None:
    serving = Served(memory, policy="[audit]\ntext = false\n")
    serving.answers(add("A", "secret", patch=TTL), take("A", "b"))
    assert not any("raw" in event for event in events_of(memory))


def test_missing_file_is_made_as_the_umask_says(tmp_path: Path) -> None:
    path, umask = tmp_path / "memory.jsonl", os.umask(0o027)
    try:
        Served(path).answer(make("A", "new"))
    finally:
        os.umask(umask)
    assert texts(path) == ["new"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_edit_that_comes_to_nothing_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    assert "not found" in Served(path).answer(add("A", "new")).refusal
    assert names_in(tmp_path) == []


def test_first_write_to_a_fresh_file_waits_for_nobody(tmp_path: Path) -> None:
    begun = time.monotonic()
    Served(tmp_path / "memory.jsonl").answer(make("A", "new"))
    assert time.monotonic() - begun < 1.9  # an empty file of another is waited for until it is 2 s old


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryFile, match=r"There is no folder .*; nothing was written"):
        Served(tmp_path / "gone" / "memory.jsonl").answer(make("A", "new"))


def test_link_is_followed_and_stays(memory: Path) -> None:
    link = memory.with_name("link.jsonl")
    link.symlink_to(memory)
    Served(link).answer(add("A", "new"))
    assert link.is_symlink()
    assert texts(memory)[-1] == "new"


def test_link_that_a_server_made_a_file_is_served_from_then_on(memory: Path) -> None:
    link = memory.with_name("link.jsonl")
    link.symlink_to(memory)
    serving = Served(link)
    serving.answer(add("A", "one"))
    link.unlink()
    written(link, {"A": ["of the server"]})
    serving.answer(add("A", "two"))
    assert (texts(link), texts(memory)[-1]) == (["of the server", "two"], "one")
    assert text_key("one") in sightings(memory, "A")


def test_damaged_line_stays_byte_for_byte(memory: Path) -> None:
    memory.write_bytes(entity(["a"], name="A") + b"\n" + BROKEN + b"\n")
    serving = Served(aged(memory))
    serving.answer(add("A", "new"))
    serving.answer(make("C", "y"))
    assert memory.read_bytes().split(b"\n")[-2:] == [BROKEN, b""]
    assert b'"new"' in memory.read_bytes()


def refused(path: Path, edit: Edit = add("A", "new")) -> MemttlError:  # noqa: B008
    """The error of an edit that changes nothing."""
    before = path.read_bytes()
    (answer,) = Served(path).apply([edit])
    assert isinstance(answer, MemttlError)
    assert path.read_bytes() == before
    return answer


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"role":"user","text":"hi"}\n{"role":"bot","text":"ho"}', Foreign),
        (b'{"entities":[],"relations":[]}', Foreign),
        (b"\x1f\x8bnothing", Foreign),
        (b"just\nnotes", Malformed),
    ],
)
def test_file_that_is_no_memory_is_refused(memory: Path, data: bytes, error: type[MemttlError]) -> None:
    memory.write_bytes(data)
    assert isinstance(refused(aged(memory), make("A", "new")), error)


@pytest.mark.parametrize("data", [b"", relation("A", "B")])
def test_file_without_entities_is_served(memory: Path, data: bytes) -> None:
    memory.write_bytes(data)
    Served(aged(memory)).answer(make("A", "new"))
    assert texts(memory) == ["new"]


def test_last_entity_may_go_and_another_come(memory: Path) -> None:
    memory.write_bytes(entity(["a"], name="A") + b'\n{"type":"_other"}')
    serving = Served(aged(memory))
    serving.answer(drop("A"))
    serving.answer(make("B", "new"))
    assert texts(memory, "B") == ["new"]


def test_file_with_a_second_name_is_refused(memory: Path) -> None:
    os.link(memory, memory.with_name("other.jsonl"))
    assert "2 names" in refused(memory).message


def test_read_only_file_is_refused(memory: Path) -> None:
    memory.chmod(0o444)
    assert isinstance(refused(memory), NoPermission)


def test_archive_is_no_file_to_serve(memory: Path) -> None:
    pruned(written(memory, {"A": ["x [expires 2020-01-01]", "y"]}), policy='[archive]\npath = "archive.jsonl"\n')
    archive = memory.with_name("archive.jsonl")
    with pytest.raises(MemttlError, match="archive"):
        Served(archive)


def test_locked_file_is_told_and_nothing_changed(memory: Path) -> None:
    serving = Served(memory, patience_s=0.1)
    serving.rest()
    before = memory.read_bytes()
    with locked(state_of(memory), memory.stat()):
        found = serving.apply([add("A", "one"), add("A", "two")])
    assert [isinstance(answer, MemttlError) and "as it was" in answer.message for answer in found] == [True, True]
    assert memory.read_bytes() == before
    assert serving.answer(add("A", "one")).added


def test_edit_that_nobody_reckoned_with_leaves_the_others(memory: Path) -> None:
    odd = AddObservations((Addition("A", (object(),)),))  # type: ignore[arg-type]
    one, bad, two = Served(memory).apply([add("A", "one"), odd, add("A", "two")])
    assert isinstance(bad, MemttlError)
    assert not isinstance(one, MemttlError)
    assert not isinstance(two, MemttlError)
    assert texts(memory)[-2:] == ["one", "two"]


def lose_ledger(path: Path) -> Path:
    """A file whose pins cannot be told any more."""
    pruned(written(path, {"A": ["x [expires 2020-01-01]", "y"]}))
    (state_folder(path) / "ledger.db").unlink()
    (state_folder(path) / "audit.jsonl").write_bytes(b"")
    return path


def test_memory_is_kept_although_the_ledger_is_lost(memory: Path) -> None:
    serving = Served(lose_ledger(memory))
    serving.answer(add("A", "new"))
    assert texts(memory) == ["y", "new"]
    assert any("ledger" in told for told in serving.told)


def test_ttl_that_no_ledger_can_keep_is_refused(memory: Path) -> None:
    serving = Served(lose_ledger(memory))
    (answer,) = serving.apply([add("A", "new", patch=TTL)])
    assert isinstance(answer, LedgerLost)
    assert texts(memory) == ["y"]


def test_ttl_is_refused_also_behind_what_was_kept_without_the_ledger(memory: Path) -> None:
    serving = Served(lose_ledger(memory))
    found = serving.apply([add("A", "one", patch=TTL), add("A", "two"), add("A", "three", patch=TTL)])
    assert [isinstance(answer, LedgerLost) for answer in found] == [True, False, True]
    assert texts(memory) == ["y", "two"]


def test_settings_of_another_process_are_known_at_once(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "new"))
    done = memttl("set", "A", "new", "--expires", "2026-06-02", "--yes", "--file", str(memory))
    assert done.returncode == 0, done
    serving.now = LATER
    assert serving.answer(add("A", "new")).added == (("A", ("new",)),)


def test_write_after_a_rewritten_log_knows_what_was_set(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(add("A", "new", patch=TTL))
    path = state_folder(memory) / "audit.jsonl"
    audit.rewrite(path, path.read_bytes(), time=NOW)
    serving.now = "2026-06-20T12:00:00Z"
    assert serving.answer(add("A", "new")).added == (("A", ("new",)),)


def test_nothing_is_left_behind_once_it_is_old(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memttl.files.served._AFTER_S", 0.0)
    serving = Served(memory)
    serving.answers(add("A", "one"), take("A", "b"))
    serving.rest()
    kept = ["audit.head", "audit.jsonl", "backups", "ledger.db", "lock"]
    assert names_in(state_folder(memory)) == kept


def test_first_read_tells_once_how_much_is_not_shown(memory: Path) -> None:
    written(memory, {"A": ["old [expires 2020-01-01]", "older [expires 2019-01-01]", "new"]})
    serving = Served(memory)
    assert serving.told == []
    serving.view()
    serving.view()
    assert serving.told == ["2 of 3 observations have expired and are not shown; `memttl report` lists them"]


def test_memory_of_which_all_is_shown_is_not_told_of(memory: Path) -> None:
    serving = Served(memory)
    serving.view()
    assert serving.told == []


def test_state_folder_that_is_another_by_now_is_told_once_and_at_each_read(memory: Path) -> None:
    serving = Served(memory)
    settings, sentence = serving.resolve(), "The policy names another state folder by now."
    serving.resolve = lambda: settings._replace(put_off=(sentence,))
    assert [serving.view().notes, serving.view().notes] == [(sentence,), (sentence,)]
    serving.answer(add("A", "new"))
    assert serving.told == [sentence]


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EACCES])
def test_fault_of_the_system_is_refused_in_its_words(memory: Path, number: int) -> None:
    serving = Served(memory)

    def fail() -> Settings:
        raise OSError(number, os.strerror(number), str(memory))

    serving.resolve = fail
    found = serving.apply([add("A", "one"), add("A", "two")])
    assert {type(answer) for answer in found} == {NoPermission if number == errno.EACCES else CannotCreate}
    assert f"{memory} cannot be read or written ({os.strerror(number)})" in str(found[0])
    assert serving.told == []


def test_link_to_itself_is_no_bug(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    (found,) = Served(loop).apply([make("A", "new")])
    assert isinstance(found, CannotCreate)
    assert "Look where its links lead" in found.hint


def test_reads_and_writes_say_that_the_file_is_gone_and_how_it_comes_back(memory: Path) -> None:
    serving = Served(memory)
    serving.answer(take("A", "a"))
    assert serving.view().notes == ()
    memory.unlink()
    (note,) = serving.view().notes
    assert "memory.jsonl is gone: the memory begins anew, empty. There are backups of it" in note
    assert serving.answer(make("A", "new")).notes == (note,)
    assert (serving.view().notes, serving.answer(add("A", "more")).notes) == ((), ())
    assert serving.told == [note]


def test_file_that_never_was_is_not_gone(tmp_path: Path) -> None:
    serving = Served(tmp_path / "memory.jsonl")
    assert serving.view().notes == ()
    assert serving.answer(make("A", "new")).notes == ()


def test_server_of_a_file_that_is_moved_fails_and_writes_nothing(memory: Path) -> None:
    from moving import moved

    def refuse() -> Settings:
        raise NoMemoryFile("moved")

    serving = Served(memory)
    serving.answer(add("A", "new"))
    moved(memory, memory.with_name("new.jsonl"))
    serving.resolve = refuse  # as the settings of `memttl serve` do
    (answer,) = serving.apply([make("B", "y")])
    assert isinstance(answer, NoMemoryFile)
    with pytest.raises(NoMemoryFile):
        serving.view()
    serving.rest(is_over=True)
    assert not memory.exists()


def test_folder_in_place_of_the_file_is_refused_and_gets_no_state(tmp_path: Path) -> None:
    folder = tmp_path / "memory.jsonl"
    folder.mkdir()
    serving = Served(folder)
    assert isinstance(serving.apply([make("A", "new")])[0], NoMemoryFile)
    serving.rest(is_over=True)
    assert [path.name for path in tmp_path.iterdir()] == ["memory.jsonl"]
    assert serving.told == []
