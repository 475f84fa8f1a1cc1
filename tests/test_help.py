"""Help: every command has examples that work, the first steps exist, and a wrong word is refused with the near one."""

from __future__ import annotations

import contextlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from process import FIXTURES, Terminal, aged, copy_of, memttl
from support import entity

from memttl.cli import app
from memttl.commands.examples import EXAMPLES, FIRST, first_steps
from memttl.errors import MemttlError, NeedsYes, NoHistory, NoTerminal

GROUP = typer.main.get_command(app)


def commands(command: Any = GROUP, path: str = "") -> dict[str, Any]:
    """Every command, group and memttl itself, by its words."""
    found = {path: command}
    for name, sub in getattr(command, "commands", {}).items():
        found |= commands(sub, f"{path} {name}".strip())
    return found


COMMANDS = commands()
ROWS = [(name, words) for name, rows in EXAMPLES.items() if name in COMMANDS for words, _ in rows]


def words_of(example: str) -> list[str]:
    """The words of an example, without what a shell does with its output."""
    words = shlex.split(re.split(r" [|>] ", example)[0])
    assert words[0] == "memttl"
    return words[1:]


def help_of(name: str, *, columns: int = 80) -> str:
    """What `--help` of a command prints at a terminal of so many columns."""
    context = GROUP.make_context("memttl", [], terminal_width=columns, resilient_parsing=True)
    for word in name.split():
        command = context.command.get_command(context, word)
        context = command.make_context(word, [], parent=context, resilient_parsing=True)
    return str(context.get_help())


@pytest.mark.parametrize("name", COMMANDS, ids=lambda name: name or "memttl")
def test_help_of_every_command_has_an_example_of_it(name: str) -> None:
    shown = re.findall(r"^  (memttl.*)$", help_of(name).partition("\nExamples:\n")[2], re.MULTILINE)
    assert any(example.startswith(f"memttl {name}".strip()) for example in shown), f"give `{name}` a row in EXAMPLES"


