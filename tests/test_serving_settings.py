"""A policy that changes while a file is served is used from the next call on, and never one that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from memttl.commands.serving_settings import ServingSettings
from memttl.core.moving import Move
from memttl.errors import BadPolicy, NoMemoryFile
from memttl.settings import Given
from memttl.setup.moved import note_away


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    (tmp_path / "memory.jsonl").write_bytes(b"")
    return tmp_path / "memttl.toml"


def settings(policy: Path) -> ServingSettings:
    return ServingSettings(str(policy.parent / "memory.jsonl"), Given(), {})


def test_policy_is_read_again_only_when_it_changed(policy: Path) -> None:
    policy.write_text('default_tier = "session"', encoding="utf-8")
    found = settings(policy)
    first = found().policy
    assert (first.default_tier, found().policy is first) == ("session", True)
    policy.write_text('default_tier = "operational"', encoding="utf-8")
    assert found().policy.default_tier == "operational"
    policy.unlink()
    assert found().policy.default_tier == "permanent"


def test_last_good_policy_stays_and_what_is_wrong_is_told(policy: Path) -> None:
    found = settings(policy)
    policy.write_text("default_tier = 7", encoding="utf-8")
    told = found().bad_policy
    assert "default_tier" in str(told)
    assert found().policy.default_tier == "permanent"
    policy.write_text('default_tier = "session"', encoding="utf-8")
    assert (found().bad_policy, found().policy.default_tier) == (None, "session")


def test_policy_that_is_bad_at_the_start_is_an_error(policy: Path) -> None:
    policy.write_text("nope", encoding="utf-8")
    with pytest.raises(BadPolicy):
        settings(policy)


def test_now_is_the_clock(policy: Path) -> None:
    found = settings(policy)()
    assert found.now == found.clock


def test_state_stays_where_it_was_and_another_place_is_told(policy: Path) -> None:
    found = settings(policy)
    policy.write_text('[state]\ndir = "elsewhere"', encoding="utf-8")
    assert found().state_elsewhere is None
    (told,) = found().put_off
    assert str(policy.parent / "elsewhere") in told
    policy.write_text("[limits]\nmax_prune_fraction = 0.9", encoding="utf-8")
    assert found().put_off == ()


def test_place_from_which_the_file_was_moved_is_refused_with_the_new_one(policy: Path, tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path / "home")}
    found = ServingSettings(str(policy.parent / "memory.jsonl"), Given(), environ)
    found()
    memory = policy.parent / "memory.jsonl"
    memory.rename(tmp_path / "new.jsonl")
    found()
    note_away(Move("a1b2c3d4", "2026-06-01T00:00:00Z", str(memory), str(tmp_path / "new.jsonl"), link=False), environ)
    with pytest.raises(NoMemoryFile, match=r"it was moved to .*new.jsonl on 2026-06-01\. Nothing was read or written"):
        found()
    with pytest.raises(NoMemoryFile):
        ServingSettings(str(policy.parent / "memory.jsonl"), Given(), environ)()
    memory.write_bytes(b"")
    found()


def test_link_that_leads_elsewhere_by_now_brings_the_policy_of_that_place(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "memory.jsonl").write_bytes(b"")
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "a/memory.jsonl")
    found = ServingSettings(str(link), Given(), {})
    found()
    link.unlink()
    link.symlink_to(tmp_path / "b/memory.jsonl")
    assert found().memory == tmp_path / "b/memory.jsonl"
    (tmp_path / "b/memttl.toml").write_text('default_tier = "session"', encoding="utf-8")
    assert found().policy.where == str(tmp_path / "b/memttl.toml")
