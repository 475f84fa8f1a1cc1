"""The README tells the truth: its console blocks print what they show, its TOML is valid, its words exist."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest
import typer
from process import ROOT, memttl

from memttl.cli import app
from memttl.core.policy_load import load_policy
from memttl.errors import ExitCode

README = (ROOT / "README.md").read_text(encoding="utf-8")
JSON_PAGE = (ROOT / "docs/json.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


def blocks(language: str, text: str = PAGES) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def console_runs() -> list[tuple[str, str]]:
    runs = []
    for block in blocks("console"):
        for run in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = run.partition("\n")
            runs.append((command, output))
    return runs


@pytest.mark.parametrize(("command", "output"), console_runs(), ids=lambda text: text[:60])
def test_console_block_prints_what_it_shows(command: str, output: str) -> None:
    words = shlex.split(command)
    assert words[0] == "memttl"
    assert memttl(*words[1:], cwd=ROOT).stdout == output


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_block_is_a_valid_policy(text: str) -> None:
    assert load_policy(text, "README.md").given


def test_json_verdict_is_the_one_that_prune_prints() -> None:
    example = ("--file", "fixtures/memory/example.jsonl", "--now", "2026-06-01")
    printed = json.loads(memttl("prune", "--dry-run", "--json", *example, cwd=ROOT).stdout)
    assert json.loads(blocks("json", JSON_PAGE)[0]) in printed["removed"]
    assert all(f"`{key}`" in JSON_PAGE for key in (*printed, *printed["counts"]))


def commands() -> dict[str, typer.core.TyperCommand]:
    group = typer.main.get_command(app)
    found = {"": group}
    for name, command in group.commands.items():
        if getattr(command, "commands", None) and command.params:  # `memttl log` alone is a command, too
            found[name] = command
        for sub, subcommand in getattr(command, "commands", {"": command}).items():
            found[f"{name} {sub}".strip()] = subcommand
    return found


def test_every_command_is_in_the_readme() -> None:
    assert not [name for name in commands() if f"memttl {name}" not in README]


def test_every_option_is_in_the_documents() -> None:
    for name, command in commands().items():
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                if option.startswith("--") and option != "--help":
                    assert option in PAGES, f"{name} {option}"


def test_no_option_in_the_documents_is_missing_from_the_commands() -> None:
    real = {o for c in commands().values() for p in c.params for o in (*p.opts, *p.secondary_opts)}
    # of pip; of every command, where Typer adds it; of docker; of a fork of the server; of systemctl; of Claude Code
    foreign = {"--quiet", "--help", "--mount", "--memory-path", "--user", "--scope"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGES))
    assert named <= real | foreign


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda path: path.name)
def test_every_page_and_picture_that_a_page_links_to_is_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).is_file()]


def test_every_page_can_be_reached_from_the_readme() -> None:
    assert not [path.name for path in DOCUMENTS[1:] if f"](docs/{path.name})" not in README]


def test_every_exit_code_is_in_the_readme() -> None:
    rows = set(re.findall(r"^\| (\d+) \|", README, re.MULTILINE))
    assert rows == {str(int(code)) for code in ExitCode}


def test_the_two_commands_of_the_readme_are_complete_in_themselves() -> None:
    *_, dry_run, tests = blocks("sh", README)
    assert dry_run.startswith("python3 -m venv .venv && .venv/bin/pip install")
    assert (ROOT / "fixtures/memory/example.jsonl").exists()
    assert tests.strip() in Path(ROOT / ".ci/run").read_text(encoding="utf-8")


def dictionaries() -> dict[str, set[str]]:
    """The keys of all dictionaries, at all levels, that functions of `report/` make for documents."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "memttl/report").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and "dict[str, Any]" in ast.unparse(node.returns or node.args):
                made = [d for d in ast.walk(node) if isinstance(d, ast.Dict)]
                found[f"{path.name} {node.name}"] = {
                    key.value for d in made for key in d.keys if isinstance(key, ast.Constant) and key.value
                }
    return found


def test_every_key_of_every_document_is_documented() -> None:
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("json.md", "doctor.md"))
    told = set(re.findall(r"[`\"](\w+)[`\"]", pages))
    assert {name: keys - told for name, keys in dictionaries().items() if keys - told} == {}
