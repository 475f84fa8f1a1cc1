"""What an unlucky machine or a hostile neighbour does to a run: no traceback comes of it, and no harm to the file."""

from __future__ import annotations

import json
import os
import pwd
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from process import FIXTURES, copy_of, environ, memttl
from pruning import events_of, names_in, state_folder

from memttl.commands.home import settle_home
from memttl.setup.discover import this_machine
from memttl.setup.home import home_of

NOW = ("--now", "2026-06-01T12:00:00Z")
EXAMPLE = FIXTURES / "memory/example.jsonl"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return copy_of(EXAMPLE, tmp_path)


def start(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memttl", "prune", "--yes", "--json", "--file", str(path), *NOW]
    return subprocess.Popen(command, env=environ(), stdout=-1, stderr=-1, stdin=-3, text=True)


def test_of_two_prunes_at_once_one_removes(memory: Path) -> None:
    runs = [start(memory), start(memory), start(memory)]
    ended = [json.loads(run.communicate()[0]) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert sorted(document["applied"] for document in ended) == [False, False, True]
    assert [e["event"] for e in events_of(memory)] == ["begin", *["removed"] * 7, "end"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_signal_at_any_instant_leaves_the_old_or_the_new_file(tmp_path: Path, how: signal.Signals) -> None:
    new = copy_of(EXAMPLE, tmp_path, name="new")
    memttl("prune", "--yes", "--file", new, *NOW)
    luck = random.Random(0)
    for n in range(4):
        folder = tmp_path / str(n)
        folder.mkdir()
        path = copy_of(EXAMPLE, folder)
        run = start(path)
        time.sleep(luck.uniform(0.2, 0.6))
        run.send_signal(how)
        run.communicate()
        assert path.read_bytes() in (EXAMPLE.read_bytes(), new.read_bytes())
        assert memttl("prune", "--yes", "--file", path, "--now", "2026-06-20").returncode == 0
        assert names_in(folder) == [".memttl", "memory.jsonl"]
        left = {name for name in names_in(state_folder(path)) if not name.endswith((".swap", ".base"))}
        # how a run ended is noted last, which a kill may forestall
        assert left - {"outcomes.jsonl"} == {"audit.head", "audit.jsonl", "backups", "ledger.db", "lock"}


@pytest.mark.parametrize("zone", ["Mars/Phobos", ":/etc/passwd", "UTC+99"])
def test_zone_of_the_process_plays_no_part(memory: Path, zone: str) -> None:
    ended = memttl("prune", "--dry-run", "--json", "--file", memory, *NOW, env={"TZ": zone})
    assert [v["expires_at"] for v in json.loads(ended.stdout)["removed"]][2:4] == [
        "2026-04-18T00:00:00Z",
        "2026-04-19T00:00:00Z",
    ]


def test_home_that_is_unset_is_no_trouble(memory: Path) -> None:
    shell = 'unset HOME XDG_CONFIG_HOME XDG_STATE_HOME; exec "$@"'
    assert memttl("prune", "--yes", "--file", memory, *NOW, shell=shell).returncode == 0


HOMES = ["", "rel", "./x"]


@pytest.mark.parametrize("home", HOMES)
def test_home_that_is_not_absolute_is_that_of_the_account_for_all(home: str, tmp_path: Path) -> None:
    own = pwd.getpwuid(os.getuid()).pw_dir
    environ = {"HOME": home, "XDG_CONFIG_HOME": "rel/config", "XDG_STATE_HOME": str(tmp_path)}
    settle_home(environ)
    assert environ == {"HOME": own, "XDG_STATE_HOME": str(tmp_path)}
    assert home_of({"HOME": home}) == own
    assert str(this_machine({"HOME": home}).home) == own


def test_who_has_no_account_is_at_home_at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    assert home_of({}) == "/"


def test_policy_of_the_user_is_looked_for_where_discover_looks(memory: Path, tmp_path: Path) -> None:
    shell = 'export HOME=rel; unset XDG_CONFIG_HOME XDG_STATE_HOME; exec "$@"'
    ended = memttl("init", "--user", "--json", "-n", "--schedule", "none", "--file", memory, shell=shell, cwd=tmp_path)
    target = json.loads(ended.stdout)["policy"]["path"]
    assert target.startswith(pwd.getpwuid(os.getuid()).pw_dir)
    looked = json.loads(memttl("discover", "--json", shell=shell, cwd=tmp_path).stdout)["looked"]
    assert f"{pwd.getpwuid(os.getuid()).pw_dir}/.claude.json" in [place["config"] for place in looked]


GONE = 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exec "$@"'


@pytest.mark.parametrize(
    "words",
    [
        ["policy", "schema", "-o", "x.json"],
        ["policy", "prompt", "--append", "C.md"],
        ["report", "-o", "x.html", "--file", "FILE"],
        ["move", "new.jsonl", "--yes", "--file", "FILE"],
        ["backfill", "--from", "old.jsonl", "--file", "FILE"],
        ["init", "-n", "--schedule", "none", "-o", "x.toml", "--file", "FILE"],
    ],
    ids=" ".join,
)
def test_relative_path_where_the_folder_is_gone_says_that(words: list[str], memory: Path) -> None:
    ended = memttl(*(memory if word == "FILE" else word for word in words), shell=GONE)
    assert "The operating system" not in ended.stderr
    assert ended.returncode == 66
    assert "is relative, and the folder in which this runs exists no longer" in ended.stderr


@pytest.mark.parametrize("name", ["MEMTTL_STATE_DIR", "MEMTTL_FILE"])
def test_relative_variable_where_the_folder_is_gone_says_that(name: str, memory: Path) -> None:
    ended = memttl("report", *([] if name == "MEMTTL_FILE" else ["--file", memory]), env={name: "rel"}, shell=GONE)
    assert "is relative, and the folder in which this runs exists no longer" in ended.stderr


def test_folder_of_the_process_that_is_gone_is_no_trouble(memory: Path) -> None:
    shell = 'd=$(mktemp -d); cd "$d"; rmdir "$d"; exec "$@"'
    assert memttl("prune", "--yes", "--file", memory, *NOW, shell=shell).returncode == 0


@pytest.mark.parametrize(
    "name", ["-m.jsonl", "a\nb.jsonl", " ", "m\udcff.jsonl", "x" * 255, "é\u0301.jsonl", "%s{0}[bold]", ".jsonl"]
)
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    path = copy_of(EXAMPLE, tmp_path, name=name)
    ended = memttl("prune", "--yes", f"--file={name}", *NOW, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert names_in(tmp_path / ".memttl") == sorted([".gitignore", name])
    assert path.read_bytes() != EXAMPLE.read_bytes()


@pytest.mark.parametrize("name", ["x" * 100_000, "/" * 5000, "a/" * 3000])
def test_name_that_no_file_can_have_is_no_memory_file(name: str) -> None:
    assert memttl("prune", "--dry-run", "--file", name).returncode == 66


def test_few_descriptors_are_enough(memory: Path) -> None:
    assert memttl("prune", "--yes", "--file", memory, *NOW, shell='ulimit -n 12; exec "$@"').returncode == 0


@pytest.mark.parametrize("name", ["x.new", "backups/x.jsonl.part"])
def test_folder_with_the_name_of_a_leftover_is_no_trouble(memory: Path, name: str) -> None:
    (state_folder(memory) / name).mkdir(parents=True)
    assert memttl("prune", "--yes", "--file", memory, *NOW).returncode == 0


@pytest.mark.parametrize("line", ['{"v":1,"event":"begin","run":5}', '{"event":"begin","run":"../../x"}'])
def test_run_that_somebody_wrote_into_a_log_without_a_ledger_is_refused(memory: Path, line: str) -> None:
    state_folder(memory).mkdir(parents=True)
    (state_folder(memory) / "audit.jsonl").write_text(line + "\n")
    ended = memttl("prune", "--yes", "--file", memory, *NOW)
    assert ended.returncode == 73
    assert "`memttl doctor --repair` begins anew" in ended.stderr
    assert memory.read_bytes() == EXAMPLE.read_bytes()


@pytest.mark.parametrize("line", ['{"v":"x"}', "[1]", "null", "[" * 99_999])
def test_line_that_somebody_wrote_into_the_log_is_no_trouble(memory: Path, line: str) -> None:
    state_folder(memory).mkdir(parents=True)
    (state_folder(memory) / "audit.jsonl").write_text(line + "\n")
    assert memttl("prune", "--yes", "--file", memory, *NOW).returncode == 0


def test_link_planted_by_a_cloned_repository_leads_nowhere(memory: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious\n")
    state_folder(memory).mkdir(parents=True)
    for name in ("lock", "audit.jsonl"):
        (state_folder(memory) / name).symlink_to(victim)
    ended = memttl("prune", "--yes", "--file", memory, *NOW)
    assert (ended.returncode, victim.read_bytes()) == (77, b"precious\n")
    assert memory.read_bytes() == EXAMPLE.read_bytes()


def test_policy_may_come_through_a_pipe(memory: Path) -> None:
    shell = '"$@" --policy <(printf "[tiers]\\nsession = \\"never\\"\\n")'
    ended = memttl("prune", "--dry-run", "--json", "--file", memory, *NOW, shell=shell)
    assert json.loads(ended.stdout)["counts"]["removed"] == 4
    assert os.path.exists(memory)
