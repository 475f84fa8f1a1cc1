"""`memttl --version --verbose` prints what a bug report needs, whatever is broken, and no text of anybody's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checkups import written
from process import memttl, tree
from support import entity

from memttl.setup.this_install import installed, machine_facts, told


def facts(*args: str, **env: str) -> dict[str, str]:
    """What it prints, by title; it always works."""
    ended = memttl(*(args or ("--version", "--verbose")), env=env)
    assert (ended.returncode, ended.stderr) == (0, "")
    pairs = [line.strip().partition("  ") for line in ended.stdout.splitlines()]
    return {title: value.strip() for title, _, value in pairs}


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return written(tmp_path, entity(["hunter2"], name="Sesame"))


@pytest.mark.parametrize(
    "args",
    [("--version", "--verbose"), ("--verbose", "--version"), ("--version", "-v"), ("-v", "--version")],
    ids=" ".join,
)
def test_both_orders_and_the_short_option_will_do(args: tuple[str, ...]) -> None:
    assert facts(*args)["memttl"]


def test_versions_and_places_are_told(memory: Path) -> None:
    found = facts(MEMTTL_FILE=str(memory))
    assert found["memory file"] == str(memory)
    assert found["file"].startswith(f"{memory}, {memory.stat().st_size} bytes, changed ")
    assert found["policy"] == "built-in"
    assert found["state"] == f"{memory.parent}/.memttl/memory.jsonl (not there)"
    assert found["written"].startswith("on rung ")
    assert "orjson" in found["libraries"]
    assert found["MEMTTL_FILE"] == str(memory)


def test_nothing_is_written_and_no_text_is_told(memory: Path) -> None:
    before = tree(memory.parent)
    printed = memttl("--version", "--verbose", env={"MEMTTL_FILE": str(memory)}).stdout
    assert tree(memory.parent) == before
    assert "hunter2" not in printed
    assert "Sesame" not in printed


def test_other_variables_are_not_told() -> None:
    printed = memttl("--version", "-v", env={"API_TOKEN": "hunter2", "MEMTTL_NOW": ""}).stdout
    assert "hunter2" not in printed
    assert "MEMTTL_NOW" in printed


def test_no_memory_file_is_told() -> None:
    assert facts()["memory file"].startswith("none; ")


def test_missing_memory_file_is_told(tmp_path: Path) -> None:
    assert facts(MEMTTL_FILE=str(tmp_path / "none.jsonl"))["file"].endswith("none.jsonl, missing")


def test_relative_path_of_the_server_is_told() -> None:
    assert "not absolute" in facts(MEMORY_FILE_PATH="memory.jsonl")["memory file"]


def test_broken_policy_is_told_with_the_number_of_its_problems(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "memttl.toml").write_text("nonsense = 1\n")
    assert facts(MEMTTL_FILE=str(memory))["policy"] == f"{tmp_path / 'memttl.toml'}, 1 problem"


def test_unreadable_now_is_no_reason_to_fail(memory: Path) -> None:
    assert facts(MEMTTL_FILE=str(memory), MEMTTL_NOW="nonsense")["policy"] == "built-in"


def test_link_is_told(memory: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(memory)
    assert f"(a link: {tmp_path / 'link.jsonl'})" in facts(MEMTTL_FILE=str(tmp_path / "link.jsonl"))["file"]


def test_control_characters_are_spelled_out() -> None:
    assert facts(MEMTTL_FILE="/none/\x1b[31m")["MEMTTL_FILE"] == "/none/\\x1b[31m"


def test_servers_in_the_npx_cache_are_told(tmp_path: Path) -> None:
    package = tmp_path / "_npx/15b07286cbcc3329/node_modules/@modelcontextprotocol/server-memory/package.json"
    package.parent.mkdir(parents=True)
    package.write_text(json.dumps({"version": "2026.8.31"}))
    found = dict(machine_facts({"npm_config_cache": str(tmp_path)}))
    assert found["servers"] == "2026.8.31 in 15b07286cbcc3329"


def test_broken_package_of_a_server_is_told(tmp_path: Path) -> None:
    package = tmp_path / "_npx/1/node_modules/@modelcontextprotocol/server-memory/package.json"
    package.parent.mkdir(parents=True)
    package.write_text("{")
    assert dict(machine_facts({"npm_config_cache": str(tmp_path)}))["servers"].startswith("cannot be told (JSON")


def test_what_fails_says_why() -> None:
    value = told("x", lambda: Path("/none").read_text()).value
    assert value == "cannot be told (FileNotFoundError: No such file or directory)"


def test_installation_is_told() -> None:
    assert installed().startswith(str(Path(__file__).parent.parent / "memttl")) or ", " in installed()


def test_verbose_before_a_command_is_refused() -> None:
    ended = memttl("--verbose", "prune")
    assert ended.returncode == 2
    assert "after the command's name" in ended.stderr
