"""`memttl policy schema` and `memttl policy prompt`, as processes: what goes where, and what is never written over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from process import FIXTURES, ROOT, Terminal, copy_of, error_of, memttl, tree

from memttl.core.marked_block import BEGIN, END
from memttl.core.policy import Policy
from memttl.core.policy_load import load_policy
from memttl.core.policy_prompt import make_prompt
from memttl.core.policy_schema import policy_schema

EXAMPLE = FIXTURES / "memory/example.jsonl"
BUILT_IN = make_prompt(Policy()).text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory file with a policy beside it."""
    copy_of(EXAMPLE, tmp_path)
    (tmp_path / "memttl.toml").write_text('#:schema ./memttl.schema.json\n\n[tiers]\nsession = "2w"\n')
    return tmp_path


def test_the_schema_is_printed_and_nothing_else() -> None:
    ended = memttl("policy", "schema")
    assert json.loads(ended.stdout) == policy_schema()
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_schema_goes_to_a_file_that_a_policy_names(folder: Path) -> None:
    ended = memttl("policy", "schema", "-o", folder / "memttl.schema.json", cwd=folder)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr.endswith("#:schema ./memttl.schema.json\n")
    schema = json.loads((folder / "memttl.schema.json").read_text(encoding="utf-8"))
    Draft7Validator(schema).validate(load_policy((folder / "memttl.toml").read_text(encoding="utf-8")).given)
    assert memttl("policy", "schema", "-q", "-o", folder / "memttl.schema.json").stderr == ""


def test_a_policy_with_its_schema_in_the_first_line_is_read(folder: Path) -> None:
    ended = memttl("policy", "check", folder / "memttl.toml")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert memttl("policy", "show", "--file", folder / "memory.jsonl").returncode == 0


def test_the_documents_of_the_schema() -> None:
    assert json.loads(memttl("policy", "schema", "--json").stdout) == {
        "schema": 1,
        "policy_schema": policy_schema(),
        "file": None,
    }


@pytest.mark.parametrize("name", ["memttl.toml", "memory.jsonl", "memory.jsonl.lock", ".memttl/x", "package.json", "."])
def test_no_other_file_becomes_a_schema(folder: Path, name: str) -> None:
    (folder / "package.json").write_text("{}")
    before = tree(folder)
    target = ("-o", folder / name, "--json")
    for file in [["--file", folder / "memory.jsonl"], [] if name != "memory.jsonl.lock" else ["-f", "memory.jsonl"]]:
        ended = memttl("policy", "schema", *target, *file, cwd=folder)
        assert error_of(ended)["code"] == 2
    assert tree(folder) == before


def test_the_prompt_is_printed_and_nothing_else() -> None:
    ended = memttl("policy", "prompt")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, BUILT_IN, "")
    assert memttl("policy", "prompt", "--quiet").stdout == BUILT_IN


def test_the_prompt_is_that_of_the_policy_in_force(folder: Path) -> None:
    assert "`[session]`: goes after 14 days" in memttl("policy", "prompt", "--file", folder / "memory.jsonl").stdout
    ended = memttl("policy", "prompt", "--policy", FIXTURES / "policy/spec-example.toml")
    assert "`[temp]`" in ended.stdout


def test_the_prompt_is_kept_in_a_file(folder: Path) -> None:
    target = folder / "CLAUDE.md"
    target.write_text("# Rules\n")
    ended = memttl("policy", "prompt", "--append", target)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr == f"Added to {target}, between markers.\n"
    assert target.read_text(encoding="utf-8") == f"# Rules\n\n{BEGIN}\n\n{BUILT_IN}\n{END}\n"
    before = tree(folder)
    assert "nothing was written" in memttl("policy", "prompt", "--append", target).stderr
    assert tree(folder) == before
    assert memttl("policy", "prompt", "--append", target, "--file", folder / "memory.jsonl", "-q").stderr == ""
    assert "goes after 14 days" in target.read_text(encoding="utf-8")
    assert memttl("policy", "prompt", "--remove", target).stderr == f"Took it out of {target}.\n"
    assert target.read_text() == "# Rules\n"


def test_a_dry_run_shows_the_difference_and_writes_nothing(folder: Path) -> None:
    target = folder / "CLAUDE.md"
    target.write_bytes(b"# Rules\r\n\x1b[31m\r\n")
    before = tree(folder)
    ended = memttl("policy", "prompt", "--append", "CLAUDE.md", "--dry-run", cwd=folder)
    assert ended.stdout.startswith(
        "--- CLAUDE.md\n+++ CLAUDE.md\n@@ -1,2 +1,26 @@\n # Rules\n \\x1b[31m\n+\n+<!-- memttl:begin"
    )
    assert ended.stderr.endswith("\nWould add this to CLAUDE.md.\n")  # behind a warning about the policy in that folder
    assert tree(folder) == before
    memttl("policy", "prompt", "--append", target)
    ended = memttl("policy", "prompt", "--remove", target, "-n")
    assert all(line.startswith(("-", " ", "@", "+++")) for line in ended.stdout.splitlines())
    ended = memttl("policy", "prompt", "--append", target, "-n")
    assert (ended.stdout, ended.stderr) == ("", f"{target} is as it should be.\n")


