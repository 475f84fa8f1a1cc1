"""Completion in real shells: what stands on the command line after the tab key is what the program then gets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from process import environ, memttl
from shells import STARTS, words_after_tab

# each begins with three letters of its own; a shell that read them as its own words would run what some of them hold
NAMES = (
    "n01 with spaces",
    'n02 it\'s "x"',
    "n03$(touch RAN)",
    "n04\\$(touch RAN)",
    "n05`touch RAN`",
    "n06: pay: me",
    "n07 Zürich – Büro",
    "n08;touch RAN",
    "n09!!",
    "n10#x ~/x {a,b}",
    "n11*[x]?",
    "n12=a=b",
    "n13\nline",
    "n14 & | > <",
    "n15'",
    "n16\\",
)
LINES = (
    ("memttl pru", ["prune"]),
    ("memttl help backups rest", ["help", "backups", "restore"]),
    ("memttl report --undat", ["report", "--undated"]),
    ("memttl report --sort ag", ["report", "--sort", "age"]),
    ("memttl report --sort=ag", ["report", "--sort=age"]),
    ("memttl prune --file m.js", ["prune", "--file", "m.jsonl"]),
    ("memttl prune --file=m.js", ["prune", "--file=m.jsonl"]),
    ("memttl prune --tier=sess", ["prune", "--tier=session"]),
    ("memttl prune --entity --fo", ["prune", "--entity", "--force-like"]),
    ("memttl explain -- --fo", ["explain", "--", "--force-like"]),
    ("memttl explain 'Sprint 11' n01", ["explain", "Sprint 11", "n01"]),  # TEXT has no names, and no files
    ("memttl explain n06: pay", ["explain", "n06:", "pay"]),
    ("memttl explain n06\\:\\ pay", ["explain", "n06: pay: me"]),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with nothing in it but a memory file."""
    found = tmp_path / "folder"
    found.mkdir()
    lines = [
        json.dumps({"type": "entity", "name": name, "entityType": "t: $(touch RAN)", "observations": ["x"]})
        for name in (*NAMES, "--force-like")
    ]
    (found / "m.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return found


@pytest.fixture(params=STARTS)
def shell(request: pytest.FixtureRequest) -> str:
    """Each shell that is installed."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.mark.parametrize("quote", ["", "'", '"'], ids=["bare", "single", "double"])
def test_name_is_completed_as_text_whatever_it_holds(shell: str, folder: Path, quote: str) -> None:
    typed = [f"memttl explain --file m.jsonl {quote}{name[:3]}" for name in NAMES]
    expected = [["explain", "--file", "m.jsonl", name.replace("\n", "?")] for name in NAMES]
    assert words_after_tab(shell, typed, folder) == expected
    assert [path.name for path in folder.iterdir()] == ["m.jsonl"]  # no name was run, nothing was kept


def test_line_is_completed(shell: str, folder: Path) -> None:
    typed = [line for line, _ in LINES]
    found = words_after_tab(shell, typed, folder, MEMTTL_FILE=str(folder / "m.jsonl"))
    assert found == [words for _, words in LINES]


def test_installed_script_is_read_by_a_new_shell(shell: str, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    assert memttl("--install-completion", shell, env=home).returncode == 0
    asks = {
        "bash": "complete -p memttl",
        "zsh": "print $_comps[memttl]",
        "fish": "complete -C 'memttl x'; complete -c memttl",  # fish reads it when it is first needed
    }
    (tmp_path / "memttl").write_text("#!/bin/sh\n", encoding="utf-8")  # it reads none for what cannot be run
    (tmp_path / "memttl").chmod(0o755)
    env = environ(**home, PATH=f"{tmp_path}:{os.environ['PATH']}")
    ended = subprocess.run([shell, "-i", "-c", asks[shell]], env=env, capture_output=True, text=True)
    assert "memttl" in ended.stdout
