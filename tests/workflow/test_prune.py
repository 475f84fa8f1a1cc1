"""The use case prune: what was approved is the most that goes; nothing to do writes nothing; strangers lose nothing."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from process import aged, tree
from pruning import at, events_of, names_in, pruned, settings_of, state_folder
from support import entity, relation

from memttl.core.outcome import PruneOutcome
from memttl.errors import NoMemoryFile, UnknownEntity
from memttl.files.lock import locked
from memttl.files.state import state_of
from memttl.files.swap import Changed
from memttl.workflow.prune import Request, prune

OLD, OTHER_OLD, PLAIN = "[session] 2026-01-05: one", "[session] 2026-01-06: two", "a plain note"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([OLD, PLAIN], name="A"))
    return aged(path)


def answering(act: Callable[[], object]) -> Callable[[PruneOutcome], bool]:
    """Somebody who says yes, and something that happens while the question waits."""

    def ask(_: PruneOutcome) -> bool:
        act()
        return True

    return ask


def test_what_expired_while_the_question_waited_waits_for_the_next_run(memory: Path) -> None:
    stranger = answering(lambda: memory.write_bytes(entity([OLD, PLAIN, OTHER_OLD], name="A")))
    outcome = pruned(memory, ask=stranger)
    assert memory.read_bytes() == entity([PLAIN, OTHER_OLD], name="A")
    assert (outcome.applied, outcome.plan.waiting, outcome.plan.counts.removed) == (True, 1, 1)
    assert [v.observation for v in pruned(memory).plan.removals] == [OTHER_OLD]


def test_the_same_text_added_once_more_waits(memory: Path) -> None:
    pruned(memory, ask=answering(lambda: memory.write_bytes(entity([OLD, PLAIN, OLD], name="A"))))
    assert memory.read_bytes() == entity([PLAIN, OLD], name="A")


def test_the_same_text_of_another_entity_waits(memory: Path) -> None:
    both = entity([OLD, PLAIN], name="A") + b"\n" + entity([OLD], name="B")
    pruned(memory, ask=answering(lambda: memory.write_bytes(both)))
    assert memory.read_bytes() == entity([PLAIN], name="A") + b"\n" + entity([OLD], name="B")


def test_what_was_approved_and_is_gone_already_is_no_error(memory: Path) -> None:
    outcome = pruned(memory, ask=answering(lambda: memory.write_bytes(entity([PLAIN], name="A"))))
    assert (outcome.applied, outcome.run, outcome.backup) == (False, None, None)
    assert memory.read_bytes() == entity([PLAIN], name="A")


def test_observation_that_moved_is_found_where_it_is(memory: Path) -> None:
    pruned(memory, ask=answering(lambda: memory.write_bytes(entity([PLAIN, "new", OLD], name="A"))))
    assert memory.read_bytes() == entity([PLAIN, "new"], name="A")


def test_file_that_is_gone_after_the_question_is_told(memory: Path) -> None:
    with pytest.raises(NoMemoryFile):
        pruned(memory, ask=answering(memory.unlink))
    assert not memory.exists()


def test_no_lock_is_held_and_nothing_is_written_while_the_question_waits(memory: Path) -> None:
    before = tree(memory.parent)

    def look() -> None:
        assert tree(memory.parent) == before

    assert pruned(memory, ask=answering(look)).applied


def test_another_memttl_may_prune_while_the_question_waits(memory: Path) -> None:
    outcome = pruned(memory, ask=answering(lambda: pruned(memory)))
    assert not outcome.applied
    assert [e["event"] for e in events_of(memory)] == ["begin", "removed", "end"]


def test_no_writes_nothing(memory: Path) -> None:
    before = tree(memory.parent)
    outcome = pruned(memory, ask=lambda _: False)
    assert (outcome.declined, outcome.applied) == (True, False)
    assert tree(memory.parent) == before


@pytest.mark.parametrize("step", ["start", "backup written", "new version written", "begin logged"])
def test_write_of_a_stranger_before_the_replace_is_kept(memory: Path, step: str) -> None:
    outcome = pruned(memory, step=at(step, lambda: memory.write_bytes(entity([OLD, PLAIN, "new"], name="A"))))
    assert outcome.applied
    assert memory.read_bytes() == entity([PLAIN, "new"], name="A")


def test_stranger_who_replaces_the_file_is_kept(memory: Path) -> None:
    def swap() -> None:
        memory.with_name("theirs").write_bytes(entity([OLD, PLAIN, "new"], name="A"))
        memory.with_name("theirs").replace(memory)

    pruned(memory, step=at("begin logged", swap))
    assert memory.read_bytes() == entity([PLAIN, "new"], name="A")


def test_further_try_of_the_same_removals_is_logged_once(memory: Path) -> None:
    outcome = pruned(memory, step=at("begin logged", lambda: memory.write_bytes(entity([OLD, "new"], name="A"))))
    assert [e["event"] for e in events_of(memory)] == ["begin", "removed", "end"]  # it removed the same
    assert names_in(state_folder(memory) / "backups") == [os.path.basename(str(outcome.backup))]


@pytest.mark.slow
def test_stranger_who_never_rests_is_told_after_ten_seconds(memory: Path) -> None:
    counter = iter(range(10**6))

    def write(name: str) -> None:
        if name == "begin logged":
            memory.write_bytes(entity([OLD, PLAIN, f"new {next(counter)}"], name="A"))

    with pytest.raises(Changed, match="would not stay still"):
        pruned(memory, step=write)
    assert json.loads(memory.read_bytes())["observations"][:2] == [OLD, PLAIN]
    assert names_in(state_folder(memory) / "backups") == []


def test_lock_of_another_is_waited_for(memory: Path) -> None:
    state = state_of(memory)
    pruned(memory)
    memory.write_bytes(entity([OTHER_OLD], name="A"))
    with locked(state, memory.stat()):
        threading.Thread(target=pruned, args=(memory,)).start()
        time.sleep(0.3)
        assert memory.read_bytes() == entity([OTHER_OLD], name="A")
    while memory.read_bytes() != entity([], name="A"):
        time.sleep(0.02)


@pytest.mark.parametrize("data", [b"", entity([PLAIN]), entity([]), relation("A", "B")])
def test_nothing_expired_leaves_the_memory_file_alone(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(data)
    aged(path)
    before = tree(tmp_path)["memory.jsonl"]
    assert not pruned(path).applied
    assert tree(tmp_path)["memory.jsonl"] == before
    assert names_in(state_folder(path) / "backups") == []


@pytest.mark.parametrize("data", [b"", entity([PLAIN]), entity([]), relation("A", "B")])
def test_nothing_expired_and_nothing_new_writes_nothing_at_all(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(data)
    aged(path)
    pruned(path)
    before = tree(tmp_path)
    assert not pruned(path).applied
    assert tree(tmp_path) == before


def test_second_prune_writes_nothing(memory: Path) -> None:
    pruned(memory)
    before = tree(memory.parent)
    pruned(memory)
    assert tree(memory.parent) == before


def test_refused_plan_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([OLD] * 15 + [PLAIN] * 5))
    before = tree(tmp_path)
    assert pruned(path).plan.refusals
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("request_", "left"),
    [
        ({"entities": ("Sprint 1",)}, "23"),
        ({"entities": ("Sprint *",)}, "3"),
        ({"entities": ("Sprint 1", "Note")}, "2"),
        ({"types": ("SPRINT",)}, "3"),
        ({"types": ("nosuch*",)}, "123"),
        ({"tiers": ("operational",)}, "13"),
        ({"entities": ("Sprint ?",), "tiers": ("session",)}, "23"),
    ],
)
def test_filters_narrow_what_goes(tmp_path: Path, request_: dict[str, tuple[str, ...]], left: str) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [
        entity(["[session] 2026-01-05: 1"], name="Sprint 1", kind="sprint"),
        entity(["[operational] 2026-01-05: 2"], name="Sprint 2", kind="sprint"),
        entity(["[session] 2026-01-05: 3"], name="Note"),
    ]
    path.write_bytes(b"\n".join(lines))
    pruned(path, **request_)
    assert [n for n in "123" if f": {n}".encode() in path.read_bytes()] == list(left)


def test_name_that_half_of_a_file_lacks_is_looked_for_again(memory: Path) -> None:
    whole = memory.read_bytes() + b"\n" + entity([OTHER_OLD], name="B")
    memory.write_bytes(whole[:-20])
    threading.Timer(0.5, memory.write_bytes, (whole,)).start()
    assert pruned(memory, entities=("B",)).plan.counts.removed == 1


def test_name_that_no_entity_has_is_an_error(memory: Path) -> None:
    with pytest.raises(UnknownEntity, match="No entity is named 'B'"):
        pruned(memory, entities=("B",))


def test_keep_malformed_prunes_good_lines_and_keeps_bad_ones(tmp_path: Path) -> None:
    bad = [b'{"type":"entity"', b"\xff\xfe", b"\x00\x00"]
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b"\n".join([bad[0], entity([OLD, PLAIN]), *bad[1:]]))
    outcome = pruned(aged(path), keep_malformed=True)
    assert path.read_bytes() == b"\n".join([bad[0], entity([PLAIN]), *bad[1:]])
    assert outcome.plan.counts.malformed_lines == 3


def test_policy_can_put_state_elsewhere(memory: Path) -> None:
    outcome = pruned(memory, policy='[state]\ndir = "state"\n')
    digest = hashlib.sha256(bytes(memory)).hexdigest()[:16]
    kept = memory.parent / f"state/memory.jsonl-{digest}"
    assert names_in(kept) == ["audit.head", "audit.jsonl", "backups", "ledger.db", "path"]
    assert names_in(state_folder(memory)) == ["lock"]
    assert Path(str(outcome.backup)).parent == kept / "backups"


def test_environment_can_put_state_elsewhere(memory: Path, tmp_path: Path) -> None:
    settings = settings_of(memory, MEMTTL_STATE_DIR=str(tmp_path / "own"))
    assert str(prune(settings, Request()).backup).startswith(str(tmp_path / "own/memory.jsonl-"))


def test_log_without_texts_holds_digests_only(memory: Path) -> None:
    pruned(memory, policy="[audit]\ntext = false\n")
    removed = next(e for e in events_of(memory) if e["event"] == "removed")
    assert "raw" not in removed
    assert removed["raw_digest"] == hashlib.sha256(json.dumps(OLD).encode()).hexdigest()
    assert "2026-01-05: one" not in (state_folder(memory) / "audit.jsonl").read_text()


def test_backups_that_undo_needs_are_not_thinned(memory: Path) -> None:
    policy = '[audit]\ntext = false\n[backups]\nkeep = 1\nmax_age = "1d"\n'
    for n in range(3):
        memory.write_bytes(entity([f"{OLD} {n}"]))
        pruned(memory, policy=policy)
    assert len(names_in(state_folder(memory) / "backups")) == 3


def test_backups_are_thinned_after_a_run(memory: Path) -> None:
    for n in range(4):
        memory.write_bytes(entity([f"{OLD} {n}"]))
        pruned(memory, policy="[backups]\nkeep = 2\n")
    assert len(names_in(state_folder(memory) / "backups")) == 2


def test_entities_that_were_emptied_and_their_relations_are_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [entity([OLD], name="A"), entity([PLAIN], name="B"), relation("A", "B"), relation("B", "B")]
    path.write_bytes(b"\n".join(lines))
    pruned(path, policy="[prune]\nremove_empty_entities = true\n")
    assert path.read_bytes() == b"\n".join([lines[1], lines[3]])
    events = {e["event"]: e for e in events_of(path)}
    assert events["removed_entity"]["raw"] == lines[0].decode()
    assert events["removed_relation"]["raw"] == lines[2].decode()
    assert events["end"]["applied"]


def test_relation_that_a_stranger_added_keeps_the_entity(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [entity([OLD], name="A"), entity([PLAIN], name="B")]
    path.write_bytes(b"\n".join(lines))
    added = b"\n".join([*lines, relation("A", "B")])
    pruned(path, policy="[prune]\nremove_empty_entities = true\n", ask=answering(lambda: path.write_bytes(added)))
    assert path.read_bytes() == b"\n".join([entity([], name="A"), lines[1], relation("A", "B")])
