"""Which memory file, policy, state folder and instant: options, then the environment, then the folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memttl.core.policy import BUILT_IN
from memttl.errors import BadPolicy, NoMemoryFile, UsageError
from memttl.memory_files import memory_files
from memttl.settings import Given, Settings, resolve

CLOCK = datetime(2026, 6, 1, 12, tzinfo=UTC)
NOTHING = Given()


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "data/memory.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"")
    return path


def written(path: Path, text: str = "version = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def resolved(memory: Path, given: Given = NOTHING, environ: Mapping[str, str] | None = None) -> Settings:
    return resolve(str(memory), given, environ or {}, CLOCK)


def beside(memory: Path) -> Path:
    return memory.with_name("memttl.toml")


@pytest.fixture
def own_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of a policy in the user's config folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config/memttl/policy.toml"


def test_memory_file_is_the_option_before_the_environment() -> None:
    environ = {"MEMTTL_FILE": "/b", "MEMORY_FILE_PATH": "/c"}
    assert memory_files(Given(file=["/a"]), environ) == ["/a"]
    assert memory_files(NOTHING, environ) == ["/b"]
    assert memory_files(NOTHING, {"MEMORY_FILE_PATH": "/c"}) == ["/c"]


@pytest.mark.parametrize("name", ["MEMTTL_FILE", "MEMORY_FILE_PATH"])
def test_empty_variable_is_an_unset_one(name: str) -> None:
    with pytest.raises(NoMemoryFile):
        memory_files(NOTHING, {name: ""})


def test_tilde_is_the_home_in_what_memttl_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert (
        memory_files(Given(file=["~/m"]), {}) == memory_files(NOTHING, {"MEMTTL_FILE": "~/m"}) == ["/home/somebody/m"]
    )


def test_glob_gives_files_in_order_and_no_folders(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "d.jsonl").mkdir()
    found = memory_files(Given(file=[f"{tmp_path}/*.jsonl"]), {})
    assert [os.path.basename(name) for name in found] == ["a.jsonl", "b.jsonl"]


def test_first_name_of_a_file_is_the_one_that_is_kept(memory: Path) -> None:
    dotted = f"{memory.parent}/./memory.jsonl"
    assert memory_files(Given(file=[dotted, str(memory)]), {}) == [dotted]


def test_policy_is_looked_for_in_this_order(memory: Path, tmp_path: Path, own_policy: Path) -> None:
    link = tmp_path / "links/memory.jsonl"
    link.parent.mkdir()
    link.symlink_to(memory)
    places = [tmp_path / "option.toml", tmp_path / "variable.toml", beside(link), beside(memory), own_policy]
    given, environ = Given(policy=str(places[0])), {"MEMTTL_POLICY": str(places[1])}
    calls = [(given, environ), (NOTHING, environ), *[(NOTHING, {})] * 3]
    for place in places:
        written(place)
    for place, (given, environ) in zip(places, calls, strict=True):
        assert resolved(link, given, environ).policy.where == str(place)
        place.unlink()
    assert resolved(link).policy.where == BUILT_IN


def test_empty_policy_variable_is_an_unset_one(memory: Path) -> None:
    assert resolved(memory, NOTHING, {"MEMTTL_POLICY": ""}).policy.where == BUILT_IN


def test_empty_policy_option_is_an_error(memory: Path) -> None:
    with pytest.raises(UsageError, match="--policy was given an empty path"):
        resolved(memory, Given(policy=""))


@pytest.mark.parametrize("given", [True, False], ids=["option", "variable"])
def test_named_policy_that_is_missing_is_an_error(memory: Path, given: bool) -> None:
    beside(memory).write_text("version = 1\n")
    with pytest.raises(BadPolicy, match="No such file"):
        resolved(
            memory, Given(policy="/none.toml") if given else NOTHING, {} if given else {"MEMTTL_POLICY": "/none.toml"}
        )


@pytest.mark.parametrize(
    "make", [lambda p: p.symlink_to("nowhere"), lambda p: p.mkdir(), os.mkfifo], ids=["link", "folder", "pipe"]
)
def test_policy_beside_that_cannot_be_read_is_no_missing_one(memory: Path, make: object) -> None:
    make(beside(memory))  # type: ignore[operator]
    with pytest.raises(BadPolicy, match="cannot be read"):
        resolved(memory)


def test_policy_that_is_no_utf_8_is_told(memory: Path) -> None:
    beside(memory).write_bytes(b'default_tier = "\xff"')
    with pytest.raises(BadPolicy, match="is not UTF-8"):
        resolved(memory)


@pytest.mark.parametrize("path", ["huge.toml", "/dev/zero"])
def test_policy_without_end_is_not_read_to_it(memory: Path, path: str) -> None:
    with open(memory.with_name("huge.toml"), "wb") as f:
        f.truncate(1 << 40)
    with pytest.raises(BadPolicy, match="larger than 1 MiB"):
        resolved(memory, Given(policy=str(memory.parent / path)))


@pytest.mark.parametrize("path", ["/etc", "../state", "a/../../b", "~/state", "C:\\state", "..\\state"])
@pytest.mark.parametrize("key", ["[state]\ndir", "[archive]\npath"])
def test_policy_beside_names_no_path_outside_its_folder(memory: Path, key: str, path: str) -> None:
    written(beside(memory), f"{key} = '{path}'\n")
    with pytest.raises(BadPolicy, match="may only name a relative path that stays inside that folder"):
        resolved(memory)


@pytest.mark.parametrize("key", ["[state]\ndir", "[archive]\npath"])
def test_policy_of_the_user_may_name_any_path(memory: Path, own_policy: Path, key: str) -> None:
    written(own_policy, f"{key} = '/var/lib/memttl'\n")
    assert resolved(memory).policy.where == str(own_policy)


@pytest.mark.parametrize("key", ["[state]\ndir", "[archive]\npath"])
def test_path_with_a_nul_is_a_problem_of_the_policy(memory: Path, key: str) -> None:
    written(beside(memory), f'{key} = "a\\u0000b"\n')
    with pytest.raises(BadPolicy, match="a path holds no NUL"):
        resolved(memory)


def test_state_of_a_policy_lies_below_the_real_memory_file(memory: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(memory)
    written(beside(memory), '[state]\ndir = "a/b"\n')
    assert resolved(link).state_elsewhere == memory.parent / "a/b"


@pytest.mark.parametrize("by_link", [False, True], ids=["real", "linked"])
def test_policy_beside_leads_through_no_link_out_of_its_folder(memory: Path, tmp_path: Path, by_link: bool) -> None:
    named = tmp_path / "links/memory.jsonl" if by_link else memory
    if by_link:
        named.parent.mkdir()
        named.symlink_to(memory)
    (memory.parent / "state").symlink_to(tmp_path)
    written(beside(named), '[state]\ndir = "state"\n')
    with pytest.raises(BadPolicy, match="a link leads out of the folder"):
        resolved(named)


def test_policy_beside_is_bound_also_when_an_option_names_it(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = written(beside(memory), '[state]\ndir = "../elsewhere"\n')
    monkeypatch.chdir(memory.parent)
    for name in (str(policy), "memttl.toml", "./memttl.toml"):
        with pytest.raises(BadPolicy, match="may only name a relative path"):
            resolved(memory, Given(policy=name))


def test_policy_that_lies_elsewhere_may_lead_anywhere(memory: Path, tmp_path: Path) -> None:
    policy = written(tmp_path / "memttl.toml", '[state]\ndir = "../elsewhere"\n')
    assert resolved(memory, Given(policy=str(policy))).state_elsewhere == tmp_path / "elsewhere"


def test_state_variable_goes_before_the_policy(memory: Path) -> None:
    written(beside(memory), '[state]\ndir = "state"\n')
    assert resolved(memory, NOTHING, {"MEMTTL_STATE_DIR": "/var/x"}).state_elsewhere == Path("/var/x")


def test_state_lies_beside_by_default(memory: Path) -> None:
    assert resolved(memory).state_elsewhere is None


def test_now_is_the_clock_unless_it_is_named(memory: Path) -> None:
    assert (resolved(memory).now, resolved(memory).now_is_later) == (CLOCK, False)


def test_now_option_goes_before_the_variable(memory: Path) -> None:
    environ = {"MEMTTL_NOW": "2026-01-01"}
    assert resolved(memory, Given(now="2026-02-02"), environ).now == datetime(2026, 2, 2, tzinfo=UTC)
    assert resolved(memory, NOTHING, environ).now == datetime(2026, 1, 1, tzinfo=UTC)
    assert resolved(memory, NOTHING, {"MEMTTL_NOW": ""}).now == CLOCK


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-05-01", "2026-04-30T22:00:00+00:00"),
        ("2026-01-01", "2025-12-31T23:00:00+00:00"),
        ("2026-05-01T12:00", "2026-05-01T10:00:00+00:00"),
        ("2026-05-01 12:00", "2026-05-01T10:00:00+00:00"),
        ("2026-05-01T12:00Z", "2026-05-01T12:00:00+00:00"),
        ("2026-05-01T12:00-05:00", "2026-05-01T17:00:00+00:00"),
        (" 2026-05-01T12:00Z ", "2026-05-01T12:00:00+00:00"),
    ],
)
def test_now_without_an_offset_is_in_the_zone_of_the_policy(memory: Path, text: str, instant: str) -> None:
    written(beside(memory), 'timezone = "Europe/Berlin"\n')
    assert resolved(memory, Given(now=text)).now == datetime.fromisoformat(instant)


@pytest.mark.parametrize(
    "text", ["", "now", "2026-02-30", "0001-01-01", "99999-01-01", "2026-01-01T25:00", "x" * 5000, "\ud800"]
)
def test_now_that_cannot_be_read_is_an_error(memory: Path, text: str) -> None:
    written(beside(memory), 'timezone = "Europe/Berlin"\n')
    with pytest.raises(UsageError, match="cannot be read"):
        resolved(memory, Given(now=text))


def test_now_after_the_clock_is_known_to_be(memory: Path) -> None:
    assert resolved(memory, Given(now="2026-06-01T12:00:01Z")).now_is_later


def test_file_in_an_npx_cache_keeps_its_state_with_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = written(tmp_path / ".npm/_npx/15b07286cbcc3329/node_modules/server/dist/memory.jsonl", "")
    settings = resolved(path)
    assert settings.state_elsewhere == tmp_path / "state/memttl"
    assert "npx cache" in settings.warnings[0]


def test_link_is_warned_of(memory: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(memory)
    settings = resolved(link)
    assert (settings.named, settings.memory) == (str(link), memory)
    assert "release 2026.8.31 of the memory server replaces the link" in settings.warnings[0]


def test_file_without_a_link_has_no_warning(memory: Path) -> None:
    assert resolved(memory).warnings == ()
