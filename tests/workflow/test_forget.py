"""What forget erases: nothing of it is left in any byte that memttl keeps, and nothing else is harmed."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from archives import EXPIRED, POLICY, archive_of, laid, run
from asking import asked, listed, lose_ledger
from forgetting import OLD, OTHER, PLAIN, SECRET, WHOLE, forgot, graph, holding, lived, log_of, packed, texts_of
from ledgers import leave_hot_journal, ledger_path, numbered, opened, scanned, sightings, written
from process import aged, tree
from pruning import names_in, pruned, settings_of, state_folder
from support import entity, relation

from memttl.core.digests import text_key
from memttl.core.forget_outcome import ForgetOutcome
from memttl.core.model import UserSettings
from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.errors import ExitCode, NoMemoryFile, NoPermission, UnknownEntity
from memttl.files import audit
from memttl.files.backups import list_backups, read_backup
from memttl.settings import Given, resolve
from memttl.workflow.change_settings import change_settings
from memttl.workflow.forget import forget

NO_TEXT = "[audit]\ntext = false\n"
ARCHIVE = '[archive]\npath = "archive.jsonl"\n'


def backups(path: Path) -> list[bytes]:
    """All backups, unpacked."""
    return [read_backup(backup) for *_, backup in list_backups(state_folder(path) / "backups")]


def places(outcome: ForgetOutcome) -> dict[str, int]:
    """What went from each place, by the last part of its name."""
    return {Path(place.place).name: place.number for place in outcome.places}


@pytest.mark.parametrize("policy", ["", NO_TEXT], ids=["texts kept", "digests only"])
def test_no_byte_of_what_memttl_keeps_holds_the_secret(tmp_path: Path, policy: str) -> None:
    path = packed(lived(tmp_path, policy=policy))
    assert len(holding(tmp_path)) >= 2  # else this test could not fail
    outcome = forgot(path, "*", SECRET)
    assert holding(tmp_path) == []
    assert outcome.remaining == ()
    assert outcome.run is not None
    log_of(path)


def test_what_does_not_match_stays_byte_for_byte(tmp_path: Path) -> None:
    path = lived(tmp_path)
    forgot(path, "*", SECRET)
    assert texts_of(path) == {
        "A": ["plain"],
        "B": ["kept"],
        "Escaped": [],
        WHOLE: ["in the vault"],
        "C": [],
    }
    first = next(backup for backup in backups(path) if b"harmless" in backup)
    assert first == b"\n".join(
        [
            entity(["plain", "[session] 2026-01-07: harmless"], name="A"),
            entity(["kept"], name="B"),
            entity([], name="Escaped"),
            entity(["in the vault", "[session] 2026-01-08: vaulted"], name=WHOLE),
            relation("A", WHOLE),
            relation("A", "B"),
        ]
    )


def test_of_other_entities_nothing_goes_and_the_rest_is_named(tmp_path: Path) -> None:
    path = lived(tmp_path)
    outcome = forgot(path, "A", SECRET)
    assert texts_of(path)["B"] == [PLAIN, PLAIN, "kept"]
    assert texts_of(path)["A"] == ["plain"]
    assert "memory.jsonl" in [place.place for place in outcome.remaining]
    assert {found for found, _ in outcome.observations} == {"A"}
    forgot(path, "*", SECRET)
    assert holding(tmp_path) == []


@pytest.mark.parametrize("policy", ["", NO_TEXT], ids=["texts kept", "digests only"])
def test_a_whole_entity_leaves_neither_name_nor_text(tmp_path: Path, policy: str) -> None:
    path = packed(lived(tmp_path, policy=policy))
    outcome = forgot(path, WHOLE)
    assert holding(tmp_path, WHOLE) == []
    assert holding(tmp_path, "vaulted") == []
    assert outcome.entities == (WHOLE,)
    assert b'"to":"B"' in path.read_bytes()
    log_of(path)
    with opened(path) as ledger:
        assert WHOLE not in ledger.names()


def test_a_glob_means_all_entities_that_it_matches_in_any_place(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"Old 1": ["a"], "Old 2": ["b"], "New": ["c"]})
    scanned(path)
    written(path, {"Old 1": ["a"], "New": ["c"]})
    assert forgot(path, "Old *").entities == ("Old 1", "Old 2")
    assert texts_of(path) == {"New": ["c"]}
    assert holding(tmp_path, "Old ") == []


def test_what_was_pruned_long_ago_is_found_and_erased(tmp_path: Path) -> None:
    path = lived(tmp_path)
    before = path.read_bytes()
    outcome = forgot(path, "C", SECRET)
    assert path.read_bytes() == before
    assert not outcome.applied
    assert outcome.run is not None
    assert "again" not in "".join(map(str, log_of(path)))


def test_with_a_missing_memory_file_its_state_is_cleaned_all_the_same(tmp_path: Path) -> None:
    path = lived(tmp_path)
    path.unlink()
    assert forgot(path, "*", SECRET).run is not None
    assert holding(tmp_path) == []
    assert not path.exists()


def test_without_a_file_and_without_any_state_there_is_nothing_to_look_in(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryFile):
        forgot(tmp_path / "memory.jsonl", "*", SECRET)
    assert names_in(tmp_path) == []


def test_a_damaged_line_of_the_memory_file_stays_and_is_named(tmp_path: Path) -> None:
    path = lived(tmp_path)
    bad = f'{{"type":"entity","name":"Cut","observations":["{SECRET}'.encode()
    path.write_bytes(path.read_bytes() + b"\n" + bad)
    aged(path)
    outcome = forgot(path, "*", SECRET)
    assert path.read_bytes().endswith(bad)
    assert any("doctor --repair" in warning for warning in outcome.warnings)
    assert [place.place for place in outcome.remaining] == ["memory.jsonl"]
    assert holding(tmp_path) == ["memory.jsonl"]


def test_a_damaged_line_of_a_copy_goes_whole(tmp_path: Path) -> None:
    path = lived(tmp_path)
    for *_, backup in list_backups(state_folder(path) / "backups"):
        backup.write_bytes(backup.read_bytes() + b'\n{"type":"entity","observations":["' + SECRET.encode())
    folder = state_folder(path) / "quarantine"
    folder.mkdir()
    (folder / "20260601-abc").write_bytes(b'}}"' + SECRET.encode() + b"\n\x00\xff kept")
    (state_folder(path) / f"rescued-{'a' * 8}-1-{'b' * 32}-{'c' * 32}.swap").write_bytes(graph() + b'\n{"x')
    forgot(path, "*", SECRET)
    assert holding(tmp_path) == []
    assert (folder / "20260601-abc").read_bytes() == b"\x00\xff kept"


def test_a_file_of_an_unknown_kind_is_searched_and_named(tmp_path: Path) -> None:
    path = lived(tmp_path)
    (state_folder(path) / "notes.txt").write_text(json.dumps({"seen": SECRET}))  # with an escape
    outcome = forgot(path, "*", SECRET)
    assert [Path(place.place).name for place in outcome.remaining] == ["notes.txt"]


def test_a_backup_that_cannot_be_unpacked_is_told_of(tmp_path: Path) -> None:
    path = packed(lived(tmp_path))
    backup = next((state_folder(path) / "backups").glob("*.gz"))
    backup.write_bytes(backup.read_bytes()[:-9])
    outcome = forgot(path, "*", SECRET)
    assert any("Nobody can tell" in warning for warning in outcome.warnings)
    assert path.exists()


def test_a_rewritten_backup_keeps_time_and_mode_and_is_packed_again(tmp_path: Path) -> None:
    path = packed(lived(tmp_path))
    backup = next((state_folder(path) / "backups").glob("*.gz"))
    os.utime(backup, (1_700_000_000, 1_700_000_000))
    backup.chmod(0o600)
    forgot(path, "*", SECRET)
    assert backup.stat().st_mtime == 1_700_000_000
    assert backup.stat().st_mode & 0o777 == 0o600
    assert b"harmless" in gzip.decompress(backup.read_bytes())


def test_the_log_keeps_digests_and_one_line_that_says_what_was_forgotten(tmp_path: Path) -> None:
    path = lived(tmp_path)
    removed = [e for e in log_of(path) if e["event"] == "removed"]
    forgot(path, "*", SECRET)
    events = log_of(path)
    now = [e for e in events if e["event"] == "removed"]
    assert [e["raw_digest"] for e in now] == [e["raw_digest"] for e in removed]
    assert [e["raw"] for e in now if "raw" in e] == [
        json.dumps("[session] 2026-01-07: harmless"),
        json.dumps("[session] 2026-01-08: vaulted"),
    ]
    told = events[-1]
    assert told["event"] == "forgotten"
    assert told["places"]["memory.jsonl"] >= 4
    assert len(told["digests"]) == 6


def test_many_forgets_in_a_row_keep_the_chain(tmp_path: Path) -> None:
    path = lived(tmp_path)
    for words in (("A", SECRET), ("B", SECRET), (WHOLE,), ("Escaped", "escaped"), ("*", SECRET)):
        forgot(path, *words)
        log_of(path)
    pruned(path, now="2026-08-01T12:00:00Z")
    log_of(path)
    assert holding(tmp_path) == []


def test_what_was_set_for_it_does_not_come_back_with_a_rebuilt_ledger(tmp_path: Path) -> None:
    path = lived(tmp_path)
    change_settings(settings_of(path), Wish("pin", Choice("A", "plain", exact=True)))
    assert len(asked(path)) > 1
    forgot(path, "*", SECRET)
    assert asked(path) == {"plain": UserSettings(pinned=True)}
    lose_ledger(path)
    assert asked(path) == {"plain": UserSettings(pinned=True)}


def test_a_setting_made_after_a_forget_and_before_it_survives_it(tmp_path: Path) -> None:
    path = lived(tmp_path)
    change_settings(settings_of(path), Wish("pin", Choice("B", "kept")))
    forgot(path, "A", SECRET)
    change_settings(settings_of(path), Wish("pin", Choice("A", "plain", exact=True)))
    forgot(path, "B", SECRET)
    assert [(entity, text) for entity, text, *_ in listed(path)] == [("A", "plain"), ("B", "kept")]


def test_sightings_of_the_rest_stay(tmp_path: Path) -> None:
    path = lived(tmp_path)
    before = sightings(path, "A")
    forgot(path, "A", SECRET)
    after = sightings(path, "A")
    assert after == {key: seen for key, seen in before.items() if key in after}
    assert text_key("plain") in after
    assert text_key(PLAIN) not in after


def test_what_was_forgotten_has_not_vanished(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {**numbered(30, of=SECRET), "Z": ["one", "two"]})
    scanned(path)
    forgot(path, "*", SECRET)
    aged(path)
    assert scanned(path, "2026-06-02T12:00:00Z").refusals == ()


def test_what_had_vanished_before_is_still_missed_after_a_forget(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {**numbered(60, entities=10), "Z": [PLAIN]})
    scanned(path)
    written(path, {"Z": [PLAIN]})
    forgot(path, "Z", SECRET)
    aged(path)
    assert scanned(path, "2026-06-02T12:00:00Z").refusals


def test_a_journal_that_a_kill_left_is_rolled_back_and_gone(tmp_path: Path) -> None:
    path = lived(tmp_path)
    leave_hot_journal(path)
    forgot(path, "*", SECRET)
    assert holding(tmp_path) == []
    assert not ledger_path(path).with_name("ledger.db-journal").exists()


def test_a_damaged_ledger_is_rebuilt_and_removed(tmp_path: Path) -> None:
    path = lived(tmp_path)
    ledger = ledger_path(path)
    ledger.write_bytes(ledger.read_bytes()[:4096] + b"x" * 4096 + SECRET.encode())
    forgot(path, "*", SECRET)
    assert holding(tmp_path) == []
    assert not list(state_folder(path).glob("ledger.db.damaged-*"))


def test_the_archive_and_its_state_are_memory_files_too(tmp_path: Path) -> None:
    path = lived(tmp_path, policy=ARCHIVE)
    archive = tmp_path / "archive.jsonl"
    archive.write_bytes(entity([OLD, "archived"], name="A"))
    aged(archive)
    outcome = forgot(path, "*", SECRET, policy=ARCHIVE)
    assert holding(tmp_path) == []
    assert texts_of(archive) == {"A": ["archived"]}
    assert "archive.jsonl" in places(outcome)


def test_an_archive_gets_no_ledger_and_no_warning_of_one(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([f"{SECRET} {EXPIRED}", "kept"], name="A"))
    run(path)
    outcome = forgot(path, "*", SECRET, policy=POLICY)
    assert holding(tmp_path) == []
    assert not ledger_path(archive_of(path)).exists()
    assert not [warning for warning in outcome.warnings if "ledger" in warning]
    log_of(archive_of(path))


def test_a_file_named_as_archive_can_still_become_one_after_a_forget(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([f"old {EXPIRED}", SECRET], name="A"))
    aged(path)
    archive_of(path).write_bytes(entity([SECRET, "archived"], name="A"))
    aged(archive_of(path))
    forgot(path, "*", SECRET, policy=POLICY)
    aged(path)
    aged(archive_of(path))
    assert run(path).run is not None
    assert b"archived" in archive_of(path).read_bytes()


def test_every_warning_about_the_archive_names_it(tmp_path: Path) -> None:
    path = laid(tmp_path, entity([f"{SECRET} {EXPIRED}", "kept"], name="A"))
    run(path)
    audit.append(
        state_folder(archive_of(path)) / "audit.jsonl", [{"event": "begin", "run": "feed"}], archive_of(path).lstat()
    )
    planned = forgot(path, "*", SECRET, policy=POLICY, dry_run=True)
    assert [w for w in planned.warnings if "an earlier run was killed" in w] == [
        "the archive memory-archive.jsonl: an earlier run was killed, or is at work still; the next applied run tidies "
        "up after it"
    ]


def test_an_archive_in_another_folder_is_named_by_its_path(tmp_path: Path) -> None:
    path, archive = tmp_path / "a" / "memory.jsonl", tmp_path / "b" / "memory.jsonl"
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[archive]\npath = "{archive}"\n')
    for file in (path, archive):
        file.parent.mkdir()
        file.write_bytes(entity([SECRET, "kept"], name="A"))
        aged(file)
    settings = resolve(str(path), Given(policy=str(policy)), {}, datetime.now(UTC))
    outcome = forget(settings, Choice("*", SECRET), dry_run=True)
    assert {"memory.jsonl", str(archive)} <= {place.place for place in outcome.places}


def test_each_kind_of_what_goes_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [entity(["one"], name=WHOLE), entity(["other"], name="A"), relation("A", WHOLE)]
    path.write_bytes(b"\n".join(lines))
    aged(path)
    (place,) = forgot(path, WHOLE, dry_run=True).places
    assert place.words == "1 entity, 1 observation, 1 relation"


def test_what_a_dry_run_says_to_stay_is_what_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {f"named {SECRET}": ["a"], "A": [PLAIN, "plain"], "B": [PLAIN, "more"]})
    scanned(path)
    change_settings(settings_of(path), Wish("pin", Choice("B", PLAIN, exact=True)))
    planned = forgot(path, "A", SECRET, dry_run=True)
    assert "ledger.db" in {Path(place.place).name for place in planned.remaining}
    assert forgot(path, "A", SECRET).remaining == planned.remaining


def test_where_it_still_stands_is_told_with_in_what(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [
        entity(["a"], name=f"named {SECRET}"),
        entity([PLAIN, "plain"], name="A"),
        entity([PLAIN, "more", OTHER], name="B"),
        relation("A", f"named {SECRET}"),
        f'{{"type":"entity","name":"Cut","observations":["{SECRET}'.encode(),
    ]
    path.write_bytes(b"\n".join(lines))
    aged(path)
    (place,) = [place for place in forgot(path, "A", SECRET).remaining if place.place == "memory.jsonl"]
    assert place.words == "1 entity name, 2 other observations, 1 relation, 1 damaged line"


def test_what_stands_in_a_damaged_line_only_is_told_with_what_mends_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["a"], name="A") + f'\n{{"type":"entity","observations":["{SECRET}'.encode())
    aged(path)
    with pytest.raises(UnknownEntity, match=r"damaged line 2 of memory\.jsonl") as error:
        forgot(path, "*", SECRET)
    assert "memttl doctor --repair" in error.value.hint
    assert error.value.exit_code == ExitCode.USAGE


def test_a_star_that_nobody_typed_is_not_spoken_of(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"A": ["a"]})
    with pytest.raises(UnknownEntity) as error:
        forgot(path, "*", "notthere")
    assert "*" not in error.value.message + error.value.hint


def test_state_that_lies_elsewhere_is_cleaned(tmp_path: Path) -> None:
    policy = '[state]\ndir = "elsewhere"\n'
    path = tmp_path / "memory.jsonl"
    path.write_bytes(graph())
    aged(path)
    pruned(path, policy=policy)
    assert any(name.startswith("elsewhere") for name in holding(tmp_path))
    forgot(path, "*", SECRET, policy=policy)
    assert holding(tmp_path) == []


def test_a_dry_run_lists_the_places_and_writes_nothing(tmp_path: Path) -> None:
    path = lived(tmp_path)
    before = tree(tmp_path)
    planned = forgot(path, "*", SECRET, dry_run=True)
    assert tree(tmp_path) == before
    assert planned.run is None
    assert {"memory.jsonl", "audit.jsonl", "ledger.db"} <= places(planned).keys()
    assert planned.dry_run
    assert PLAIN in [text for _, text in planned.observations]


def test_a_no_changes_nothing(tmp_path: Path) -> None:
    path = lived(tmp_path)
    before = tree(tmp_path)
    assert forgot(path, "*", SECRET, ask=lambda _: False).declined
    assert tree(tmp_path) == before


def test_what_arrives_while_the_question_waits_stays_and_is_named(tmp_path: Path) -> None:
    path = lived(tmp_path)
    late = f"late {SECRET}"

    def ask(_: ForgetOutcome) -> bool:
        path.write_bytes(path.read_bytes() + b"\n" + entity([late], name="Late"))
        aged(path)
        return True

    outcome = forgot(path, "*", SECRET, ask=ask)
    assert texts_of(path)["Late"] == [late]
    assert [place.place for place in outcome.remaining] == ["memory.jsonl"]


@pytest.mark.parametrize("words", [("Nobody",), ("A", "nothing such"), ("*", "nothing such")])
def test_nothing_to_forget_is_refused_and_writes_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = lived(tmp_path)
    before = tree(tmp_path)
    with pytest.raises(UnknownEntity) as error:
        forgot(path, *words)
    assert error.value.exit_code == ExitCode.USAGE
    assert tree(tmp_path) == before


def test_a_near_name_is_given(tmp_path: Path) -> None:
    with pytest.raises(UnknownEntity, match='did you mean "Vault"'):
        forgot(lived(tmp_path), "Vaultt")


def test_where_the_words_stand_in_something_else_the_refusal_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {f"named {SECRET}": ["a"]})
    with pytest.raises(UnknownEntity, match=r"part of something else in: memory\.jsonl"):
        forgot(path, "*", SECRET)


def test_exact_means_the_whole_text(tmp_path: Path) -> None:
    path = lived(tmp_path)
    forgot(path, "*", PLAIN, exact=True)
    assert texts_of(path)["A"][0] == "plain"
    assert texts_of(path)["Escaped"] == [f"escaped {SECRET}"]


def test_a_pattern_is_searched_for_afterwards(tmp_path: Path) -> None:
    path = lived(tmp_path)
    outcome = forgot(path, "A", r"hunter\d", pattern=True)
    assert "memory.jsonl" in [place.place for place in outcome.remaining]
    assert forgot(path, "*", r"hunter\d", pattern=True).remaining == ()
    assert holding(tmp_path) == []


def test_a_file_with_a_second_name_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    path = lived(tmp_path)
    os.link(path, tmp_path / "second.jsonl")
    before = holding(tmp_path)
    with pytest.raises(NoPermission, match="hard links") as error:
        forgot(path, "*", SECRET)
    assert "other names" in error.value.hint
    assert "break-hard-links" not in error.value.hint
    assert len(holding(tmp_path)) >= len(before) - 2  # recovery alone may have dropped what a prune left


def test_an_edited_log_does_not_keep_a_secret(tmp_path: Path) -> None:
    path = lived(tmp_path)
    log = state_folder(path) / "audit.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:3] + lines[4:]))
    forgot(path, "*", SECRET)
    assert holding(tmp_path) == []


def test_the_next_look_knows_what_stayed_and_misses_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", {"A": [PLAIN, "a", "b"], "B": ["c"], WHOLE: ["d"]})
    scanned(path)
    forgot(path, "*", SECRET)
    forgot(path, WHOLE)
    aged(path)
    found = scanned(path, "2026-06-02T12:00:00Z").found
    assert (found.new, found.gone, found.then, found.entities_then) == (0, 0, 3, 2)
