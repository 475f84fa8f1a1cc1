"""What goes to pipes and files: golden texts, documents, closed pipes, encodings that lack characters."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from process import FIXTURES, ROOT, Terminal, aged, copy_of, memttl
from support import entity

from memttl.report.text import visible

EXAMPLE = "fixtures/memory/example.jsonl"
NOW = ("--now", "2026-06-01")
WIDE = FIXTURES / "memory/wide-right-to-left-and-emoji.jsonl"
GOLDEN = {
    "prune.txt": ["prune", "--dry-run", "--file", EXAMPLE, *NOW],
    "prune-nothing-expired.txt": ["prune", "--dry-run", "--file", EXAMPLE, "--now", "2026-04-01"],
    "prune-refused.txt": ["prune", "--dry-run", "--file", EXAMPLE, *NOW, "--policy", "fixtures/golden/strict.toml"],
    "explain.txt": ["explain", "Payments refactor", "--file", EXAMPLE, *NOW],
}


def is_golden(name: str, text: str, request: pytest.FixtureRequest) -> bool:
    """Say whether the text is the one in fixtures/golden; with --update-golden it is from now on."""
    path = FIXTURES / "golden" / name
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", GOLDEN)
def test_plain_output_is_the_golden_one(name: str, request: pytest.FixtureRequest) -> None:
    assert is_golden(name, memttl(*GOLDEN[name], cwd=ROOT).stdout, request)


def test_table_without_colour_is_the_golden_one(request: pytest.FixtureRequest) -> None:
    ended = Terminal(*GOLDEN["prune.txt"], "--no-color", columns=100, cwd=ROOT).end()
    assert is_golden("prune-table.txt", ended.screen.replace("\r\n", "\n"), request)


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A memory file whose output is more than a pipe holds."""
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity([f"[session] 2026-01-05: {i} {'x' * 300}" for i in range(500)]))
    return aged(path)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["prune", "--dry-run", "--force"], 0),
        (["prune", "--dry-run"], 4),
        (["prune", "--dry-run", "--json"], 4),
        (["explain"], 0),
        (["explain", "--json"], 0),
        (["explain", "--json", "nobody"], 2),
        (["search", "", "--expired", "include"], 0),
        (["search", "", "--expired", "include", "--json"], 0),
        (["policy", "show"], 0),
        (["doctor"], 0),
        (["doctor", "--json"], 0),
    ],
    ids=str,
)
@pytest.mark.parametrize("reader", ["head -c 1", "true"])
def test_closed_pipe_ends_quietly_with_its_own_code(big: Path, options: list[str], code: int, reader: str) -> None:
    ended = memttl(*options, "--file", big, shell=f'"$@" | {reader} >/dev/null; exit "${{PIPESTATUS[0]}}"')
    assert (ended.returncode, ended.stderr) == (code, "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_stream_is_no_trouble(tmp_path: Path, closed: str) -> None:
    path = copy_of(ROOT / EXAMPLE, tmp_path)
    ended = memttl("prune", "--yes", "--file", path, *NOW, shell=f'"$@" {closed}')
    assert (ended.returncode, ended.stderr) == (0, "")
    assert all(
        line.startswith("{") for line in (tmp_path / ".memttl/memory.jsonl/audit.jsonl").read_text().splitlines()
    )
    assert json.loads(path.read_bytes().splitlines()[0])["name"] == "booking-api"


def test_error_on_a_closed_stream_keeps_its_code() -> None:
    for options in ([], ["--json"]):
        assert memttl("prune", "--file", "/none", "--dry-run", *options, shell='"$@" >&- 2>&-').returncode == 66


ENVIRONMENTS = [
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii"},
    {"LANG": "C", "LC_ALL": "C"},
    {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
]


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize("options", [["prune", "--yes"], ["explain"], ["search", ""], ["doctor"]], ids=" ".join)
def test_encoding_without_these_characters_is_no_trouble(
    tmp_path: Path, env: dict[str, str], options: list[str]
) -> None:
    path = copy_of(WIDE, tmp_path, name="mémoire.jsonl")
    ended = memttl(*options, "--file", path, *NOW, env=env)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_document_is_the_same_in_every_encoding(tmp_path: Path) -> None:
    path = copy_of(WIDE, tmp_path)
    found = {memttl("explain", "--json", "--file", path, *NOW, env=env).stdout for env in [{}, *ENVIRONMENTS]}
    assert len(found) == 1
    assert found.pop().isascii()


@pytest.mark.parametrize(
    "options",
    [["prune", "--yes"], ["explain"], ["search", "", "--expired", "include"], ["prune", "--yes", "--json"]],
    ids=" ".join,
)
def test_lone_surrogates_are_shown_as_their_escapes(tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(
        rb'{"type":"entity","name":"\ud800","entityType":"\udfff","observations":["[session] 2026-01-05: \ud83d"]}'
    )
    ended = memttl(*options, "--file", aged(path), *NOW)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\\ud800" in ended.stdout
    assert "\\ud83d" in ended.stdout


def test_odd_bytes_in_a_name_are_carried_through(tmp_path: Path) -> None:
    path = copy_of(ROOT / EXAMPLE, tmp_path, name="m\udcff\udcfe.jsonl")
    document = json.loads(memttl("prune", "--yes", "--json", "--file", path, *NOW).stdout)
    assert document["file"] == str(path)
    assert os.path.exists(document["backup"])


@pytest.mark.parametrize(
    "options",
    [
        ["prune", "--dry-run"],
        ["prune", "--check"],
        ["prune", "--yes"],
        ["explain"],
        ["search", ""],
        ["policy", "show"],
        ["policy", "check"],
    ],
    ids=" ".join,
)
def test_quiet_prints_nothing(tmp_path: Path, options: list[str]) -> None:
    path = copy_of(FIXTURES / "memory/every-mark.jsonl", tmp_path)
    ended = memttl(*options, "--quiet", "--file", path, *NOW)
    assert (ended.stdout, ended.stderr) == ("", "")


def test_quiet_prints_errors_all_the_same() -> None:
    assert "There is no file" in memttl("prune", "--dry-run", "--quiet", "--file", "/none").stderr


def test_warnings_stand_on_stderr_and_in_the_document(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/bom-at-start.jsonl", tmp_path)
    ended = memttl("prune", "--dry-run", "--file", path, *NOW)
    assert ended.stderr.startswith("warning: the file begins with a byte order mark")
    assert "byte order mark" not in ended.stdout
    document = json.loads(memttl("prune", "--dry-run", "--json", "--file", path, *NOW).stdout)
    assert "byte order mark" in document["warnings"][0]


def test_verbose_says_what_was_decided_by(tmp_path: Path) -> None:
    path = copy_of(ROOT / EXAMPLE, tmp_path)
    ended = memttl("prune", "--dry-run", "--verbose", "--file", path, *NOW)
    assert ended.stderr == f"{path}: policy built-in, as of 2026-06-01T00:00:00+00:00\n"


def test_explained_verdicts_are_verdicts_with_what_was_tried() -> None:
    document = json.loads(memttl("explain", "--json", "--file", EXAMPLE, *NOW, cwd=ROOT).stdout)
    assert list(document) == ["schema", "file", "now", "verdicts"]
    assert len(document["verdicts"]) == 63
    assert all(list(v)[-2:] == ["reason", "tried"] for v in document["verdicts"])
    assert all(list(t) == ["kind", "what", "matched", "note"] for v in document["verdicts"] for t in v["tried"])


def test_explain_names_marks_and_rules_in_the_order_in_which_they_were_tried() -> None:
    ended = memttl("explain", "postgres-main", "auditors", "--json", "--file", EXAMPLE, *NOW, cwd=ROOT)
    tried = json.loads(ended.stdout)["verdicts"][0]["tried"]
    assert [(t["kind"], t["what"], t["matched"]) for t in tried] == [
        ("mark", "expires 2026-04-30", True),
        ("rule", "session", False),
        ("rule", "operational", False),
        ("rule", "permanent", False),
        ("default", "permanent", True),
    ]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["Sprint *"], 9),
        (["Sprint 11"], 5),
        (["Sprint 11", "WEBKIT"], 1),
        (["*", "cookie"], 2),
        (["Jonas", "Works Monday to Thursday", "--exact"], 1),
        (["*", r"\d{4}-\d\d-\d\d: ", "--pattern"], 8),
    ],
    ids=str,
)
def test_explain_chooses_by_name_glob_and_text(options: list[str], count: int) -> None:
    ended = memttl("explain", *options, "--json", "--file", EXAMPLE, *NOW, cwd=ROOT)
    assert len(json.loads(ended.stdout)["verdicts"]) == count


def test_explain_reads_the_good_lines_of_a_damaged_file(tmp_path: Path) -> None:
    path = copy_of(FIXTURES / "memory/truncated-tail.jsonl", tmp_path)
    ended = memttl("explain", "--file", path, *NOW)
    assert ended.returncode == 0
    assert re.search(r"warning: 1 line that the memory server cannot read", ended.stderr)


def test_program_works_without_assertions_and_docstrings(tmp_path: Path) -> None:
    path = copy_of(ROOT / EXAMPLE, tmp_path)
    plain = memttl("explain", "--file", path, *NOW)
    bare: subprocess.CompletedProcess[str] = memttl("explain", "--file", path, *NOW, env={"PYTHONOPTIMIZE": "2"})
    assert bare.stdout == plain.stdout


def test_explain_json_warns_on_stderr_and_prints_valid_json(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"type":"entity","name":"E","entityType":"t","observations":[1e400,{"a":1e999}]}')
    ended = memttl("explain", "--json", "--file", path)
    assert "byte order mark" in ended.stderr
    values = [v["observation"] for v in json.loads(ended.stdout, parse_constant=pytest.fail)["verdicts"]]
    assert values == [None, {"a": None}]


def test_lines_that_go_whole_are_shown(tmp_path: Path) -> None:
    path, policy = tmp_path / "memory.jsonl", tmp_path / "policy.toml"
    path.write_text(
        '{"type":"entity","name":"E","entityType":"t","observations":["x [expires 2020-01-01]"]}\n'
        '{"type":"entity","name":"F","entityType":"t","observations":["y"]}\n'
        '{"type":"relation","from":"E","to":"F","relationType":"uses"}',
        encoding="utf-8",
    )
    policy.write_text("[prune]\nremove_empty_entities = true\n", encoding="utf-8")
    printed = memttl("prune", "--dry-run", "--file", path, "--policy", policy).stdout
    assert "entity E: goes too" in printed
    assert "relation E -> F (uses): goes too" in printed


def test_days_are_those_of_the_policys_zone(tmp_path: Path) -> None:
    path, policy = tmp_path / "memory.jsonl", tmp_path / "policy.toml"
    path.write_text('{"type":"entity","name":"E","entityType":"t","observations":["[session] 2026-05-01: x"]}')
    policy.write_text('timezone = "Europe/Berlin"\n', encoding="utf-8")
    printed = memttl("prune", "--dry-run", "--file", path, "--policy", policy, "--now", "2026-05-10").stdout
    assert "Next due: 2026-06-01" in printed


def test_days_at_the_end_of_the_calendar_are_no_trouble(tmp_path: Path) -> None:
    path, policy = tmp_path / "memory.jsonl", tmp_path / "policy.toml"
    path.write_text('{"type":"entity","name":"E","entityType":"t","observations":["x [expires 9999-12-31T23:30:00Z]"]}')
    policy.write_text('timezone = "Europe/Berlin"\n', encoding="utf-8")
    for command in (("prune", "--dry-run"), ("explain",)):
        assert memttl(*command, "--file", path, "--policy", policy).returncode == 0


def test_no_character_that_is_spelled_out_counts_as_printable() -> None:
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert visible(printable + "\n") == printable + "\\n"
