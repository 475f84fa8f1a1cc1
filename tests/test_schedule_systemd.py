"""The installed units before systemd's own tools: valid, hardened, and allowing each system call that a prune makes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from process import FIXTURES, copy_of, environ, memttl
from pruning import events_of, settings_of
from scheduling import AWKWARD, as_systemd_reads, here, job, program, values
from without_root import needs_root

from memttl.core.schedule import Wish
from memttl.setup.here import this_installation
from memttl.setup.systemd import units
from memttl.workflow.schedule import show

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze (systemd) is missing")
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
NAMES = AWKWARD[:7]


def run(*words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = list(map(str, words))
    return subprocess.run(command, env=environ(**env), capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "a 100% $HOME it's"
    folder.mkdir()
    return copy_of(FIXTURES / "memory/example.jsonl", folder)


def installed(memory: Path, tmp_path: Path, *words: str) -> list[Path]:
    """The units that `--install` has written for a user."""
    config = tmp_path / "config"
    program(tmp_path, "systemctl", "exit 1")  # the systemd of whoever runs the tests is not to hear of it
    env = {"XDG_CONFIG_HOME": str(config), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    ended = memttl("schedule", "systemd", *words, "--install", "--yes", "--file", memory, env=env)
    assert ended.returncode == 0, ended.stderr
    return sorted((config / "systemd/user").iterdir())


def written(folder: Path, pairs: list[tuple[str, str]]) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name, text in pairs:
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name, _ in pairs]


def of_the_machine(memory: Path, tmp_path: Path) -> list[Path]:
    """The units of the whole machine, in a folder of their own."""
    at = this_installation(environ())
    shown = show(settings_of(memory), Wish("systemd", system=True), here=at, environ={})
    return written(tmp_path / "system", [(Path(file.path).name, file.content) for file in shown.files])


def verify(units: list[Path], tmp_path: Path, *scope: str) -> str:
    """What `systemd-analyze verify` has to say: nothing where all is well."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(exist_ok=True)
    ended = run("systemd-analyze", *scope, "verify", *units, XDG_RUNTIME_DIR=str(runtime))
    return ended.stdout + ended.stderr + ("" if ended.returncode == 0 else f"exit {ended.returncode}")


@needs_systemd
@pytest.mark.parametrize("command", ["prune", "scan"])
def test_units_of_a_user_are_valid(memory: Path, tmp_path: Path, command: str) -> None:
    assert verify(installed(memory, tmp_path, command), tmp_path, "--user") == ""


@needs_systemd
def test_units_of_the_machine_are_valid(memory: Path, tmp_path: Path) -> None:
    assert verify(of_the_machine(memory, tmp_path), tmp_path) == ""


@needs_systemd
@pytest.mark.parametrize("name", NAMES)
def test_path_of_any_spelling_makes_a_valid_unit(tmp_path: Path, name: str) -> None:
    odd = tmp_path / name
    odd.mkdir()
    python = shutil.copy("/bin/true", odd / "python")  # what starts must be there, and may lie anywhere
    folder = tmp_path / "odd"
    pairs = units(job(str(odd / "m.jsonl"), words=(str(python), "-m", str(odd)), environment=(("A", str(odd)),)))
    assert verify(written(folder, list(pairs)), tmp_path, "--user") == ""


def security(unit: Path) -> subprocess.CompletedProcess[str]:
    return run("systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager", unit)


@needs_systemd
def test_unit_of_a_user_is_hardened(memory: Path, tmp_path: Path) -> None:
    service, _ = installed(memory, tmp_path)
    if "PrivateUsers" not in service.read_text():
        pytest.skip("this machine gives a user's systemd no namespaces, without which it can hide nothing")
    ended = security(service)
    assert ended.returncode == 0, ended.stdout


@needs_systemd
def test_unit_of_the_machine_is_hardened(memory: Path, tmp_path: Path) -> None:
    service, _ = of_the_machine(memory, tmp_path)
    ended = security(service)
    assert ended.returncode == 0, ended.stdout


def by_hand(service: Path, *before: str) -> subprocess.CompletedProcess[str]:
    """What ExecStart= and Environment= of a unit say, run by hand."""
    text = service.read_text(encoding="utf-8")
    (line,) = values(text, "ExecStart")
    env = {}
    for given in values(text, "Environment"):
        name, _, value = as_systemd_reads(given, is_command=False)[0].partition("=")
        env[name] = value
    clean = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], **env}
    words = [*before, *as_systemd_reads(line)]
    return subprocess.run(words, env=clean, cwd="/", capture_output=True, text=True, timeout=120, check=False)


