"""The audit log: whole lines in a chain that shows every edit but the forgetting of a text."""

from __future__ import annotations

import hashlib
import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from without_root import in_child

from memttl.errors import CannotCreate
from memttl.files.audit import FIRST, append, digest_of, is_open, read_events, unfinished_run

BEGIN, END = {"event": "begin", "run": "a"}, {"event": "end", "run": "a", "applied": True}
REMOVED = {"event": "removed", "run": "a", "raw": '"[session] …"', "raw_digest": "0"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def add(log: Path, *events: dict[str, Any]) -> None:
    append(log, events, log.parent.stat())


def is_chained(log: Path) -> bool:
    lines = log.read_bytes().splitlines()
    before = [FIRST, *map(digest_of, lines)]
    return all(json.loads(line)["prev"] == digest for line, digest in zip(lines, before, strict=False))


def test_each_line_carries_the_digest_of_the_line_before(log: Path) -> None:
    add(log, BEGIN, REMOVED)
    add(log, END)
    assert is_chained(log)


def test_each_line_names_the_version_of_the_log(log: Path) -> None:
    add(log, BEGIN)
    assert json.loads(log.read_bytes())["v"] == 1


@pytest.mark.parametrize("edit", [(b'"run":"a"', b'"run":"b"'), (b"removed", b"retained"), (b'"raw_digest":"0"', b"")])
def test_edited_line_breaks_the_chain(log: Path, edit: tuple[bytes, bytes]) -> None:
    add(log, BEGIN, REMOVED, END)
    log.write_bytes(log.read_bytes().replace(*edit).replace(b",,", b","))
    assert not is_chained(log)


def test_missing_line_breaks_the_chain(log: Path) -> None:
    add(log, BEGIN, REMOVED, END)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0] + lines[2])
    assert not is_chained(log)


def test_text_can_be_taken_out_without_breaking_the_chain(log: Path) -> None:
    add(log, BEGIN, REMOVED, END)
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    del lines[1]["raw"]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert is_chained(log)


@example("\ud800 \u2028 \x00")
@given(st.text(max_size=40))
def test_any_text_is_kept_in_one_line_of_ascii(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    log = tmp_path_factory.mktemp("log") / "audit.jsonl"
    add(log, {**REMOVED, "raw": text})
    assert log.read_bytes().isascii()
    assert log.read_bytes().count(b"\n") == 1
    assert read_events(log)[0]["raw"] == text


@pytest.mark.parametrize("size", [1, 100, 4095, 4096, 4097, 100_000])
def test_chain_goes_on_after_a_line_of_any_length(log: Path, size: int) -> None:
    add(log, {**REMOVED, "raw": "x" * size}, {**REMOVED, "raw": "y" * size})
    add(log, END)
    assert is_chained(log)


@pytest.mark.parametrize("torn", [b"{", b'{"v":1,"event":"begin","run":"b"', b"\x00\x00\x00", b"[" * 5000])
def test_torn_last_line_is_ended_and_never_rewritten(log: Path, torn: bytes) -> None:
    add(log, BEGIN, END)
    before = log.read_bytes() + torn
    log.write_bytes(before)
    add(log, BEGIN)
    assert log.read_bytes().startswith(before + b"\n")
    before = digest_of(log.read_bytes().splitlines()[1])
    carried = hashlib.sha256(before.encode() + torn).hexdigest()
    assert json.loads(log.read_bytes().splitlines()[-1])["prev"] == carried


def test_unreadable_lines_are_left_out(log: Path) -> None:
    log.write_bytes(b'{"event":"begin"}\n\xff\n[1]\nnull\n' + b"[" * 100_000 + b'\n{"event":"end"}\n')
    assert [e["event"] for e in read_events(log)] == ["begin", "end"]


def test_no_log_holds_no_events(log: Path) -> None:
    assert read_events(log) == []


@pytest.mark.parametrize("version", [2, 1.5, 10**30])
def test_log_of_a_newer_memttl_is_refused(log: Path, version: float) -> None:
    log.write_text(json.dumps({"v": version, "event": "x"}) + "\n")
    with pytest.raises(CannotCreate, match="A newer memttl wrote the audit log"):
        read_events(log)


@pytest.mark.parametrize("version", ["x", None, [], 0, -1, True])
def test_version_that_is_none_is_passed_over(log: Path, version: object) -> None:
    log.write_text(json.dumps({"v": version, "event": "x"}) + "\n")
    assert len(read_events(log)) == 1


@pytest.mark.parametrize(
    ("events", "run"),
    [
        ([], None),
        ([BEGIN], "a"),
        ([BEGIN, REMOVED], "a"),
        ([BEGIN, REMOVED, END], None),
        ([BEGIN, END, {"event": "begin", "run": "b"}], "b"),
        ([END], None),
        ([{"event": "set"}], None),
    ],
)
def test_begin_without_an_end_is_an_unfinished_run(log: Path, events: list[dict[str, Any]], run: str | None) -> None:
    add(log, *events)
    begin = unfinished_run(read_events(log))
    assert (begin and begin["run"]) == run
    assert is_open(log) is (run is not None)


def test_full_disk_takes_nothing_from_the_log_and_adds_nothing(log: Path) -> None:
    add(log, BEGIN, END)
    before = log.read_bytes()

    def run() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 500, len(before) + 500))
        try:
            add(log, {**REMOVED, "raw": "x" * 2000})
        except CannotCreate as e:
            return 7 if "the memory file is as it was" in e.message else 8
        return 0

    assert in_child(run, 1, 2) == 7
    assert log.read_bytes() == before


def test_log_that_may_not_be_written_is_told(log: Path) -> None:
    log.mkdir()
    with pytest.raises(CannotCreate, match=r"audit log .*audit\.jsonl cannot be written"):
        add(log, BEGIN)
    assert os.listdir(log) == []