def test_at_a_terminal_it_does_not_ask(folder: Path) -> None:
    ended = Terminal("policy", "prompt", "--append", folder / "CLAUDE.md").end()
    assert ended.code == 0
    assert BEGIN in (folder / "CLAUDE.md").read_text(encoding="utf-8")


def test_the_documents_of_the_prompt(folder: Path) -> None:
    target = str(folder / "AGENTS.md")
    printed = json.loads(memttl("policy", "prompt", "--json").stdout)
    assert printed["prompt"] == BUILT_IN
    assert [printed[key] for key in ("file", "change", "dry_run", "applied", "difference")] == [
        None,
        None,
        False,
        False,
        [],
    ]
    assert printed["examples"][0] == {
        "observation": "[session] 2026-03-31: tried Redis for the queue",
        "tier": "session",
        "expires_at": "2026-05-01T00:00:00Z",
    }
    page = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in page for key in (*printed, *printed["examples"][0], "policy_schema"))
    shown = json.loads(memttl("policy", "prompt", "--json", "--append", target, "--dry-run").stdout)
    assert list(shown) == list(printed)
    assert (shown["change"], shown["applied"], shown["difference"][0]) == ("created", False, "--- /dev/null")
    written = json.loads(memttl("policy", "prompt", "--json", "--append", target).stdout)
    assert (written["file"], written["change"], written["applied"]) == (target, "created", True)
    taken = json.loads(memttl("policy", "prompt", "--json", "--remove", target).stdout)
    assert list(taken) == list(printed)
    assert (taken["change"], taken["prompt"], taken["policy"]) == ("removed", None, None)


def test_the_block_can_be_taken_out_whatever_the_policy_says(folder: Path) -> None:
    target = folder / "CLAUDE.md"
    memttl("policy", "prompt", "--append", target)
    (folder / "memttl.toml").write_text("no = policy")
    file = ("--file", folder / "memory.jsonl")
    assert memttl("policy", "prompt", "--append", target, *file).returncode == 78
    assert memttl("policy", "prompt", "--remove", target, *file).returncode == 0


@pytest.mark.parametrize(
    "options",
    [["--append", "a.md", "--remove", "a.md"], ["--dry-run"], ["--append", ""], ["--remove", ""], ["--remove", "a.md"]],
)
def test_orders_that_cannot_be_meant_are_refused(folder: Path, options: list[str]) -> None:
    before = tree(folder)
    assert memttl("policy", "prompt", *options, cwd=folder).returncode == 2
    assert tree(folder) == before


def test_the_memory_file_is_no_file_of_instructions_however_it_is_called(folder: Path) -> None:
    (folder / "memory.jsonl").rename(folder / "notes")
    before = tree(folder)
    for file in (["--file", "notes"], []):
        assert memttl("policy", "prompt", "--append", "notes", *file, cwd=folder).returncode == 2
    (folder / "empty").write_bytes(b"")
    assert memttl("policy", "prompt", "--append", "empty", "--file", "empty", cwd=folder).returncode == 2
    assert {**tree(folder), "empty": None, ".": None} == {**before, "empty": None, ".": None}


def used_by_clients(home: Path, *memories: Path) -> dict[str, str]:
    """The environment of somebody whose MCP client uses these memory files."""
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    servers = {f"memory{i}": {**server, "env": {"MEMORY_FILE_PATH": str(m)}} for i, m in enumerate(memories)}
    (home / ".cursor").mkdir(parents=True)
    (home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}


def test_the_policy_beside_the_one_file_that_clients_use_is_in_force_and_said(folder: Path, tmp_path: Path) -> None:
    env = used_by_clients(tmp_path / "home", folder / "memory.jsonl")
    ended = memttl("policy", "prompt", env=env)
    assert "goes after 14 days" in ended.stdout
    assert ended.stderr.startswith(f"memttl: {folder / 'memory.jsonl'} (")
    assert memttl("policy", "prompt", "-q", env=env).stderr == ""
    target = ("-o", folder / "memory.jsonl")
    assert memttl("policy", "schema", *target, env=env).returncode == 2


def test_of_several_files_that_clients_use_none_is_taken_and_that_is_said(folder: Path, tmp_path: Path) -> None:
    env = used_by_clients(tmp_path / "home", folder / "memory.jsonl", folder / "other.jsonl")
    ended = memttl("policy", "prompt", env=env)
    assert (ended.returncode, ended.stdout) == (0, BUILT_IN)
    assert "which memory file is meant is not clear" in ended.stderr


def test_at_a_terminal_it_is_said_where_the_prompt_goes_without_a_file(tmp_path: Path) -> None:
    screen = Terminal("policy", "prompt", cwd=tmp_path).end().screen
    assert "Claude Desktop: paste it into a project's instructions" in " ".join(screen.split())