def removed(memory: Path) -> int:
    return sum(event["event"] == "removed" for event in events_of(memory))


def test_words_of_the_unit_run_by_hand_prune_the_file(memory: Path, tmp_path: Path) -> None:
    service, _ = installed(memory, tmp_path)
    ended = by_hand(service)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert removed(memory) > 0


@cache
def groups() -> dict[str, list[str]]:
    """The groups of system calls as this systemd has them."""
    found: dict[str, list[str]] = {}
    for line in run("systemd-analyze", "syscall-filter", "--no-pager").stdout.splitlines():
        if line.startswith("@"):
            found[line.strip()] = current = []
        elif line.startswith("    ") and not line.strip().startswith("#"):
            current.append(line.strip())
    return found


def calls_of(name: str) -> set[str]:
    if not name.startswith("@"):
        return {name}
    return set().union(*(calls_of(one) for one in groups()[name]))


def allowed(unit: str) -> set[str]:
    """The system calls that a unit lets through; systemd adds @default to each list of allowed ones."""
    found = calls_of("@default")
    for line in values(unit, "SystemCallFilter"):
        calls = set().union(*(calls_of(name) for name in line.removeprefix("~").split()))
        found = found - calls if line.startswith("~") else found | calls
    return found


def traced(service: Path, tmp_path: Path) -> str:
    """The system calls of a run of the unit's words and of all that it starts, one a line."""
    trace = tmp_path / "trace"
    ended = by_hand(service, "strace", "-f", "-qq", "-s", "0", "-o", str(trace))
    if "ptrace" in ended.stderr and not trace.read_text():
        pytest.skip("strace may not trace here")
    assert ended.returncode == 0, ended.stderr
    return trace.read_text(encoding="utf-8", errors="replace")


def names_in(trace: str) -> set[str]:
    return set(re.findall(r"^\d+ +(\w+)\(", trace, re.MULTILINE))


@needs_systemd
@needs_strace
def test_each_system_call_of_a_prune_passes_the_filter_of_its_unit(memory: Path, tmp_path: Path) -> None:
    service, _ = installed(memory, tmp_path)
    trace = traced(service, tmp_path)
    assert removed(memory) > 0
    made = names_in(trace)
    assert {"renameat2", "flock", "fcntl", "fsync"} <= made  # the write path was traced
    assert made - allowed(service.read_text()) == set()
    # and what the other lines of the unit forbid by a call's arguments
    assert not re.search(r"\bsocket\(|\bunshare\(|\bsetns\(|CLONE_NEW", trace)
    assert not re.search(r"mmap\([^)]*PROT_WRITE\|PROT_EXEC|mprotect\([^)]*PROT_EXEC", trace)
    assert not re.search(r"^\d+ +(?:f?chmod\w*|mkdir\w*|open\w*)\(.*\b0[2467][0-7]{3}\)", trace, re.MULTILINE)


@needs_systemd
@needs_strace
@needs_root
def test_file_of_another_user_is_given_back_to_it_within_the_filter(memory: Path, tmp_path: Path) -> None:
    service, _ = installed(memory, tmp_path)
    os.chown(memory, 65534, 65534)
    made = names_in(traced(service, tmp_path))
    assert removed(memory) > 0
    assert made & calls_of("@chown")
    assert made - allowed(service.read_text()) == set()


@needs_systemd
def test_filter_of_a_unit_forbids_what_a_prune_has_no_use_for() -> None:
    (_, service), _ = units(job())
    assert not allowed(service) & {"mount", "ptrace", "setuid", "setpriority", "reboot", "init_module"}
    assert "chown" in allowed(service)


def test_systemctl_that_is_missing_is_no_traceback(memory: Path, tmp_path: Path) -> None:
    from memttl.errors import CannotCreate
    from memttl.workflow.schedule import install

    at = here(tmp_path, is_booted=True)
    program(tmp_path, "systemctl", "exit 1")
    wish = Wish("systemd", system=True)
    with pytest.raises(CannotCreate, match="not started"):
        install(settings_of(memory), wish, here=at._replace(user=0), environ={})
