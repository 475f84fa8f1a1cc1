"""The archive at work: what it keeps, who may read it, what is refused, and what an undo takes out again."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from archives import EXPIRED, POLICY, archive_of, entity, graph, laid, run
from process import memttl, tree
from pruning import ACL, AT_ONCE, events_of, set_attribute, state_folder
from server import RELEASES, Server

from memttl.core.search import Query
from memttl.core.undo_outcome import UndoOutcome
from memttl.errors import BadPolicy, CannotCreate, IsArchive, MemttlError, NoPermission, TryAgain
from memttl.files.archiving import settle
from memttl.files.state import state_of
from memttl.files.writing import Options, writing
from memttl.settings import Given, resolve
from memttl.workflow.scan import scan
from memttl.workflow.search import search
from memttl.workflow.undo import Request as UndoRequest
from memttl.workflow.undo import undo

X, Y = f"x {EXPIRED}", f"y {EXPIRED}"
EMPTIED = POLICY + "[prune]\nremove_empty_entities = true\n"


def names(folder: Path) -> list[str]:
    """What lies in a folder besides memttl's own."""
    return sorted(name for name in os.listdir(folder) if name not in (".memttl", "memttl.toml"))


def test_what_a_prune_removes_is_kept(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k", X, Y]), entity([X], "F"))
    outcome = run(path)
    assert outcome.archive == str(archive_of(path))
    assert graph(archive_of(path)) == [("E", [X, Y]), ("F", [X])]
    assert not archive_of(path).read_bytes().endswith(b"\n")


def test_without_a_path_nothing_is_archived(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]), policy="")
    assert run(path).archive is None
    assert names(tmp_path) == ["memory.jsonl"]


def test_emptied_entities_go_with_their_relations(tmp_path: Path) -> None:
    relation = b'{"type":"relation","from":"E","to":"F","relationType":"knows"}'
    path = laid(tmp_path, entity([X]), entity(["k"], "F"), relation, policy=EMPTIED)
    run(path)
    assert archive_of(path).read_bytes() == entity([X]) + b"\n" + relation


def test_a_dry_run_says_so_and_writes_nothing(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    before = tree(tmp_path)
    done = memttl("prune", "--dry-run", "--file", path)
    assert f"What goes would be kept in {archive_of(path)}." in done.stdout
    assert tree(tmp_path) == before


def test_with_texts_kept_out_of_the_log_the_archive_holds_them_still(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]), policy=POLICY + "[audit]\ntext = false\n")
    run(path)
    assert graph(archive_of(path)) == [("E", [X])]
    assert all("raw" not in event for event in events_of(path))


