"""The reference and the man page are those that the commands give, and every variable that is read is in them."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from process import ROOT, environ

HOW = "run `python docs/make_reference.py`"


def make_reference() -> ModuleType:
    """The script that writes both."""
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs/make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_reference"] = module
    spec.loader.exec_module(module)
    return module


MADE = make_reference()
PAGE = ROOT / "docs/memttl.1"


def test_reference_is_the_one_that_the_commands_give() -> None:
    assert (ROOT / "docs/reference.md").read_text(encoding="utf-8") == MADE.reference(), HOW


def test_man_page_is_the_one_that_the_commands_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == MADE.man_page(), HOW


def variables_that_are_read() -> set[str]:
    """Every key of the environment that the code asks for."""
    found: set[str] = set()
    for path in (ROOT / "memttl").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r'environ(?:\.get\(|\[)"([A-Z][A-Z_]*)"', text))
        found |= set(re.findall(r'getenv\("([A-Z][A-Z_]*)"', text))
        if path.parent.name == "setup":  # through a function
            found |= set(re.findall(r'(?:variable\(\w+, |folder_of\()"(\w+)"', text))
        if path.name == "clients.py":
            found |= set(re.findall(r"\{([A-Z][A-Z_]+)\}/", text))
    return found


def test_every_variable_that_is_read_is_in_the_reference() -> None:
    read = variables_that_are_read()
    assert {"MEMTTL_FILE", "MEMTTL_NOW", "NO_COLOR", "CODEX_HOME", "APPDATA", "NVM_DIR"} < read
    told = " ".join((*MADE.ENVIRONMENT, *MADE.ENVIRONMENT.values()))
    assert {name for name in read if not re.search(rf"\b{name}\b", told)} == set()


def needs(program: str) -> pytest.MarkDecorator:
    """Skip where a program is not installed."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def said_by(*command: str | Path) -> str:
    ended = subprocess.run(command, env=environ(LC_ALL="C.UTF-8"), capture_output=True, text=True)
    return ended.stdout + ended.stderr


@needs("mandoc")
def test_mandoc_finds_nothing_wrong_with_the_man_page() -> None:
    assert said_by("mandoc", "-Tlint", PAGE) == ""


@needs("groff")
def test_groff_finds_nothing_wrong_with_the_man_page() -> None:
    assert said_by("groff", "-man", "-ww", "-z", "-Tutf8", PAGE) == ""


@needs("man")
@needs("groff")
def test_man_shows_the_page_without_a_warning() -> None:
    ended = subprocess.run(["man", "--warnings", "-l", PAGE], env=environ(), capture_output=True, text=True)
    assert ended.stderr == ""


@needs("mandoc")
def test_man_page_says_what_the_reference_says() -> None:
    shown = " ".join(re.sub(r".\x08", "", said_by("mandoc", "-Tutf8", "-O", "width=200", PAGE)).split())
    for entry in MADE.entries():
        assert entry.usage in shown or not entry.words
        for option in entry.options:
            assert option.usage in shown
            assert " ".join(option.told.replace("`", "").split()) in shown
        for words, _ in entry.examples:
            assert words in shown


@needs("groff")
def test_every_character_comes_through_the_man_page_as_it_is() -> None:
    hard = r"""a-b --c .d 'e' \f \- \fB "g" `h` ~i ^j k…l – ü "" \*x \n(.l"""
    page = f".TH A 1 2026-01-01\n.SH X\n.nf\n{MADE._line(MADE._escaped(hard))}\n{MADE._line(MADE._escaped('.x'))}\n"
    ended = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u", "-P-o"],
        input=page,
        env=environ(),
        capture_output=True,
        text=True,
    )
    lines = [line.strip() for line in ended.stdout.splitlines()]
    assert hard in lines
    assert ".x" in lines


def test_wheel_brings_the_man_page_to_where_man_looks() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["shared-data"]["docs/memttl.1"] == "share/man/man1/memttl.1"
    assert "/docs" in targets["sdist"]["include"]
