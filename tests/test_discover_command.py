"""`memttl discover` at the command line, and what every other command does where no memory file is named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, ROOT, Terminal, error_of, memttl, tree

EXAMPLE = FIXTURES / "memory/example.jsonl"
NOW = ("--now", "2026-06-01")


def config(home: Path, path: str | Path, *, client: str = ".cursor/mcp.json", name: str = "memory") -> Path:
    """A config that starts the memory server on a file."""
    place = home / client
    place.parent.mkdir(parents=True, exist_ok=True)
    args = ["-y", "@modelcontextprotocol/server-memory"]
    server = {"command": "npx", "args": args, "env": {"MEMORY_FILE_PATH": str(path)}}
    place.write_text(json.dumps({"mcpServers": {name: server}}), encoding="utf-8")
    return place


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which Cursor uses the example, far from any repository."""
    path = tmp_path / "home"
    path.mkdir()
    memory = path / "memory.jsonl"
    memory.write_bytes(EXAMPLE.read_bytes())
    os.utime(memory, (1_780_000_000, 1_780_000_000))  # 2026-05-28
    config(path, memory)
    return path


def run(home: Path, *args: str | Path, **more: Any) -> Any:
    env = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), **more.pop("env", {})}
    return memttl(*args, env=env, cwd=more.pop("cwd", home), **more)


def test_discover_tells_what_is_there_and_what_to_type(home: Path) -> None:
    ended = run(home, "discover", *NOW)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == (
        f"{home}/memory.jsonl\n"
        "  14 entities, 63 observations, 5.5 kB, changed 2026-05-28 (4 days ago)\n"
        '  used by Cursor ("memory" in ~/.cursor/mcp.json)\n'
        "\n"
        "Every command uses ~/memory.jsonl unless you name another. Next, see what is in\n"
        "it:\n"
        "  memttl report\n"
    )


def test_discover_writes_nothing(home: Path) -> None:
    before = tree(home)
    run(home, "discover")
    run(home, "discover", "--json", "--verbose")
    assert tree(home) == before


def test_text_fits_80_columns_but_for_paths_and_commands(home: Path) -> None:
    config(home, "~/memory.jsonl", client=".claude.json")
    config(home, home / "other.jsonl", client=".gemini/settings.json")
    lines = run(home, "discover").stdout.split("\n")
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []


