"""A forget killed at every step: each file is old or new, nothing else is harmed, and the same command finishes."""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import asked as pinned
from asking import forked
from asking import killed as killed_setting
from forgetting import SECRET, WHOLE, forgot, holding, lived, log_of, packed, texts_of
from ledgers import die, opened, scanned
from pruning import at, pruned, settings_of, state_folder
from strangers import leftovers

from memttl.core.selection import Choice
from memttl.core.wish import Wish
from memttl.errors import UnknownEntity
from memttl.files import commit, erasing
from memttl.files.erasing import COPY
from memttl.workflow.change_settings import change_settings

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
WRITE_STEPS = [step for step in commit.STEPS if step not in ("leased", "linked", "backup written")]
KILLS = int(os.environ.get("CRASH_KILLS", "10"))


def killed(act: Callable[[], object]) -> bool:
    """Say whether a child that does this was killed."""
    return os.WIFSIGNALED(os.waitpid(forked(act), 0)[1])


def ready(folder: Path) -> Path:
    """A state that real runs have made, and one pin that must outlive all of this."""
    path = packed(lived(folder))
    change_settings(settings_of(path), Wish("pin", Choice("B", "kept", exact=True)))
    return path


def finish(path: Path, *words: str) -> None:
    """Forget again, where anything is left."""
    try:
        forgot(path, *words)
    except UnknownEntity:
        word = "hunter2" if words[0] == "*" else words[0]
        assert holding(path.parent, word) == [], "nothing was found, but something is there"


def nothing_else_is_harmed(path: Path) -> None:
    assert texts_of(path)["B"][-1] == "kept"
    log_of(path)
    with opened(path) as ledger:
        assert ("B", "kept") in [(s.entity, s.text) for s in ledger.settings() if s.asked.pinned]
    assert pruned(path).plan.refusals == ()


@pytest.mark.parametrize("step", [*WRITE_STEPS, *erasing.STEPS, COPY])
@pytest.mark.parametrize("words", [("*", SECRET), (WHOLE,)], ids=["a text", "an entity"])
def test_a_kill_at_a_step_is_finished_by_the_same_command(tmp_path: Path, step: str, words: tuple[str, ...]) -> None:
    path, word = ready(tmp_path), "hunter2" if words[0] == "*" else WHOLE
    assert killed(lambda: forgot(path, *words, step=at(step, die))), f"no step {step}"
    for line in path.read_bytes().splitlines():
        json.loads(line)
    log_of(path)
    finish(path, *words)
    assert holding(tmp_path, word) == []
    assert leftovers_but_backups(path) == []
    nothing_else_is_harmed(path)


def leftovers_but_backups(path: Path) -> list[str]:
    return [name for name in leftovers(path) if name not in ("audit.head",)]


def test_kills_at_random_instants_are_finished_by_the_same_command(tmp_path: Path) -> None:
    chance, kills = random.Random(20261130), Counter[bool]()
    for n in range(KILLS):
        folder = tmp_path / str(n)
        folder.mkdir()
        path = ready(folder)
        child = forked(lambda path=path: forgot(path, "*", SECRET))
        time.sleep(chance.uniform(0, 0.25))
        os.kill(child, 9)
        kills[os.WIFSIGNALED(os.waitpid(child, 0)[1])] += 1
        finish(path, "*", SECRET)
        assert holding(folder) == []
        nothing_else_is_harmed(path)
    assert kills[True] > KILLS // 4


@pytest.mark.parametrize("step", ["log replaced", "log written", "rows gone"])
def test_a_pin_is_not_lost_by_a_kill_while_the_log_is_rewritten(tmp_path: Path, step: str) -> None:
    path = ready(tmp_path)
    assert killed(lambda: forgot(path, "A", SECRET, step=at(step, die)))
    change_settings(settings_of(path), Wish("pin", Choice("A", "plain", exact=True)))
    (state_folder(path) / "ledger.db").unlink()
    scanned(path)
    with opened(path) as ledger:
        assert {s.text for s in ledger.settings() if s.asked.pinned} >= {"kept", "plain"}


def test_a_killed_prune_is_recovered_before_and_its_leftovers_are_gone(tmp_path: Path) -> None:
    for step in ("new version written", "begin logged", "exchanged", "settled", "released"):
        folder = tmp_path / step.replace(" ", "-")
        folder.mkdir()
        path = lived(folder)
        record = {"type": "entity", "name": "D", "entityType": "t", "observations": [f"[session] 2026-01-09: {SECRET}"]}
        path.write_bytes(path.read_bytes() + b"\n" + json.dumps(record, ensure_ascii=False).encode())
        assert killed(lambda path=path, step=step: pruned(path, step=at(step, die)))
        forgot(path, "*", SECRET)
        assert holding(folder) == []
        log_of(path)


def test_a_half_written_packed_backup_is_no_trace(tmp_path: Path) -> None:
    path = ready(tmp_path)
    part = state_folder(path) / "backups" / "20260101T000000Z-abcd.jsonl.gz.part"
    part.write_bytes(gzip.compress(SECRET.encode()))
    forgot(path, "*", SECRET)
    assert not part.exists()


def test_what_is_set_after_it_and_killed_between_log_and_ledger_is_not_missed(tmp_path: Path) -> None:
    path = ready(tmp_path)
    forgot(path, "*", SECRET)
    killed_setting(path, Wish("pin", Choice("A", "plain", exact=True)), "logged")
    assert pinned(path)["plain"].pinned
