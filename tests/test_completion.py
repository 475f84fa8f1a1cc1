"""What memttl answers a shell that asks what may stand next: it reads, writes nothing, and never says an error."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from process import FIXTURES, copy_of, environ, memttl, tree
from support import entity

from memttl.cli import app
from memttl.commands.completing import complete
from memttl.commands.completion_scripts import SCRIPTS, target_of
from memttl.commands.completion_words import split_line
from memttl.core.report import SOURCES

GROUP = typer.main.get_command(app)
EXAMPLE = str(FIXTURES / "memory/example.jsonl")
HEAVY = {"rich", "dateutil", "sqlite3", "portalocker", "pydantic_core", "memttl.core.policy_file"}


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """What fish gets for these words, of which the last is the one at the cursor: the kind, and the candidates."""

    def asked(*words: str, shell: str = "fish", **extra: str) -> list[str]:
        surroundings = {"HOME": str(tmp_path), "_MEMTTL_COMPLETE": f"complete_{shell}", **extra}
        complete(GROUP, surroundings, words)
        kind, *lines = capsys.readouterr().out.splitlines() or [""]
        return [kind, *(line.partition("\t")[0] for line in lines)]

    return asked


def test_commands_are_completed_by_their_beginning(ask) -> None:
    assert ask("pr") == ["words", "prune"]
    assert {"prune", "report", "backups", "help"} < set(ask(""))


def test_subcommands_are_completed(ask) -> None:
    assert ask("backups", "") == ["words", "diff", "list", "prune", "restore", "show"]
    assert ask("help", "backups", "re") == ["words", "restore"]
    assert ask("log", "") == ["words", "verify"]


def test_options_are_completed_but_those_that_were_given(ask) -> None:
    assert ask("prune", "--dr") == ["words", "--dry-run"]
    assert ask("prune", "-n", "--dr") == ["words"]
    assert ask("prune", "--dry-run", "--dr") == ["words"]
    assert ask("prune", "--entity", "x", "--ent") == ["words", "--entity"]  # it may be repeated
    assert "--help" in ask("prune", "--")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["report", "--sort", ""], ["age", "entity", "expiry", "size"]),
        (["report", "--sort="], ["--sort=age", "--sort=entity", "--sort=expiry", "--sort=size"]),
        (["search", "x", "--expired", "o"], ["only"]),
        (["prune", "--write-path", "e"], ["exchange"]),
        (["report", "--source", ""], sorted(SOURCES)),
        (["--show-completion", ""], sorted(SCRIPTS)),
        (["set", "x", "--ttl", "9"], ["90d"]),
        (["serve", "--print-config", "cl"], ["claude", "claude-desktop", "cline"]),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_choices_are_completed(ask, words: list[str], expected: list[str]) -> None:
    assert ask(*words) == ["words", *expected]


@pytest.mark.parametrize(
    "words",
    [
        ["prune", "--file", ""],
        ["prune", "-f", "m"],
        ["prune", "-nf", ""],
        ["policy", "check", ""],
        ["report", "-o", ""],
    ],
)
def test_paths_are_left_to_the_shell(ask, words: list[str]) -> None:
    assert ask(*words) == ["files"]


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "--file", EXAMPLE, "Sp"],
        ["explain", f"--file={EXAMPLE}", "Sp"],
        ["explain", "-f", EXAMPLE, "Sp"],
        ["explain", f"-f{EXAMPLE}", "Sp"],
        ["explain", "-vqf", EXAMPLE, "Sp"],
        ["prune", "--dry-run", "--file", EXAMPLE, "--entity", "Sp"],
        ["pin", "--file", EXAMPLE, "--json", "Sp"],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_entities_are_those_of_the_named_file(ask, words: list[str]) -> None:
    assert ask(*words, MEMTTL_FILE="/none") == ["words", "Sprint 11", "Sprint 14"]


@pytest.mark.parametrize("variable", ["MEMTTL_FILE", "MEMORY_FILE_PATH"])
def test_entities_are_those_of_the_file_in_the_environment(ask, variable: str) -> None:
    assert ask("explain", "Sp", **{variable: EXAMPLE}) == ["words", "Sprint 11", "Sprint 14"]


def test_text_of_an_observation_is_not_completed(ask) -> None:
    assert ask("explain", "--file", EXAMPLE, "Sprint 11", "") == ["words"]


def test_types_are_completed(ask) -> None:
    assert "sprint" in ask("report", "--file", EXAMPLE, "--type", "")


def test_tiers_are_those_of_the_policy_in_force(ask, tmp_path: Path) -> None:
    assert ask("prune", "--tier", "") == ["words", "operational", "permanent", "session"]
    path = copy_of(Path(EXAMPLE), tmp_path)
    (tmp_path / "memttl.toml").write_text('[tiers]\n"on call" = "1y"\n', encoding="utf-8")
    assert "on call" in ask("prune", "--file", str(path), "--tier", "")
    assert "on call" in ask("prune", "--policy", str(tmp_path / "memttl.toml"), "--tier", "")


@pytest.fixture
def pruned(tmp_path: Path) -> tuple[Path, str]:
    """A memory file of which one run has removed something, and that run."""
    path = copy_of(Path(EXAMPLE), tmp_path)
    return path, json.loads(memttl("prune", "--yes", "--json", "--now", "2026-06-01", "--file", path).stdout)["run"]


def test_runs_and_backups_are_completed_and_nothing_is_written(ask, pruned: tuple[Path, str], tmp_path: Path) -> None:
    path, run = pruned
    before = tree(tmp_path)
    assert ask("undo", "--file", str(path), "") == ["words", run]
    assert ask("log", "--file", str(path), "--run", "") == ["words", run]
    assert ask("backups", "show", "--file", str(path), "") == ["words", *sorted([run, "latest"])]
    assert ask("backups", "diff", "--file", str(path), "latest", run[:3]) == ["words", run]
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", sorted(path.name for path in (FIXTURES / "memory").glob("*.jsonl")))
def test_no_file_is_too_odd_to_complete_names_of(ask, name: str) -> None:
    for words in (["explain", ""], ["report", "--type", ""], ["undo", ""]):
        kind, *names = ask(*words, MEMTTL_FILE=str(FIXTURES / "memory" / name))
        assert kind == "words"
        assert all(found.isprintable() for found in names)


def test_name_that_begins_with_a_dash_is_no_argument_but_behind_two_dashes(ask, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(entity(["x"], name="--force"))
    assert ask("explain", "--file", str(path), "") == ["words"]
    assert ask("explain", "--file", str(path), "--", "") == ["words", "--force"]
    assert ask("prune", "--file", str(path), "--entity", "--f") == ["words", "--force"]


def test_control_character_in_a_name_is_the_glob_that_matches_it(ask, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(entity(["x"], name="a\nb\x1b[31m\u202e"))
    assert ask("explain", "--file", str(path), "a") == ["words", "a?b?[31m?"]
    assert memttl("explain", "--file", path, "a?b?[31m?").returncode == 0


def test_powershell_gets_names_in_quotes(ask, tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(entity(["x"], name="it's $(reboot)") + b"\n" + entity(["x"], name="plain"))
    words = ("explain", "--file", str(path))
    assert ask(*words, shell="powershell", _MEMTTL_WORD="") == ["words", "'it''s $(reboot)'", "plain"]
    assert ask(*words, shell="powershell", _MEMTTL_WORD="'it") == ["words", "'it''s $(reboot)'"]


@pytest.mark.parametrize(
    ("line", "words", "text", "quote", "before"),
    [
        ("memttl pru", ("memttl",), "pru", "", ""),
        ("memttl prune ", ("memttl", "prune"), "", "", ""),
        ('a \'b c\' "d \\" \\x" e\\ f', ("a", "b c", 'd " \\x'), "e f", "", ""),
        ("a 'b c", ("a",), "b c", "'", ""),
        ('a x"b', ("a",), "xb", '"', "x"),
        ("a --file=m", ("a",), "--file=m", "", "--file="),
        ("a b:c:d", ("a",), "b:c:d", "", "b:c:"),
        ("a b\\:c", ("a",), "b:c", "", ""),
        ("a ''", ("a",), "", "", ""),
        ("a '' ", ("a", ""), "", "", ""),
        ("a \\", ("a",), "", "", ""),
    ],
)
def test_line_is_split_as_bash_does(line: str, words: Sequence[str], text: str, quote: str, before: str) -> None:
    assert split_line(line, "\"'=:") == (words, text, quote, before)


def asked_in_a_process(*words: str, shell: str = "zsh", **extra: str) -> subprocess.CompletedProcess[str]:
    """Let a shell ask memttl itself."""
    return memttl(*words, env={"_MEMTTL_COMPLETE": f"complete_{shell}", **extra})


def test_process_answers_what_its_variable_asks() -> None:
    assert asked_in_a_process("report", "--sort", "ag").stdout == "words\nage\n"
    bash = asked_in_a_process(f"memttl explain --file {EXAMPLE} Sp", " ", shell="bash")
    assert bash.stdout == "words\nSprint\\ 11\nSprint\\ 14\n"


@pytest.mark.parametrize(
    ("words", "shell", "extra"),
    [
        (["prune", "--tier", ""], "nosuch", {}),
        ([], "bash", {}),
        ([], "zsh", {}),
        (["undo", ""], "zsh", {"MEMTTL_FILE": "/none", "MEMTTL_NOW": "soon"}),
        (["prune", "--tier", ""], "fish", {"MEMTTL_POLICY": "/none"}),
        (["explain", ""], "fish", {"MEMORY_FILE_PATH": "relative"}),
        (["prnue", "--nosuch", "--=", "x", ""], "fish", {}),
        (["undo", ""], "fish", {"MEMTTL_FILE": EXAMPLE, "MEMTTL_STATE_DIR": "/dev/null/x"}),
    ],
    ids=str,
)
def test_nothing_that_goes_wrong_is_said(words: list[str], shell: str, extra: dict[str, str]) -> None:
    assert asked_in_a_process(*words, shell=shell, **extra).stderr == ""


def test_pipe_and_huge_file_hold_nobody_up(ask, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert ask("explain", "--file", str(tmp_path / "pipe"), "") == ["words"]
    with (tmp_path / "huge").open("wb") as f:
        f.write(entity(["x"], name="first") + b"\n")
        f.truncate(10 << 30)  # of which nothing but the beginning is there
    assert ask("explain", "--file", str(tmp_path / "huge"), "") == ["words", "first"]


@pytest.mark.parametrize(
    "words", [["pr"], ["explain", ""], ["prune", "--tier", ""], ["undo", ""], ["backups", "show", ""]]
)
def test_completion_needs_no_heavy_library(words: list[str], pruned: tuple[Path, str]) -> None:
    tell = "import sys\nfrom memttl.cli import run\nrun()\nprint('\\n'.join(sys.modules), file=sys.__stderr__)"
    env = environ(MEMTTL_FILE=str(pruned[0]), _MEMTTL_COMPLETE="complete_fish")
    ended = subprocess.run([sys.executable, "-c", tell, *words], env=env, capture_output=True, text=True, check=True)
    modules = ended.stderr.split()
    assert ended.stdout.startswith("words\n")
    assert not HEAVY & set(modules)
    assert words != ["pr"] or "memttl.settings" not in modules


@pytest.mark.parametrize("shell", SCRIPTS)
def test_script_of_each_shell_is_printed_and_asks_memttl(shell: str) -> None:
    printed = memttl("--show-completion", shell).stdout
    assert printed == SCRIPTS[shell]
    assert f"complete_{shell}" in printed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_one_that_its_shell_can_parse(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell], encoding="utf-8")
    ended = subprocess.run([shell, "-n", str(script)], env=environ(), capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_installing_twice_adds_one_line_and_keeps_what_was_there(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "bashrc"
    real.parent.mkdir()
    real.write_bytes(b"export A=1\r\nalias x=y")
    real.chmod(0o640)
    (tmp_path / ".bashrc").symlink_to(real)
    home = {"HOME": str(tmp_path)}
    for _ in range(2):
        assert memttl("--install-completion", "bash", env=home).returncode == 0
    script = tmp_path / ".local/share/bash-completion/completions/memttl"
    assert script.read_text(encoding="utf-8") == SCRIPTS["bash"]
    assert real.read_bytes() == f"export A=1\r\nalias x=y\nsource {script}\n".encode()
    assert (real.stat().st_mode & 0o777, (tmp_path / ".bashrc").is_symlink()) == (0o640, True)


def test_own_file_that_is_no_utf8_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".zshrc").write_bytes(b"# caf\xe9\n")
    ended = memttl("--install-completion", "zsh", env={"HOME": str(tmp_path)})
    assert (tmp_path / ".zshrc").read_bytes() == b"# caf\xe9\n"
    assert ".zfunc" in ended.stderr.partition("Add to it:")[2]


def test_places_are_those_that_the_environment_names() -> None:
    assert target_of("fish", {"XDG_CONFIG_HOME": "/c"}).script == "/c/fish/completions/memttl.fish"
    assert target_of("zsh", {"ZDOTDIR": "/z"})[:2] == ("/z/.zfunc/_memttl", "/z/.zshrc")
    assert target_of("bash", {"XDG_DATA_HOME": "/d"}).script == "/d/bash-completion/completions/memttl"


def test_profile_of_powershell_is_not_changed() -> None:
    ended = memttl("--install-completion", "powershell")
    assert ended.returncode == 2
    assert "--show-completion powershell | Out-String | Invoke-Expression" in ended.stderr