def test_keys_of_the_document_are_in_the_docs(home: Path) -> None:
    document = json.loads(run(home, "discover", "--json").stdout)
    page = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    config(home, "~/memory.jsonl", client=".claude.json")
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{", encoding="utf-8")
    more = json.loads(run(home, "discover", "--json").stdout)
    found = more["found"][-1]
    keys = {*document, *found, *found["clients"][0], *found["troubles"][0], *more["unread"][0], *more["looked"][0]}
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []
    assert document["used"] == f"{home}/memory.jsonl"
    assert more["used"] is None


def test_every_trouble_of_the_fixtures_is_in_the_docs() -> None:
    page = (ROOT / "docs/discover.md").read_text(encoding="utf-8")
    expected = [json.loads(path.read_text(encoding="utf-8")) for path in FIXTURES.glob("clients/*/expected.json")]
    names = {name for one in expected for found in one["found"] for name in found["troubles"]}
    assert len(names) > 15
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_nothing_found_is_no_error_and_says_how_to_go_on(tmp_path: Path) -> None:
    ended = run(tmp_path, "discover")
    assert ended.returncode == 0
    assert ended.stdout.startswith("No memory file was found.")
    assert "memttl report --file PATH" in ended.stdout


def test_verbose_names_all_places(tmp_path: Path) -> None:
    ended = run(tmp_path, "discover", "--verbose")
    for place in (".claude.json", ".cursor/mcp.json", "Code/User/mcp.json", ".codex/config.toml", ".npm"):
        assert place in ended.stdout


def test_file_that_no_client_uses_is_said_to_be_unused(home: Path) -> None:
    config(home, home / "other.jsonl", client=".claude.json")
    ended = run(home, "discover", "--file", "~/mine.jsonl")
    assert ended.returncode == 0
    assert ended.stdout.startswith("~/mine.jsonl: no MCP client here uses it.")
    assert "other.jsonl" not in ended.stdout


def test_config_that_could_not_be_read_is_not_said_to_start_no_server(tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text('{"mcpServers": {')
    words = " ".join(run(tmp_path, "discover").stdout.split())
    assert "none that could be read starts a memory server" in words


def test_file_shows_who_uses_it(home: Path) -> None:
    config(home, home / "other.jsonl", client=".claude.json")
    ended = run(home, "discover", "--file", "~/other.jsonl")
    assert "used by Claude Code" in ended.stdout
    assert "Cursor (" not in ended.stdout


def test_quiet_prints_nothing(home: Path) -> None:
    ended = run(home, "discover", "--quiet")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_no_control_character_of_a_config_reaches_the_terminal(home: Path) -> None:
    config(home, "/x/\x1b[31m\u202e.jsonl", client=".claude.json", name="a\x07\nb")
    for args in (["discover", "--verbose"], ["report"]):
        ended = run(home, *args)
        assert not {"\x1b", "\x07", "\u202e"} & set(ended.stdout + ended.stderr)


def test_policy_gives_the_zone_in_which_days_are_told(home: Path) -> None:
    (home / "p.toml").write_text('version = 1\ntimezone = "Pacific/Auckland"\n', encoding="utf-8")
    os.utime(home / "memory.jsonl", (1_779_991_200, 1_779_991_200))  # 2026-05-28 18:00 UTC, the 29th in New Zealand
    assert "changed 2026-05-28 (" in run(home, "discover", *NOW).stdout
    assert "changed 2026-05-29 (" in run(home, "discover", *NOW, "--policy", "p.toml").stdout


def test_policy_and_now_that_cannot_be_read_are_refused(home: Path) -> None:
    assert run(home, "discover", "--policy", "no.toml").returncode == 78
    assert run(home, "discover", "--now", "soon").returncode == 2


def test_the_one_file_is_used_and_said_on_stderr(home: Path) -> None:
    ended = run(home, "report", *NOW)
    assert ended.returncode == 0
    assert ended.stdout.startswith(f"{home}/memory.jsonl as of 2026-06-01")
    assert ended.stderr == "memttl: ~/memory.jsonl (Cursor)\n"


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_quiet_and_json_do_not_say_which_file_is_used(option: str, home: Path) -> None:
    ended = run(home, "prune", "--dry-run", option, *NOW)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert option == "--quiet" or json.loads(ended.stdout)["file"] == f"{home}/memory.jsonl"


@pytest.mark.parametrize("variable", ["", "MEMTTL_FILE", "MEMORY_FILE_PATH"])
def test_what_is_named_goes_first(variable: str, home: Path) -> None:
    named = {variable: str(EXAMPLE)} if variable else {}
    ended = run(home, "report", *NOW, *([] if variable else ["--file", EXAMPLE]), env=named)
    assert (ended.stdout.split(" ")[0], ended.stderr) == (str(EXAMPLE), "")


def test_discover_says_that_a_variable_names_the_file(home: Path) -> None:
    told = " ".join(run(home, "discover", env={"MEMTTL_FILE": str(EXAMPLE)}).stdout.split())
    assert f"Every command uses {EXAMPLE} unless you name another (MEMTTL_FILE names it)" in told


def test_discover_says_it_too_where_a_client_uses_that_file(home: Path) -> None:
    told = " ".join(run(home, "discover", env={"MEMTTL_FILE": str(home / "memory.jsonl")}).stdout.split())
    assert "Every command uses ~/memory.jsonl unless you name another (MEMTTL_FILE names it)" in told


def test_file_of_many_clients_is_named_in_one_short_line(home: Path) -> None:
    for client in (
        ".claude.json",
        ".gemini/settings.json",
        ".codeium/windsurf/mcp_config.json",
        ".copilot/mcp-config.json",
    ):
        config(home, home / "memory.jsonl", client=client)
    (said,) = run(home, "report", *NOW).stderr.splitlines()
    assert said.startswith("memttl: ~/memory.jsonl (")
    assert said.endswith(" and 2 more)")
    assert len(said) <= 80


def test_several_files_are_listed_and_none_is_taken(home: Path) -> None:
    config(home, home / "other.jsonl", client=".claude.json")
    ended = run(home, "report")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "there are 2 on this machine; nothing was done" in ended.stderr
    assert f"  {home}/memory.jsonl: the config of Cursor" in ended.stderr
    assert (
        f"  {home}/other.jsonl: the config of Claude Code ({home}/.claude.json) points at it; nothing lies there yet"
        in ended.stderr
    )
    assert f"Name one: --file {home}/memory.jsonl" in ended.stderr
    assert error_of(run(home, "report", "--json"))["code"] == 2


def test_none_is_66_and_says_where_was_looked(tmp_path: Path) -> None:
    assert "no config of an MCP client" in run(tmp_path, "report").stderr
    (tmp_path / ".claude.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text("{", encoding="utf-8")
    ended = run(tmp_path, "report")
    assert ended.returncode == 66
    assert f"{tmp_path}/.claude.json (Claude Code)\n" in ended.stderr
    assert f"{tmp_path}/.cursor/mcp.json (Cursor) could not be read" in ended.stderr
    assert "memttl discover --verbose" in ended.stderr


def test_container_is_66_and_says_why(tmp_path: Path) -> None:
    server = {"command": "docker", "args": ["run", "-v", "notes:/app/dist", "mcp/memory"]}
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": {"memory": server}}), encoding="utf-8")
    ended = run(tmp_path, "report")
    assert ended.returncode == 66
    assert "it lies in the volume notes of a container" in ended.stderr


def test_file_that_is_not_there_yet_is_66_and_says_who_points_at_it(home: Path) -> None:
    (home / "memory.jsonl").unlink()
    error = error_of(run(home, "report", "--json"))
    assert error["code"] == 66
    assert "There is no file" in error["message"]
    assert f"The config of Cursor ({home}/.cursor/mcp.json) points at it." in error["message"]
    assert "The server makes" in run(home, "discover").stdout


def test_tilde_in_a_config_is_2_with_both_readings(home: Path) -> None:
    config(home, "~/memory.jsonl")
    ended = run(home, "report")
    assert ended.returncode == 2
    assert f"your shell means {home}/memory.jsonl, which is there" in ended.stderr
    assert "/dist/~/memory.jsonl" in ended.stderr


def test_file_in_the_npx_cache_that_no_config_names_is_used_where_there_is_no_other(tmp_path: Path) -> None:
    dist = tmp_path / ".npm/_npx/15b07286cbcc3329/node_modules/@modelcontextprotocol/server-memory/dist"
    dist.mkdir(parents=True)
    (dist / "memory.jsonl").write_bytes(EXAMPLE.read_bytes())
    ended = run(tmp_path, "report", *NOW)
    assert ended.returncode == 0
    assert "memory.jsonl (where the memory server keeps it)\n" in ended.stderr
    config(tmp_path, tmp_path / "memory.jsonl")
    (tmp_path / "memory.jsonl").write_bytes(EXAMPLE.read_bytes())
    assert run(tmp_path, "report", *NOW).stdout.startswith(f"{tmp_path}/memory.jsonl as of")


def test_project_config_counts_where_one_stands_in_the_project(home: Path) -> None:
    (home / "work/src").mkdir(parents=True)
    config(home / "work", home / "work/notes.jsonl", client=".mcp.json")
    assert run(home, "report", *NOW).returncode == 0
    assert run(home, "report", *NOW, cwd=home / "work/src").returncode == 2


def test_policy_commands_need_no_memory_file_and_take_the_policy_beside_the_one_that_is_used(
    home: Path, tmp_path: Path
) -> None:
    assert run(tmp_path / "home/.cursor", "policy", "show").returncode == 0
    (home / "memttl.toml").write_text('version = 1\ndefault_tier = "permanent"\n', encoding="utf-8")
    assert json.loads(run(home, "policy", "show", "--json", cwd=tmp_path).stdout)["policy"] == f"{home}/memttl.toml"
    config(home, home / "other.jsonl", client=".claude.json")
    assert run(home, "policy", "show", cwd=tmp_path).returncode == 0


def test_folder_that_was_removed_is_no_hindrance(home: Path) -> None:
    gone = home / "gone"
    gone.mkdir()
    assert run(home, "report", *NOW, cwd=gone, shell='rmdir "$PWD"; "$@"').returncode == 0


def test_terminal_shows_the_same(home: Path) -> None:
    ended = Terminal("discover", *NOW, columns=60, env={"HOME": str(home)}, cwd=home).end()
    assert ended.code == 0
    assert "14 entities, 63 observations" in ended.screen
