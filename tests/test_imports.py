"""Imports go one way (DESIGN.md, section 1), and the core reads no clock, no file and no environment."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import memttl

ROOT = Path(memttl.__file__).parent
MODULES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py"))
# room -> the rooms that it may import, besides itself
MAY_IMPORT = {
    "__init__": set(),
    "errors": set(),
    "trace": set(),
    "core": {"errors"},
    "files": {"errors", "core", "trace"},
    "setup": {"errors", "core"},
    "report": {"errors", "core"},
    "policies": {"errors", "core"},
    "settings": {"errors", "core", "setup", "policies"},
    "memory_files": {"errors", "setup", "settings"},
    "workflow": {"errors", "core", "files", "setup", "settings", "memory_files", "trace"},
    "server": {"errors", "core", "files", "settings", "workflow", "report"},
    "commands": {
        "errors",
        "core",
        "files",
        "setup",
        "policies",
        "settings",
        "memory_files",
        "workflow",
        "report",
        "server",
        "trace",
    },
    "cli": {"errors", "commands", "report", "trace"},
    "__main__": {"__init__", "cli"},
}
IMPURE = {"os", "pathlib", "time", "subprocess", "sys", "io", "shutil", "tempfile", "locale", "random"}


def imports_of(module: str) -> list[list[str]]:
    """All imports of one module of memttl, as lists of their dotted parts."""
    found: list[str] = []
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name.split(".") for name in found]


def room_of(parts: list[str]) -> str:
    """The room of `memttl.core.plan.Plan`: core; of a name of memttl itself: its __init__."""
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else "__init__"


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str) -> None:
    own = Path(module).parts[0].removesuffix(".py")
    rooms = {room_of(parts) for parts in imports_of(module) if parts[0] == "memttl"}
    assert rooms - {own, "__init__"} <= MAY_IMPORT[own]


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("workflow/")])
def test_no_use_case_imports_another(module: str) -> None:
    assert not [parts for parts in imports_of(module) if parts[:2] == ["memttl", "workflow"]]


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("core/")])
def test_the_core_imports_nothing_impure(module: str) -> None:
    assert not {parts[0] for parts in imports_of(module)} & IMPURE
