"""The wheel and the sdist, and `memttl` as pip, pipx and uv install it, on every Python of this machine that it is for.

Nothing here runs from the checkout: PYTHONPATH is unset and the folder is another one. The tools come with `.[test]`,
the libraries from the package registry, so that without one these tests are skipped, but never in CI.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from process import FIXTURES, ROOT

from memttl import __version__

VERSION = f"memttl {__version__}"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OLDEST = 11
IN_SDIST = {"memttl", "docs", "README.md", "CHANGELOG.md", "LICENSE"}
_MINUTES = 300.0
_AWAY = re.compile("error sending request|dns error|Connection|Temporary failure|timed out|Network is unreachable")
_DROPPED = re.compile("MEMTTL_.*|MEMORY_FILE_PATH|PYTHON.*|VIRTUAL_ENV|XDG_.*")
Tool = Callable[..., subprocess.CompletedProcess[str]]


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of somebody who installs: the caches are this user's, everything else is new."""
    cache = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache"
    tools = {
        "PIPX_HOME": "pipx", "PIPX_BIN_DIR": "pipx-bin", "PIPX_MAN_DIR": "man",
        "UV_TOOL_DIR": "uv/tools", "UV_TOOL_BIN_DIR": "uv-bin", "HOME": "home",
    }  # fmt: skip
    return {
        **{name: value for name, value in os.environ.items() if not _DROPPED.fullmatch(name)},
        **{name: str(folder / place) for name, place in tools.items()},
        "PIP_CACHE_DIR": str(cache / "pip"),
        "UV_CACHE_DIR": str(cache / "uv"),
        "UV_LINK_MODE": "hardlink",  # the cache may lie on another disk: then uv copies, and says so on stderr
        "LANG": "C.UTF-8",
    }


@pytest.fixture
def run(tmp_path: Path) -> Tool:
    """Run a program in an empty folder; one that cannot reach the registry skips the test, unless this is CI."""
    here = tmp_path / "here"
    here.mkdir()

    def act(*command: str | Path, cwd: Path = here) -> subprocess.CompletedProcess[str]:
        words = list(map(str, command))
        ended = subprocess.run(
            words, cwd=cwd, env=surroundings(tmp_path), stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", timeout=_MINUTES, check=False,
        )  # fmt: skip
        if ended.returncode and _AWAY.search(ended.stderr) and not os.environ.get("CI"):
            pytest.skip(f"no package registry can be reached: {ended.stderr.strip().splitlines()[-1]}")
        assert ended.returncode == 0, f"{words}: {ended.stderr}"
        return ended

    return act


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that is built from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder)
    return folder