@pytest.mark.parametrize("name", COMMANDS, ids=lambda name: name or "memttl")
def test_help_fits_80_columns(name: str) -> None:
    assert [line for line in help_of(name).splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(("name", "example"), ROWS)
def test_example_is_read_by_its_command(name: str, example: str) -> None:
    words = words_of(example)
    context = GROUP.make_context("memttl", list(words))
    for word in name.split() or words[:1]:
        assert words.pop(0) == word
        command = context.command.get_command(context, word)
        context = command.make_context(word, list(words), parent=context)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the examples find what they name."""
    path = copy_of(FIXTURES / "memory/example.jsonl", tmp_path)
    copy_of(path, tmp_path, name="old-copy.jsonl")
    with path.open("ab") as f:
        f.write(b"\n" + entity(["the password is hunter2"], name="mail"))
    aged(path)
    (tmp_path / "memttl.toml").write_text('timezone = "Europe/Berlin"\n', encoding="utf-8")
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("MEMTTL_FILE", str(path))
    monkeypatch.setenv("MEMTTL_NOW", "2026-06-01")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "example"), ROWS)
def test_example_does_what_it_can_without_a_terminal(
    name: str, example: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app(["prune", "--yes", "--force", "--quiet"], standalone_mode=False)  # so that there are a backup and a run
    if name == "serve":  # which goes by the clock alone
        monkeypatch.delenv("MEMTTL_NOW")
    stops: tuple[type[MemttlError], ...] = (NeedsYes, NoTerminal)
    if name == "backfill":
        stops = (NoHistory,)  # the fixture lies in no repository
    with contextlib.suppress(*stops):
        assert not app(words_of(example), prog_name="memttl", standalone_mode=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_no_other_text_and_no_word_of_a_programmer(name: str) -> None:
    assert re.search(r"README|mtime|NO_COLOR rules|\bTTL\b|rung|baseline", help_of(name)) is None


def test_force_names_the_limits_that_it_lifts() -> None:
    said = " ".join(help_of("prune").split())
    assert "max_prune_fraction" in said
    assert "max_prune_count" in said


def test_memttl_alone_shows_what_somebody_new_types_first() -> None:
    ended = memttl()
    assert (ended.returncode, ended.stderr) == (0, "")
    shown = re.findall(r"^  (memttl \S+(?: --\S+)*)  ", ended.stdout, re.MULTILINE)
    assert shown == [words for words, _ in FIRST if words.split()[1] in COMMANDS]
    assert "memttl --help" in ended.stdout


def test_first_steps_are_those_that_there_are() -> None:
    assert "memttl init" not in first_steps({"report", "prune"})
    assert "memttl init" in first_steps({"report", "prune", "init"})


@pytest.mark.parametrize("words", [["backups", "restore"], ["prune"], ["log", "verify"], []], ids=" ".join)
def test_help_prints_what_the_option_does(words: list[str]) -> None:
    assert memttl("help", *words).stdout == memttl(*words, "--help").stdout


REFUSED = (
    (["prnue"], "memttl knows no command 'prnue' (did you mean \"prune\"?)", "Try `memttl --help`."),
    (["backups", "lst"], "memttl backups knows no command 'lst' (did you mean \"list\"?)", "`memttl backups --help`"),
    (["log", "verfy"], "memttl log knows no command 'verfy' (did you mean \"verify\"?)", "`memttl log --help`"),
    (["policy", "chekc"], "memttl policy knows no command 'chekc' (did you mean \"check\"?)", "memttl policy --help"),
    (["help", "prnue"], "memttl knows no command 'prnue' (did you mean \"prune\"?)", "memttl --help"),
    (["clean"], "memttl knows no command 'clean' (did you mean \"prune\"?)", "memttl --help"),
    (["help", "list"], "memttl knows no command 'list' (did you mean \"report\"?)", "memttl --help"),
    (["backups", "ls"], "memttl backups knows no command 'ls' (did you mean \"list\"?)", "memttl backups --help"),
    (["help", "prune", "x"], "memttl prune knows no command 'x'", "memttl prune --help"),
    (["prune", "--dryrun"], "memttl prune knows no option '--dryrun' (did you mean \"--dry-run\"?)", "prune --help"),
    (["backups", "show", "--enity", "x"], "backups show knows no option '--enity' (did you mean \"--entity\"?)", ""),
    (["--versoin"], "memttl knows no option '--versoin' (did you mean \"--version\"?)", "memttl --help"),
    (["prune", "-x"], "memttl prune knows no option '-x'", "memttl prune --help"),
    (["report", "--sort", "siez"], "--sort knows no 'siez' (did you mean \"size\"?)", "expiry, age, size, entity"),
    (["report", "--group-by", "teir"], "--group-by knows no 'teir' (did you mean \"tier\"?)", "tier, type, entity"),
    (["report", "--source", "sen"], "--source knows no 'sen' (did you mean \"seen\"?)", "set, object, text"),
    (["report", "--format", "htlm"], "--format knows no 'htlm' (did you mean \"html\"?)", "table, json"),
    (["search", "x", "--expired", "onyl"], "--expired knows no 'onyl' (did you mean \"only\"?)", "exclude, include"),
    (
        ["prune", "-n", "--write-path", "exchagne"],
        "--write-path knows no 'exchagne' (did you mean \"exchange\"?)",
        "auto",
    ),
    (["--show-completion", "zhs"], "--show-completion knows no 'zhs' (did you mean \"zsh\"?)", "bash, zsh, fish"),
    (
        ["--file", "X", "prune", "-n"],
        "--file stands after the name of the command",
        "Write `memttl prune --file X -n`.",
    ),
    (
        ["backups", "--quiet", "list"],
        "--quiet stands after the name of the command",
        "Write `memttl backups list --quiet`.",
    ),
    (["--dry-run"], "--dry-run stands after the name of the command", "Write `memttl COMMAND --dry-run`."),
    (["my memory.jsonl"], "a memory file is named by --file, after a command", "report --file 'my memory.jsonl'`"),
    (["search"], "memttl search needs QUERY", "memttl search --help"),
    (["prune", "--file"], "Option '--file' requires an argument", "memttl prune --help"),
)


@pytest.mark.parametrize(("words", "message", "hint"), REFUSED, ids=lambda value: str(value)[:40])
def test_wrong_word_is_refused_with_the_near_one(words: list[str], message: str, hint: str) -> None:
    ended = memttl(*words)
    said, hinted = ended.stderr.rstrip("\n").split("\n")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert message in said
    assert said.endswith("; nothing was done.")
    assert hint in hinted


def test_refused_word_is_a_document_with_json() -> None:
    ended = memttl("prune", "--dryrun", "--json")
    assert (ended.returncode, ended.stderr) == (2, "")
    assert '"name": "UsageError"' in ended.stdout


def test_refused_word_reaches_a_terminal_without_its_control_characters() -> None:
    for words in (["\x1b[31mprune"], ["prune", "--\x1b[31m"], ["--sort\x1b[31m"]):
        assert "\x1b[31m" not in Terminal(*words).end().screen
