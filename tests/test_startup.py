"""Starting up is what most runs cost: what a run does not need is not imported; the bare program is a fair rival."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from process import FIXTURES, ROOT, environ

from memttl.cli import app

WHO = {"name": "tests", "version": "0"}
HEAVY = {"rich", "dateutil", "sqlite3", "portalocker"}
TELL = """
import sys
from memttl.__main__ import main
sys.argv[0] = "memttl"
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("\\n".join(sys.modules), file=sys.stderr)
"""


def imported_by(*args: str | Path) -> set[str]:
    """The top-level modules that a run of memttl has imported at its end."""
    command = [sys.executable, "-c", TELL, *map(str, args)]
    ended = subprocess.run(command, env=environ(), capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return {name.partition(".")[0] for name in ended.stderr.split()} | set(ended.stderr.split())


@pytest.mark.parametrize(
    "args",
    [
        ["--version"],
        ["--help"],
        ["prune", "--help"],
        ["prune", "--dry-run", "--file", FIXTURES / "memory/example.jsonl", "--now", "2026-06-01"],
        ["prune", "--dry-run", "--json", "--file", FIXTURES / "memory/example.jsonl", "--now", "2026-06-01"],
        ["explain", "--file", FIXTURES / "memory/example.jsonl", "--now", "2026-06-01"],
        ["log", "--file", FIXTURES / "log/memory.jsonl"],
        ["log", "verify", "--file", FIXTURES / "log/memory.jsonl"],
        ["discover"],
        ["discover", "--json"],
        ["policy", "prompt"],
        ["policy", "schema"],
        ["search", "webkit", "--file", FIXTURES / "memory/example.jsonl", "--now", "2026-06-01"],
    ],
    ids=lambda args: " ".join(map(str, args[:3])),
)
def test_run_that_needs_no_heavy_library_imports_none(args: list[str | Path]) -> None:
    assert not HEAVY & imported_by(*args)


def test_version_needs_no_library_at_all() -> None:
    assert not {"typer", "pydantic", "orjson"} & imported_by("--version")


def test_help_needs_nothing_of_the_work() -> None:
    assert not {"orjson", "memttl.core.plan", "memttl.settings", "memttl.commands.progress"} & imported_by("--help")


def test_run_in_a_pipe_does_not_pay_for_a_progress_bar() -> None:
    assert "memttl.commands.progress" not in imported_by("prune", "-n", "--file", FIXTURES / "memory/example.jsonl")


def test_dry_run_with_the_built_in_policy_builds_no_policy_model() -> None:
    assert "memttl.core.policy_file" not in imported_by("prune", "-n", "--file", FIXTURES / "memory/example.jsonl")


SERVED = """
import sys
started = set(sys.modules)
import mcp.server.lowlevel.server, mcp.server.subscriptions, mcp.shared.exceptions, mcp_types.version
sdk = set(sys.modules) - started
from memttl.__main__ import main
sys.argv[0] = "memttl"
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("\\n".join(set(sys.modules) - sdk), file=sys.stderr)
"""


def test_server_that_is_asked_for_its_tools_imports_what_the_sdk_does_and_little_more(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    asked = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": WHO},
        },
        {"id": 2, "method": "tools/list", "params": {}},
    ]
    ended = subprocess.run(
        [sys.executable, "-c", SERVED, "serve", "--file", str(tmp_path / "memory.jsonl")],
        input="".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked),
        env=environ(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"create_entities"' in ended.stdout
    names = set(ended.stderr.split())
    assert "memttl.server.serve" in names
    packages = {name.partition(".")[0] for name in names}
    assert not packages & {"rich", "dateutil", "portalocker", "starlette", "uvicorn", "httpx", "jsonschema"}
    assert not names & {"memttl.server.lifecycle", "memttl.workflow.prune", "memttl.workflow.undo", "typer.rich_utils"}


def parameters(group: Any, prefix: str = "") -> dict[str, list[tuple[object, ...]]]:
    """Each command of a Typer app with the names, kinds and metavars of its parameters."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= parameters(command, f"{prefix}{name} ")
        found[prefix + name] = [
            (p.param_type_name, p.opts, p.secondary_opts, p.metavar, p.multiple if p.opts[0][0] == "-" else p.nargs)
            for p in command.params
        ]
    return found


def test_bare_program_of_the_benchmark_registers_the_same_commands_and_options() -> None:
    spec = importlib.util.spec_from_file_location("bare_typer", ROOT / "benchmarks/bare_typer.py")
    assert spec is not None
    assert spec.loader is not None
    bare = importlib.util.module_from_spec(spec)
    sys.modules["bare_typer"] = bare  # Typer resolves annotations by the module's name
    spec.loader.exec_module(bare)
    assert parameters(typer.main.get_command(bare.app)) == parameters(typer.main.get_command(app))