def build(source: Path, folder: Path) -> Path:
    """Build sdist and wheel of a source folder with its build backend; give the wheel."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    names = zipfile.ZipFile(next(built.glob("*.whl"))).namelist()
    tops = {name.partition("/")[0].removeprefix(f"memttl-{__version__}") for name in names}
    assert tops == {"memttl", ".dist-info", ".data"}
    assert [n.partition(".data/")[2] for n in names if ".data/" in n] == ["data/share/man/man1/memttl.1"]
    in_package = {name for name in names if name.startswith("memttl/")}
    assert in_package == {p.relative_to(ROOT).as_posix() for p in (ROOT / "memttl").rglob("*") if is_source(p)}
    assert {"memttl/py.typed", "memttl/cli.py"} <= in_package
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def is_source(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


def test_wheel_names_its_command_its_licence_and_its_readme(built: Path) -> None:
    wheel = zipfile.ZipFile(next(built.glob("*.whl")))
    (entry,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "memttl = memttl.__main__:main" in wheel.read(entry).decode()
    metadata = wheel.read(entry.replace("entry_points.txt", "METADATA")).decode()
    for line in (
        f"Requires-Python: >=3.{OLDEST}",
        "License-Expression: MIT",
        "Description-Content-Type: text/markdown",
    ):
        assert line in metadata


def test_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        tops = {name.split("/")[1] for name in sdist.getnames()}
        assert tops <= {
            "memttl",
            "docs",
            "README.md",
            "CHANGELOG.md",
            "LICENSE",
            "pyproject.toml",
            "PKG-INFO",
            ".gitignore",
        }
        sdist.extractall(tmp_path)
    (source,) = tmp_path.iterdir()
    (tmp_path / "dist").mkdir()
    again = zipfile.ZipFile(build(source, tmp_path / "dist"))
    wheel = zipfile.ZipFile(next(built.glob("*.whl")))
    assert {n: again.read(n) for n in again.namelist()} == {n: wheel.read(n) for n in wheel.namelist()}


def works(run: Tool, memttl: Path, tmp_path: Path, *options: str) -> None:
    """What was installed tells its version, looks at a memory file, and prunes it, beside nothing of the checkout."""
    command: list[str | Path] = [memttl.parent / "python", *options, "-m", "memttl"] if options else [memttl]
    assert run(*command, "--version").stdout == f"{VERSION}\n"
    memory = Path(shutil.copy(FIXTURES / "memory/example.jsonl", tmp_path / "memory.jsonl"))
    of_file = ("--file", memory, "--now", "2026-06-01")
    assert "Would remove 7 of 63 observations" in run(*command, "prune", "--dry-run", *of_file).stdout
    assert "Removed 7 of 63 observations" in run(*command, "prune", "--yes", *of_file).stdout
    assert len(memory.read_bytes()) < len((FIXTURES / "memory/example.jsonl").read_bytes())
    page = tmp_path / "report.html"
    run(*command, "report", "-o", page, *of_file)
    assert page.read_text().startswith("<!DOCTYPE html>")
    run(*command, "undo", "--yes", *of_file)
    assert "all is well" in run(*command, "doctor", *of_file).stdout
    assert str(ROOT) not in run(*command, "--version", "--verbose").stdout


def environment(run: Tool, tmp_path: Path, python: Path | str = sys.executable) -> Path:
    """A fresh environment without anything in it; gives its Python."""
    run(sys.executable, "-m", "uv", "venv", "--quiet", "--seed", "--python", python, tmp_path / "venv")
    return tmp_path / "venv/bin/python"


def test_wheel_installed_by_pip_works(run: Tool, built: Path, tmp_path: Path) -> None:
    python = environment(run, tmp_path)
    run(python, "-m", "pip", "install", "--quiet", next(built.glob("*.whl")))
    works(run, python.parent / "memttl", tmp_path)
    assert ", by pip" in run(python.parent / "memttl", "--version", "--verbose").stdout


def test_folder_installed_by_pip_works(run: Tool, tmp_path: Path) -> None:
    python = environment(run, tmp_path)
    run(python, "-m", "pip", "install", "--quiet", ".", cwd=ROOT)
    works(run, python.parent / "memttl", tmp_path)


def test_folder_installed_by_pipx_works(run: Tool, tmp_path: Path) -> None:
    run(sys.executable, "-m", "pipx", "install", "--quiet", "--python", sys.executable, ".", cwd=ROOT)
    works(run, tmp_path / "pipx-bin/memttl", tmp_path)
    assert ", by pipx" in run(tmp_path / "pipx-bin/memttl", "--version", "--verbose").stdout


def test_folder_installed_as_a_tool_by_uv_works(run: Tool, tmp_path: Path) -> None:
    run(sys.executable, "-m", "uv", "tool", "install", "--quiet", "--python", sys.executable, ".", cwd=ROOT)
    works(run, tmp_path / "uv-bin/memttl", tmp_path)
    assert ", by uv tool" in run(tmp_path / "uv-bin/memttl", "--version", "--verbose").stdout


def pythons() -> dict[str, str]:
    """Every Python of this machine for which memttl is, by its version: on the PATH, and those that pyenv keeps."""
    found: dict[str, str] = {}
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    places = [*map(Path, os.environ["PATH"].split(os.pathsep)), *sorted(home.glob(".pyenv/versions/*/bin"))]
    for place in places:
        if "shims" in place.parts:  # a name for each, also of one that pyenv would not start here
            continue
        for path in sorted(place.glob("python3.*")):
            minor = path.name.removeprefix("python3.")
            if minor.isdigit() and int(minor) >= OLDEST and os.access(path, os.X_OK):
                found.setdefault(f"3.{minor}", str(path))
    return found


@pytest.mark.parametrize("version", sorted(pythons(), key=lambda v: int(v[2:])))
def test_works_on_this_python_where_every_warning_is_an_error(
    run: Tool, built: Path, tmp_path: Path, version: str
) -> None:
    python = environment(run, tmp_path, pythons()[version])
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, next(built.glob("*.whl")))
    assert f"Python 3.{version[2:]}" in run(python, "--version").stdout
    works(run, python.parent / "memttl", tmp_path, "-W", "error")


def test_every_python_that_was_tried_is_named_in_the_metadata() -> None:
    named = {c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)}
    assert pythons().keys() <= named
