"""`memttl serve` as it starts: what it refuses to start with, and what it warns of; the server itself is left out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support import entity

from memttl.commands import serve as command
from memttl.errors import UsageError
from memttl.server.cleaning import every_of


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other variables than those of a test, and no server."""
    for name in ("MEMTTL_FILE", "MEMTTL_POLICY", "MEMTTL_NOW", "MEMTTL_STATE_DIR", "MEMORY_FILE_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(command, "_server", lambda: (lambda *_: None, lambda *_: None))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["a"]) + b"\n")
    return path


def said(capsys: Any, path: Path) -> list[str]:
    """What goes to stderr behind the first line."""
    assert command.serve(file=[str(path)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    return str(told.err).splitlines()[1:]


def test_fixed_clock_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTTL_NOW", "2026-06-01")
    with pytest.raises(UsageError, match="MEMTTL_NOW is set, and a server goes by the clock"):
        command.serve(file=[str(path)])


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_closed_stream_is_refused(path: Path, stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, stream, None)
    with pytest.raises(UsageError, match="one of them is closed"):
        command.serve(file=[str(path)])


def test_missing_file_in_a_folder_that_is_there_is_normal(capsys: Any, tmp_path: Path) -> None:
    assert said(capsys, tmp_path / "new.jsonl") == []


@pytest.mark.parametrize(
    ("name", "why"), [("no/memory.jsonl", "no does not exist"), ("memory.jsonl/x", "does not exist"), ("", "a folder")]
)
def test_place_that_no_file_can_be_in_is_warned_of(capsys: Any, path: Path, name: str, why: str) -> None:
    (line,) = said(capsys, path.parent / name)
    assert line.startswith("warning: the memory file is ")
    assert why in line


def test_terminal_is_told_who_starts_it(capsys: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "can_ask", lambda: True)
    (line,) = said(capsys, path)
    assert "memttl serve --print-config CLIENT" in line


def test_archive_that_is_the_memory_file_is_told_as_a_prune_would(capsys: Any, path: Path) -> None:
    policy = path.parent / "memttl.toml"
    policy.write_text('[archive]\npath = "memory.jsonl"\n', encoding="utf-8")
    assert said(capsys, path) == [
        f'warning: archive.path = "memory.jsonl": that is the memory file itself, {path}; nothing is pruned until '
        f"{policy} is corrected"
    ]


def test_pause_that_cannot_be_read_is_not_told_of_days() -> None:
    with pytest.raises(UsageError) as caught:
        every_of("foo")
    assert caught.value.message == "--prune-every 'foo' cannot be read; nothing was done."
