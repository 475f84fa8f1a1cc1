"""What a person sees at a terminal: a table that fits, a question, and no control character from a memory file."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from process import FIXTURES, Ended, Terminal, aged, copy_of, memttl
from support import entity

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"
SAFE_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")  # colours and weights, which the table itself uses
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


def dry_run(path: Path, *options: str, columns: int = 100, **env: str) -> str:
    """What the screen shows of a dry run."""
    return Terminal("prune", "--dry-run", "--file", path, *NOW, *options, columns=columns, env=env).end().screen


def answered(path: Path, *keys: str, piped: bool = False, options: tuple[str, ...] = ()) -> Ended:
    """How a prune ends whose question is answered with these keys."""
    terminal = Terminal("prune", "--file", path, *NOW, *options, piped=piped)
    for key in keys:
        terminal.read_until("[y/N]: ")
        terminal.type(key)
    return terminal.end()


def width_of(line: str) -> int:
    """Columns that a line takes on a screen."""
    plain = SAFE_ESCAPES.sub("", line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in plain)


def table_of(screen: str) -> list[str]:
    """The lines of the table, without the warnings above and the totals below it."""
    lines = screen.split("\r\n\r\n")[0].split("\r\n")
    return lines[next(i for i, line in enumerate(lines) if SAFE_ESCAPES.sub("", line).lstrip().startswith("Age ")) :]


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("fixture", ["example", "every-mark", "wide-right-to-left-and-emoji"])
def test_table_fits_the_width(tmp_path: Path, fixture: str, columns: int) -> None:
    table = table_of(dry_run(copy_of(FIXTURES / f"memory/{fixture}.jsonl", tmp_path), columns=columns))
    assert len(table) > 3
    assert max(map(width_of, table)) <= columns


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_table_names_entity_tier_age_and_reason(memory: Path, columns: int) -> None:
    words = " ".join(SAFE_ESCAPES.sub("", dry_run(memory, columns=columns)).split())
    for expected in (
        "Sprint 11 (sprint)",
        "operational",
        "111 days",
        "Would remove 7 of 63 observations in 4 entities",
    ):
        assert expected in words


@pytest.mark.parametrize("columns", [1, 10, 20])
def test_terminal_of_hardly_any_width_is_no_trouble(memory: Path, columns: int) -> None:
    assert "Would remove 7 of 63" in dry_run(memory, columns=columns)


def test_terminal_is_in_colour_by_default(memory: Path) -> None:
    assert SAFE_ESCAPES.search(dry_run(memory))


@pytest.mark.parametrize(
    ("options", "env"),
    [([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), (["--no-color"], {}), (["--no-color"], {"FORCE_COLOR": "1"})],
)
def test_table_without_colour_holds_no_escape_and_the_same_words(
    memory: Path, options: list[str], env: dict[str, str]
) -> None:
    plain = dry_run(memory, *options, **env)
    assert "\x1b" not in plain
    assert plain == SAFE_ESCAPES.sub("", dry_run(memory))


def test_empty_no_color_is_an_unset_one(memory: Path) -> None:
    assert SAFE_ESCAPES.search(dry_run(memory, NO_COLOR=""))


@pytest.mark.parametrize("command", ["prune", "explain"])
@pytest.mark.parametrize("terminal", [True, False])
def test_no_control_of_a_memory_file_reaches_the_screen(tmp_path: Path, command: str, terminal: bool) -> None:
    path = copy_of(FIXTURES / "memory/ansi-escapes-html-and-markup.jsonl", tmp_path)
    hostile = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\x9b31m\r\x08\x7f [tier: \x1b[5m]"
    path.write_bytes(
        path.read_bytes() + b"\n" + entity([f"[session] 2026-01-05: {hostile}"], name=hostile, kind=hostile)
    )
    options = (command, "--file", aged(path), *NOW, *(["--dry-run"] if command == "prune" else []))
    ended = Terminal(*options).end().screen if terminal else "".join((r := memttl(*options)).stdout + r.stderr)
    assert not CONTROLS.search(SAFE_ESCAPES.sub("", ended).replace("\r\n", "\n"))
    assert "\\x1b]0;owned" in ended


def test_no_control_of_a_file_name_reaches_the_screen(tmp_path: Path) -> None:
    path = copy_of(EXAMPLE, tmp_path, name="a\x1b]0;owned\x07\u202e\nb.jsonl")
    for options in (["--dry-run"], ["--dry-run", "--verbose"], ["--check"], ["--yes"]):
        ended = Terminal("prune", *options, "--file", path, *NOW).end().screen
        assert not CONTROLS.search(SAFE_ESCAPES.sub("", ended).replace("\r\n", "\n"))
        assert "a\\x1b]0;owned" in ended


def test_no_control_of_a_policy_reaches_the_screen(memory: Path) -> None:
    text = '[tiers]\n"a\\u001b[5m" = "1d"\n[[rules]]\nname = "\\u001b[5m"\nprefix = ["session"]\ntier = "a\\u001b[5m"\n'
    (memory.parent / "memttl.toml").write_text(text)
    screens = [dry_run(memory), Terminal("explain", "--file", memory, *NOW).end().screen]
    screens.append(Terminal("policy", "show", "--file", memory).end().screen)
    for screen in screens:
        assert not CONTROLS.search(SAFE_ESCAPES.sub("", screen).replace("\r\n", "\n"))
        assert "\x1b[5m" not in screen


def test_yes_applies_and_the_plan_is_shown_once(memory: Path) -> None:
    ended = answered(memory, "y\n")
    assert ended.code == 0
    assert "Removed 7 of 63 observations" in ended.screen
    assert ended.screen.count("111 days") == 1
    assert memory.read_bytes() != EXAMPLE.read_bytes()


@pytest.mark.parametrize("keys", ["n\n", "\n", "N\n", "no\n"])
def test_no_is_the_default_and_removes_nothing(memory: Path, keys: str) -> None:
    ended = answered(memory, keys)
    assert ended.code == 0
    assert "Nothing was removed." in ended.screen
    assert memory.read_bytes() == EXAMPLE.read_bytes()


def test_answer_that_is_none_is_asked_for_again(memory: Path) -> None:
    terminal = Terminal("prune", "--file", memory, *NOW)
    terminal.read_until("[y/N]: ")
    terminal.type("maybe\n")
    terminal.read_until("Answer y or n.")
    terminal.type("yes\n")
    assert "Removed 7" in terminal.end().screen


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_leaving_at_the_question_is_an_interruption(memory: Path, key: str) -> None:
    ended = answered(memory, key)
    assert ended.code == 130
    assert "Interrupted; the memory file is as it was." in ended.screen
    assert memory.read_bytes() == EXAMPLE.read_bytes()


def test_question_stands_on_stderr_when_stdout_is_a_pipe(memory: Path) -> None:
    ended = answered(memory, "y\n", piped=True)
    assert "[y/N]" in ended.screen
    assert ended.stdout.startswith("web-client (service)\n")
    assert "[y/N]" not in ended.stdout


def test_document_alone_stands_on_stdout_when_it_is_a_pipe(memory: Path) -> None:
    ended = answered(memory, "y\n", piped=True, options=("--json",))
    assert ended.stdout.startswith("{")
    assert json.loads(ended.stdout)["applied"]


def test_plan_on_stderr_fits_that_terminal(memory: Path) -> None:
    terminal = Terminal("prune", "--file", memory, *NOW, columns=60, piped=True)
    table = table_of(terminal.read_until("[y/N]: "))
    terminal.type("n\n")
    terminal.end()
    assert max(map(width_of, table)) <= 60


def test_warning_is_told_once_with_the_question(memory: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(memory)
    for piped in (False, True):
        assert answered(link, "n\n", piped=piped).screen.count("is a symbolic link") == 1


def test_yes_asks_nothing(memory: Path) -> None:
    ended = Terminal("prune", "--yes", "--file", memory, *NOW).end()
    assert (ended.code, "[y/N]" in ended.screen) == (0, False)


def test_several_files_are_asked_about_one_by_one(tmp_path: Path) -> None:
    first, second = (copy_of(EXAMPLE, tmp_path, name=f"{n}.jsonl") for n in (1, 2))
    terminal = Terminal("prune", "--file", first, "--file", second, *NOW)
    terminal.read_until("1.jsonl? [y/N]: ")
    terminal.type("n\n")
    terminal.read_until("2.jsonl? [y/N]: ")
    terminal.type("y\n")
    assert terminal.end().code == 0
    assert first.read_bytes() == EXAMPLE.read_bytes() != second.read_bytes()


def test_ctrl_c_at_the_second_file_still_reports_the_first(tmp_path: Path) -> None:
    first, second = (copy_of(EXAMPLE, tmp_path, name=f"{n}.jsonl") for n in (1, 2))
    terminal = Terminal("prune", "--json", "--file", first, "--file", second, *NOW, piped=True)
    terminal.read_until("1.jsonl? [y/N]: ")
    terminal.type("y\n")
    terminal.read_until("2.jsonl? [y/N]: ")
    terminal.type("\x03")
    ended = terminal.end()
    documents = json.loads(ended.stdout)["files"]
    assert (ended.code, documents[0]["applied"], documents[1]["error"]["code"]) == (130, True, 130)
