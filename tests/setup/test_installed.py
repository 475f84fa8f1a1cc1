"""Schedules that memttl wrote are read back as they were wished, and what is amiss with them is found."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from process import FIXTURES, copy_of
from pruning import settings_of
from scheduling import AWKWARD, CRONTAB, program
from scheduling import here as here_in

from memttl.core.findings import Finding
from memttl.core.installed import Installed
from memttl.core.moving import Move
from memttl.core.schedule import Every, Kind, Wish, parse_every
from memttl.setup.here import Here
from memttl.setup.installed import installed_for, installed_here, installed_naming
from memttl.setup.schedule_check import check_schedules, check_silence, stale_words
from memttl.workflow import schedule

WISHES = [
    Wish("systemd"),
    Wish("systemd", "scan", Every(360), policy="/etc/p.toml"),
    Wish("cron", "prune", Every(10080)),
    Wish("cron", "scan", Every(60), policy="/etc/p.toml"),
]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return copy_of(FIXTURES / "memory/example.jsonl", folder)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    program(folder, "crontab", CRONTAB)
    return folder


def here(place: Path, **how: Any) -> Here:
    """Of an installation outside of an environment, of which nothing is known but its Python."""
    python = (os.path.realpath(sys.executable), "-P", "-m", "memttl")
    return here_in(place, **{"program": python, **how})


def install(memory: Path, at: Here, wish: Wish = WISHES[0]) -> None:
    schedule.install(settings_of(memory), wish, here=at, environ={})


def enable(place: Path) -> None:
    folder = place / "user" / "timers.target.wants"
    folder.mkdir(exist_ok=True)
    for timer in (place / "user").glob("*.timer"):
        (folder / timer.name).symlink_to(timer)


def found(memory: Path, at: Here, *moves: Move) -> list[Finding]:
    return list(check_schedules(memory, moves, installed_here(at)))


def moved_to(new: Path, old: Path) -> Move:
    return Move("r", "2026-05-01T00:00:00Z", str(old), str(new), link=False)


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_wish_is_read_back(memory: Path, place: Path, wish: Wish) -> None:
    install(memory, here(place), wish)
    (one,) = installed_naming(memory, here(place))
    read = (one.kind, one.command, one.every, one.policy or None, one.file)
    assert read == (wish.kind, wish.command, wish.cadence, wish.policy, str(memory))
    assert one.lacks == ""


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("kind", ["systemd", "cron"])
def test_path_is_read_back_whatever_it_is(tmp_path: Path, place: Path, name: str, kind: Kind) -> None:
    (tmp_path / name).mkdir()
    memory = copy_of(FIXTURES / "memory/example.jsonl", tmp_path / name)
    install(memory, here(place), Wish(kind))
    assert [one.file for one in installed_naming(memory, here(place))] == [str(memory)]


@pytest.mark.parametrize("every", [Every(15), Every(360), Every(1440), Every(10080), Every(months=1), Every(months=6)])
def test_how_often_is_read_back_from_a_list(memory: Path, place: Path, every: Every) -> None:
    at = here(place, platform="darwin", user=memory.stat().st_uid)
    program(place, "launchctl")
    install(memory, at, Wish("launchd", every=every))
    assert [one.every for one in installed_naming(memory, at)] == [every]


def test_commands_keep_how_often_policy_and_the_whole_machine() -> None:
    words = ("python", "-m", "memttl", "scan", "--file", "/old m", "--policy", "/p.toml")
    one = Installed("systemd", "scan", True, "n", "p", words, Every(360))
    assert one.remove_command("/old m") == "memttl schedule systemd scan --remove --system --file '/old m'"
    assert one.install_command("/new") == (
        "memttl schedule systemd scan --install --system --every 6h --policy /p.toml --file /new"
    )


@pytest.mark.parametrize("text", ["15min", "6h", "2d", "1w", "3mo", "1min", "1y"])
def test_how_often_is_spelled_as_it_is_read(text: str) -> None:
    one = Installed("cron", "prune", False, "n", "p", (), parse_every(text))
    words = one.install_command("/m").split()
    assert parse_every(words[words.index("--every") + 1]) == parse_every(text)


def test_what_memttl_did_not_write_is_passed_over(memory: Path, place: Path) -> None:
    install(memory, here(place))
    for path in (place / "user").glob("*.service"):
        path.write_text(path.read_text().replace("Written by memttl schedule", "mine"))
    assert installed_naming(memory, here(place)) == []


def test_ordinary_run_looks_without_starting_a_program(memory: Path, place: Path) -> None:
    install(memory, here(place), WISHES[2])
    assert installed_for(memory, here(place)) == []
    assert len(installed_for(memory, here(place), asks_crontab=True)) == 1


def test_enabled_schedule_is_no_finding(memory: Path, place: Path) -> None:
    install(memory, here(place))
    enable(place)
    assert found(memory, here(place)) == []


def test_timer_that_nothing_starts_is_found(memory: Path, place: Path) -> None:
    install(memory, here(place))
    (one,) = found(memory, here(place))
    assert one.name == "schedule-not-enabled"
    assert "systemctl --user enable --now memttl-prune-" in one.help


ROWS = [{"command": "prune", "code": 65, "time": "2026-06-01T03:00:00Z", "message": ""}]


@pytest.mark.parametrize(
    ("rows", "days", "words"),
    [
        (ROWS, 2, ""),
        (ROWS, 4, "the last run that is known was on 2026-06-01"),
        ([{**ROWS[0], "command": "scan"}], 4, "no run of it is known"),
        ([], 2, ""),
    ],
    ids=["in time", "too late", "of another command", "just written"],
)
def test_schedule_that_has_not_run_for_long_is_found(
    memory: Path, place: Path, rows: list[dict[str, Any]], days: int, words: str
) -> None:
    install(memory, here(place))
    enable(place)
    begun = datetime(2026, 6, 1, 3, tzinfo=UTC)
    for unit in (place / "user").glob("*.service"):
        os.utime(unit, (begun.timestamp(), begun.timestamp()))
    found = list(check_silence(memory, rows, begun + timedelta(days=days), installed_here(here(place))))
    assert [(f.name, words in f.message) for f in found] == ([("schedule-silent", True)] if words else [])


def test_crontab_without_any_known_run_may_be_new(memory: Path, place: Path) -> None:
    install(memory, here(place), WISHES[2])
    assert list(check_silence(memory, [], datetime(2099, 1, 1, tzinfo=UTC), installed_here(here(place)))) == []


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_python_that_is_gone_is_found(memory: Path, place: Path, wish: Wish) -> None:
    install(memory, here(place, program=("/gone/bin/python", "-P", "-m", "memttl")), wish)
    (one,) = found(memory, here(place))
    assert (one.name, "/gone/bin/python is gone" in one.message) == ("schedule-without-program", True)
    assert f"memttl schedule {wish.kind} {wish.command} --install" in one.help


def venv(folder: Path) -> tuple[str, ...]:
    packages = folder / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    (folder / "bin/python").symlink_to(sys.executable)
    return str(folder / "bin/python"), "-P", "-m", "memttl"


def test_environment_that_lost_memttl_is_found(memory: Path, place: Path, tmp_path: Path) -> None:
    at = here(place, program=venv(tmp_path / "venv"))
    install(memory, at)
    (one,) = found(memory, at)
    assert f"memttl in {tmp_path}/venv is gone" in one.message


def test_environment_that_has_memttl_is_no_finding(memory: Path, place: Path, tmp_path: Path) -> None:
    at = here(place, program=venv(tmp_path / "venv"))
    (tmp_path / "venv/lib/python3.12/site-packages/memttl").mkdir()
    install(memory, at)
    enable(place)
    assert found(memory, at) == []


@pytest.mark.parametrize("wish", WISHES, ids=str)
def test_schedule_of_the_old_place_is_found_with_the_commands(memory: Path, place: Path, wish: Wish) -> None:
    install(memory, here(place), wish)
    new = memory.rename(memory.with_name("new.jsonl"))
    (one,) = found(new, here(place), moved_to(new, memory))
    assert one.name == "schedule-of-old-place"
    assert f"memttl schedule {wish.kind} {wish.command} --remove --file {memory}" in one.help
    assert f"memttl schedule {wish.kind} {wish.command} --install" in one.help
    assert f"--file {new}" in one.help


def old_and_new(memory: Path, place: Path) -> tuple[Path, Any]:
    install(memory, here(place))
    new = memory.rename(memory.with_name("new.jsonl"))
    return new, moved_to(new, memory)


def test_every_run_warns_of_it(memory: Path, place: Path) -> None:
    new, move = old_and_new(memory, place)
    (words,) = stale_words(new, [move], here(place))
    assert "each of its runs fails" in words


def test_where_the_new_place_has_its_own_only_the_removal_is_named(memory: Path, place: Path) -> None:
    new, move = old_and_new(memory, place)
    install(new, here(place))
    (words,) = stale_words(new, [move], here(place))
    assert "--remove" in words
    assert "--install" not in words


def test_link_at_the_old_place_lets_the_schedule_go_on(memory: Path, place: Path) -> None:
    new, move = old_and_new(memory, place)
    memory.symlink_to(new)
    assert stale_words(new, [move], here(place)) == []
