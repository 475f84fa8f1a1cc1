"""`memttl report` as a whole: options, exit codes, the document, where the result goes, and what it never touches."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from pathlib import Path

import pytest
from ledgers import scanned
from process import FIXTURES, Terminal, aged, copy_of, error_of, memttl, tree
from support import entity

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"
FORMATS = ["table", "json", "ndjson", "csv", "markdown"]
SUMMARY = {
    "entities", "relations", "observations", "expired", "removed", "review_due", "unknown_age", "known_age", "seen_age",
    "pinned", "malformed_lines", "bytes", "characters", "tokens_estimated", "tokens_freed_estimated",
}  # fmt: skip
VERDICT = {
    "entity", "entity_type", "line", "index", "observation", "tier", "rule", "age_source", "created_at", "expires_at",
    "expired", "review_due", "pinned", "action", "reason",
}  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


def document(path: Path, *options: str) -> dict[str, object]:
    ended = memttl("report", "--json", "--file", path, *NOW, *options)
    assert ended.returncode in (0, 3), ended.stderr
    found: dict[str, object] = json.loads(ended.stdout)
    return found


# the document


def test_document_has_the_documented_keys(memory: Path) -> None:
    found = json.loads(memttl("report", "--json", "--file", memory, *NOW).stdout)
    assert list(found) == [
        "schema", "file", "now", "summary", "listed", "groups", "observations", "tiers", "types", "months", "ages",
        "heaviest", "one_date", "one_date_entities", "damaged", "refusals", "warnings",
    ]  # fmt: skip
    assert found["summary"].keys() == SUMMARY
    assert all(v.keys() == VERDICT for v in found["observations"])
    assert found["schema"] == 1


def test_format_json_prints_what_json_prints(memory: Path) -> None:
    assert memttl("report", "--format", "json", "--file", memory, *NOW).stdout == memttl(
        "report", "--json", "--file", memory, *NOW
    ).stdout  # fmt: skip


def test_error_with_format_json_is_a_document(tmp_path: Path) -> None:
    for options in (["--format", "json"], ["--format=json"], ["--json"]):
        ended = memttl("report", *options, "--file", tmp_path / "nothing.jsonl")
        assert error_of(ended)["code"] == 66


def test_several_files_are_one_document(memory: Path, tmp_path: Path) -> None:
    other = copy_of(EXAMPLE, tmp_path, name="other.jsonl")
    found = json.loads(memttl("report", "--json", "--file", memory, "--file", other, *NOW).stdout)
    assert [d["file"] for d in found["files"]] == [str(memory), str(other)]


def test_several_files_are_one_table_of_rows(memory: Path, tmp_path: Path) -> None:
    other = copy_of(EXAMPLE, tmp_path, name="other.jsonl")
    ended = memttl("report", "--format", "csv", "--file", memory, "--file", other, *NOW)
    rows = list(csv.DictReader(io.StringIO(ended.stdout, newline="")))
    assert {row["file"] for row in rows} == {str(memory), str(other)}
    assert [r["observation"] for r in rows[: len(rows) // 2]] == [r["observation"] for r in rows[len(rows) // 2 :]]


def test_one_bad_file_does_not_hide_the_good_one(memory: Path, tmp_path: Path) -> None:
    ended = memttl("report", "--format", "ndjson", "--file", memory, "--file", tmp_path / "nothing.jsonl", *NOW)
    assert ended.returncode == 66
    assert len(ended.stdout.splitlines()) == 9
    assert "nothing.jsonl" in ended.stderr


# exit codes


def test_check_exits_3_when_something_has_expired(memory: Path) -> None:
    assert memttl("report", "--check", "--file", memory, *NOW).returncode == 3
    assert memttl("report", "--file", memory, *NOW).returncode == 0
    assert memttl("report", "--check", "--file", memory, "--now", "2026-01-01").returncode == 0


def test_check_exits_3_when_something_is_due_for_review(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["[permanent] x (review by 2026-05-01)"]))
    aged(path)
    assert memttl("report", "--check", "--file", path, *NOW).returncode == 3
    assert memttl("report", "--check", "--expired-only", "--file", path, *NOW).returncode == 0


def test_check_does_not_find_what_is_only_due(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["x [expires 2026-06-05]"]))
    aged(path)
    assert memttl("report", "--check", "--file", path, *NOW).returncode == 0


def test_check_looks_at_what_the_filters_name(memory: Path) -> None:
    assert memttl("report", "--check", "--type", "person", "--file", memory, *NOW).returncode == 0


def test_limit_that_a_prune_would_break_is_told_and_no_failure(memory: Path) -> None:
    (memory.parent / "memttl.toml").write_text("[limits]\nmax_prune_count = 1\n")
    ended = memttl("report", "--file", memory, *NOW)
    assert ended.returncode == 0
    assert "A prune now would be refused: 7 observations would go" in ended.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "xml"], "--format knows no 'xml'"),
        (["--format", "markdwn"], "markdown"),
        (["--json", "--format", "csv"], "two formats"),
        (["--sort", "date"], "--sort knows no 'date'"),
        (["--group-by", "day"], "--group-by knows no 'day'"),
        (["--source", "guessed"], "--source knows no 'guessed'"),
        (["--top", "-1"], "below zero"),
        (["--within", "soon"], "--within 'soon' cannot be read"),
        (["--expire-before", "soon"], "--expire-before 'soon' cannot be read"),
        (["--within", "1d", "--expire-before", "2026-07-01"], "both say what is due"),
        (["--expired-only", "--undated"], "exclude each other"),
        (["--tier", "sesion"], "session"),
        (["--entity", "Sprint 111"], "Sprint 11"),
        (["--output", ""], "empty path"),
    ],
)
def test_slip_of_the_keyboard_is_exit_2_and_says_what_there_is(memory: Path, options: list[str], words: str) -> None:
    ended = memttl("report", *options, "--file", memory, *NOW)
    assert ended.returncode == 2
    assert words in (ended.stdout if "--json" in options else ended.stderr)


# into a file


@pytest.mark.parametrize("name", FORMATS)
def test_output_file_holds_what_would_be_printed(memory: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "out"
    ended = memttl("report", "--format", name, "-o", target, "--file", memory, *NOW)
    assert ended.stdout == ""
    assert f"Wrote {target}." in ended.stderr or name == "json"
    printed = memttl("report", "--format", name, "--file", memory, *NOW).stdout
    assert target.read_text(encoding="utf-8") == printed  # both with universal newlines
    assert list(tmp_path.glob(".out*")) == []


def test_new_output_file_is_as_closed_as_the_memory_file(memory: Path, tmp_path: Path) -> None:
    memory.chmod(0o600)
    memttl("report", "-o", tmp_path / "out", "--file", memory, *NOW)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600


def test_output_file_that_is_there_keeps_its_mode_and_its_link(memory: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    memttl("report", "-o", link, "--file", memory, *NOW)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "Expired: 7 observations" in real.read_text()


@pytest.mark.parametrize("how", ["itself", "link", "hard link", "policy", "state", "folder"])
def test_output_never_goes_over_what_memttl_reads(memory: Path, tmp_path: Path, how: str) -> None:
    scanned(memory)
    (tmp_path / "memttl.toml").write_text("")
    target = {
        "itself": memory,
        "link": tmp_path / "link",
        "hard link": tmp_path / "hard",
        "policy": tmp_path / "memttl.toml",
        "state": tmp_path / ".memttl" / "memory.jsonl" / "audit.jsonl",
        "folder": tmp_path,
    }[how]
    if how == "link":
        target.symlink_to(memory)
    if how == "hard link":
        os.link(memory, target)
    before = tree(tmp_path)
    ended = memttl("report", "-o", target, "--file", memory, *NOW)
    assert ended.returncode == 2
    assert str(target) in ended.stderr
    assert tree(tmp_path) == before


def test_output_that_cannot_be_written_leaves_what_was_there(memory: Path, tmp_path: Path) -> None:
    ended = memttl("report", "-o", tmp_path / "no" / "out", "--file", memory, *NOW)
    assert ended.returncode == 73
    assert "what was there is as it was" in ended.stderr
    target = tmp_path / "out"
    target.write_text("old")
    shell = 'ulimit -f 1; trap "" XFSZ; exec "$@"'
    ended = memttl(
        "report", "-o", target, "--format", "json", "--undated", "--file", memory, *NOW, shell=shell, cwd=tmp_path
    )
    assert ended.returncode == 73
    assert target.read_text() == "old"
    assert list(tmp_path.glob(".out*")) == []


def test_failed_reading_leaves_the_old_report(memory: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    assert memttl("report", "-o", target, "--file", tmp_path / "nothing.jsonl").returncode == 66
    assert target.read_text() == "old"


def test_output_to_a_pipe_and_to_dash_is_written(memory: Path) -> None:
    printed = memttl("report", "--file", memory, *NOW).stdout
    assert memttl("report", "-o", "-", "--file", memory, *NOW).stdout == printed
    assert memttl("report", "-o", "/dev/stdout", "--file", memory, *NOW, shell='"$@" | cat').stdout == printed


def test_quiet_prints_nothing_and_still_writes_the_file(memory: Path, tmp_path: Path) -> None:
    ended = memttl("report", "-q", "-o", tmp_path / "out", "--file", memory, *NOW)
    assert (ended.stdout, ended.stderr) == ("", "")
    assert "Expired" in (tmp_path / "out").read_text()
    assert memttl("report", "-q", "--file", memory, *NOW).stdout == ""


# what it never touches


def test_report_writes_nothing(memory: Path) -> None:
    scanned(memory)
    before = tree(memory.parent)
    for name in FORMATS:
        memttl("report", "--format", name, "--file", memory, *NOW)
    assert tree(memory.parent) == before


def test_damaged_file_is_reported_with_a_warning_and_exit_0(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes() + b'\n{"type":"entity","na')
    aged(memory)
    ended = memttl("report", "--file", memory, *NOW)
    assert ended.returncode == 0
    assert "line 27, column 18" in ended.stderr
    assert json.loads(memttl("report", "--json", "--file", memory, *NOW).stdout)["damaged"] == [
        {"line": 27, "column": 18, "problem": "the line ends in the middle of a value"}
    ]


def test_file_of_another_tool_is_65(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/chat-log.jsonl", tmp_path)
    assert memttl("report", "--file", path).returncode == 65


def test_ages_come_from_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["[session] undated", "note"]))
    aged(path)
    assert document(path, "--undated")["listed"]["undated"] == 2  # type: ignore[index]
    scanned(path, "2026-04-01T12:00:00Z")
    found = document(path, "--undated")
    assert found["listed"] == {  # type: ignore[comparison-overlap]
        "until": "2026-07-01T12:00:00Z", "observations": 2, "expired": 1, "due": 0, "review": 0, "undated": 1,
    }  # fmt: skip
    assert [v["age_source"] for v in found["observations"]] == ["seen", "seen"]  # type: ignore[attr-defined]
    assert document(path, "--undated", "--source", "unknown")["observations"] == []


def test_clock_that_runs_behind_is_a_warning_only(memory: Path) -> None:
    scanned(memory, "2026-06-01T12:00:00Z")
    ended = memttl("report", "--file", memory, "--now", "2026-05-01")
    assert ended.returncode == 0
    assert "runs behind" in ended.stderr


# at a terminal, in a pipe


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_terminal_gets_tables_that_fit(memory: Path, columns: int) -> None:
    ended = Terminal("report", "--no-color", "--file", memory, *NOW, columns=columns).end()
    assert ended.code == 0
    assert max(len(line) for line in ended.screen.split("\r\n")) <= columns
    assert "Heaviest entities" in ended.screen
    assert "\x1b" not in ended.screen


def test_terminal_gets_colours_and_no_escape_of_the_file(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/ansi-escapes-html-and-markup.jsonl", tmp_path)
    for name in ("table", "csv", "markdown", "ndjson"):
        screen = Terminal("report", "--undated", "--format", name, "--file", path, *NOW).end().screen
        assert "\x1b]" not in screen
        assert "\x1b[2J" not in screen
        assert ("\x1b[" in screen) is (name == "table")


@pytest.mark.parametrize("name", FORMATS)
def test_encoding_that_lacks_characters_is_no_traceback(tmp_path: Path, name: str) -> None:
    path = copy_of(FIXTURES / "memory/wide-right-to-left-and-emoji.jsonl", tmp_path)
    for env in ({"PYTHONIOENCODING": "cp1252"}, {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        ended = memttl("report", "--undated", "--format", name, "--file", path, *NOW, env=env)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout


def test_chart_is_drawn_with_what_the_encoding_has(memory: Path) -> None:
    screen = Terminal("report", "--file", memory, *NOW, env={"PYTHONIOENCODING": "ascii"}).end().screen
    assert "###" in screen
    assert "█" not in screen
    assert "?" not in screen


@pytest.mark.parametrize("name", FORMATS)
def test_closed_pipe_ends_quietly(tmp_path: Path, name: str) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([f"[session] 2026-01-05: {i} {'x' * 300}" for i in range(500)]))
    aged(path)
    ended = memttl("report", "--format", name, "--file", path, *NOW, shell='"$@" | head -1')
    assert ended.stderr == "" or "warning" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stdout.splitlines()) == 1
