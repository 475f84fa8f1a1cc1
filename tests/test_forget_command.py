"""`memttl forget` as a whole process: two questions, exit codes, the document; texts that are gone are not printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forgetting import PLAIN, SECRET, holding, lived
from process import Terminal, aged, error_of, memttl, tree
from support import entity

FIRST, SECOND = "for good? [y/N]", "Type forget to go on"
KEYS = ["schema", "file", "now", "dry_run", "applied", "run", "forgotten", "places", "remaining", "warnings"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return lived(tmp_path)


def at_terminal(path: Path, *words: str) -> Terminal:
    return Terminal("forget", *words, "--file", path)


def test_it_asks_twice_and_then_erases(path: Path) -> None:
    terminal = at_terminal(path, "*", SECRET)
    assert PLAIN in terminal.read_until(FIRST)
    terminal.type("y\n")
    terminal.read_until(SECOND)
    terminal.type("forget\n")
    ended = terminal.end()
    assert ended.code == 0
    assert "This cannot be undone." in ended.screen
    assert holding(path.parent) == []


@pytest.mark.parametrize("answers", [["n\n"], ["y\n", "yes\n"], ["y\n", "\n"]])
def test_any_other_answer_changes_nothing(path: Path, answers: list[str]) -> None:
    before, terminal = tree(path.parent), at_terminal(path, "*", SECRET)
    for question, answer in zip((FIRST, SECOND), answers, strict=False):
        terminal.read_until(question)
        terminal.type(answer)
    ended = terminal.end()
    assert ended.code == 0
    assert "Nothing was forgotten." in ended.screen
    assert tree(path.parent) == before


def test_ctrl_c_at_the_second_question_changes_nothing(path: Path) -> None:
    before, terminal = tree(path.parent), at_terminal(path, "*", SECRET)
    terminal.read_until(FIRST)
    terminal.type("y\n")
    terminal.read_until(SECOND)
    terminal.type("\x03")
    assert terminal.end().code == 130
    assert tree(path.parent) == before


def test_yes_answers_the_first_question_only(path: Path) -> None:
    terminal = at_terminal(path, "*", SECRET, "--yes")
    screen = terminal.read_until(SECOND)
    assert FIRST not in screen
    assert PLAIN in screen
    terminal.type("forget\n")
    assert terminal.end().code == 0
    assert holding(path.parent) == []


@pytest.mark.parametrize("options", [[], ["--yes"], ["--for-good"]])
def test_without_a_terminal_it_needs_both_answers(path: Path, options: list[str]) -> None:
    before = tree(path.parent)
    ended = memttl("forget", "*", SECRET, *options, "--file", path)
    assert ended.returncode == 2
    assert "--yes" in ended.stderr
    assert "--for-good" in ended.stderr
    assert tree(path.parent) == before


def test_the_document_of_a_dry_run_holds_the_texts(path: Path) -> None:
    document = json.loads(memttl("forget", "A", SECRET, "--dry-run", "--json", "--file", path).stdout)
    assert list(document) == KEYS
    assert {"entity": "A", "observation": PLAIN} in document["forgotten"]
    assert document["run"] is None


def test_once_it_is_gone_nothing_that_is_printed_holds_it(path: Path) -> None:
    words = ("forget", "*", SECRET, "--yes", "--for-good", "--file", path)
    ended = memttl(*words, "--json")
    document = json.loads(ended.stdout)
    assert list(document) == KEYS
    assert document["applied"] is True
    assert all(list(found) == ["entity"] for found in document["forgotten"])
    assert "hunter2" not in ended.stdout + ended.stderr


def test_what_a_terminal_gets_afterwards_holds_no_text(path: Path) -> None:
    ended = memttl("forget", "*", SECRET, "--yes", "--for-good", "--file", path)
    assert ended.returncode == 0
    assert "audit.jsonl" in ended.stdout
    assert "hunter2" not in ended.stdout + ended.stderr


def test_what_is_left_is_a_warning(path: Path) -> None:
    ended = memttl("forget", "A", SECRET, "--yes", "--for-good", "--file", path)
    assert ended.returncode == 0
    assert "warning: still in: memory.jsonl (" in ended.stderr


def test_a_damaged_line_that_is_left_is_told_with_what_mends_it(path: Path) -> None:
    path.write_bytes(path.read_bytes() + f'\n{{"type":"entity","observations":["{SECRET}'.encode())
    aged(path)
    ended = memttl("forget", "--text", SECRET, "--yes", "--for-good", "--file", path)
    told = next(line for line in ended.stderr.splitlines() if "still in" in line)
    assert "still in: memory.jsonl (1 damaged line); `memttl doctor --repair`" in told
    assert "name more" not in told


def test_the_plan_counts_each_kind(path: Path) -> None:
    ended = memttl("forget", "Vault", "--dry-run", "--file", path)
    assert "  memory.jsonl: 1 entity, 1 observation, 1 relation\n" in ended.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Nothing says what"),
        (["*"], "the whole memory"),
        (["A", ""], "the whole memory"),
        (["A", "--text", "x"], "--text means all entities"),
        (["A", "[", "--pattern"], "no regular expression"),
        (["A", "--exact"], "no TEXT is given"),
        (["Vaultt"], 'did you mean "Vault"'),
    ],
)
def test_a_call_that_means_nothing_or_everything_is_refused(path: Path, words: list[str], said: str) -> None:
    before = tree(path.parent)
    error = error_of(memttl("forget", *words, "--yes", "--for-good", "--json", "--file", path))
    assert error["code"] == 2
    assert said in error["message"]
    assert tree(path.parent) == before


def test_text_means_all_entities(path: Path) -> None:
    ended = memttl("forget", "--text", SECRET, "--yes", "--for-good", "--file", path)
    assert ended.returncode == 0
    assert holding(path.parent) == []


@pytest.mark.parametrize("words", [("--text", "-"), ("*", "-")])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_dash_reads_the_text_from_a_pipe_without_its_line_end(path: Path, words: tuple[str, ...], end: str) -> None:
    ended = memttl("forget", *words, "--yes", "--for-good", "--file", path, stdin=None, input=SECRET + end)
    assert ended.returncode == 0
    assert holding(path.parent) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [("", "no text"), ("\n", "no text"), (f"{SECRET}\nmore\n", "more than one line"), ("\udcff", "no UTF-8")],
)
def test_what_is_no_single_line_of_text_is_refused(path: Path, given: str, said: str) -> None:
    before = tree(path.parent)
    words = ("forget", "--text", "-", "--yes", "--for-good", "--json", "--file", path)
    error = error_of(memttl(*words, stdin=None, input=given))
    assert error["code"] == 2
    assert said in error["message"]
    assert tree(path.parent) == before


def test_a_pattern_that_was_read_is_not_shown_where_it_is_none(path: Path) -> None:
    words = ("forget", "--text", "-", "--pattern", "--yes", "--for-good", "--file", path)
    ended = memttl(*words, stdin=None, input="hunter2(")
    assert ended.returncode == 2
    assert "hunter2" not in ended.stdout + ended.stderr


def test_a_dash_in_a_pipe_needs_both_answers(path: Path) -> None:
    ended = memttl("forget", "--text", "-", "--yes", "--file", path, stdin=None, input=SECRET)
    assert ended.returncode == 2
    assert "--for-good" in ended.stderr


def test_at_a_terminal_a_dash_asks_for_the_text_without_echo_and_then_twice(path: Path) -> None:
    terminal = at_terminal(path, "--text", "-")
    terminal.read_until("Text to forget")
    terminal.type("hunter2/café\n")
    assert "(it is not shown): \r\nA\r\n" in terminal.read_until(FIRST)  # the plan comes next, and no echo
    terminal.type("y\n")
    terminal.read_until(SECOND)
    terminal.type("forget\n")
    assert terminal.end().code == 0
    assert holding(path.parent) == []


def test_ctrl_c_at_the_hidden_text_changes_nothing(path: Path) -> None:
    before, terminal = tree(path.parent), at_terminal(path, "--text", "-")
    terminal.read_until("Text to forget")
    terminal.type("\x03")
    assert terminal.end().code == 130
    assert tree(path.parent) == before


def test_several_files_are_each_done_on_its_own(path: Path) -> None:
    other = path.with_name("other.jsonl")
    other.write_bytes(entity(["harmless"], name="O"))
    aged(other)
    ended = memttl("forget", "--text", SECRET, "--yes", "--for-good", "--json", "--file", other, "--file", path)
    assert ended.returncode == 2
    assert [list(document)[1] for document in json.loads(ended.stdout)["files"]] == ["error", "file"]
    assert holding(path.parent) == []


def test_no_control_character_of_a_memory_file_reaches_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(entity(["\x1b[2Jsecret"], name="\x1bA"))
    aged(path)
    ended = memttl("forget", "--text", "secret", "--dry-run", "--file", path)
    assert "\x1b" not in ended.stdout