def test_the_archives_own_log_holds_no_text(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    assert b"x [expires" not in (state_folder(archive_of(path)) / "audit.jsonl").read_bytes()


def test_the_archive_has_neither_backups_nor_a_ledger(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    assert not list((state_folder(archive_of(path)) / "backups").iterdir())
    assert not (state_folder(archive_of(path)) / "ledger.db").exists()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_new_archive_has_the_memory_files_mode(tmp_path: Path, mode: int) -> None:
    path = laid(tmp_path, entity([X]))
    path.chmod(mode)
    run(path)
    assert stat.S_IMODE(archive_of(path).stat().st_mode) == mode


def test_a_wider_archive_is_narrowed(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    archive_of(path).write_bytes(entity(["old"], "O"))
    archive_of(path).chmod(0o666)
    path.chmod(0o600)
    run(path)
    assert stat.S_IMODE(archive_of(path).stat().st_mode) == 0o600
    assert graph(archive_of(path)) == [("O", ["old"]), ("E", [X])]


def test_a_narrower_archive_stays_narrow(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    archive_of(path).write_bytes(b"")
    os.utime(archive_of(path), (0, 0))
    archive_of(path).chmod(0o600)
    run(path)
    assert stat.S_IMODE(archive_of(path).stat().st_mode) == 0o600


def test_rights_by_a_list_that_the_memory_file_does_not_give_go(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    archive_of(path).write_bytes(entity(["old"], "O"))
    set_attribute(archive_of(path), "system.posix_acl_access", ACL)
    run(path)
    assert "system.posix_acl_access" not in os.listxattr(archive_of(path))


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away")
def test_the_archive_belongs_to_the_memory_files_owner(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    os.chown(path, 1234, 2345)
    run(path)
    found = archive_of(path).stat()
    assert (found.st_uid, found.st_gid) == (1234, 2345)


def refused(path: Path, error: type[MemttlError]) -> str:
    """The message of a prune that is refused, dry or not, and leaves all as it was."""
    before = path.read_bytes()
    with pytest.raises(error) as dry:
        run(path, dry_run=True)
    with pytest.raises(error) as applied:
        run(path)
    assert dry.value.message == applied.value.message
    assert path.read_bytes() == before
    return applied.value.message


@pytest.mark.parametrize("data", [b'{"type":"entity","na', b'{"role":"user"}\n{"role":"x"}', b"[]"])
def test_a_damaged_or_foreign_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    path = laid(tmp_path, entity([X]))
    archive_of(path).write_bytes(data)
    os.utime(archive_of(path), (0, 0))
    assert "cannot be written, so that nothing was removed" in refused(path, CannotCreate)
    assert archive_of(path).read_bytes() == data


def test_a_folder_in_the_archives_place_is_refused(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    archive_of(path).mkdir()
    assert "no regular file" in refused(path, CannotCreate)


def test_an_archive_in_a_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]), policy='[archive]\npath = "old/archive.jsonl"\n')
    assert "There is no folder" in refused(path, CannotCreate)


def test_the_memory_file_itself_is_no_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]), policy='[archive]\npath = "memory.jsonl"\n')
    assert "the memory file itself" in refused(path, BadPolicy)


def test_a_memory_file_that_memttl_knows_becomes_no_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    archive_of(path).write_bytes(entity(["mine"]))
    scan(resolve(str(archive_of(path)), Given(), {}, datetime.now(UTC)))
    assert "memory file of its own" in refused(path, CannotCreate)


@pytest.mark.parametrize("place", [".memttl/memory.jsonl/archive.jsonl", "link/archive.jsonl"])
def test_an_archive_in_a_state_folder_or_behind_a_link_out_is_a_problem_of_the_policy(
    tmp_path: Path, place: str
) -> None:
    (tmp_path / "out").mkdir()
    path = laid(tmp_path / "in", entity([X]), policy=f'[archive]\npath = "{place}"\n')
    (path.parent / "link").symlink_to(tmp_path / "out")
    with pytest.raises(BadPolicy):
        run(path)


def test_a_read_only_archive_is_refused(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    archive_of(path).write_bytes(entity(["old"]))
    archive_of(path).chmod(0o400)
    refused(path, NoPermission)


def test_a_full_disk_while_archiving_leaves_the_memory_file(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k", X]))

    def full(step: str) -> None:
        if step == "archive new version written":
            raise OSError(28, "No space left on device")

    with pytest.raises(CannotCreate, match="No space left"):
        run(path, step=full)
    assert graph(path) == [("E", ["k", X])]
    assert graph(archive_of(path)) == []


def test_an_archive_that_another_memttl_writes_is_waited_for_and_then_refused(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k", X]))
    archive_of(path).write_bytes(entity(["old"]))
    with (
        writing(state_of(archive_of(path)), path.stat(), Options(pace=AT_ONCE)),
        pytest.raises(TryAgain, match="so that nothing was removed"),
    ):
        run(path, pace=AT_ONCE._replace(patience_s=0.3))
    assert graph(path) == [("E", ["k", X])]


def test_commands_that_record_refuse_an_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    before = tree(tmp_path)
    for command in (["prune", "--yes"], ["prune", "--dry-run"], ["scan"], ["pin", "E", "--yes"], ["backfill", "--git"]):
        done = memttl(*command, "--file", archive_of(path))
        assert (done.returncode, "is the archive of memory.jsonl" in done.stderr) == (77, True), command
    assert tree(tmp_path) == before


def test_an_archive_that_a_glob_meets_is_passed_over_and_said(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    path.write_bytes(entity(["k", Y]))
    done = memttl("prune", "--yes", "--file", f"{tmp_path}/*.jsonl")
    assert (done.returncode, "passed over" in done.stderr) == (0, True)
    assert graph(archive_of(path)) == [("E", [X, Y])]
    document = json.loads(memttl("prune", "--yes", "--json", "--file", f"{tmp_path}/*.jsonl").stdout)
    assert list(document["files"][0]) == ["schema", "file", "skipped"]


def test_an_archive_named_beside_a_glob_or_alone_in_one_is_refused(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    assert memttl("prune", "--yes", "--file", f"{tmp_path}/*.jsonl", "--file", archive_of(path)).returncode == 77
    assert memttl("prune", "--yes", "--file", f"{tmp_path}/*-archive.jsonl").returncode == 77


def test_search_shows_all_of_an_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    settings = resolve(str(archive_of(path)), Given(), {}, datetime.now(UTC))
    outcome = search(settings, Query("x"))
    assert [e.observations for e in outcome.found.entities] == [(X,)]
    assert outcome.warnings == ()


def test_report_and_explain_say_that_it_is_an_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    for command in ("report", "explain"):
        assert "this file is the archive of memory.jsonl" in memttl(command, "--file", archive_of(path)).stderr


def test_two_memory_files_may_share_an_archive(tmp_path: Path) -> None:
    one = laid(tmp_path, entity([X]))
    other = laid(tmp_path, entity([X, Y]), name="other.jsonl")
    first, _ = run(one), run(other)
    assert graph(archive_of(one)) == [("E", [X, Y])]
    mark = json.loads((state_folder(archive_of(one)) / "archive").read_bytes())
    assert mark["archive_of"] == ["memory.jsonl", "other.jsonl"]
    undone(one, first.run)
    assert graph(archive_of(one)) == [("E", [X, Y])]  # the other one's run removed it as well


def test_memory_files_in_two_folders_have_two_archives(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        path = laid(tmp_path / folder, entity(["k", f"{folder} {EXPIRED}"]))
        run(path)
        assert graph(archive_of(path)) == [("E", [f"{folder} {EXPIRED}"])]


def undone(path: Path, name: str | None = None, **request: Any) -> UndoOutcome:
    """An applied undo."""
    settings = resolve(str(path), Given(), {}, datetime.now(UTC))
    return undo(settings, UndoRequest(run=name, pace=AT_ONCE, **request))


def test_what_an_undo_puts_back_is_taken_out(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k", X, Y]), entity([X], "F"))
    name = run(path).run
    undone(path, name, entities=("F",))
    assert graph(archive_of(path)) == [("E", [X, Y])]
    undone(path, name)
    assert archive_of(path).read_bytes() == b""
    assert graph(path) == [("E", ["k", X, Y]), ("F", [X])]


@pytest.mark.parametrize("text", ["true", "false"])
def test_an_undo_of_an_undo_archives_again(tmp_path: Path, text: str) -> None:
    relation = b'{"type":"relation","from":"E","to":"F","relationType":"knows"}'
    policy = f"{EMPTIED}[audit]\ntext = {text}\n"
    path = laid(tmp_path, entity([X]), entity(["k"], "F"), relation, policy=policy)
    run(path)
    held = archive_of(path).read_bytes()
    outcome = undone(path)
    assert archive_of(path).read_bytes() == b""
    undone(path, outcome.run)
    assert (archive_of(path).read_bytes(), graph(path)) == (held, [("F", ["k"])])


def test_an_undo_refuses_an_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    with pytest.raises(IsArchive):
        undone(archive_of(path))


def test_an_undo_does_not_fail_by_a_damaged_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k", X]))
    name = run(path).run
    archive_of(path).write_bytes(b"{")
    os.utime(archive_of(path), (0, 0))
    outcome = undone(path, name)
    assert outcome.run is not None
    assert any("still in the archive" in warning for warning in outcome.warnings)


def test_what_is_older_than_max_age_goes_by_the_clock(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    now = datetime.now(UTC)
    run(path, clock=now - timedelta(days=800))
    path.write_bytes(entity([Y]))
    run(path, clock=now)
    assert graph(archive_of(path)) == [("E", [Y])]


def test_an_archive_whose_log_is_lost_keeps_all(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    now = datetime.now(UTC)
    run(path, clock=now - timedelta(days=800))
    (state_folder(archive_of(path)) / "audit.jsonl").write_bytes(b"")
    path.write_bytes(entity([Y]))
    run(path, clock=now)
    assert graph(archive_of(path)) == [("E", [X, Y])]


@pytest.mark.server
@pytest.mark.parametrize("release", RELEASES)
def test_the_memory_server_reads_the_archive_and_what_it_adds_stays(tmp_path: Path, release: str) -> None:
    relation = b'{"type":"relation","from":"E","to":"F","relationType":"knows"}'
    path = laid(tmp_path, entity([X, f"ä\u2028 {EXPIRED}"]), entity(["k"], "F"), relation, policy=EMPTIED)
    run(path)
    with Server(release, archive_of(path)) as server:
        found = server.call("read_graph")
        assert [(e["name"], e["observations"]) for e in found["entities"]] == [("E", [X, f"ä\u2028 {EXPIRED}"])]
        assert [(r["from"], r["to"]) for r in found["relations"]] == [("E", "F")]
        server.call("add_observations", observations=[{"entityName": "E", "contents": ["mine"]}])
        path.write_bytes(path.read_bytes() + b"\n" + entity([Y]))
        run(path)
        assert server.call("read_graph")["entities"][0]["observations"] == [X, f"ä\u2028 {EXPIRED}", "mine", Y]


def test_a_killed_undo_is_settled_with_the_archive(tmp_path: Path) -> None:
    path = laid(tmp_path, entity(["k", X, Y]))
    name = run(path).run
    digest = next(e["raw_digest"] for e in events_of(path) if json.loads(e.get("raw", "0")) == X)
    with writing(state_of(path), path.stat(), Options(pace=AT_ONCE)) as session:
        begin = {"event": "begin", "run": "beef", "undoes": name, "archive": "memory-archive.jsonl"}
        restored = {"event": "restored", "run": "beef", "entity": "E", "raw_digest": digest}
        settle(session, begin, applied=True, events=[restored])
    assert graph(archive_of(path)) == [("E", [Y])]


def test_doctor_says_what_an_archive_is_and_misses_no_ledger(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([X]))
    run(path)
    found = json.loads(memttl("doctor", "--json", "--file", archive_of(path)).stdout)["findings"]
    named = {finding["name"] for finding in found}
    assert ("archive" in named, "ledger-missing" in named) == (True, False)
